"""Runs of the real SDK, and raw events in its own types, given to a translator."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from agents.testing import ModelStep, ScriptedModel, assistant_message
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

import agents as sdk
from agents import Agent, RunConfig, Runner, stream_events
from trunkline import events as ev
from trunkline.agents.openai.stream_events.hook_facts import NestedEvent
from trunkline.agents.openai.stream_events.stop_reasons import notice_of, stop_of
from trunkline.agents.openai.stream_events.translator import StreamTranslator
from trunkline.conversation import Call, Conversation, Message, TextPart, ThoughtPart
from trunkline.folding import fold
from trunkline.grammar.machine import Grammar

__all__ = ["ModelStep", "Runner", "assistant_message", "fold", "msgspec"]

TURN = "turn-1"
QUIET = RunConfig(tracing_disabled=True)
_events: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
_WHERE: dict[str, Any] = {
    "sequence_number": 0,
    "item_id": "__fake_id__",
    "output_index": 0,
    "content_index": 0,
    "summary_index": 0,
    "annotation_index": 0,
    "logprobs": [],
}


def translator(*, first: int = 1, **options: Any) -> StreamTranslator:
    """A translator whose message ids are m1, m2 and so on, or begin at another number."""
    ids = itertools.count(first)
    return StreamTranslator(TURN, lambda: f"m{next(ids)}", **options)


@dataclass
class Played:
    """What came out of a run."""

    events: list[ev.AnyEvent] = field(default_factory=list[ev.AnyEvent])
    usage: list[ev.TokenUsage] = field(default_factory=list[ev.TokenUsage])
    error: Exception | None = None
    terminal: ev.TurnFinished | ev.TurnFailed = field(default_factory=ev.TurnFinished)
    result: Any = None

    @property
    def folded(self) -> Conversation:
        """What the events mean; they must be legal as they are."""
        return fold(legal(self.events))

    @property
    def text(self) -> str:
        """The answer of the agent itself."""
        return "".join(text_of(message) for message in self.folded.messages if message.lane is None)

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def call(self, call_id: str) -> Call:
        """A call as it stands at the end."""
        return self.folded.calls[call_id]

    def statuses(self, call_id: str) -> list[str]:
        """The statuses that a call had, one after the other."""
        updates = [event for event in self.of(ev.ToolUpdate) if event.call_id == call_id and event.status]
        return [str(update.status) for update in updates]

    @property
    def stop(self) -> str:
        """The stop reason; a failure has none."""
        assert isinstance(self.terminal, ev.TurnFinished), self.terminal
        return str(self.terminal.stop_reason)


def legal(events: Iterable[ev.AnyEvent]) -> list[ev.Event]:
    """Check that a grammar has nothing to add to these events, and nothing to say against them."""
    given: list[ev.Event] = [ev.TurnStarted(turn_id=TURN), *events, ev.TurnFinished(turn_id=TURN)]
    grammar = Grammar()
    out = [event for one in given for event in grammar.feed(one)]
    assert grammar.violations == []
    assert [event for event in out if event not in given] == []
    return out


def text_of(message: Message) -> str:
    """The text of a message."""
    return "".join(part.text for part in message.parts if isinstance(part, TextPart))


def thoughts_of(message: Message) -> str:
    """The reasoning of a message."""
    return "".join(part.text for part in message.parts if isinstance(part, ThoughtPart))


# -- raw events ------------------------------------------------------------------------------------


def raw(kind: str, **fields: Any) -> stream_events.RawResponsesStreamEvent:
    """A raw event in OpenAI's own type."""
    data = _events.validate_python({**_WHERE, "type": kind, **fields})
    return stream_events.RawResponsesStreamEvent(data=data)


def added(item: dict[str, Any], at: int = 0) -> stream_events.RawResponsesStreamEvent:
    """An output item begins."""
    return raw("response.output_item.added", item=item, output_index=at)


def done(item: dict[str, Any], at: int = 0) -> stream_events.RawResponsesStreamEvent:
    """An output item is whole."""
    return raw("response.output_item.done", item=item, output_index=at)


def response(output: Iterable[Any] = (), **fields: Any) -> Response:
    """A response of the Responses API."""
    return Response.model_validate(
        {
            "id": "resp_1",
            "created_at": 0,
            "model": "gpt",
            "object": "response",
            "output": list(output),
            "tool_choice": "auto",
            "tools": [],
            "parallel_tool_calls": True,
            **fields,
        }
    )


def created() -> stream_events.RawResponsesStreamEvent:
    """A response begins."""
    return raw("response.created", response=response())


def completed(output: Iterable[Any] = (), **fields: Any) -> stream_events.RawResponsesStreamEvent:
    """A response is complete."""
    return raw("response.completed", response=response(output, status="completed", **fields))


def message(text: str = "", **part: Any) -> dict[str, Any]:
    """A message item."""
    content: list[Any] = (
        [{"type": "output_text", "text": text, "annotations": [], **part}] if text or part else []
    )
    return {
        "id": "__fake_id__",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def step(*items: Any) -> ModelStep:
    """A response with these output items, which the scripted model cannot stream by itself."""
    ends = [raw("response.output_item.done", item=item, output_index=at) for at, item in enumerate(items)]
    return ModelStep.stream([event.data for event in (created(), *ends, completed(items))])


def translate(*items: Any, close: bool = True, **options: Any) -> Played:
    """Give events and facts to a translator, and close it."""
    played = Played()
    made = translator(on_usage=played.usage.append, **options)
    for item in items:
        played.events += made.feed(item)
    if close:
        played.events += made.close()
    played.terminal = stop_of(None, made.facts)
    return played


# -- runs ------------------------------------------------------------------------------------------


async def play(
    agent: Agent[Any], prompt: Any = "hi", made: StreamTranslator | None = None, **options: Any
) -> Played:
    """Run an agent, and give its events to a translator as a session does."""
    played = Played()
    made = made or translator(on_usage=played.usage.append)
    options.setdefault("run_config", QUIET)
    result = played.result = Runner.run_streamed(agent, prompt, **options)
    try:
        async for event in result.stream_events():
            played.events += made.feed(event)
    except Exception as error:
        played.error = error
    if not result.interruptions:
        played.events += made.close()
    if (notice := notice_of(played.error)) is not None:
        played.events.append(notice)
    played.terminal = stop_of(played.error, made.facts)
    return played


async def play_nested(make: Any) -> Played:
    """Run the agent that ``make(on_stream)`` gives, with the events of the agents that it runs as tools."""
    inner: list[ev.AnyEvent] = []
    made = translator()

    async def on_stream(payload: Any) -> None:
        fact = NestedEvent(
            tool_call=payload["tool_call"], event=payload["event"], agent=payload["agent"].name
        )
        inner.extend(made.feed(fact))

    played = Played()
    result = Runner.run_streamed(make(on_stream), "hi", run_config=QUIET)
    async for event in result.stream_events():
        out = made.feed(event)
        played.events += inner + out
        inner.clear()
    played.events += inner + made.close()
    return played


def agent(*steps: Any, name: str = "main", **options: Any) -> Agent[Any]:
    """An agent whose model says these steps."""
    return sdk.Agent(name=name, model=ScriptedModel(list(steps)), **options)
