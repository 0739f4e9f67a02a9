"""A session at an agent: made, loaded, lost, forked, and its options."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agents.acp.scripted import received
from tests.agents.acp.worlds import ask, notices_of, world
from tests.hubs import collect, events_of, only, text_of
from trunkline import events as ev
from trunkline.commands import Prompt, Rewind, SetConfig
from trunkline.errors import (
    AgentError,
    AuthenticationRequired,
    ConfigurationError,
    InvalidCommand,
)
from trunkline.journal import open_journal


async def test_the_session_has_the_agents_options_commands_title_and_usage(tmp_path: Path) -> None:
    async with world(tmp_path, "--early") as here:
        session = await here.hub.create()
        events = await collect(session, "count")
        assert [option.option_id for option in session.view.options] == ["mode", "model", "loud"]
        assert [command.name for command in session.view.commands] == ["plan"]
        finished = events[-1]
        assert isinstance(finished, ev.TurnFinished)
        (usage,) = finished.usage
        assert (usage.model, usage.input_tokens, usage.output_tokens) == ("small", 7, 5)
        written = await events_of(session)
        assert any(isinstance(event, ev.ConfigChanged) for event in written)
        raws = [event.payload for event in written if isinstance(event, ev.Raw)]
        assert raws == [{"method": "_scripted/status", "params": {"ok": True}}]


@pytest.mark.parametrize(
    ("kind", "methods"),
    [
        ("config", ["session/set_config_option"] * 3),
        ("legacy", ["session/set_mode", "session/set_model"]),
    ],
)
async def test_options_modes_and_models_are_set_at_the_agent(
    tmp_path: Path, kind: str, methods: list[str]
) -> None:
    async with world(tmp_path, "--options", kind) as here:
        session = await here.hub.create()
        await session.prepare()
        await session.submit(SetConfig(option_id="mode", value="code"))
        await session.submit(SetConfig(option_id="model", value="large"))
        if kind == "config":
            await session.submit(SetConfig(option_id="loud", value=True))
        assert session.view.config == {"mode": "code", "model": "large"} | (
            {"loud": True} if kind == "config" else {}
        )
        sent = [one["method"] for one in received(here.log) if "set_" in one.get("method", "")]
        assert sent == methods


async def test_the_folder_and_the_mcp_servers_go_to_the_agent(tmp_path: Path) -> None:
    servers: list[dict[str, Any]] = [
        {"name": "files", "command": "mcp", "args": ["-v"], "env": [{"name": "A", "value": "1"}]},
        {"type": "http", "name": "web", "url": "https://example.org/mcp", "headers": []},
    ]
    async with world(tmp_path) as here:
        session = await here.hub.create(cwd="/tmp", mcp_servers=servers)
        cwd, given = json.loads(await ask(session, "cwd"))
        assert cwd == "/tmp"
        assert [server["name"] for server in given] == ["files"]
        noticed = notices_of(await events_of(session))
        assert (
            "Scripted: the MCP server 'web' is not used: the agent does not speak http with MCP servers"
            in noticed
        )
        plain = await here.hub.create()
        assert json.loads(await ask(plain, "cwd"))[0] == str(tmp_path)


@pytest.mark.parametrize("late", [(), ("--replays-late",)], ids=["before its answer", "after its answer"])
async def test_a_session_is_loaded_after_a_restart_and_its_replay_is_skipped(
    tmp_path: Path, late: tuple[str, ...]
) -> None:
    journal = await open_journal(f"sqlite:{tmp_path}/journal.db")
    async with world(tmp_path, journal=journal, hub={"target": "t"}) as here:
        session = await here.hub.create()
        await ask(session, "remember me")
        await session.submit(SetConfig(option_id="model", value="large"))
        session_id = session.session_id
    async with world(tmp_path, "--offer", "load", *late, journal=journal, hub={"target": "t"}) as here:
        session = await here.hub.session(session_id)
        before = len(await events_of(session))
        said = json.loads(await ask(session, "recall"))
        assert said[0] == ["user", "remember me"]
        assert len(here.sent("session/load")) == 1
        texts = [e.delta for e in await events_of(session) if isinstance(e, ev.Text)]
        assert texts.count("You said remember me") == 1, "what was replayed is not written again"
        assert before > 0
        assert session.view.config["model"] == "large", "what a person chose is set again"
    await journal.close()


async def test_any_error_of_resume_or_load_falls_to_the_next_way(tmp_path: Path) -> None:
    async with world(tmp_path, "--refuse", "resume") as here:
        session = await here.hub.create()
        await ask(session, "remember me")
        await collect(session, "crash")
        assert ["user", "remember me"] in json.loads(await ask(session, "recall"))
        assert (len(here.sent("session/resume")), len(here.sent("session/load"))) == (1, 1)


async def test_an_agent_that_lost_its_memory_is_said_to_and_gets_the_conversation_again(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, "--refuse", "resume", "--refuse", "load") as here:
        session = await here.hub.create()
        await ask(session, "remember me")
        await collect(session, "crash")
        events = await collect(session, "recall")
        first, second = [e for e in events if isinstance(e, ev.Notice)]
        assert first.code == "memory_lost"
        assert "session/load: Resource not found" in (first.description or "")
        assert "session/resume: Method not found" in (first.description or "")
        assert "was sent the conversation so far" in second.title
        ((who, told),) = json.loads(text_of(events))
        assert who == "user"
        assert "User:\nremember me" in told
        assert "Assistant:\nYou said remember me" in told
        assert told.endswith("</earlier_conversation>\n\nrecall")
        # Once is enough.
        assert len(json.loads(await ask(session, "recall"))) == 3


@pytest.mark.parametrize("offered", ["load", "resume"])
async def test_an_agent_that_wants_a_login_again_has_lost_nothing(tmp_path: Path, offered: str) -> None:
    async with world(tmp_path, "--login", "--offer", offered) as here:
        session = await here.hub.create()
        await here.agent.authenticate("browser")
        await ask(session, "remember me")
        await collect(session, "crash")
        failed = (await collect(session, "hello"))[-1]
        assert isinstance(failed, ev.TurnFailed)
        assert "wants a login first" in failed.message
        await here.agent.authenticate("browser")
        assert ["user", "remember me"] in json.loads(await ask(session, "recall"))
        assert "memory_lost" not in [e.code for e in await events_of(session) if isinstance(e, ev.Notice)]
        assert len(here.sent("session/new")) == 1


async def test_an_agent_may_be_kept_from_getting_the_conversation_again(tmp_path: Path) -> None:
    async with world(tmp_path, "--offer", "", refeed=False) as here:
        session = await here.hub.create()
        await ask(session, "remember me")
        await collect(session, "crash")
        assert json.loads(await ask(session, "recall")) == [["user", "recall"]]
        (notice,) = [e for e in await events_of(session) if isinstance(e, ev.Notice)]
        assert "it offers neither session/resume nor session/load" in (notice.description or "")
        with pytest.raises(InvalidCommand, match="cannot go back by itself"):
            await session.submit(Rewind(to_message_id=None))
        with pytest.raises(InvalidCommand, match="cannot fork by itself"):
            await here.hub.fork(session)


async def test_going_back_begins_a_new_session_with_the_conversation_up_to_there(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await collect(session, Prompt.of("first", message_id="m1"))
        await collect(session, Prompt.of("second", message_id="m2"))
        last = (await session.history()).messages[1].message_id
        await session.submit(Rewind(to_message_id=last))
        events = await collect(session, "recall")
        ((_, told),) = json.loads(text_of(events))
        assert "User:\nfirst" in told
        assert "second" not in told
        assert len(here.sent("session/new")) == 2
        assert len(here.sent("session/close")) == 1
        assert "Scripted was sent the conversation so far, as it does not remember it" in notices_of(events)


@pytest.mark.parametrize("shared", [False, True])
async def test_a_fork_is_the_agents_own_where_it_offers_one(tmp_path: Path, shared: bool) -> None:
    async with world(tmp_path, shared=shared) as here:
        session = await here.hub.create()
        await ask(session, "first")
        fork = await here.hub.fork(session)
        assert json.loads(await ask(fork, "recall"))[0] == ["user", "first"]
        assert len(here.sent("session/fork")) == 1
        assert notices_of(await events_of(fork)) == []
        assert fork.view.options == session.view.options
        assert await ask(session, "hello") == "You said hello"
        await session.close()
        assert await ask(fork, "hello") == "You said hello", "the process is used by both"


async def test_a_fork_by_refeeding_where_the_agent_offers_none(tmp_path: Path) -> None:
    async with world(tmp_path, "--offer", "load") as here:
        session = await here.hub.create()
        await ask(session, "first")
        fork = await here.hub.fork(session)
        ((_, told),) = json.loads(await ask(fork, "recall"))
        assert "User:\nfirst" in told


async def test_a_session_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    async with world(tmp_path, "--refuse", "new") as here:
        session = await here.hub.create()
        with pytest.raises(AgentError, match="failed in session/new: Internal error: no room for a session"):
            await session.prepare()


async def test_options_for_agents_of_another_kind_are_refused(tmp_path: Path) -> None:
    async with world(tmp_path, session_options={"model": "x"}) as here:
        session = await here.hub.create()
        with pytest.raises(ConfigurationError, match="take no options in session/new"):
            await session.prepare()
    async with world(
        tmp_path, session_options={"a": 1}, session_meta={"b": 2}, profile="claude-code"
    ) as here:
        await (await here.hub.create()).prepare()
        assert here.sent("session/new")[-1]["_meta"] == {"claudeCode": {"options": {"a": 1}}, "b": 2}


async def test_a_process_that_dies_while_it_loads_is_replaced_for_a_new_session(tmp_path: Path) -> None:
    async with world(tmp_path, "--offer", "load", "--broken", "load") as here:
        session = await here.hub.create()
        await ask(session, "remember me")
        await collect(session, "crash")
        events = await collect(session, "recall")
        (lost, _) = only(events, ev.Notice)
        assert "it ended with code 5: loading broke me" in (lost.description or "")
        assert "User:\nremember me" in json.loads(text_of(events))[0][1]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("silent-new", r"did not answer session/new within 0.5 s \(stderr: no room today\)"),
        ("nameless", "without a sessionId"),
    ],
)
async def test_an_agent_that_makes_no_session_is_given_up(tmp_path: Path, broken: str, why: str) -> None:
    async with world(tmp_path, "--broken", broken, session_within=0.5) as here:
        with pytest.raises(AgentError, match=why):
            await (await here.hub.create()).prepare()


async def test_noise_in_a_turn_is_noticed_once(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        (notice,) = [e for e in await collect(session, "banner") if isinstance(e, ev.Notice)]
        assert (notice.code, notice.description) == ("stdout_noise", "a line in the middle of a turn")
        assert [e for e in await collect(session, "banner") if isinstance(e, ev.Notice)] == []


async def test_folders_and_noise_are_noticed(tmp_path: Path) -> None:
    async with world(tmp_path, "--banner") as here:
        session = await here.hub.create(cwd=str(tmp_path), roots=["/tmp"])
        await ask(session, "hello")
        assert notices_of(await events_of(session)) == [
            "Scripted: it works in one folder only, and not in /tmp",
            "Scripted writes lines on stdout that are no messages; they are skipped",
        ]


@pytest.mark.parametrize(
    ("broken", "error", "why"),
    [
        ("options", InvalidCommand, "scripted-agent refused Mode = code: not today"),
        ("options-login", AuthenticationRequired, "wants a login first"),
        ("options-silent", AgentError, "did not set Mode in time"),
    ],
)
async def test_an_option_that_is_not_set_stays_as_it_was(
    tmp_path: Path, broken: str, error: type[Exception], why: str
) -> None:
    async with world(tmp_path, "--broken", broken) as here:
        session = await here.hub.create()
        await session.prepare()
        here.agent.settings = msgspec.structs.replace(here.agent.settings, session_within=0.3)
        with pytest.raises(error, match=why):
            await session.submit(SetConfig(option_id="mode", value="code"))
        assert session.view.config["mode"] == "ask"


async def test_an_option_that_cannot_be_set_again_is_noticed(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await session.prepare()
        await session.submit(SetConfig(option_id="mode", value="code"))
        here.agent.command_line = (*here.agent.command_line, "--broken", "options")
        await collect(session, "crash")
        events = await collect(session, "hello")
        assert notices_of(events) == ["Mode could not be set to code again"]
        assert session.view.config["mode"] == "ask"


async def test_a_fork_that_fails_at_the_agent_is_made_by_refeeding(tmp_path: Path) -> None:
    async with world(tmp_path, "--broken", "fork") as here:
        session = await here.hub.create()
        await ask(session, "first")
        fork = await here.hub.fork(session)
        assert "User:\nfirst" in json.loads(await ask(fork, "recall"))[0][1]


async def test_going_back_to_the_beginning_sends_nothing_again(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await ask(session, "first")
        await session.submit(Rewind(to_message_id=None))
        events = await collect(session, "recall")
        assert json.loads(text_of(events)) == [["user", "recall"]]
        assert notices_of(events) == []
