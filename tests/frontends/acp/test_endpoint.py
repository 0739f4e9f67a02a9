"""The methods of the ACP agent side in process: sessions, coming back, prompts, options."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.frontends.acp.memory_editor import ABLE, editing, text_of_chunks
from tests.hubs import collect, forever, hub_for, make, soon, until

from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.journal.memory import MemoryJournal
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.session.context import SessionView, TurnContext
from trunkline.testing import ScriptedAgent

SAYING = ("text", "thoughts", "tools", "parallel-tools", "plan", "subagents", "media", "state", "notice")
TEXT = [{"type": "text", "text": "hi"}]


# -- sessions --------------------------------------------------------------------------------------


async def test_folders_servers_and_meta_of_a_session_reach_the_agent(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        seen.append((ctx.session.cwd, ctx.session.roots, ctx.session.mcp_servers, ctx.session.meta))
        yield ""

    server = {"name": "s", "command": "/bin/s", "args": ["-v"], "env": [{"name": "K", "value": "v"}]}
    async with hub_for(agent) as hub, editing(hub) as editor:
        more = str(tmp_path / "more")
        made = await editor.call(
            "session/new",
            cwd=str(tmp_path), mcpServers=[server], additionalDirectories=[more], _meta={"cwd": "/evil"},
        )  # fmt: skip
        await editor.prompt(made["sessionId"], "hi")
        ((cwd, roots, servers, meta),) = seen
        assert (cwd, roots, meta) == (str(tmp_path), (more,), {"cwd": "/evil"})
        assert servers[0]["command"] == "/bin/s"


async def test_meta_never_takes_the_place_of_what_was_asked() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        one, two = await editor.open(), await editor.open()
        await editor.prompt(one, "mine", _meta={"sessionId": two, "prompt": TEXT, "session_id": two})
        assert editor.text == "mine "
        assert (await (await hub.session(two)).history()).messages == []


async def test_a_login_that_is_missing_leaves_no_session_behind() -> None:
    async with hub_for(ScriptedAgent(authentication=True)) as hub, editing(hub) as editor:
        error = await editor.refused("session/new", cwd="/", mcpServers=[])
        assert error.rpc_code == -32000
        assert (await editor.call("session/list"))["sessions"] == []
        error = await editor.refused("authenticate", methodId="demo-terminal")
        assert error.rpc_code == -32602
        assert "run it there" in error.message
        await editor.call("authenticate", methodId="demo-login")
        await editor.open()
        await editor.call("logout")
        assert (await editor.refused("session/new", cwd="/", mcpServers=[])).rpc_code == -32000


async def test_logging_out_of_an_agent_without_logins_succeeds() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        assert await editor.call("logout") == {}
        assert "known: none" in (await editor.refused("authenticate", methodId="x")).message


async def test_sessions_are_listed_page_by_page_newest_first(tmp_path: Path) -> None:
    async with hub_for() as hub, editing(hub) as editor:
        made = [await editor.open(tmp_path if number % 2 else "/") for number in range(60)]
        for session_id in made:
            await editor.prompt(session_id, "hi")
        first = await editor.call("session/list")
        assert len(first["sessions"]) == 50
        second = await editor.call("session/list", cursor=first["nextCursor"])
        assert "nextCursor" not in second
        listed = [session["sessionId"] for session in first["sessions"] + second["sessions"]]
        assert sorted(listed) == sorted(made)
        for folder in (str(tmp_path), f"{tmp_path}/"):
            here = await editor.call("session/list", cwd=folder)
            assert {session["sessionId"] for session in here["sessions"]} == set(made[1::2])
            assert {session["cwd"] for session in here["sessions"]} == {str(tmp_path)}


async def test_a_session_is_listed_from_its_first_prompt_on_and_can_be_loaded_before() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        session_id = await editor.open()
        await editor.call("session/set_mode", sessionId=session_id, modeId="code")
        await editor.call("session/load", sessionId=session_id, cwd="/", mcpServers=[])
        assert (await editor.call("session/list"))["sessions"] == []
        await editor.prompt(session_id, "hi")
        (listed,) = (await editor.call("session/list"))["sessions"]
        assert listed["sessionId"] == session_id


@pytest.mark.parametrize("cursor", ["", "x", "e30=", "WzFd", "WyJhIiwxXQ==", "é"])
async def test_a_cursor_that_is_not_ours_is_refused(cursor: str) -> None:
    async with hub_for() as hub, editing(hub) as editor:
        assert (await editor.refused("session/list", cursor=cursor)).rpc_code == -32602


async def test_what_belongs_to_another_agent_or_person_is_not_listed(journal: MemoryJournal) -> None:
    async with (
        hub_for(journal=journal, target="a") as one,
        hub_for(journal=journal, target="b") as two,
        editing(one) as first,
        editing(two) as second,
        editing(one, principal="eve") as eve,
    ):
        session_id = await first.open("/", additionalDirectories=["/tmp"])
        await first.prompt(session_id, "here")
        (listed,) = (await first.call("session/list"))["sessions"]
        assert listed["additionalDirectories"] == ["/tmp"]
        assert (await second.call("session/list"))["sessions"] == []
        assert (await eve.call("session/list"))["sessions"] == []
        params: dict[str, Any] = {"sessionId": session_id, "cwd": "/", "mcpServers": []}
        assert (await eve.refused("session/load", **params)).rpc_code == -32002
        assert (await eve.refused("session/prompt", sessionId=session_id, prompt=TEXT)).rpc_code == -32002
        await eve.call("session/delete", sessionId=session_id)
        assert (await first.prompt(session_id, "still here"))["stopReason"] == "end_turn"


async def test_a_page_is_full_however_many_sessions_belong_to_others(journal: MemoryJournal) -> None:
    async with (
        hub_for(journal=journal, target="a") as one,
        hub_for(journal=journal, target="b") as two,
        editing(one) as editor,
    ):
        oldest = await editor.open()
        await editor.prompt(oldest, "hi")
        for _ in range(120):
            await collect(await two.create(), "hi")
        newest = await editor.open()
        await editor.prompt(newest, "hi")
        listed = await editor.call("session/list")
        assert [session["sessionId"] for session in listed["sessions"]] == [newest, oldest]
        assert "nextCursor" not in listed


async def test_a_title_and_a_time_are_listed_and_the_title_is_sent_once() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        await editor.say("the first line\nthe second")
        await editor.say("another")
        (output,) = editor.updates("session_info_update")
        assert output["title"] == "the first line"
        (listed,) = (await editor.call("session/list"))["sessions"]
        assert listed["title"] == "the first line"
        assert listed["updatedAt"].endswith("+00:00")


async def test_a_closed_session_must_be_opened_again_and_is_whole_then() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        await editor.say("before")
        await editor.call("session/close", sessionId=editor.session_id)
        assert (
            await editor.refused("session/prompt", sessionId=editor.session_id, prompt=TEXT)
        ).rpc_code == -32002
        await editor.call("session/resume", sessionId=editor.session_id, cwd="/")
        await editor.say("after")
        assert editor.text == "before after "


async def test_a_session_of_another_connection_can_be_closed_by_its_id() -> None:
    async with hub_for() as hub, editing(hub) as one, editing(hub) as two:
        session_id = await one.open()
        assert await two.call("session/close", sessionId=session_id) == {}


async def test_a_session_that_was_closed_elsewhere_is_reopened_with_the_editors_own_files(
    tmp_path: Path,
) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield await ctx.files.read("notes.txt")

    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        editor.answers["fs/read_text_file"] = lambda params: {"content": "unsaved"}
        session_id = await editor.open(tmp_path)
        await (await hub.session(session_id)).close()
        await editor.prompt(session_id, "read")
        assert editor.text == "unsaved"
        session = await hub.session(session_id)
        await session.durable()
        session.emit(ev.InfoChanged(title="told after the reopening"))
        await until(lambda: bool(editor.updates("session_info_update")))


# -- coming back -----------------------------------------------------------------------------------


async def test_a_fork_begins_with_the_whole_history_and_goes_its_own_way() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        await editor.say("common")
        made = await editor.call("session/fork", sessionId=editor.session_id, cwd="/tmp", mcpServers=[])
        fork = made["sessionId"]
        await editor.prompt(fork, "fork")
        await editor.say("origin")
        for name, words in ((fork, "commonfork"), (editor.session_id, "commonorigin")):
            editor.log.clear()
            await editor.call("session/load", sessionId=name, cwd="/", mcpServers=[])
            assert text_of_chunks(editor.log, "user_message_chunk") == words


# -- prompts ---------------------------------------------------------------------------------------


async def test_nothing_follows_the_answer_of_a_prompt() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, ABLE) as editor:
        editor.permit("allow_once")
        for scenario in SAYING:
            await editor.say(f"/{scenario}")
            assert editor.heard()[-1] == "= session/prompt"
            await editor.refused("session/nothing")
            assert editor.heard()[-2:] == ["= session/prompt", "= session/nothing"]


async def test_a_path_begins_in_the_folder_of_the_session(tmp_path: Path) -> None:
    async def read(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[ev.Event]:
        yield ev.ToolCall(call_id="c1", name="read")
        places = (ev.Location(path="notes/a.md"),)
        yield ev.ToolUpdate(call_id="c1", status="completed", locations=places)

    async with hub_for(make(read)) as hub, editing(hub) as editor:
        session_id = await editor.open(tmp_path)
        await editor.prompt(session_id, "go")
        await editor.call("session/load", sessionId=session_id, cwd=str(tmp_path), mcpServers=[])
        live, replayed = [one for one in editor.updates("tool_call_update") if "locations" in one]
        assert live["locations"] == replayed["locations"] == [{"path": str(tmp_path / "notes/a.md")}]


async def test_usage_comes_with_the_answer_in_meta() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        result = await editor.prompt(await editor.open(), "one two")
        (usage,) = result["_meta"]["trunkline"]["usage"]
        assert usage == {"provider": "demo", "model": "demo-small", "input_tokens": 2, "output_tokens": 2}


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "image", "mimeType": "image/png", "data": "aGk="}, "image"),
        ({"type": "audio", "mimeType": "audio/wav", "data": "aGk="}, "audio"),
    ],
)
async def test_a_block_that_the_agent_does_not_take_is_refused(block: dict[str, Any], kind: str) -> None:
    async with hub_for() as hub, editing(hub) as editor:
        error = await editor.refused("session/prompt", sessionId=await editor.open(), prompt=[block])
        assert error.rpc_code == -32602
        assert f"takes no {kind} blocks" in error.message


@pytest.mark.parametrize("prompt", [[], None, [{"type": "hologram"}]])
async def test_a_prompt_that_says_nothing_readable_is_refused(prompt: Any) -> None:
    async with hub_for() as hub, editing(hub) as editor:
        session_id = await editor.open()
        assert (
            await editor.refused("session/prompt", sessionId=session_id, prompt=prompt)
        ).rpc_code == -32602
        assert (await editor.prompt(session_id, "fine"))["stopReason"] == "end_turn"


async def test_a_turn_that_fails_is_an_error_with_its_cause_and_its_updates_stay() -> None:
    async def agent(prompt: Prompt) -> AsyncIterator[str]:
        yield "so far"
        raise ValueError("the disk\nis full")

    async with hub_for(agent) as hub, editing(hub) as editor:
        error = await editor.refused("session/prompt", sessionId=await editor.open(), prompt=TEXT)
        assert error.rpc_code == -32603
        assert error.message == "ValueError: the disk is full"
        assert error.data == {"details": "ValueError: the disk\nis full"}, "Zed shows all the rest as JSON"
        assert editor.text == "so far"


async def test_a_turn_that_someone_else_started_is_not_shown_and_makes_the_session_busy() -> None:
    go = asyncio.Event()

    async def agent(prompt: Prompt) -> AsyncIterator[str]:
        yield prompt.text
        await go.wait()

    async with hub_for(agent) as hub, editing(hub) as editor:
        session_id = await editor.open()
        session = await hub.session(session_id)
        theirs = asyncio.create_task(collect(session, "theirs"))
        await until(lambda: session.busy)
        error = await editor.refused("session/prompt", sessionId=session_id, prompt=TEXT)
        assert error.rpc_code == -32600
        editor.connection.notify("session/cancel", {"sessionId": session_id})
        go.set()
        output = await soon(theirs)
        assert isinstance(output[-1], ev.TurnFinished)
        assert output[-1].stop_reason == "end_turn", "a cancel is for the editor's own prompt"
        assert editor.text == ""


async def test_a_second_prompt_is_refused_and_a_prompt_that_is_taken_back_is_cancelled() -> None:
    async def agent(prompt: Prompt) -> AsyncIterator[str]:
        yield "begun"
        await forever()

    async with hub_for(agent) as hub, editing(hub) as editor:
        session_id = await editor.open()
        params: dict[str, Any] = {"sessionId": session_id, "prompt": TEXT}
        request_id, answer = editor.connection.ask("session/prompt", params)
        await until(lambda: editor.text == "begun")
        error = await editor.refused("session/prompt", **params)
        assert error.rpc_code == -32600
        assert "a prompt is running" in error.data["details"]
        editor.connection.withdraw_request(request_id)
        assert (await soon(answer))["stopReason"] == "cancelled"


@pytest.mark.parametrize("params", [None, [], {}, {"sessionId": 7}, {"sessionId": "s", "prompt": 3}])
async def test_a_malformed_prompt_that_is_taken_back_is_answered_and_the_connection_lives(
    params: Any,
) -> None:
    async with hub_for() as hub, editing(hub) as editor:
        request_id, answer = editor.connection.ask("session/prompt", params)
        editor.connection.flush()
        editor.connection.withdraw_request(request_id)
        with pytest.raises(RpcError):
            await soon(answer)
        assert (await editor.say("fine"))["stopReason"] == "end_turn"


async def test_a_cancel_that_comes_before_the_turn_has_begun_is_kept_for_it() -> None:
    opening = asyncio.Event()

    class Slow:
        card = AgentCard(name="slow")

        async def open_session(self, session: SessionView) -> None:
            await opening.wait()

        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            yield "begun"
            await forever()

    async with hub_for(Slow()) as hub, editing(hub) as editor:
        session = await hub.create()
        session_id = session.session_id
        opening.set()
        await editor.call("session/resume", sessionId=session_id, cwd="/")
        await session.close()
        opening.clear()
        running = asyncio.create_task(editor.prompt(session_id, "go"))
        await until(lambda: "session/prompt" in editor.questions().values())
        editor.connection.notify("session/cancel", {"sessionId": session_id})
        editor.connection.notify("_fence", {})
        await editor.refused("session/nothing")
        opening.set()
        assert (await soon(running))["stopReason"] == "cancelled"


async def test_any_other_request_that_is_taken_back_just_stops() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        await editor.say("x " * 50)
        editor.agents_wire.free.clear()
        params: dict[str, Any] = {"sessionId": editor.session_id, "cwd": "/", "mcpServers": []}
        request_id, answer = editor.connection.ask("session/load", params)
        await editor.refused("session/nothing")
        editor.connection.withdraw_request(request_id)
        with pytest.raises(RpcError) as caught:
            await soon(answer)
        assert caught.value.rpc_code == -32800
        editor.agents_wire.free.set()


@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/fork"])
async def test_coming_back_needs_absolute_folders(method: str) -> None:
    async with hub_for() as hub, editing(hub) as editor:
        session_id = await editor.open()
        for folders in ({"cwd": "rel"}, {"cwd": "/", "additionalDirectories": ["rel"]}):
            error = await editor.refused(method, sessionId=session_id, mcpServers=[], **folders)
            assert (error.rpc_code, error.message) == (-32602, "'rel' is not an absolute path")


async def test_a_slow_client_is_waited_for_while_the_agent_goes_on() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        session_id = await editor.open()
        session = await hub.session(session_id)
        editor.agents_wire.free.clear()
        running = asyncio.create_task(editor.prompt(session_id, "x " * 2000))
        await until(lambda: bool(editor.text))
        await until(lambda: not session.busy)
        assert not running.done()
        assert len(editor.text) < 2000, "what was not read yet is in the journal, not on its way"
        editor.agents_wire.free.set()
        await soon(running)
        assert editor.text == "x " * 2000


# -- options ---------------------------------------------------------------------------------------


async def test_a_mode_set_one_way_shows_in_the_other() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        session_id = await editor.open()
        assert await editor.call("session/set_mode", sessionId=session_id, modeId="code") == {}
        await until(lambda: bool(editor.updates("current_mode_update")))
        assert editor.updates("current_mode_update")[-1]["currentModeId"] == "code"
        answer = await editor.call(
            "session/set_config_option", sessionId=session_id, configId="mode", value="plan"
        )
        assert answer["configOptions"][0]["currentValue"] == "plan"
        await until(lambda: editor.updates("current_mode_update")[-1]["currentModeId"] == "plan")
        assert (await hub.session(session_id)).view.mode == "plan"


async def test_a_switch_is_set_by_a_client_that_knows_switches() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, ABLE) as editor:
        session_id = await editor.open()
        answer = await editor.call(
            "session/set_config_option",
            sessionId=session_id, configId="think_aloud", type="boolean", value=True,
        )  # fmt: skip
        assert [o["currentValue"] for o in answer["configOptions"]] == ["ask", "demo-small", True]


@pytest.mark.parametrize(
    ("method", "params", "why"),
    [
        ("session/set_mode", {"modeId": "nap"}, "'nap'"),
        ("session/set_config_option", {"configId": "mood", "value": "good"}, "'mood'"),
        ("session/set_config_option", {"configId": "model", "value": "huge"}, "'huge'"),
        ("session/set_config_option", {"configId": "model", "type": "boolean", "value": True}, "model"),
    ],
)
async def test_a_value_that_is_not_on_offer_is_refused(method: str, params: Any, why: str) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        error = await editor.refused(method, sessionId=await editor.open(), **params)
        assert error.rpc_code == -32602
        assert why in error.message


async def test_an_agent_without_modes_has_none_to_set() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        error = await editor.refused("session/set_mode", sessionId=await editor.open(), modeId="x")
        assert error.message == "this agent has no modes"


# -- what cannot be, said before any work begins -----------------------------------------------------


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "mimeType": "image/png", "data": "not base64!"},
        {"type": "image", "mimeType": "image/png", "data": "data:image/png;base64,aGk="},
        {"type": "image", "mimeType": "image/png", "data": "aGk"},
        {"type": "audio", "mimeType": "audio/wav", "data": "é"},
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "%"}},
    ],
)
async def test_media_that_are_not_base64_are_refused(block: dict[str, Any]) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, ABLE) as editor:
        session_id = await editor.open()
        error = await editor.refused("session/prompt", sessionId=session_id, prompt=[block])
        assert error.rpc_code == -32602
        assert "block 0 of the prompt is not base64" in error.message
        wrapped = {"type": "image", "mimeType": "image/png", "data": "aGVs\r\nbG8="}
        result = await editor.call("session/prompt", sessionId=session_id, prompt=[wrapped])
        assert result["stopReason"] == "end_turn"
