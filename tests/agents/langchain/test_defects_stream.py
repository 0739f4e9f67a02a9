"""What the peers get wrong about the stream of a run, by the numbers of our lists; here it is right.

``d`` numbers are ag-ui-langgraph's, ``acp`` numbers are those of deepagents-acp. Each test plays the
scene in which the peer was caught, through a real agent in a hub.
"""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState

from tests.agents.langchain.graphs import agent_of, broken, calls_of, folded, terminal, weather
from tests.agents.langchain.loose import StateGraph, create_agent, create_deep_agent
from tests.worlds import collect, events_of, only, soon, text_of, world
from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.commands import Answer, Prompt
from trunkline.conversation import CallPart, TextPart, ThoughtPart
from trunkline.session import Session
from trunkline.testing.chat import ScriptedChatModel, call, ends, thinks

PARIS = '{"city": "Paris"}'
ROME = '{"city": "Rome"}'


def pieces(*rows: tuple[str | None, str | None, str, int]) -> AIMessageChunk:
    """A chunk of a provider that sends these pieces of calls (id, name, arguments, index) at once."""
    made = [tool_call_chunk(id=id, name=name, args=args, index=index) for id, name, args, index in rows]
    return AIMessageChunk(content="", tool_call_chunks=made)


async def run(agent: Any, prompt: str = "Go!", **react: Any) -> list[Any]:
    """The events of one turn."""
    async with world(agent) as hub:
        return await collect(await hub.create(), prompt)


def check_settled(events: list[Any]) -> None:
    """Nothing is left open, whatever happened."""
    terminal(events)
    assert all(call.status in ev.FINAL_STATUSES for call in calls_of(events).values())
    assert all(lane.outcome is not None for lane in folded(events).lanes.values())


def order_of(events: list[Any], *kinds: type[Any]) -> list[str]:
    """The names of some kinds of events in their order, repeats joined."""
    names = [type(event).__name__ for event in events if isinstance(event, kinds)]
    return [name for at, name in enumerate(names) if at == 0 or names[at - 1] != name]


# -- ag-ui-langgraph -------------------------------------------------------------------------------


async def test_d1_a_result_has_the_id_of_its_message_and_comes_before_the_answer_to_it() -> None:
    agent, _ = agent_of([call("weather", {"city": "Rome"}, "w1")], "Sunny.", checkpointer=InMemorySaver())
    async with world(agent) as hub:
        session = await hub.create("t")
        events = await collect(session, Prompt.of("Rome?", message_id="mine"))
        state = await agent.runnable.aget_state({"configurable": {"thread_id": "t"}})
    shown: list[str | None] = []
    for event in events:
        found = getattr(event, "message_id", None) or getattr(event, "result_message_id", None)
        if found is not None and found not in shown:
            shown.append(found)
    assert shown == [message.id for message in state.values["messages"]]


async def test_d2_name_and_arguments_in_one_chunk_are_both_said() -> None:
    agent, _ = agent_of([pieces(("w1", "weather", PARIS, 0))], "Sunny.")
    made = calls_of(await run(agent))["w1"]
    assert (made.arguments, made.input, made.status) == (PARIS, {"city": "Paris"}, "completed")


async def test_d3_two_calls_in_one_chunk_are_both_said_before_any_tool_runs() -> None:
    agent, _ = agent_of([pieces(("w1", "weather", PARIS, 0), ("w2", "weather", ROME, 1))], "Sunny.")
    events = await run(agent)
    began = next(at for at, event in enumerate(events) if getattr(event, "status", None) == "in_progress")
    before = calls_of([*events[:began], events[-1]])
    assert [(made.call_id, made.arguments) for made in before.values()] == [("w1", PARIS), ("w2", ROME)]
    assert {made.status for made in calls_of(events).values()} == {"completed"}


