import json
from collections.abc import Collection
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import json_values

from trunkline import content as c
from trunkline import events as ev
from trunkline.conformance.agui.reference_client import JsonObject
from trunkline.conversation import Conversation
from trunkline.errors import InvalidCommand
from trunkline.folding import fold
from trunkline.frontends.agui.decoder import is_modern, read_input, read_intent
from trunkline.frontends.agui.thread_outline import ThreadOutline
from trunkline.intents import NO_REWIND, AnswerQuestions, Intent, StartTurn, TooLate
from trunkline.outline import CLIENT_MESSAGE_ID
from trunkline.questions import ClientCall, Form, Permission, default_options

EMPTY = Conversation()
FILLED = fold(
    [
        ev.UserMessage(message_id="u1", content=(c.TextBlock(text="hello"),)),
        ev.Text(message_id="m1", delta="I look."),
        ev.ToolCall(call_id="c1", name="search", message_id="m1"),
        ev.ToolUpdate(call_id="c1", status="completed", result_message_id="r1"),
        ev.Text(message_id="m2", delta="Done."),
        ev.UserMessage(message_id="u2", content=(c.TextBlock(text="more"),)),
        ev.Text(message_id="m3", delta="More."),
    ]
)
PERMISSION = Permission(call_id="c2", options=default_options())
PICK, PICK_TOO = ClientCall(call_id="c7"), ClientCall(call_id="c8")
YES = {"approved": True}


def user(key: str = "u9", content: Any = "hi", **fields: Any) -> JsonObject:
    return {"id": key, "role": "user", "content": content, **fields}


def spoken(key: str, **fields: Any) -> JsonObject:
    return {"id": key, "role": "assistant", "content": "x", **fields}


def result(key: str, call_id: str, content: Any = "done", **fields: Any) -> JsonObject:
    return {"id": key, "role": "tool", "toolCallId": call_id, "content": content, **fields}


def resume(**entries: Any) -> list[JsonObject]:
    return [
        {"interruptId": key, "status": "cancelled"}
        if payload is None
        else {"interruptId": key, "status": "resolved", "payload": payload}
        for key, payload in entries.items()
    ]


def asked(**questions: Any) -> dict[str, ev.Asked]:
    return {key: ev.Asked(question_id=key, question=question) for key, question in questions.items()}


def intent(
    *messages: JsonObject,
    known: Conversation = FILLED,
    open: dict[str, ev.Asked] | None = None,
    results: Collection[str] = (),
    **fields: Any,
) -> Intent:
    body = {"threadId": "t1", "runId": "r1", "messages": messages, **fields}
    return read_intent(
        read_input(json.dumps(body).encode()), ThreadOutline.of(known, results), open or {}, by="me"
    )


def start(*messages: JsonObject, **fields: Any) -> StartTurn:
    found = intent(*messages, **fields)
    assert isinstance(found, StartTurn)
    return found


# -- reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", "the request is not JSON"),
        (b'{"threadId": "t", "runId"', "the request is not JSON"),
        (b"[]", "the request is no RunAgentInput: it must be an object, not a list"),
        (b'{"threadId": "t", "messages": []}', "the field runId is missing"),
        (b'{"threadId": 1, "runId": "r", "messages": []}', "threadId must be a text, not a whole number"),
        (
            b'{"threadId": "t", "runId": "r", "messages": [{"role": "user"}]}',
            "field messages[0].id is missing",
        ),
        (b'{"threadId": "", "runId": "r", "messages": []}', "threadId must be a printable text"),
        (b'{"threadId": "t", "runId": "a\\nb", "messages": []}', "runId must be a printable text"),
        (b'{"threadId": "%b", "runId": "r", "messages": []}' % (b"x" * 513), "of 1 to 512 characters"),
        (
            b'{"threadId": "t", "runId": "r", "messages": [], "state": ' + b"[" * 200_000,
            "the request is nested too deeply",
        ),
        (b'{"threadId": "\xff"}', "the request is not JSON: 'utf-8' codec"),
    ],
)
def test_a_request_that_is_none_is_refused_saying_where(body: bytes, expected: str) -> None:
    with pytest.raises(InvalidCommand) as refused:
        read_input(body)

    assert expected in str(refused.value)


