"""What a client is sent of its sessions: options, commands, the history, changes made elsewhere."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.frontends.acp.memory_editor import ABLE, editing, text_of_chunks
from tests.hubs import hub_for, make, soon, until

from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.options import Choice, ConfigOption
from trunkline.session.context import SessionView, TurnContext
from trunkline.testing import ScriptedAgent

SERVER: dict[str, Any] = {"name": "files", "command": "/bin/files", "args": [], "env": []}


async def test_a_session_is_answered_with_its_options_and_then_its_commands_are_sent() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, ABLE) as editor:
        made = await editor.call("session/new", cwd="/", mcpServers=[])
        assert made["modes"]["currentModeId"] == "ask"
        assert [option["id"] for option in made["configOptions"]] == ["mode", "model", "think_aloud"]
        await until(lambda: len(editor.heard()) > 1)
        assert editor.heard() == ["= session/new", "available_commands_update"]


async def test_an_agent_without_options_and_commands_mentions_none() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        made = await editor.call("session/new", cwd="/", mcpServers=[])
        assert made.keys() == {"sessionId"}
        await editor.prompt(made["sessionId"], "hi")
        assert editor.heard() == [
            "= session/new", "session_info_update", "agent_message_chunk", "= session/prompt",
        ]  # fmt: skip


async def test_a_client_gets_the_sessions_own_commands_and_events_between_turns() -> None:
    class Peer:
        card = AgentCard(name="peer")
        view: SessionView

        async def open_session(self, session: SessionView) -> None:
            self.view = session
            session.commands = (ev.CommandInfo(name="review"),)

        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            yield "hi"

        async def background(self, ctx: TurnContext) -> AsyncIterator[str]:
            yield "allowed" if await ctx.permission("May I?", tool="x") else "refused"

    agent = Peer()
    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        made = await editor.call("session/new", cwd="/", mcpServers=[])
        await until(lambda: len(editor.updates("available_commands_update")) == 1)
        (output,) = editor.updates("available_commands_update")
        assert [one["name"] for one in output["availableCommands"]] == ["review"]
        agent.view.emit(ev.InfoChanged(title="A title"))
        await until(lambda: bool(editor.updates("session_info_update")))
        editor.permit("allow_once")
        await agent.view.begin_turn(agent.background)
        session = await hub.session(made["sessionId"])
        await soon(session.wait_until_idle())
        await until(lambda: bool(editor.updates("agent_message_chunk")))
        assert editor.updates("agent_message_chunk")[0]["content"]["text"] == "allowed"
        assert (await editor.prompt(made["sessionId"], "hi"))["stopReason"] == "end_turn"


async def test_a_load_replays_everything_before_its_answer() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, ABLE) as editor:
        await editor.say("/tools")
        output = editor.text
        editor.log.clear()
        result = await editor.call("session/load", sessionId=editor.session_id, cwd="/", mcpServers=[])
        assert "modes" in result
        assert text_of_chunks(editor.log, "user_message_chunk") == "/tools"
        assert editor.text == output
        assert editor.heard()[-2:] == ["available_commands_update", "= session/load"]
        await editor.call("session/list")
        assert editor.heard()[-1:] == ["= session/list"], "nothing follows the answer to a load"
        assert editor.heard()[-2:-1] == ["= session/load"]
        for times in (1, 0):
            editor.log.clear()
            await editor.say("hi")
            assert len(editor.updates("available_commands_update")) == times, "for those who looked away"


async def test_the_commands_of_a_resumed_session_follow_the_answer() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, ABLE) as editor:
        await editor.say("hi")
        await editor.call("session/resume", sessionId=editor.session_id, cwd="/")
        await until(lambda: editor.heard()[-1] == "available_commands_update")
        assert editor.heard()[-2] == "= session/resume"


async def test_a_load_leaves_out_what_was_taken_back() -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        async with ctx.tool("look", title=f"look for {prompt.text}"):
            yield f"found {prompt.text}. "

    async with hub_for(agent) as hub, editing(hub) as editor:
        for words in ("one", "two", "three"):
            await editor.say(words)
        session = await hub.session(editor.session_id)
        history = await session.history()
        answer = next(m for m in history.messages if m.text == "found one. ")
        await session.rewind(answer.message_id)
        await editor.say("four")
        editor.log.clear()
        await editor.call("session/load", sessionId=editor.session_id, cwd="/", mcpServers=[])
        assert text_of_chunks(editor.log, "user_message_chunk") == "onefour"
        assert editor.text == "found one. found four. "
        assert [call["title"] for call in editor.updates("tool_call")] == ["look for one", "look for four"]
        assert len(editor.updates("tool_call_update")) == 4


async def test_a_resume_replays_nothing() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        await editor.say("before")
        assert await editor.call("session/resume", sessionId=editor.session_id, cwd="/tmp") == {}
        assert editor.heard()[-2:] == ["= session/prompt", "= session/resume"]
        assert (await hub.session(editor.session_id)).view.cwd == "/tmp"


async def test_coming_back_often_leaves_one_watch_and_the_editors_files(tmp_path: Path) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield await ctx.files.read("notes.txt")

    option = ConfigOption(option_id="loud", name="Loud", value=False)
    async with hub_for(make(agent, options=(option,))) as hub, editing(hub, ABLE) as editor:
        editor.answers["fs/read_text_file"] = lambda params: {"content": "unsaved"}
        session_id = await editor.open(tmp_path)
        for method in ("session/load", "session/resume", "session/load", "session/resume"):
            await editor.call(method, sessionId=session_id, cwd=str(tmp_path), mcpServers=[])
        await editor.prompt(session_id, "read")
        assert editor.text == "unsaved"
        await (await hub.session(session_id)).set_config("loud", True, by="the page")
        await until(lambda: bool(editor.updates("config_option_update")))
        await editor.prompt(session_id, "read")
        assert len(editor.updates("config_option_update")) == 1


async def test_a_load_waits_for_a_slow_client() -> None:
    async with hub_for() as hub, editing(hub) as editor:
        await editor.say("x " * 50)
        editor.log.clear()
        editor.agents_wire.free.clear()
        loading = asyncio.create_task(
            editor.call("session/load", sessionId=editor.session_id, cwd="/", mcpServers=[])
        )
        await editor.refused("session/nothing")
        assert not loading.done()
        editor.agents_wire.free.set()
        await soon(loading)
        assert editor.text == "x " * 50


async def test_a_change_made_elsewhere_is_sent_also_while_a_prompt_runs() -> None:
    go = asyncio.Event()

    async def agent(prompt: Prompt) -> AsyncIterator[str]:
        yield "a"
        await go.wait()

    option = ConfigOption(
        option_id="m", name="M", value="a", choices=(Choice(value="a", name="A"), Choice(value="b", name="B"))
    )
    async with hub_for(make(agent, options=(option,))) as hub, editing(hub) as editor:
        session_id = await editor.open()
        session = await hub.session(session_id)
        await session.set_config("m", "b", by="the page")
        running = asyncio.create_task(editor.prompt(session_id, "go"))
        await until(lambda: bool(editor.text))
        await session.set_config("m", "a", by="the page")
        go.set()
        await soon(running)
        output = [u["configOptions"][0]["currentValue"] for u in editor.updates("config_option_update")]
        assert output == ["b", "a"]


async def test_changes_made_elsewhere_wait_for_a_slow_client() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, ABLE) as editor:
        session = await hub.session(await editor.open())
        await until(lambda: session.followers == 1)
        editor.agents_wire.free.clear()
        await session.set_config("mode", "code")
        await until(lambda: len(editor.updates("current_mode_update")) == 1)
        for mode in ("plan", "ask"):
            await session.set_config("mode", mode)
        assert len(editor.updates("current_mode_update")) == 1
        editor.agents_wire.free.set()
        await until(lambda: len(editor.updates("current_mode_update")) == 3)


@pytest.mark.parametrize("notices", [True, False])
async def test_an_agent_that_takes_no_notice_of_the_clients_servers_says_so_once(notices: bool) -> None:
    async with hub_for() as hub, editing(hub, ABLE if notices else {}) as editor:
        made = await editor.call("session/new", cwd="/", mcpServers=[SERVER])
        for _ in range(2):
            await editor.prompt(made["sessionId"], "hi")
        assert editor.heard().count("notice" if notices else "agent_thought_chunk") == 1
        assert editor.heard()[-1] == "= session/prompt"
        (output,) = editor.updates("notice", "agent_thought_chunk")
        assert "files" in str(output)


async def test_an_agent_that_looks_at_the_clients_servers_is_not_accused() -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield ctx.session.mcp_servers[0]["name"]

    async with hub_for(agent) as hub, editing(hub, ABLE) as editor:
        made = await editor.call("session/new", cwd="/", mcpServers=[SERVER])
        await editor.prompt(made["sessionId"], "hi")
        assert editor.text == "files"
        assert editor.updates("notice") == []
