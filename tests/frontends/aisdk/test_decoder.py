"""What a request means for a chat: a turn, answers, or nothing any more."""

import re
from typing import Any

import pytest

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import AudioBlock, ImageBlock, LinkBlock, ResourceBlock, TextBlock, VideoBlock
from trunkline.errors import InvalidCommand
from trunkline.folding import fold
from trunkline.frontends.aisdk.decoder import ChatOutline, read_chat_request, read_intent
from trunkline.frontends.aisdk.messages import fold_ui_messages
from trunkline.intents import NO_REWIND, AnswerQuestions, StartTurn, TooLate
from trunkline.questions import ClientCall, Form, Link, Permission, default_options


def turn(number: int) -> list[ev.Event]:
    turn_id = f"t{number}"
    return [
        ev.TurnStarted(turn_id=turn_id),
        ev.UserMessage(turn_id=turn_id, message_id=f"u{number}", content=(TextBlock(text=f"hi {number}"),)),
        ev.Text(turn_id=turn_id, message_id=f"m{number}", delta="hello"),
        ev.TurnFinished(turn_id=turn_id),
    ]


EVENTS = [*turn(1), *turn(2)]
CHAT = ChatOutline.of(fold(EVENTS))
EMPTY = ChatOutline.of(fold([]))


def user(message_id: str, *parts: Any) -> Any:
    return {"id": message_id, "role": "user", "parts": list(parts) or [{"type": "text", "text": "go"}]}


def assistant(*parts: Any, **fields: Any) -> Any:
    return {"id": "t2", "role": "assistant", "parts": list(parts), **fields}


def intent(messages: list[Any], chat: ChatOutline = CHAT, questions: Any = None, **fields: Any) -> Any:
    return read_intent(
        read_chat_request({"id": "chat", "messages": messages, **fields}), chat, questions or {}, by="me"
    )


def asked(question: Any, question_id: str = "q1") -> dict[str, ev.Asked]:
    return {question_id: ev.Asked(question_id=question_id, question=question)}


def answer(question_id: str = "q1", **fields: Any) -> Answer:
    return Answer(question_id=question_id, by="me", key=f"aisdk:{question_id}", **fields)


PERMISSION = asked(Permission(call_id="c1", options=default_options()))
HISTORY = fold_ui_messages(EVENTS)


# -- prompts ---------------------------------------------------------------------------------------


def test_a_new_message_starts_a_turn_and_leaves_the_history_as_it_is() -> None:
    started = intent(
        [*HISTORY, {**user("u3"), "metadata": {"from": "page"}}],
        tools=[{"name": "pick"}],
        state={"a": 1},
        model="big",
    )

    assert isinstance(started, StartTurn)
    assert started.prompt.content == (TextBlock(text="go"),)
    assert started.prompt.message_id == "u3"
    assert started.prompt.meta == {"from": "page"}
    assert started.prompt.state == {"a": 1}
    assert started.prompt.forwarded == {"model": "big"}
    assert started.prompt.tools[0]["name"] == "pick"
    assert started.rewind_to is NO_REWIND
    assert started.history == ()
    assert not started.cancels_waiting


def test_a_page_that_is_behind_drops_nothing() -> None:
    assert intent([*HISTORY[:2], user("u3")]).rewind_to is NO_REWIND
    assert intent([user("u3")]).rewind_to is NO_REWIND


def test_a_new_message_gives_up_what_waits() -> None:
    assert intent([*HISTORY, user("u3")], questions=PERMISSION).cancels_waiting


def test_an_edited_message_is_asked_again_from_where_it_stood() -> None:
    edited = intent([*HISTORY[:2], user("u2", {"type": "text", "text": "else"})], messageId="u2")
    first = intent([user("u1", {"type": "text", "text": "else"})], messageId="u1")

    assert edited.prompt.content == (TextBlock(text="else"),)
    assert edited.prompt.message_id == "u2"
    assert edited.rewind_to == "m1"
    assert first.rewind_to is None


def test_an_answer_is_made_again_by_the_turns_id_with_what_the_person_said_then() -> None:
    again = intent(HISTORY[:3], trigger="regenerate-message", messageId="t2")
    short = intent([], trigger="regenerate-message", messageId="t1")
    last = intent(HISTORY[:3], trigger="regenerate-message")

    for made in (again, last):
        assert made.prompt.message_id == "u2"
        assert made.prompt.content == (TextBlock(text="hi 2"),)
        assert made.rewind_to == "m1"
    assert short.prompt.message_id == "u1"
    assert short.rewind_to is None


def test_an_answer_that_nobody_knows_cannot_be_made_again() -> None:
    with pytest.raises(InvalidCommand, match="there is no message 't9' to answer again"):
        intent([], trigger="regenerate-message", messageId="t9")