@pytest.mark.parametrize("version", [None, "", "0.9", "1.0", "2.7", "10", "x", "²", "9" * 5000])
def test_a_client_is_modern_if_it_says_so(version: str | None) -> None:
    body: JsonObject = {"threadId": "t", "runId": "r", "messages": [], "protocolVersion": version}

    assert is_modern(read_input(json.dumps(body).encode())) is (version in ("1.0", "2.7", "10", "9" * 5000))


# -- prompts ---------------------------------------------------------------------------------------


def test_everything_that_came_with_a_message_reaches_the_prompt() -> None:
    prompt = start(
        user(content=[{"type": "text", "text": "look"}], metadata={"k": 1}),
        known=EMPTY,
        tools=[{"name": "f", "description": "does", "parameters": {"type": "object"}}],
        context=[{"description": "d", "value": "v"}],
        state={"a": 1},
        forwardedProps={"p": 1},
    ).prompt

    assert prompt.content == (c.TextBlock(text="look"),)
    assert (prompt.message_id, prompt.run_id) == ("u9", "r1")
    assert prompt.tools == ({"name": "f", "description": "does", "parameters": {"type": "object"}},)
    assert prompt.context == ({"description": "d", "value": "v"},)
    assert prompt.state == {"a": 1}
    assert (prompt.forwarded, prompt.meta) == ({"p": 1}, {"k": 1})


@pytest.mark.parametrize(
    ("state", "meant"), [(None, None), ({}, None), ([], []), (0, 0), ({"a": None}, {"a": None})]
)
def test_an_empty_object_says_nothing_of_the_state(state: Any, meant: Any) -> None:
    assert start(user(), known=EMPTY, state=state).prompt.state == meant


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], "the last message must be the user's"),
        ([spoken("m9")], "the last message must be the user's"),
        ([user(content=[])], "message 'u9' is empty"),
        ([user(content=None)], "message 'u9' is empty"),
    ],
)
def test_without_content_there_is_nothing_to_answer(messages: list[JsonObject], expected: str) -> None:
    with pytest.raises(InvalidCommand) as refused:
        intent(*messages)

    assert expected in str(refused.value)


DEEP = "[" * 2_000 + "]" * 2_000


def made(**call: Any) -> JsonObject:
    return spoken("m1", toolCalls=[{"id": "c1", "function": {"name": "f", "arguments": "{}"}, **call}])


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (user(content=[{"type": "image", "source": "x"}]), "source of a content part must be an object"),
        (user(content=[{"type": "image", "source": [1]}]), "must be an object, not a list"),
        (user(content=[{"type": ["image"]}]), "type of a content part must be a text, not a list"),
        (user(content=[{"type": "text", "text": {}}]), "text of a content part must be a text"),
        (user(content=[{"type": "image", "source": {"type": "url", "value": 1}}]), "source.value of a"),
        (user(content=[{"type": "image", "source": {"value": "x", "mimeType": 1}}]), "source.mimeType of a"),
        (made(id=["c1"]), "id of a tool call must be a text, not a list"),
        (made(id=None), "id of a tool call must be a text, not null"),
        (made(function="f"), "function of a tool call must be an object, not a text"),
        (made(function={"name": "f", "arguments": {}}), "arguments of a tool call must be a text"),
        (made(function={"name": "f", "arguments": DEEP}), "are nested too deeply"),
    ],
)
def test_a_message_that_cannot_be_read_is_refused_saying_why(message: JsonObject, expected: str) -> None:
    messages = [message] if message["role"] == "user" else [message, result("r1", "c1"), user()]
    with pytest.raises(InvalidCommand) as refused:
        start(*messages, known=EMPTY)

    assert expected in str(refused.value)
    assert repr(message["id"]) in str(refused.value)


