"""``_session/steering``: an editor sends a message to the turn that is running."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import events_of, hub_for, soon, until
from tests.steered_agents import Taking

from trunkline.commands import Prompt
from trunkline.folding import fold
from trunkline.session.context import TurnContext

STEERING = "_session/steering"


async def look(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """An agent that looks for messages until it finds one."""
    yield f"began {prompt.text}. "
    if prompt.text == "first":
        while not (messages := await ctx.steered()):
            await asyncio.sleep(0.001)
        yield f"also {messages[0].text}"


def blocks(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


async def steer(editor: Editor, text: str, **meta: Any) -> Any:
    given = {"_meta": meta} if meta else {}
    return await editor.call(STEERING, sessionId=editor.session_id, prompt=blocks(text), **given)


def texts(editor: Editor, kind: str = "agent_message_chunk") -> str:
    return "".join(update["content"]["text"] for update in editor.updates(kind))


async def begin(editor: Editor) -> "asyncio.Task[Any]":
    """Start a turn, and wait until its agent works."""
    running = asyncio.create_task(editor.prompt(await editor.open(), "first"))
    await until(lambda: "began" in texts(editor))
    return running


async def test_a_message_joins_the_turn_of_an_agent_that_takes_it() -> None:
    async with hub_for(Taking()) as hub, editing(hub, ABLE) as editor:
        running = await begin(editor)
        assert await steer(editor, "more") == {"outcome": "injected"}
        assert (await soon(running))["stopReason"] == "end_turn"
        assert texts(editor) == "began first. also more"
        assert texts(editor, "user_message_chunk") == "", "the editor shows what it sent"


async def test_a_message_that_waits_is_said_to_wait_and_may_still_join() -> None:
    async with hub_for(look) as hub, editing(hub, ABLE) as editor:
        running = await begin(editor)
        assert await steer(editor, "more") == {
            "outcome": "startedNewTurn", "_meta": {"trunkline": {"queued": True}},
        }  # fmt: skip
        await soon(running)
        assert texts(editor) == "began first. also more"


async def test_a_message_that_nobody_takes_begins_a_turn_which_the_editor_sees() -> None:
    go_on = asyncio.Event()

    async def deaf(prompt: Prompt) -> AsyncIterator[str]:
        yield f"began {prompt.text}. "
        await go_on.wait()

    async with hub_for(deaf) as hub, editing(hub, ABLE) as editor:
        running = await begin(editor)
        assert (await steer(editor, "second"))["outcome"] == "startedNewTurn"
        go_on.set()
        await soon(running)
        await until(lambda: "began second" in texts(editor))


async def test_without_a_turn_a_message_starts_one_which_can_be_cancelled() -> None:
    async with hub_for(look) as hub, editing(hub, ABLE) as editor:
        await editor.open()
        assert await steer(editor, "first") == {"outcome": "startedNewTurn"}
        await until(lambda: "began" in texts(editor))
        editor.connection.notify("session/cancel", {"sessionId": editor.session_id})
        session = await hub.session(editor.session_id)
        await soon(session.wait_until_idle())
        assert fold(await events_of(session)).turns[-1].stop_reason == "cancelled"


async def test_without_a_turn_a_client_may_keep_its_message() -> None:
    async with hub_for(look) as hub, editing(hub, ABLE) as editor:
        await editor.open()
        assert await steer(editor, "first", steering={"idleBehavior": "promptRequired"}) == {
            "outcome": "promptRequired", "reason": "noRunningTurn",
        }  # fmt: skip
        session = await hub.session(editor.session_id)
        assert await events_of(session) == []


async def test_bad_requests_are_refused_with_the_reason() -> None:
    async with hub_for(look) as hub, editing(hub, ABLE) as editor:
        await editor.open()
        empty = await editor.refused(STEERING, sessionId=editor.session_id, prompt=[])
        assert (empty.rpc_code, "empty" in str(empty)) == (-32602, True)
        for meta, why in [
            ({"steering": {"idleBehavior": "drop"}}, "idleBehavior"),
            ({"steering": 3}, "must be an object"),
        ]:
            refused = await editor.refused(
                STEERING, sessionId=editor.session_id, prompt=blocks("x"), _meta=meta
            )
            assert (refused.rpc_code, why in str(refused)) == (-32602, True)
        unknown = await editor.refused(STEERING, sessionId="nobody", prompt=blocks("x"))
        assert unknown.rpc_code == -32002


async def test_an_editor_is_shown_a_message_that_another_client_sent_to_its_turn() -> None:
    async with hub_for(Taking()) as hub, editing(hub, ABLE) as editor:
        running = await begin(editor)
        session = await hub.session(editor.session_id)
        await session.prompt(Prompt.of("from the page", busy="steer"))
        await soon(running)
        assert texts(editor, "user_message_chunk") == "from the page"
        kinds = [update["sessionUpdate"] for update in editor.log if "content" in update]
        assert kinds == ["agent_message_chunk", "user_message_chunk", "agent_message_chunk"]


async def test_a_loaded_session_has_the_message_in_its_place() -> None:
    async with hub_for(Taking()) as hub, editing(hub, ABLE) as editor:
        running = await begin(editor)
        await steer(editor, "more")
        await soon(running)
        editor.log.clear()
        await editor.call("session/load", sessionId=editor.session_id, cwd="/", mcpServers=[])
        said = [update["content"]["text"] for update in editor.log if "content" in update]
        assert said == ["first", "began first. ", "more", "also more"]
