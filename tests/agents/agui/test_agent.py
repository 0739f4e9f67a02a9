import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import trunkline
from tests.hubs import BRISK, collect, hub_for, only, reopened, run_turn, session_for, text_of, until
from tests.server.running_server import SECRET, listening
from trunkline import events as ev
from trunkline.agents.agui import AguiAgent
from trunkline.agents.agui import agent as agent_module
from trunkline.agents.targets import resolve_target
from trunkline.commands import Answer, Prompt
from trunkline.errors import TargetError
from trunkline.folding import fold
from trunkline.journal import open_journal
from trunkline.protocols.agui.results import tool_result
from trunkline.questions import ClientCall, Permission
from trunkline.session.session import Session
from trunkline.testing import ScriptedAgent


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUNKLINE_AGUI_TOKEN", SECRET)


@asynccontextmanager
async def distant(agent: Any = None) -> AsyncGenerator[AguiAgent]:
    """An agent behind a server of ours."""
    app = trunkline.asgi(agent or ScriptedAgent(), tokens=SECRET, settings=BRISK)
    async with listening(app) as place:
        yield AguiAgent(f"http://{place}/agui")


def answering(
    session: Session, choose: Callable[[Permission], str] | None = None
) -> dict[type[ev.Event], Any]:
    async def answer(asked: ev.Asked) -> None:
        question = asked.question
        if isinstance(question, Permission):
            chosen = choose(question) if choose is not None else question.options[0].option_id
            await session.answer(Answer(question_id=asked.question_id, option_id=chosen))
        elif isinstance(question, ClientCall):
            await session.answer(Answer(question_id=asked.question_id, outcome="accepted", content="blue"))
        else:
            fields = {"name": "Ada", "size": "M"}
            content = fields if hasattr(question, "fields") else None
            await session.answer(Answer(question_id=asked.question_id, outcome="accepted", content=content))

    return {ev.Asked: answer}


TOOLS = ({"name": "pick_colour", "description": "Let the person pick.", "parameters": {"type": "object"}},)


def shown(events: list[Any]) -> Any:
    """What a turn means on AG-UI's wire, without the ids that each session makes by itself."""
    folded = fold(events)
    texts = [
        (message.role, message.lane is None, message.text) for message in folded.messages if message.text
    ]
    calls = [
        (call.name, call.status, call.input, tool_result(call, {}, 0, modern=True)[0])
        for call in folded.calls.values()
    ]
    return texts, calls, folded.plan, folded.state, len(folded.lanes), folded.turns[-1].stop_reason


@pytest.mark.parametrize(
    "scenario",
    ["text", "tools", "parallel-tools", "permission", "permission-twice", "edit", "plan", "state", "link"],
)
async def test_an_agent_behind_agui_shows_what_it_shows_here(scenario: str) -> None:
    async with session_for(ScriptedAgent()) as session:
        here = await collect(session, Prompt.of(f"/{scenario}", tools=TOOLS), answering(session))
    async with distant() as agent, session_for(agent) as session:
        there = await collect(session, Prompt.of(f"/{scenario}", tools=TOOLS), answering(session))
    assert shown(there) == shown(here)


async def test_subagents_keep_their_lanes_and_their_texts() -> None:
    here = fold(await run_turn(ScriptedAgent(), "/subagents"))
    async with distant() as agent, hub_for(agent) as hub:
        there = fold(await collect(await hub.create(), "/subagents"))
    assert [lane.name for lane in there.lanes.values()] == [lane.name for lane in here.lanes.values()]
    texts = [[message.text for message in output.messages if message.text] for output in (here, there)]
    assert texts[0] == texts[1]


async def test_a_front_ends_own_tool_is_run_by_it_and_its_result_reaches_the_server() -> None:
    async with distant() as agent, session_for(agent) as session:
        tools = tuple(
            {"name": name, "description": ""} for name in ("pick_colour", "show_colour", "ask_colour")
        )
        events = await collect(session, Prompt.of("/client-tool", tools=tools), answering(session))
    asked = only(events, ev.Asked)
    if asked:
        assert "blue" in text_of(events)
    assert isinstance(events[-1], ev.TurnFinished)