def test_a_chat_that_is_new_here_takes_over_the_pages_history() -> None:
    page = [
        {"id": "s", "role": "system", "parts": [{"type": "text", "text": "obey"}]},
        user("a1"),
        {
            "id": "a2",
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "text": "hm"},
                {"type": "text", "text": "yes"},
                {"type": "tool-pick", "toolCallId": "c1", "state": "output-available", "output": 2},
                {"type": "dynamic-tool", "toolName": "run", "toolCallId": "c2", "state": "output-error",
                 "errorText": "no"},
                {"type": "tool-pick", "toolCallId": "c3", "state": "input-available", "input": 1},
            ],
        },
        user("a3"),
    ]  # fmt: skip
    started = intent(page, EMPTY)
    again = intent(page, EMPTY, trigger="regenerate-message")

    assert started.history == again.history
    assert [type(event) for event in started.history] == [
        ev.UserMessage, ev.Text, ev.ToolCall, ev.ToolUpdate, ev.ToolCall, ev.ToolUpdate
    ]  # fmt: skip
    assert started.history[3].raw_output == 2
    assert started.history[5].reason == "no"
    assert again.rewind_to is NO_REWIND


def test_a_history_that_is_too_long_is_not_taken_over() -> None:
    with pytest.raises(InvalidCommand, match="takes over at most 5000"):
        intent([*(user(f"x{number}") for number in range(5_001)), user("last")], EMPTY)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA==", "filename": "a"},
            ImageBlock(mime_type="image/png", data="AA==", meta={"aisdk": {"filename": "a"}}),
        ),
        (
            {"type": "file", "mediaType": "audio/wav", "url": "data:audio/wav;base64,AA=="},
            AudioBlock(mime_type="audio/wav", data="AA=="),
        ),
        (
            {"type": "file", "mediaType": "video/mp4", "url": "data:video/mp4;base64,AA=="},
            VideoBlock(mime_type="video/mp4", data="AA=="),
        ),
        (
            {"type": "file", "mediaType": "text/csv", "url": "data:text/csv;base64,YSxi", "filename": "a b"},
            ResourceBlock(
                uri="attachment:a%20b", text="a,b", mime_type="text/csv",
                meta={"aisdk": {"filename": "a b"}},
            ),
        ),
        (
            {"type": "file", "url": "data:text/plain;base64,/w=="},
            ResourceBlock(uri="attachment:file", data="/w==", mime_type="text/plain"),
        ),
        (
            {"type": "file", "mediaType": "application/pdf", "url": "data:application/pdf;base64,AA=="},
            ResourceBlock(uri="attachment:file", data="AA==", mime_type="application/pdf"),
        ),
        (
            {"type": "file", "mediaType": "image/png", "url": "https://a.b/pics/c%20d.png"},
            LinkBlock(uri="https://a.b/pics/c%20d.png", name="c d.png", mime_type="image/png"),
        ),
        ({"type": "file", "url": "https://a.b"}, LinkBlock(uri="https://a.b", name="https://a.b")),
        ({"type": "file", "url": "https://[a"}, LinkBlock(uri="https://[a", name="https://[a")),
    ],
)  # fmt: skip
def test_a_file_is_its_contents_or_a_link(part: Any, expected: Any) -> None:
    assert intent([user("u3", part)]).prompt.content == (expected,)


def test_what_a_person_sent_comes_back_in_the_messages() -> None:
    parts = [
        {"type": "text", "text": "look"},
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA==", "filename": "a.png"},
        {"type": "file", "mediaType": "text/csv", "url": "data:text/csv;base64,YSxi", "filename": "b.csv"},
        {"type": "file", "mediaType": "image/png", "url": "https://a.b/c.png", "filename": "c.png"},
    ]
    prompt = intent([user("u3", *parts)]).prompt
    (folded,) = fold_ui_messages([ev.UserMessage(message_id="u3", content=prompt.content)])

    assert folded == user("u3", *parts)


def test_parts_of_an_assistant_are_skipped_in_a_persons_message() -> None:
    skipped = [
        {"type": "step-start"}, {"type": "reasoning", "text": "x"}, {"type": "data-x", "data": 1},
        {"type": "tool-x", "toolCallId": "c"}, {"type": "dynamic-tool"}, {"type": "source-url"},
        {"type": "source-document"}, {"type": "custom"}, {"type": "reasoning-file"},
        {"type": "steering-message"}, {"type": "text", "text": ""},
    ]  # fmt: skip

    assert intent([user("u3", *skipped, {"type": "text", "text": "a"})]).prompt.content == (
        TextBlock(text="a"),
    )


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (
            [{"type": "text", "text": "a"}, {"type": "hologram"}],
            "Unsupported part type: hologram (messages[0].parts[1])",
        ),
        ([{"kind": 1}], "messages[0].parts[0] is no part of a message"),
        ([{"type": "text"}], "messages[0].parts[0].text must be a text"),
        ([{"type": "file", "url": 3}], "messages[0].parts[0].url must be a text"),
        ([{"type": "file", "url": "blob:https://a.b/1"}], "give a data: URL"),
        ([{"type": "file", "url": "data:image/png;base64,*"}], "cannot be read"),
        ([{"type": "text", "text": ""}], "message 'u3' is empty"),
    ],
)  # fmt: skip
def test_a_message_that_cannot_be_read_is_refused_with_the_place(parts: list[Any], words: str) -> None:
    with pytest.raises(InvalidCommand, match=re.escape(words)):
        intent([{"id": "u3", "role": "user", "parts": parts}])