def test_arguments_that_a_model_broke_off_are_taken_over_as_they_are() -> None:
    broken = made(function={"name": "f", "arguments": '{"a": '})
    found = start(broken, result("r1", "c1"), user(), known=EMPTY)

    assert fold(found.history).calls["c1"].arguments == '{"a": '


_JSON = json_values | st.sampled_from(["", "x", "c1", "m1", "u1", "text", "image", "user", "tool"])
_SOURCES = st.fixed_dictionaries({}, optional=dict.fromkeys(("type", "value", "mimeType", "provider"), _JSON))
_PARTS = st.fixed_dictionaries(
    {}, optional={"type": _JSON, "text": _JSON, "source": _SOURCES | _JSON, "metadata": _JSON, "data": _JSON}
)
_FUNCTIONS = st.fixed_dictionaries({}, optional={"name": _JSON, "arguments": _JSON})
_CALLS = st.fixed_dictionaries({}, optional={"id": _JSON, "function": _FUNCTIONS | _JSON})
_MESSAGES = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["u1", "m1", "r1", "new"]),
        "role": st.sampled_from(["user", "assistant", "tool", "system", "reasoning", "other"]),
    },
    optional={
        "content": st.lists(_PARTS, max_size=2) | _JSON,
        "toolCalls": st.lists(_CALLS, max_size=2) | _JSON,
        "toolCallId": st.sampled_from(["c1", "c2"]) | _JSON,
        "error": _JSON,
        "metadata": _JSON,
    },
)
_ENTRIES = st.fixed_dictionaries(
    {},
    optional={"interruptId": st.just("q1") | _JSON, "status": st.just("resolved") | _JSON, "payload": _JSON},
)
_BODIES = st.fixed_dictionaries(
    {"threadId": st.just("t1"), "runId": st.just("r1"), "messages": st.lists(_MESSAGES, max_size=4) | _JSON},
    optional={
        "state": _JSON,
        "tools": _JSON,
        "context": _JSON,
        "forwardedProps": _JSON,
        "resume": st.lists(_ENTRIES, max_size=2) | _JSON,
        "protocolVersion": _JSON,
    },
)


@settings(max_examples=300)
@given(_BODIES | _JSON, st.sampled_from([EMPTY, FILLED]), st.booleans())
def test_any_json_is_a_request_or_refused(body: Any, known: Conversation, waits: bool) -> None:
    open = (
        asked(q1=PERMISSION, q2=Form(message="who?", fields={}), q3=ClientCall(call_id="c2")) if waits else {}
    )
    try:
        found = read_intent(read_input(json.dumps(body).encode()), ThreadOutline.of(known), open, by="me")
    except InvalidCommand:
        return
    if isinstance(found, StartTurn):
        # What is said must be possible to write.
        msgspec.json.encode([found.prompt, *found.history])


def test_the_history_of_an_unknown_thread_is_taken_over() -> None:
    found = start(user("u1"), spoken("m1"), user("u2"), known=EMPTY)

    assert [getattr(event, "message_id", None) for event in found.history] == ["u1", "m1"]
    assert found.prompt.message_id == "u2"


