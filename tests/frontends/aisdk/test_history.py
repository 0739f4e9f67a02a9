"""What a request is compared with, and up to where its page has a message."""

from typing import Any

from tests.frontends.aisdk.chats import Page, answered, user
from tests.hubs import echo, hub_for

from trunkline.commands import Answer, Prompt
from trunkline.frontends.aisdk.chat_request import read_chat_request
from trunkline.frontends.aisdk.endpoint import AisdkEndpoint
from trunkline.frontends.aisdk.history import (
    answered_ids,
    count_new_bytes,
    find_seen,
    page_answers,
    read_client_tools,
    read_messages,
    read_outline,
)
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.intents import AnswerQuestions, StartTurn, TooLate
from trunkline.protocols.aisdk.wire import UIMessage, version_of
from trunkline.testing import ScriptedAgent


def request(*messages: Any, **fields: Any) -> Any:
    return read_chat_request({"id": "c1", "messages": list(messages), **fields})


def test_only_messages_that_a_chat_does_not_have_are_new() -> None:
    known = {"u1", "a1"}
    small = count_new_bytes(request(user("x" * 1000, "u1"), user("y", "u2")), known.__contains__)
    edited = count_new_bytes(request(user("x" * 1000, "u1")), known.__contains__)
    answers = count_new_bytes(request({**user("z" * 1000, "a1"), "role": "assistant"}), known.__contains__)
    assert small < 200
    assert edited > 1000, "an edited message is new"
    assert answers == 0


def test_the_questions_of_a_request_are_those_it_answers_or_comes_too_late_for() -> None:
    asked: Any = {
        "type": "dynamic-tool",
        "toolCallId": "t",
        "state": "approval-requested",
        "approval": {"id": "q2"},
    }
    told = answered({"id": "a", "role": "assistant", "parts": [asked, {"type": "text", "text": ""}]})
    last = UIMessage(id="a", role="assistant", parts=told["parts"])
    intent = AnswerQuestions(answers=(Answer(question_id="q1"),))
    assert answered_ids(last, intent) == {"q1", "q2"}
    assert answered_ids(None, intent) == {"q1"}
    assert answered_ids(last, TooLate(question_ids=("q3",))) == {"q3"}
    assert answered_ids(last, StartTurn(prompt=Prompt.of("x"))) == set()


def test_how_a_page_answered_is_in_its_message() -> None:
    parts: list[Any] = [
        {"type": "text", "text": "x", "approval": "none"},
        {"type": "dynamic-tool", "state": "approval-requested", "approval": {"id": "q0"}},
        {"type": "dynamic-tool", "state": "approval-responded", "approval": {"id": "q1", "approved": True}},
        {"type": "dynamic-tool", "state": "output-denied", "approval": {"id": "q2", "approved": False}},
    ]
    last = UIMessage(id="a", role="assistant", parts=parts)
    assert page_answers(last) == {"q1": True, "q2": False}
    assert page_answers(last, "output-denied") == {"q2": False}
    assert page_answers(None) == {}


async def test_a_page_has_its_message_up_to_the_suspension_with_its_questions() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        page = Page(AisdkEndpoint(hub))
        asked = await page.send(user("/permission"))
        session = await hub.session("c1")
        (question,) = session.open_questions
        turn_id = asked["id"]
        here = await find_seen(session, turn_id, {question})
        assert here is not None
        assert await find_seen(session, turn_id, {"another"}) is None, "nothing follows before the answer"
        assert await find_seen(session, turn_id, ()) is None
        assert await find_seen(session, "turn_x", {question}) is None
        await page.send(answered(asked))
        assert await find_seen(session, turn_id, {"another"}) == here, "the last one"


async def test_the_prompt_of_a_turn_is_found_for_those_who_see_the_past() -> None:
    async with hub_for(echo) as hub:
        page = Page(AisdkEndpoint(hub))
        message = await page.send(user("hello"))
        session = await hub.session("c1")
        again = request(trigger="regenerate-message", messageId=message["id"])
        said = (await read_outline(session, again)).prompt_of(message["id"])
        assert said is not None
        assert said.message_id == "u1"
        blind = await read_outline(session, again, sees_history=False)
        assert blind.prompt_of(message["id"]) is None
        for unknown in ("turn_of_nobody", "made-by-a-page"):
            none = await read_outline(session, request(trigger="regenerate-message", messageId=unknown))
            assert none.prompt_of(unknown) is None


async def test_messages_are_read_with_the_page_s_own_tools_and_metadata() -> None:
    async with hub_for(echo) as hub:
        page = Page(AisdkEndpoint(hub), tools=[{"name": "paint"}])
        mine = {**user("hello"), "metadata": {"mood": "good"}}
        message = await page.send(mine)
        session = await hub.session("c1")
        assert await read_client_tools(session) == {"paint"}
        assert await read_messages(session, AisdkOptions(), version_of(7)) == [mine, message]
        rest = await read_messages(session, AisdkOptions(), version_of(7), leaves_out=message["id"])
        assert rest == [mine]