async def test_a_refusal_reaches_the_server() -> None:
    async with distant() as agent, session_for(agent) as session:
        events = await collect(session, "/permission", answering(session, lambda question: "reject_once"))
    assert [call.status for call in fold(events).calls.values()] == ["denied"]


async def test_two_turns_are_one_thread_on_the_server() -> None:
    seen: list[str] = []

    async def remember(prompt: Prompt, ctx: trunkline.TurnContext) -> AsyncIterator[str]:
        history = await ctx.history()
        seen.append(" | ".join(message.text for message in history.messages))
        yield f"You said {prompt.text}."

    async with distant(trunkline.adapt(remember)) as agent, session_for(agent) as session:
        await collect(session, "one")
        await collect(session, "two")
    assert seen == ["", "one | You said one."]


async def test_cancel_here_stops_the_agent_there() -> None:
    running, stopped = asyncio.Event(), asyncio.Event()

    async def wait(prompt: Prompt) -> AsyncIterator[str]:
        yield "Waiting."
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with distant(trunkline.adapt(wait)) as agent, session_for(agent) as session:
        turn = asyncio.ensure_future(collect(session, "go"))
        await running.wait()
        await session.cancel()
        events = await turn
        await until(stopped.is_set)
    assert isinstance(events[-1], ev.TurnFinished)
    assert events[-1].stop_reason == "cancelled"


async def test_an_agent_that_fails_there_fails_here_with_its_own_message() -> None:
    async with distant() as agent, hub_for(agent) as hub:
        events = await collect(await hub.create(), "/fails")
    assert isinstance(events[-1], ev.TurnFailed)
    assert "on purpose" in events[-1].message


# -- servers that misbehave ------------------------------------------------------------------------


def answer_with(status: int, body: bytes, media: bytes = b"text/event-stream") -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        await receive()
        headers = [(b"content-type", media)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, b'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n', "without RUN_FINISHED"),
        (200, b"data: nonsense\n\n", "no JSON object"),
        (200, b'data: {"type":"TEXT_MESSAGE_CONTENT"}\n\n', "broken TEXT_MESSAGE_CONTENT"),
        (404, b"<h1>Not here</h1>", "answered 404: Not here"),
        (500, b"", "answered 500"),
        (401, b'{"error":"who?"}', "TRUNKLINE_AGUI_TOKEN"),
    ],
)
async def test_a_server_that_misbehaves_is_named_with_the_cause(
    status: int, body: bytes, expected: str
) -> None:
    async with (
        listening(answer_with(status, body), lifespan="off") as place,
        hub_for(AguiAgent(f"http://{place}/agui")) as hub,
    ):
        events = await collect(await hub.create(), "hi")
    assert isinstance(events[-1], ev.TurnFailed)
    assert expected in events[-1].message


async def test_a_server_that_is_not_there_is_named_with_what_to_do() -> None:
    events = await run_turn(AguiAgent("http://127.0.0.1:9/agui"), "hi")
    assert isinstance(events[-1], ev.TurnFailed)
    assert "start it, or check the address" in events[-1].message


@pytest.mark.parametrize("target", ["agui:", "agui:ftp://x", "agui:http://", "agui:localhost:80"])
def test_an_address_that_is_none_is_refused_with_the_form(target: str) -> None:
    with pytest.raises(TargetError, match="agui:http://HOST:PORT/agui"):
        resolve_target(target)


def test_the_target_names_the_agent_by_its_host() -> None:
    agent = resolve_target("agui:http://127.0.0.1:8000/agui")
    assert agent.card.name == "127.0.0.1"


