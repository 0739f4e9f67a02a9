"""Whatever JSON a server sends, it is events of ours or an error that names the server."""

from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.strategies import json_values
from trunkline import events as ev
from trunkline.agents.agui import event_shapes
from trunkline.agents.agui.questions import AnsweredQuestion, open_questions, resume_fields
from trunkline.agents.agui.translator import AguiTranslator
from trunkline.errors import AgentProtocolError
from trunkline.grammar.event_check import check_event

KINDS = sorted(AguiTranslator()._handlers)  # pyright: ignore[reportPrivateUsage]
MAX = 60
IDS = st.sampled_from(["m1", "m2", "c1", "c2", "t", ""])
WORDS = st.sampled_from(["a", "{", '{"x": 1}', "", "assistant", "user", "message"])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object with some of these fields, each of them right or wrong."""
    return st.fixed_dictionaries({}, optional={name: right | ANY for name, right in fields.items()})


ANY: st.SearchStrategy[Any] = json_values
ABOUT = some(
    title=WORDS,
    kind=st.sampled_from(["search", "unheard-of"]),
    status=st.sampled_from(["failed", "unheard-of"]),
    error=WORDS,
    options=st.lists(some(optionId=IDS, name=IDS, kind=IDS)),
    url=WORDS,
)
REVIEW = some(
    action_requests=st.lists(some(name=IDS, args=ANY), max_size=2),
    review_configs=st.lists(some(action_name=IDS, allowed_decisions=st.lists(WORDS, max_size=2)), max_size=2),
)
METADATA = some(trunkline=ABOUT, langgraph=some(raw=REVIEW))
INTERRUPT = some(
    id=IDS,
    message=WORDS,
    reason=WORDS,
    toolCallId=IDS,
    responseSchema=some(properties=ANY, required=ANY),
    metadata=METADATA,
    subagentRunId=IDS,
)
MESSAGE = some(
    id=IDS,
    role=st.sampled_from(["user", "assistant", "tool", "reasoning", "activity"]),
    content=WORDS,
    toolCallId=IDS,
    error=WORDS,
    toolCalls=st.lists(some(id=IDS, function=some(name=WORDS, arguments=WORDS)), max_size=2),
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "messageId": IDS,
    "toolCallId": IDS,
    "toolCallName": IDS,
    "parentMessageId": IDS,
    "subagentRunId": IDS,
    "parentSubagentRunId": IDS,
    "parentToolCallId": IDS,
    "entityId": IDS,
    "encryptedValue": WORDS,
    "subtype": st.just("message"),
    "role": WORDS,
    "delta": WORDS | st.lists(st.fixed_dictionaries({"op": WORDS, "path": WORDS}), max_size=2),
    "content": WORDS | st.lists(json_values, max_size=2) | st.dictionaries(WORDS, json_values, max_size=2),
    "message": WORDS,
    "code": WORDS,
    "name": st.sampled_from(
        ["on_interrupt", "trunkline.plan", "trunkline.notice", "trunkline.source", "trunkline.media", "mine"]
    ),
    "value": st.dictionaries(
        st.sampled_from(["entries", "title", "severity", "part", "messageId", "message", "toolCallId"]),
        json_values,
    ),
    "rawEvent": st.dictionaries(st.just("id"), json_values),
    "snapshot": st.fixed_dictionaries(
        {"messages": st.lists(st.fixed_dictionaries({"type": st.just("ai"), "tool_calls": json_values}))}
    ),
    "messages": st.lists(MESSAGE, max_size=4),
    "stepName": IDS,
    "activityType": IDS,
    "patch": st.lists(json_values, max_size=2),
    "source": WORDS,
    "event": json_values,
    "description": WORDS,
    "runId": IDS,
    "outcome": some(
        type=WORDS, interrupts=st.lists(INTERRUPT, max_size=2), pendingToolCallIds=st.lists(IDS, max_size=2)
    ),
    "result": st.dictionaries(st.just("stopReason"), json_values),
    "usage": st.lists(st.dictionaries(st.sampled_from(["inputTokens", "model"]), json_values), max_size=2),
    "metadata": METADATA,
}


UNCHECKED: dict[str, tuple[str, ...]] = {
    "CUSTOM": ("value", "rawEvent"),
    "RAW": ("event",),
    "RUN_FINISHED": ("result",),
    "SUBAGENT_FINISHED": ("result",),
}
"""The fields that may be anything."""


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    """An event with fields that are right, wrong or missing."""
    kind = draw(st.sampled_from(KINDS))
    shape = event_shapes._SHAPES.get(kind)  # pyright: ignore[reportPrivateUsage]
    names: set[str] = set(shape.__annotations__) if shape is not None else set()
    event: dict[str, Any] = {"type": kind}
    for field in sorted({*names, *UNCHECKED.get(kind, ())}):
        how = draw(st.sampled_from(["right", "right", "right", "right", "any", "none"]))
        if how != "none":
            event[field] = draw(FIELDS[field] if how == "right" else json_values)
    return event


@settings(max_examples=MAX)
@given(st.lists(events(), min_size=1, max_size=6))
@example([{"type": "RUN_FINISHED", "outcome": "interrupt"}])
@example([{"type": "MESSAGES_SNAPSHOT", "messages": [7]}])
@example([{"type": "CUSTOM", "name": "on_interrupt", "rawEvent": 7}])
@example([{"type": "STATE_DELTA", "delta": [7]}])
def test_any_json_gives_events_that_a_journal_keeps_or_an_error_that_names_the_server(
    expected: list[dict[str, Any]],
) -> None:
    translator = AguiTranslator(peer="the AG-UI server at far.example")
    for event in expected:
        output, refused = read(translator, event)
        assert refused is None or ("far.example" in refused and event["type"] in refused)
        for one in output:
            assert isinstance(one, ev.Event)
            kept, _ = check_event(one, "agent")
            again = ev.decode_event(ev.encode_event(kept))
            assert type(again) is type(one)
        if translator.ending is not None:
            waits = open_questions(translator.ending, translator.calls, ["c1", "m1"])
            replies = [AnsweredQuestion(wait.key, wait.question, answer(wait.question)) for wait in waits]
            msgspec.json.encode(resume_fields(replies, translator.calls))
            for wait in waits:
                check_event(ev.Asked(question_id="q", question=wait.question, lane=wait.lane), "agent")


def read(translator: AguiTranslator, event: dict[str, Any]) -> tuple[list[ev.AnyEvent], str | None]:
    """What an event means, or why it means nothing; no other error is an answer."""
    try:
        return translator.feed(event), None
    except AgentProtocolError as error:
        return [], str(error)


def answer(question: Any) -> ev.Answered:
    options = getattr(question, "options", ())
    if options:
        return ev.Answered(question_id="q", outcome="selected", option_id=options[0].option_id)
    return ev.Answered(question_id="q", outcome="accepted", content={"answer": "x"})


@pytest.mark.parametrize(
    ("event", "where"),
    [
        ({"type": "TEXT_MESSAGE_CONTENT", "messageId": 7, "delta": "x"}, "Expected `str`, got `int`"),
        ({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": ["x"]}, "$.delta"),
        ({"type": "RUN_FINISHED", "outcome": {"interrupts": ["x"]}}, "$.outcome.interrupts[0]"),
        ({"type": "TOOL_CALL_START", "toolCallName": "f"}, "missing required field `toolCallId`"),
        ({"type": "TOOL_CALL_CHUNK", "toolCallId": "c"}, "no toolCallName"),
        ({"type": "RUN_ERROR", "message": None}, "$.message"),
    ],
)
def test_what_is_wrong_with_an_event_is_said(event: dict[str, Any], where: str) -> None:
    with pytest.raises(AgentProtocolError, match=f"^the server sent a broken {event['type']}: ") as raised:
        AguiTranslator().feed(event)
    assert where in str(raised.value)


def test_a_word_of_a_newer_server_of_ours_counts_as_not_given() -> None:
    about = {"metadata": {"trunkline": {"kind": "teleport", "status": "levitating", "title": "Go"}}}
    translator = AguiTranslator()
    (called,) = translator.feed({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f", **about})
    *_, result = translator.feed(
        {"type": "TOOL_CALL_RESULT", "toolCallId": "c", "messageId": "r", "content": "x", **about}
    )
    assert isinstance(called, ev.ToolCall)
    assert (called.kind, called.title) == ("other", "Go")
    assert isinstance(result, ev.ToolUpdate)
    assert result.status == "completed"
