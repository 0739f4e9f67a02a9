"""Statuses of calls and ends of turns, live and replayed: scenes that deepagents-acp gets wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends import FilesystemBackend
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.graphs import agent_of, broken, calls_of, folded, terminal, weather
from tests.agents.langchain.streamed_turns import PARIS, ROME, check_settled, order_of, pieces, run
from tests.agents.langchain.untyped_langchain import create_agent, create_deep_agent
from tests.worlds import collect, events_of, only, soon, text_of, world
from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.commands import Answer
from trunkline.session.session import Session
from trunkline.testing.chat import ScriptedChatModel, call, ends


@pytest.mark.parametrize(
    ("asked", "status", "reason"),
    [
        (call("broken", {}, "x1"), "failed", "no fuel"),
        (call("no_such_tool", {}, "x1"), "failed", "no_such_tool"),
        (call("weather", {"town": 1}, "x1"), "failed", "city"),
    ],
    ids=["raises", "unknown", "does not fit"],
)
async def test_a_call_that_failed_is_failed_live_and_in_the_replay(
    asked: Any, status: str, reason: str
) -> None:
    agent, _ = agent_of([asked], "Sorry.", tools=[broken, weather], checkpointer=InMemorySaver())
    async with world(agent) as hub:
        session = await hub.create()
        live = calls_of(await collect(session, "Go!"))["x1"]
        again = calls_of(list(await events_of(session)))["x1"]
    assert live == again
    assert live.status == status
    assert reason in live.reason


async def test_a_call_that_was_rejected_is_denied_live_and_in_the_replay() -> None:
    ran: list[str] = []

    @tool
    def wipe(path: str) -> str:
        """Remove everything."""
        ran.append(path)
        return "gone"

    permission = PermissionMiddleware(policy={"wipe": Rule(require_permission=True)})
    agent, model = agent_of(
        [call("wipe", {"path": "/"}, "x1")], "Fine, I won't.", tools=[wipe], middleware=[permission]
    )
    async with world(agent) as hub:
        session = await hub.create()

        async def reject(asked: ev.Asked) -> None:
            await answer_with(session, asked, "reject_once")

        live = calls_of(await collect(session, "Go!", {ev.Asked: reject}))["x1"]
        again = calls_of(list(await events_of(session)))["x1"]
    assert live == again
    assert (live.status, ran) == ("denied", [])
    told: Any = model.calls[1].messages[-1]
    assert (told.type, told.status) == ("tool", "error")


async def answer_with(session: Session, asked: ev.Asked, kind: str) -> None:
    """Choose the option of a kind."""
    question: Any = asked.question
    option = next(one.option_id for one in question.options if one.kind == kind)
    await session.answer(Answer(question_id=asked.question_id, outcome="selected", option_id=option))


async def test_file_tools_are_in_progress_and_show_places_diffs_and_their_raw_output(
    tmp_path: Path,
) -> None:
    model = ScriptedChatModel(
        [call("write_file", {"file_path": "/a.txt", "content": "one\ntwo\n"}, "w1")],
        [call("edit_file", {"file_path": "/a.txt", "old_string": "two", "new_string": "2"}, "e1")],
        [call("read_file", {"file_path": "/a.txt", "offset": 1}, "r1")],
        "Done.",
    )
    backend = FilesystemBackend(root_dir=tmp_path, virtual_mode=True)
    events = await run(LangChainAgent(create_deep_agent(model, backend=backend)))
    made = calls_of(events)
    file = str(tmp_path / "a.txt")
    for call_id in ("w1", "e1", "r1"):
        updates = [event for event in only(events, ev.ToolUpdate) if event.call_id == call_id]
        assert [event.status for event in updates if event.status] == ["in_progress", "completed"]
        assert [place.path for place in made[call_id].locations] == [file]
        assert made[call_id].raw_output
    assert made["w1"].content == (c.DiffBlock(path=file, new="one\ntwo\n"),)
    assert made["e1"].content == (c.DiffBlock(path=file, old="two", new="2"),)
    assert made["r1"].locations[0].line == 2
    assert [(one.kind, one.title) for one in made.values()] == [
        ("edit", "Write /a.txt"),
        ("edit", "Edit /a.txt"),
        ("read", "Read /a.txt"),
    ]


async def test_a_call_without_arguments_is_announced_before_it_runs() -> None:
    @tool
    def ping() -> str:
        """Answer."""
        return "pong"

    agent, _ = agent_of([pieces(("p1", "ping", "", 0))], "Done.", tools=[ping])
    events = await run(agent)
    assert order_of(events, ev.ToolCall, ev.ToolUpdate, ev.Text) == ["ToolCall", "ToolUpdate", "Text"]
    made = calls_of(events)["p1"]
    assert (made.input, made.raw_output, made.status) == ({}, "pong", "completed")


async def test_calls_of_parallel_subagents_are_all_shown_in_their_own_lanes() -> None:
    inner = ScriptedChatModel(
        [
            pieces(("x1", "weather", "", 0), ("x2", "weather", "", 1)),
            pieces((None, None, PARIS, 0), (None, None, ROME, 1)),
        ],
        "Both sunny.",
        each_turn=True,
    )
    worker = create_agent(inner, [weather], name="worker")

    @tool
    async def task(what: str) -> str:
        """Let a subagent do it."""
        done = await worker.ainvoke({"messages": [("user", what)]})
        return str(done["messages"][-1].text)

    agent, _ = agent_of(
        [call("task", {"what": "one"}, "t1"), call("task", {"what": "two"}, "t2")], "Done.", tools=[task]
    )
    events = await run(agent)
    check_settled(events)
    shown = folded(events)
    leaves = {(one.lane, one.native_id): one for one in shown.calls.values() if one.lane is not None}
    assert set(leaves) == {(lane, native) for lane in ("t1", "t2") for native in ("x1", "x2")}
    assert len({one.call_id for one in leaves.values()}) == 4
    for (_, native), one in leaves.items():
        assert (one.arguments, one.status) == (PARIS if native == "x1" else ROME, "completed")
    assert {lane: state.parent_call_id for lane, state in shown.lanes.items()} == {"t1": "t1", "t2": "t2"}
    assert text_of([event for event in events if event.lane is None]) == "Done."


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (["Once upon", ends("length")], "max_tokens"),
        (["I had", ends("content_filter")], "refusal"),
        (["Done.", ends("stop")], "end_turn"),
    ],
    ids=["length", "filter", "stop"],
)
async def test_the_stop_reason_is_the_models(answer: list[Any], reason: str) -> None:
    agent, _ = agent_of(answer)
    ended = terminal(await run(agent))
    assert isinstance(ended, ev.TurnFinished)
    assert ended.stop_reason == reason


async def test_an_agent_that_never_ends_has_used_up_its_requests() -> None:
    def again(messages: Any) -> Any:
        return [call("weather", {"city": "Rome"})]

    made = create_agent(ScriptedChatModel(*[again] * 20), [weather])
    events = await run(LangChainAgent(made.with_config(recursion_limit=6)))
    check_settled(events)
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFinished)
    assert ended.stop_reason == "max_turn_requests"


async def test_a_tool_that_raises_fails_its_call_and_the_model_hears_why() -> None:
    agent, model = agent_of([call("broken", {"why": "no fuel"}, "b1")], "I could not.", tools=[broken])
    events = await run(agent)
    check_settled(events)
    assert calls_of(events)["b1"].status == "failed"
    assert "no fuel" in str(model.calls[1].messages[-1].text)
    assert text_of(events) == "I could not."
    assert isinstance(terminal(events), ev.TurnFinished)


async def test_a_providers_error_is_told_with_its_code_and_its_own_words() -> None:
    class RateLimitError(Exception):
        def __init__(self) -> None:
            super().__init__("Error code: 429 - {...}")
            self.status_code = 429
            self.body = {"error": {"message": "Slow down, please.", "code": "rate_limit_exceeded"}}

    agent, _ = agent_of(RateLimitError())
    events = await run(agent)
    check_settled(events)
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFailed)
    assert (ended.code, ended.message) == ("rate_limited", "RateLimitError: Slow down, please.")


async def test_a_cancel_reaches_into_a_tool_that_waits() -> None:
    began, stopped = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait for ever."""
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    agent, _ = agent_of([call("wait", {}, "w1")], "Never.", tools=[wait], checkpointer=InMemorySaver())
    async with world(agent) as hub:
        session = await hub.create()
        turn = asyncio.ensure_future(collect(session, "Go!"))
        await soon(began.wait())
        await soon(session.cancel(), 5.0)
        assert stopped.is_set()
        events = await soon(turn)
    check_settled(events)
    assert calls_of(events)["w1"].status == "cancelled"
    assert terminal(events) == ev.TurnFinished(turn_id=events[0].turn_id, stop_reason="cancelled")