async def misbehave(app: Any) -> list[ev.Event]:
    """What a session sees of a server."""
    async with listening(app, lifespan="off") as place, hub_for(AguiAgent(f"http://{place}/agui")) as hub:
        return await collect(await hub.create(), "hi")


STARTED = b'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n'
FINISHED = b'data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}\n\n'


def stream(*pieces: bytes, breaks: bool = False) -> Any:
    """A server that sends pieces, and then nothing until its client leaves; or it breaks."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if not breaks:
            await receive()

    return app


async def test_a_server_that_does_not_hang_up_after_the_end_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent_module, "_END_OF_STREAM_WITHIN", 0.05)
    events = await misbehave(stream(STARTED, FINISHED))
    assert isinstance(events[-1], ev.TurnFinished)


async def test_a_last_event_that_is_cut_before_its_empty_line_counts() -> None:
    events = await misbehave(answer_with(200, STARTED + FINISHED.rstrip()))
    assert isinstance(events[-1], ev.TurnFinished)


async def test_a_connection_that_breaks_in_the_middle_is_named() -> None:
    events = await misbehave(stream(STARTED, breaks=True))
    assert isinstance(events[-1], ev.TurnFailed)
    assert "broke" in events[-1].message


async def test_a_server_that_says_nothing_is_given_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.agents.agui.client._SILENCE_SECONDS", 0.05)
    events = await misbehave(stream(STARTED))
    assert isinstance(events[-1], ev.TurnFailed)
    assert "sent nothing for 0.05 s" in events[-1].message


async def test_a_server_that_never_stops_asking_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_module, "_MAX_RUNS", 3)
    asks = {"type": "interrupt", "interrupts": [{"id": "i", "reason": "input_required"}]}
    end = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": asks}
    body = STARTED + b"data: %b\n\n" % json.dumps(end).encode()
    async with (
        listening(answer_with(200, body), lifespan="off") as place,
        session_for(AguiAgent(f"http://{place}/agui")) as session,
    ):

        async def answer(asked: ev.Asked) -> None:
            given = Answer(question_id=asked.question_id, outcome="accepted", content={"answer": "so"})
            await session.answer(given)

        events = await collect(session, "hi", {ev.Asked: answer})
    assert len(only(events, ev.Asked)) == 3
    assert isinstance(events[-1], ev.TurnFinished)
    assert events[-1].stop_reason == "max_turn_requests"


# -- questions and tools ---------------------------------------------------------------------------


async def test_a_tool_that_the_front_end_does_not_run_is_a_failed_call() -> None:
    async with distant() as agent, session_for(agent) as session:

        async def decline(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, outcome="declined"))

        tools = ({"name": "pick_colour", "description": ""},)
        events = await collect(session, Prompt.of("/client-tool", tools=tools), {ev.Asked: decline})
    assert only(events, ev.Asked)
    assert [call.status for call in fold(events).calls.values()] == ["failed"]


@pytest.mark.parametrize("scenario", ["permission", "client-tool"])
async def test_an_answer_after_a_restart_reaches_the_server_once(scenario: str, tmp_path: Path) -> None:
    journal = await open_journal(f"sqlite:{tmp_path / 'journal.db'}")
    tools = ({"name": "pick_colour", "description": ""},)
    async with distant() as agent:
        async with session_for(agent, journal=journal, target="distant", session_id="s") as session:
            await session.prompt(Prompt.of(f"/{scenario}", tools=tools))
            await until(lambda: session.is_suspended)
        async with reopened("s", agent, journal=journal, target="distant") as session:
            await session.own()
            (asked,) = session.open_questions.values()
            async with session.follow() as reader, asyncio.timeout(10):
                await answering(session)[ev.Asked](asked)
                async for entry in reader:
                    if isinstance(entry.event, ev.TurnFinished | ev.TurnFailed):
                        break
            folded = await session.history()
    await journal.close()
    (call,) = folded.calls.values()
    assert call.status == "completed"
    assert folded.turns[-1].stop_reason == "end_turn"
    assert folded.messages[-1].text