def test_a_message_of_the_system_is_no_prompt() -> None:
    with pytest.raises(InvalidCommand, match="the last message must be the user's"):
        intent([{"id": "s", "role": "system", "parts": []}])


# -- answers ---------------------------------------------------------------------------------------


def responded(approved: Any = True, **fields: Any) -> Any:
    return {
        "type": "dynamic-tool",
        "toolName": "write",
        "toolCallId": "c1",
        "state": "approval-responded",
        "input": {},
        "approval": {"id": "q1", "approved": approved, **fields},
    }


@pytest.mark.parametrize(
    ("part", "fields", "expected"),
    [
        (responded(), {}, answer(option_id="allow_once")),
        (responded(False, reason="not now"), {}, answer(option_id="reject_once", reason="not now")),
        (responded(reason="allow_always"), {}, answer(option_id="allow_always")),
        (responded(), {"answers": {"q1": {"optionId": "allow_always"}}}, answer(option_id="allow_always")),
    ],
)
def test_an_approval_is_answered_in_the_next_request(part: Any, fields: Any, expected: Answer) -> None:
    assert intent([assistant(part)], questions=PERMISSION, **fields) == AnswerQuestions(answers=(expected,))


def test_an_option_may_be_chosen_in_the_metadata_of_the_message() -> None:
    chosen = assistant(responded(), metadata={"answers": {"q1": {"optionId": "allow_always"}}})

    assert intent([chosen], questions=PERMISSION).answers == (answer(option_id="allow_always"),)


def test_the_output_of_a_pages_own_tool_is_the_answer_to_its_call() -> None:
    questions = asked(ClientCall(call_id="c1"))
    part: Any = {"type": "tool-pick", "toolCallId": "c1", "input": {}}

    done = intent([assistant({**part, "state": "output-available", "output": None})], questions=questions)
    failed = intent([assistant({**part, "state": "output-error", "errorText": "no"})], questions=questions)
    assert done.answers == (answer(outcome="accepted", content=None),)
    assert failed.answers == (answer(outcome="declined", reason="no"),)


def test_forms_links_and_permissions_of_version_5_are_answered_beside_the_messages() -> None:
    questions = {
        **PERMISSION,
        **asked(Form(fields={}), "q2"),
        **asked(Link(url="https://a.b"), "q3"),
        **asked(ClientCall(call_id="c4"), "q4"),
    }
    answers = {"q1": {"approved": True}, "q2": {"content": {"a": 1}}, "q3": {}, "q4": {"output": 5}}
    made = intent([assistant()], questions=questions, answers=answers)

    assert made.answers == (
        answer(option_id="allow_once"),
        answer("q2", outcome="accepted", content={"a": 1}),
        answer("q3", outcome="accepted"),
        answer("q4", outcome="accepted", content=5),
    )
    assert intent([], questions=asked(Link(url="https://a.b")), answers={"q1": {}}).answers


def test_answers_that_come_too_late_are_told_apart_from_nonsense() -> None:
    assert intent([assistant(responded())]) == TooLate(question_ids=("q1",))
    assert intent([assistant()], answers={"q9": {}}) == TooLate(question_ids=("q9",))
    done = {"type": "tool-pick", "toolCallId": "c1", "state": "output-available", "output": 1}
    assert intent([assistant(done)]) == TooLate(question_ids=())
    with pytest.raises(InvalidCommand, match="there is nothing to answer"):
        intent([assistant({"type": "text", "text": "hi"})])
    with pytest.raises(InvalidCommand, match="there is nothing to answer"):
        intent([])


@pytest.mark.parametrize(
    ("parts", "fields", "words"),
    [
        ([], {}, "the chat waits for an answer to q1"),
        ([responded("yes")], {}, "approved must be true or false"),
        ([responded()], {"answers": {"q1": 3}}, "answers.q1 must be an object"),
        ([responded()], {"answers": {"q1": {"optionId": "x"}}}, "there is no option 'x'"),
    ],
)
def test_answers_that_do_not_fit_are_refused(parts: list[Any], fields: Any, words: str) -> None:
    with pytest.raises(InvalidCommand, match=re.escape(words)):
        intent([assistant(*parts)], questions=PERMISSION, **fields)


def test_an_output_that_is_not_final_is_no_answer() -> None:
    part = {
        "type": "tool-pick",
        "toolCallId": "c1",
        "state": "output-available",
        "output": 1,
        "preliminary": True,
    }
    questions = asked(ClientCall(call_id="c1"))
    with pytest.raises(InvalidCommand, match="the chat waits for an answer to q1"):
        intent([assistant(part)], questions=questions)
    with pytest.raises(InvalidCommand, match="wants the output of the tool"):
        intent([assistant()], questions=questions, answers={"q1": {}})
