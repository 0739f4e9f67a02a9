"""Questions that an agent asks before it has sent what it said before them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.far_side import OPTIONS, Far, ScriptedAgent, choose
from tests.agents.acp.scripted import received
from tests.agents.acp.worlds import World, world
from tests.hubs import collect, events_of, hub_for, only, soon, text_of, until
from trunkline import events as ev
from trunkline.agents.acp.requests import announcements
from trunkline.agents.acp.requests.announcements import Announcements
from trunkline.commands import Answer, Prompt
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.acp.profiles import CLAUDE_CODE, STANDARD
from trunkline.session.session import Session

PERMISSION = "session/request_permission"
ABOUT_T1 = {"toolCall": {"toolCallId": "t1"}}
CANCELLED = {"outcome": {"outcome": "cancelled"}}


def yes_in(session: Session):
    async def yes(asked: ev.Asked) -> None:
        await session.answer(Answer(question_id=asked.question_id, option_id="y"))

    return yes


async def test_text_that_comes_after_its_permission_stands_before_it(tmp_path: Path) -> None:
    async with world(tmp_path, profile="claude-code") as here:
        session = await here.hub.create()
        events = await collect(session, "hasty", {ev.Asked: yes_in(session)})
    kinds = [type(event) for event in events if isinstance(event, ev.Text | ev.ToolCall | ev.Asked)]
    assert kinds == [ev.Text, ev.ToolCall, ev.Asked, ev.Text]
    assert text_of(events) == "before got y"


async def test_a_call_that_is_never_announced_is_asked_about_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcements, "QUIET", 0.05)
    async with world(tmp_path, profile="claude-code") as here:
        session = await here.hub.create()
        events = await collect(session, "ask", {ev.Asked: yes_in(session)})
    assert text_of(events) == "got y"
    assert len(only(events, ev.ToolCall)) == 1


async def begin_to_ask(here: World, session: Session) -> None:
    """Let the agent ask about a call that it has not announced, and wait until its question is here."""
    await session.prompt(Prompt.of("ask"))
    await until(lambda: bool(here.agent._sessions))  # pyright: ignore[reportPrivateUsage]
    (opened,) = here.agent._sessions.values()  # pyright: ignore[reportPrivateUsage]

    def has_asked() -> bool:
        wire = opened.wire_lines()
        return wire is not None and any(PERMISSION in line.data for line in wire.lines)

    await until(has_asked)


def results(here: World) -> list[Any]:
    """What the agent was answered."""
    return [message["result"] for message in received(here.log) if "result" in message]


@pytest.mark.parametrize("permission", ["allow", "ask"])
async def test_a_question_whose_turn_is_cancelled_while_it_waits_is_cancelled_at_once(
    tmp_path: Path, permission: Any
) -> None:
    async with world(tmp_path, profile="claude-code", permission=permission) as here:
        session = await here.hub.create()
        await begin_to_ask(here, session)
        await session.cancel(by="me")
        await until(lambda: bool(results(here)), 0.9 * announcements.QUIET)
        assert results(here) == [CANCELLED]
        assert text_of(await collect(session, "hello")) == "You said hello"
        events = await events_of(session)
        assert only(events, ev.Asked) == []
        assert len(only(events, ev.TurnStarted)) == 2


async def test_a_question_that_waits_as_the_session_is_closed_is_asked_no_more(tmp_path: Path) -> None:
    async with world(tmp_path, profile="claude-code") as here:
        session = await here.hub.create()
        await begin_to_ask(here, session)
        await session.close()
        assert only(await events_of(session), ev.Asked) == []


async def test_a_question_that_waits_is_over_with_its_turn() -> None:
    asking: list[asyncio.Future[Any]] = []

    async def script(far: Far, prompt: Prompt) -> None:
        params = {"sessionId": "s", **ABOUT_T1, "options": OPTIONS}
        asking.append(far.connection.ask(PERMISSION, params)[1])
        asking.append(far.connection.ask("elicitation/create", {**params, "toolCallId": "t2"})[1])
        requests = agent.requests
        assert requests is not None
        await until(lambda: len(requests._scope._pending) == 2)  # pyright: ignore[reportPrivateUsage]

    agent = ScriptedAgent(script, permission="allow", profile=CLAUDE_CODE)
    async with hub_for(agent) as hub:
        session = await hub.create()
        await collect(session, "go")
        assert await soon(asyncio.gather(*asking), 0.9 * announcements.QUIET) == [
            CANCELLED,
            {"action": "cancel"},
        ]
        events = await events_of(session)
    assert [*only(events, ev.Asked), *only(events, ev.ToolCall), *only(events, ev.Notice)] == []


async def test_questions_that_wait_together_are_asked_each_after_its_call() -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        asking = [asyncio.ensure_future(far.permission(toolCallId=name)) for name in ("t1", "t2")]
        await asyncio.sleep(0)
        for name in ("t2", "t1"):
            far.say(f"{name} ")
            far.update("tool_call", toolCallId=name, title=name)
        await asyncio.gather(*asking)

    async with hub_for(ScriptedAgent(script, profile=CLAUDE_CODE)) as hub:
        session = await hub.create()
        events = await collect(session, "go", {ev.Asked: choose(session, "proceed")})
    calls = [call.title for call in only(events, ev.ToolCall)]
    assert calls == ["t2", "t1"]
    assert len(only(events, ev.Asked)) == 2


async def test_a_turn_that_the_agent_began_does_not_end_while_a_question_waits(tmp_path: Path) -> None:
    async with world(tmp_path, profile="claude-code") as here:
        session = await here.hub.create()
        await session.prepare()
        (opened,) = here.agent._sessions.values()  # pyright: ignore[reportPrivateUsage]
        connection, native = opened.connection, opened._native  # pyright: ignore[reportPrivateUsage]
        assert connection is not None
        params = {"sessionId": native.native_id, **ABOUT_T1, "options": OPTIONS}
        native.take_update(
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Now "}}
        )
        asking = asyncio.create_task(connection.handle(PERMISSION, params))
        await until(lambda: bool(session.open_questions))
        (question,) = session.open_questions
        await session.answer(Answer(question_id=question, option_id="proceed"))
        assert (await soon(asking))["outcome"]["optionId"] == "proceed"
        (started,) = only(await events_of(session), ev.TurnStarted)
        assert started.by == "agent"


async def test_a_question_waits_for_its_call_while_the_agent_goes_on_saying_something() -> None:
    decoder = AcpDecoder(CLAUDE_CODE)
    waits = Announcements(decoder)
    decoder.begin_turn("turn1")
    assert waits.missing("elicitation/create", {"toolCallId": "t1"}) == "t1"
    waiting = asyncio.create_task(waits.wait("t1"))
    for update in [
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Now "}},
        {"sessionUpdate": "tool_call", "toolCallId": "other"},
        {"sessionUpdate": "tool_call", "toolCallId": "t1"},
    ]:
        await asyncio.sleep(0)
        assert not waiting.done()
        decoder.feed(update)
        waits.heard()
    await soon(waiting)
    assert waits.missing("elicitation/create", {"toolCallId": "t1"}) is None


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("fs/read_text_file", {"toolCallId": "t1"}),
        (PERMISSION, {"toolCall": {}}),
        ("elicitation/create", {}),
        (PERMISSION, None),
    ],
)
def test_only_a_question_about_a_call_waits(method: str, params: object) -> None:
    assert Announcements(AcpDecoder(CLAUDE_CODE)).missing(method, params) is None


def test_nothing_waits_at_an_agent_that_announces_later_or_never() -> None:
    assert Announcements(AcpDecoder(CLAUDE_CODE)).missing(PERMISSION, ABOUT_T1) == "t1"
    assert Announcements(AcpDecoder(STANDARD)).missing(PERMISSION, ABOUT_T1) is None