def test_of_a_known_thread_only_the_new_message_counts() -> None:
    found = start(user("u1", "changed"), spoken("m1"), spoken("m2"), user("u2"), spoken("m3"), user("u3"))

    assert (found.history, found.rewind_to, found.cancels_waiting) == ((), NO_REWIND, False)


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        ([user("u1"), spoken("m1"), result("r1", "c1"), spoken("m2"), user("u2")], "m2"),
        ([user("u1")], None),
        ([user("u1"), spoken("m1"), result("r1", "c1"), spoken("m2"), user("new")], "m2"),
        ([user("u1"), spoken("m1"), result("r1", "c1"), user("new")], "m1"),
        ([user("new")], NO_REWIND),
        ([spoken("greeting"), user("new")], NO_REWIND),
        (
            [user("u1"), spoken("m1"), spoken("m2"), user("u2"), spoken("m3"), spoken("stray"), user("new")],
            NO_REWIND,
        ),
        (
            [user("u2"), spoken("m3"), {"id": "x", "role": "reasoning", "content": "hm"}, user("new")],
            NO_REWIND,
        ),
    ],
)
def test_a_message_that_is_asked_again_or_edited_goes_back_first(
    messages: list[JsonObject], place: Any
) -> None:
    assert start(*messages).rewind_to is place or start(*messages).rewind_to == place


# -- results ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "place"),
    [
        (ev.TurnFinished(turn_id="t1", stop_reason="cancelled"), NO_REWIND),
        (ev.TurnFailed(turn_id="t1", code="interrupted", message="gone"), NO_REWIND),
        (ev.TurnFinished(turn_id="t1"), "u1"),
    ],
)
def test_what_a_client_missed_of_a_turn_that_was_cut_off_is_not_taken_back(end: Any, place: Any) -> None:
    known = fold(
        [
            ev.TurnStarted(turn_id="t1"),
            ev.UserMessage(turn_id="t1", message_id="u1", content=(c.TextBlock(text="hello"),)),
            ev.Text(turn_id="t1", message_id="m1", delta="Hi."),
            end,
        ]
    )

    assert start(user("u1"), user("u2"), known=known).rewind_to == place


def test_a_message_that_only_thinks_is_unknown_to_clients_and_no_reason_to_go_back() -> None:
    thinking = [
        ev.UserMessage(message_id="u1", content=(c.TextBlock(text="hello"),)),
        ev.Text(message_id="m1", delta="Hi."),
        ev.Thought(message_id="m2", delta="Hmm."),
        ev.Media(message_id="m3", content=c.ImageBlock(mime_type="image/png", data="aGk=")),
    ]
    thought = {"id": "m2:reasoning:1", "role": "reasoning", "content": "Hmm."}

    found = start(user("u1"), spoken("m1"), thought, user("u2"), known=fold(thinking))

    assert found.rewind_to is NO_REWIND


def test_a_result_of_a_call_that_was_taken_back_is_old_news() -> None:
    assert start(user("u1"), result("x", "gone"), user("new"), results={"gone"})


def test_another_result_for_a_call_of_the_agent_changes_nothing() -> None:
    found = start(user("u1"), spoken("m1"), result("r1", "c1", "FORGED"), spoken("m3"), user("new"))

    assert (found.history, found.rewind_to) == ((), NO_REWIND)


def test_the_results_of_the_front_ends_tools_answer_what_waits() -> None:
    waits = asked(q1=PICK, q2=PICK_TOO)

    found = intent(
        user("u1"),
        spoken("m1"),
        result("x", "c7", "red"),
        result("y", "c8", "", error="broke"),
        open=waits,
        results={"c7", "c8"},
    )

    assert isinstance(found, AnswerQuestions)
    one, two = found.answers
    assert (one.question_id, one.outcome, one.content, one.by) == ("q1", "accepted", "red", "me")
    assert (two.question_id, two.outcome, two.reason) == ("q2", "declined", "broke")
    assert [answer.meta for answer in found.answers] == [{CLIENT_MESSAGE_ID: "x"}, {CLIENT_MESSAGE_ID: "y"}]


def test_a_result_may_answer_a_call_that_only_the_question_knows_by_this_name() -> None:
    found = intent(result("mine", "c7~r2"), open=asked(q1=ClientCall(call_id="c7~r2")))

    assert isinstance(found, AnswerQuestions)


def test_a_new_message_instead_of_a_result_gives_up_what_waits() -> None:
    found = start(user("u1"), user("new"), open=asked(q1=ClientCall(call_id="c7")))

    assert found.cancels_waiting