async def test_a_cancel_ends_a_turn_that_waits_for_a_permission() -> None:
    ran: list[str] = []

    @tool
    def wipe(path: str) -> str:
        """Remove everything."""
        ran.append(path)
        return "gone"

    permission = PermissionMiddleware(policy={"*": Rule(require_permission=True)})
    agent, model = agent_of(
        [call("wipe", {"path": "/"}, "x1")], "Never.", tools=[wipe], middleware=[permission]
    )
    async with world(agent) as hub:
        session = await hub.create()

        async def leave(asked: ev.Asked) -> None:
            await session.cancel()

        events = await collect(session, "Go!", {ev.Asked: leave})
    check_settled(events)
    assert only(events, ev.Answered)[0].outcome == "cancelled"
    assert terminal(events) == ev.TurnFinished(turn_id=events[0].turn_id, stop_reason="cancelled")
    assert (ran, len(model.calls)) == ([], 1)


async def test_results_keep_their_types_and_their_artifacts() -> None:
    png = "iVBORw0KGgo="

    @tool(response_format="content_and_artifact")
    def draw() -> Any:
        """Draw."""
        shown = [
            {"type": "text", "text": "Here:"},
            {"type": "image", "base64": png, "mime_type": "image/png"},
            {"type": "file", "url": "https://example.org/a.pdf", "mime_type": "application/pdf"},
        ]
        return shown, {"layers": [1, 2]}

    agent, _ = agent_of([call("draw", {}, "d1")], "Done.", tools=[draw])
    made = calls_of(await run(agent))["d1"]
    assert made.content == (
        c.TextBlock(text="Here:"),
        c.ImageBlock(mime_type="image/png", data=png),
        c.LinkBlock(uri="https://example.org/a.pdf", name="a.pdf", mime_type="application/pdf"),
    )
    assert made.raw_output == {"layers": [1, 2]}