async def test_d4_interleaved_arguments_reach_their_own_calls() -> None:
    agent, _ = agent_of(
        [
            pieces(("w1", "weather", "", 0)),
            pieces(("w2", "weather", "", 1)),
            *(
                pieces((None, None, piece, index))
                for pair in zip(PARIS.partition("Par"), ROME.partition("Ro"), strict=True)
                for index, piece in enumerate(pair)
            ),
        ],
        "Sunny.",
    )
    made = calls_of(await run(agent))
    assert [(one.arguments, one.input) for one in made.values()] == [
        (PARIS, {"city": "Paris"}),
        (ROME, {"city": "Rome"}),
    ]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_d7_a_call_that_was_reviewed_is_not_announced_again(mode: Any) -> None:
    review = HumanInTheLoopMiddleware({"weather": True}, interrupt_mode=mode)
    agent, _ = agent_of(
        [call("weather", {"city": "Paris"}, "w1")],
        "Sunny.",
        middleware=[review],
        checkpointer=InMemorySaver(),
    )
    async with world(agent) as hub:
        session = await hub.create()

        async def approve(asked: ev.Asked) -> None:
            await session.answer(
                Answer(question_id=asked.question_id, outcome="selected", option_id="approve")
            )

        events = await collect(session, "Go!", {ev.Asked: approve})
    assert len(only(events, ev.ToolCall)) == 1
    assert calls_of(events)["w1"].arguments == PARIS
    assert [event.status for event in only(events, ev.ToolUpdate) if event.status] == [
        "in_progress",
        "completed",
    ]


async def test_d10_state_is_reduced_at_every_moment_and_holds_no_messages() -> None:
    class Notes(MessagesState):
        notes: Annotated[list[str], operator.add]

    model = ScriptedChatModel("One.", "Two.")

    def note(word: str) -> Any:
        async def node(state: Notes) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])], "notes": [word]}

        return node

    builder = StateGraph(Notes)
    builder.add_node("one", note("a"))
    builder.add_node("two", note("b"))
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    events = await run(LangChainAgent(builder.compile()))
    seen = [
        folded([*events[: at + 1], events[-1]]).state
        for at, event in enumerate(events)
        if isinstance(event, ev.StateReplaced | ev.StatePatched)
    ]
    assert seen[-2:] == [{"notes": ["a"]}, {"notes": ["a", "b"]}]
    assert all(state.keys() == {"notes"} for state in seen)


async def test_d11_a_model_that_breaks_off_leaves_nothing_open() -> None:
    agent, _ = agent_of(
        ["Let me see. ", call("weather", {"city": "Rome"}, "w1"), ConnectionError("line cut")]
    )
    events = await run(agent)
    check_settled(events)
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFailed)
    assert ended.message == "ConnectionError: line cut"
    assert text_of(events) == "Let me see. "
    assert calls_of(events)["w1"].status == "failed"


async def test_d11_a_tool_that_ends_the_run_leaves_nothing_open() -> None:
    asks = [call("broken", {}, "b1"), call("weather", {"city": "Rome"}, "w1")]
    made = create_agent(ScriptedChatModel(asks), [broken, weather])
    events = await run(LangChainAgent(made, raise_tool_errors=True))
    check_settled(events)
    assert isinstance(terminal(events), ev.TurnFailed)
    assert calls_of(events)["b1"].reason == "ValueError: no fuel"


async def test_d12_a_model_that_cannot_stream_is_heard() -> None:
    agent, _ = agent_of([call("weather", {"city": "Paris"}, "w1")], "Sunny.", streaming=False)
    events = await run(agent)
    assert text_of(events) == "Sunny."
    assert order_of(events, ev.ToolCall, ev.Text) == ["ToolCall", "Text"]


async def test_d13_no_checkpointer_is_needed_for_a_run_nor_for_the_next() -> None:
    agent, model = agent_of("Hello.", "Again.")
    async with world(agent) as hub:
        session = await hub.create()
        first = await collect(session, "Hi")
        second = await collect(session, "Hi again")
    assert [text_of(first), text_of(second)] == ["Hello.", "Again."]
    assert [message.text for message in model.calls[1].messages] == ["Hi", "Hello.", "Hi again"]