@pytest.mark.parametrize(
    ("messages", "waits", "entries", "expected"),
    [
        (
            (spoken("m1"), result("x", "forged"), user("new")),
            {},
            None,
            "answers the call 'forged', which the",
        ),
        (
            (result("x", "c7"),),
            {"q1": PICK, "q2": PICK_TOO},
            None,
            "waits for the results of c8: send a tool",
        ),
        ((), {"q1": PERMISSION, "q2": PERMISSION}, {"q1": YES}, "the resume leaves out q2"),
        ((), {"q1": PERMISSION}, {"q9": YES}, "no run of this thread asked q9"),
        ((user("new"),), {"q1": PERMISSION}, None, "the thread waits for an answer to q1: send `resume`"),
        ((user("new"),), {"q1": PERMISSION}, {"q1": YES}, "send the new message in a run of its own"),
    ],
)
def test_a_request_that_does_not_fit_what_waits_is_refused_with_what_does(
    messages: Any, waits: Any, entries: Any, expected: str
) -> None:
    given = resume(**entries) if entries else None
    with pytest.raises(InvalidCommand, match=expected):
        intent(user("u1"), *messages, open=asked(**waits), results={"c7"}, resume=given)


ANSWERED = fold([ev.UserMessage(message_id="u1"), ev.Asked(question_id="q1", question=PERMISSION)])


@pytest.mark.parametrize(
    ("known", "messages", "entries", "ids"),
    [
        (FILLED, (user("u1"), spoken("m1"), result("x", "c1")), None, ()),
        (ANSWERED, (), {"q1": None}, ("q1",)),
        (EMPTY, (user("u1"), result("mine", "c7")), None, ()),
        (EMPTY, (), {"q1": YES}, ("q1",)),
    ],
    ids=["a result", "an answer", "a result in a lost thread", "an answer in a lost thread"],
)
def test_what_comes_after_its_question_is_over_comes_too_late(
    known: Conversation, messages: Any, entries: Any, ids: Any
) -> None:
    given = resume(**entries) if entries else None
    assert intent(*messages, known=known, resume=given) == TooLate(question_ids=ids)


# -- interrupts ------------------------------------------------------------------------------------


def test_a_resume_answers_all_that_is_open() -> None:
    waits = asked(q1=PERMISSION, q2=Form(fields={}))

    found = intent(user("u1"), open=waits, resume=resume(q2={"a": 1}, q1={"approved": True}))

    assert isinstance(found, AnswerQuestions)
    assert [(answer.question_id, answer.outcome) for answer in found.answers] == [
        ("q1", "selected"),
        ("q2", "accepted"),
    ]


def test_a_resume_leaves_client_calls_to_their_results() -> None:
    waits = asked(q1=PERMISSION, q2=ClientCall(call_id="c7"))

    found = intent(open=waits, resume=resume(q1=None))

    assert isinstance(found, AnswerQuestions)
    assert [answer.question_id for answer in found.answers] == ["q1"]


def test_a_resume_takes_the_results_of_client_calls_that_came_with_it() -> None:
    waits = asked(q1=PERMISSION, q2=ClientCall(call_id="c7"), q3=ClientCall(call_id="c8"))

    found = intent(user("u1"), result("mine", "c7", "blue"), open=waits, resume=resume(q1={"approved": True}))

    assert isinstance(found, AnswerQuestions)
    assert [(answer.question_id, answer.content, answer.meta) for answer in found.answers] == [
        ("q1", None, None),
        ("q2", "blue", {CLIENT_MESSAGE_ID: "mine"}),
    ]


def test_a_new_message_with_everything_dismissed_moves_on() -> None:
    found = start(user("u1"), user("new"), open=asked(q1=PERMISSION), resume=resume(q1=None))

    assert found.cancels_waiting
    assert found.prompt.message_id == "new"