async def test_d16_a_big_result_is_told_once() -> None:
    size = 1_000_000

    @tool
    def dump() -> str:
        """Give a lot."""
        return "x" * size

    agent, _ = agent_of([call("dump", {}, "d1")], "Done.", tools=[dump], checkpointer=InMemorySaver())
    events = await run(agent)
    heavy = [event for event in events if len(ev.encode_event(event)) > size]
    # Once to be read, and once as it was returned.
    assert len(heavy) == 1
    assert sum(len(ev.encode_event(event)) for event in events) < 2.1 * size


async def test_d18_runs_of_one_thread_wait_for_each_other_and_none_is_lost() -> None:
    agent, _ = agent_of("One.", "Two.", "Three.", checkpointer=InMemorySaver())
    async with world(agent) as hub:
        session = await hub.create("t")
        prompts = [Prompt.of(word, message_id=word, busy="queue") for word in ("a", "b", "c")]
        turns = await asyncio.gather(*(collect(session, prompt) for prompt in prompts))
        state = await agent.runnable.aget_state({"configurable": {"thread_id": "t"}})
    assert [text_of(events) for events in turns] == ["One.", "Two.", "Three."]
    assert [message.text for message in state.values["messages"]] == ["a", "One.", "b", "Two.", "c", "Three."]


async def test_d20_reasoning_stays_in_what_is_replayed() -> None:
    agent, _ = agent_of([thinks("Rome, then."), "Sunny."], checkpointer=InMemorySaver())
    async with world(agent) as hub:
        session = await hub.create()
        events = await collect(session, "Go!")
        replayed = folded(list(await events_of(session)))
    for shown in (folded(events), replayed):
        parts = shown.messages[-1].parts
        assert [type(part) for part in parts] == [ThoughtPart, TextPart]
        assert isinstance(parts[0], ThoughtPart)
        assert parts[0].text == "Rome, then."


# -- deepagents-acp --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "status", "reason"),
    [
        (call("broken", {}, "x1"), "failed", "no fuel"),
        (call("no_such_tool", {}, "x1"), "failed", "no_such_tool"),
        (call("weather", {"town": 1}, "x1"), "failed", "city"),
    ],
    ids=["raises", "unknown", "does not fit"],
)
async def test_acp3_a_call_that_failed_is_failed_live_and_in_the_replay(
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


async def test_acp3_a_call_that_was_rejected_is_denied_live_and_in_the_replay() -> None:
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


async def test_acp4_file_tools_are_in_progress_and_show_places_diffs_and_their_raw_output() -> None:
    model = ScriptedChatModel(
        [call("write_file", {"file_path": "/a.txt", "content": "one\ntwo\n"}, "w1")],
        [call("edit_file", {"file_path": "/a.txt", "old_string": "two", "new_string": "2"}, "e1")],
        [call("read_file", {"file_path": "/a.txt", "offset": 1}, "r1")],
        "Done.",
    )
    events = await run(LangChainAgent(create_deep_agent(model)))
    made = calls_of(events)
    for call_id in ("w1", "e1", "r1"):
        updates = [event for event in only(events, ev.ToolUpdate) if event.call_id == call_id]
        assert [event.status for event in updates if event.status] == ["in_progress", "completed"]
        assert [place.path for place in made[call_id].locations] == ["/a.txt"]
        assert made[call_id].raw_output
    assert made["w1"].content == (c.DiffBlock(path="/a.txt", new="one\ntwo\n"),)
    assert made["e1"].content == (c.DiffBlock(path="/a.txt", old="two", new="2"),)
    assert made["r1"].locations[0].line == 2
    assert [(one.kind, one.title) for one in made.values()] == [
        ("edit", "Write /a.txt"),
        ("edit", "Edit /a.txt"),
        ("read", "Read /a.txt"),
    ]


async def test_acp5_a_call_without_arguments_is_announced_before_it_runs() -> None:
    @tool
    def ping() -> str:
        """Answer."""
        return "pong"

    agent, _ = agent_of([pieces(("p1", "ping", "", 0))], "Done.", tools=[ping])
    events = await run(agent)
    assert order_of(events, ev.ToolCall, ev.ToolUpdate, ev.Text) == ["ToolCall", "ToolUpdate", "Text"]
    made = calls_of(events)["p1"]
    assert (made.input, made.raw_output, made.status) == ({}, "pong", "completed")


async def test_acp6_calls_of_parallel_subagents_are_all_shown_in_their_own_lanes() -> None:
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
async def test_acp10_the_stop_reason_is_the_models(answer: list[Any], reason: str) -> None:
    agent, _ = agent_of(answer)
    ended = terminal(await run(agent))
    assert isinstance(ended, ev.TurnFinished)
    assert ended.stop_reason == reason


async def test_acp10_an_agent_that_never_ends_has_used_up_its_requests() -> None:
    def again(messages: Any) -> Any:
        return [call("weather", {"city": "Rome"})]

    made = create_agent(ScriptedChatModel(*[again] * 20), [weather])
    events = await run(LangChainAgent(made.with_config(recursion_limit=6)))
    check_settled(events)
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFinished)
    assert ended.stop_reason == "max_turn_requests"


async def test_acp11_a_tool_that_raises_fails_its_call_and_the_model_hears_why() -> None:
    agent, model = agent_of([call("broken", {"why": "no fuel"}, "b1")], "I could not.", tools=[broken])
    events = await run(agent)
    check_settled(events)
    assert calls_of(events)["b1"].status == "failed"
    assert "no fuel" in str(model.calls[1].messages[-1].text)
    assert text_of(events) == "I could not."
    assert isinstance(terminal(events), ev.TurnFinished)


async def test_acp11_a_providers_error_is_told_with_its_code_and_its_own_words() -> None:
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


async def test_acp12_a_cancel_reaches_into_a_tool_that_waits() -> None:
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
        await soon(session.cancel(), 1.0)
        assert stopped.is_set()
        events = await soon(turn)
    check_settled(events)
    assert calls_of(events)["w1"].status == "cancelled"
    assert terminal(events) == ev.TurnFinished(turn_id=events[0].turn_id, stop_reason="cancelled")


async def test_acp12_a_cancel_ends_a_turn_that_waits_for_a_permission() -> None:
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


async def test_acp17_results_keep_their_types_and_their_artifacts() -> None:
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


# -- what else a provider may send -----------------------------------------------------------------


async def test_a_providers_own_search_is_shown_as_a_call_with_its_input_and_its_sources() -> None:
    found = [{"type": "web_search_result", "url": "https://example.org", "title": "Example"}]
    answer = [
        AIMessageChunk(
            content=[{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}, "index": 0}]
        ),
        AIMessageChunk(content=[{"type": "input_json_delta", "partial_json": '{"query": ', "index": 0}]),
        AIMessageChunk(content=[{"type": "input_json_delta", "partial_json": '"x"}', "index": 0}]),
        AIMessageChunk(
            content=[{"type": "web_search_tool_result", "tool_use_id": "s1", "content": found, "index": 1}]
        ),
        AIMessageChunk(content=[{"type": "text", "text": "Found.", "index": 2}]),
    ]
    agent, _ = agent_of(answer)
    events = await run(agent)
    check_settled(events)
    made = calls_of(events)["s1"]
    assert (made.name, made.kind, made.status) == ("web_search", "search", "completed")
    assert made.input == {"query": "x"}
    assert made.content == (
        c.SourceBlock(source_id="https://example.org", url="https://example.org", title="Example"),
    )
    (message,) = [one for one in folded(events).messages if one.role == "agent"]
    assert [type(part) for part in message.parts] == [CallPart, TextPart]
