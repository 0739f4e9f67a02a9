"""Responses on turns: prompts, answers, second messages, going back, stopping, resuming."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.frontends.aisdk.chats import Page, answered, user
from tests.hubs import Turnstile, echo, hub_for, soon, until

from trunkline.commands import Prompt
from trunkline.errors import AlreadyAnswered, InvalidCommand, SessionBusy, SessionNotFound
from trunkline.frontends.aisdk.chat_request import read_chat_request
from trunkline.frontends.aisdk.endpoint import AisdkEndpoint
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.testing import ScriptedAgent

WEATHER = {"name": "get_weather", "description": "What the weather is like"}


@asynccontextmanager
async def page_for(
    agent: Any = None, options: AisdkOptions | None = None, **sends: Any
) -> AsyncGenerator[Page]:
    async with hub_for(agent or ScriptedAgent()) as hub:
        yield Page(AisdkEndpoint(hub, options), **sends)


def call_in(message: dict[str, Any]) -> dict[str, Any]:
    (call,) = [part for part in message["parts"] if "toolCallId" in part]
    return call


async def test_a_prompt_is_answered_in_a_message_with_the_id_of_its_turn() -> None:
    async with page_for() as page:
        message = await page.send(user("/tools"))
        session = await page.endpoint.hub.session("c1")
        assert message["id"] == session.last_turn_id == message["metadata"]["turnId"]
        assert (page.types[0], page.types[-1]) == ("start", "finish")
        assert await page.endpoint.messages("c1") == page.messages


async def test_requests_of_one_chat_are_carried_out_one_after_the_other() -> None:
    turnstile = Turnstile()

    class SlowHub(Hub):
        async def session(self, *args: Any, **fields: Any) -> Session:
            await turnstile.pass_through()
            return await super().session(*args, **fields)

    async with hub_for(echo) as hub:
        await hub.create("c1")
        slow = SlowHub(hub.agent, hub.journal, settings=hub.settings)
        page = Page(AisdkEndpoint(slow))

        async def ask() -> None:
            await (await page.open(user("hello"))).close()

        assert await turnstile.let_three_pass(ask) == 1
        await slow.close()


@pytest.mark.parametrize("approved", [True, False])
async def test_an_approval_in_the_next_request_goes_on_with_the_same_message(approved: bool) -> None:
    async with page_for() as page:
        asked = await page.send(user("/permission"))
        assert page.chunks[-1]["finishReason"] == "tool-calls"
        message = await page.send(answered(asked, approved))
        assert message["id"] == asked["id"]
        assert call_in(message)["state"] == ("output-available" if approved else "output-denied")
        assert call_in(message)["approval"]["approved"] is approved
        assert await page.reload() == [user("/permission"), message]


async def test_two_approvals_are_answered_with_one_request() -> None:
    async with page_for() as page:
        message = await page.send(user("/permission-twice"))
        waiting = [part for part in message["parts"] if part.get("state") == "approval-requested"]
        while waiting:
            message = await page.send(answered(message))
            waiting = [part for part in message["parts"] if part.get("state") == "approval-requested"]
        assert page.chunks[-1]["finishReason"] == "stop"
        assert (await page.reload())[-1] == message


async def test_an_approval_that_comes_too_late_still_streams_to_a_finish() -> None:
    async with page_for() as page:
        asked = await page.send(user("/permission"))
        await page.endpoint.answer("c1", call_in(asked)["approval"]["id"], {"approved": False})
        message = await page.send(answered(asked, True))
        assert page.chunks[-1]["type"] == "finish"
        assert page.text == "Nothing was written.", "what the other page's answer led to"
        assert message == (await page.reload())[-1]


async def test_an_answer_that_comes_too_late_while_another_question_is_open_streams_to_a_finish() -> None:
    async def one_by_one(ctx: TurnContext) -> AsyncIterator[str]:
        first, second = ctx.permission("one?", tool="a"), ctx.permission("two?", tool="b")
        done = [asyncio.ensure_future(first), asyncio.ensure_future(second)]
        await asyncio.wait(done, return_when=asyncio.FIRST_COMPLETED)
        yield "One is answered. "
        await asyncio.wait(done)

    async with page_for(one_by_one) as page:
        asked = await page.send(user("go"))
        session = await page.endpoint.hub.session("c1")
        first, second = session.open_questions
        await page.endpoint.answer("c1", first, {"approved": True})
        await until(lambda: session.is_suspended)
        message = await page.send(asked, answers={first: {"approved": False}})
        assert page.text == "One is answered. ", "what the other page's answer led to"
        assert page.chunks[-1]["finishReason"] == "tool-calls"
        assert message == (await page.reload())[-1]
        await page.send(message, answers={"nobody's": {"approved": True}})
        assert page.types == ["start", "start-step", "finish-step", "finish"]
        assert list(session.open_questions) == [second]


async def test_an_approval_of_a_message_that_does_not_exist_ends_at_once() -> None:
    async with page_for() as page:
        asked = await page.send(user("/permission"))
        await page.endpoint.stop("c1")
        stranger = {**answered(asked), "id": "made-by-the-page"}
        page.messages = [user("/permission"), stranger]
        await page.send()
        assert page.types == ["start", "start-step", "finish-step", "finish"]


async def test_answers_may_come_from_two_pages_and_neither_misses_what_is_said() -> None:
    async def twice(ctx: TurnContext) -> AsyncIterator[str]:
        first, second = ctx.permission("one?", tool="a"), ctx.permission("two?", tool="b")
        done = [asyncio.ensure_future(first), asyncio.ensure_future(second)]
        await asyncio.wait(done, return_when=asyncio.FIRST_COMPLETED)
        yield "One is answered. "
        await asyncio.wait(done)
        yield "Both are."

    async with page_for(twice) as page:
        asked = await page.send(user("go"))
        session = await page.endpoint.hub.session("c1")
        first, second = session.open_questions
        await page.endpoint.answer("c1", first, {"approved": True})
        await until(lambda: session.is_suspended)
        message = await page.send(answered(asked), answers={second: {"approved": True}})
        assert page.text == "One is answered. Both are.", "from where this page left off"
        assert message == (await page.reload())[-1]


async def test_a_form_is_answered_beside_the_stream_and_the_rest_is_resumed() -> None:
    async with page_for() as page:
        asked = await page.send(user("/form"))
        (part,) = [part for part in asked["parts"] if part["type"] == "data-question"]
        question = part["data"]["questionId"]
        with pytest.raises(InvalidCommand, match="wants its fields"):
            await page.endpoint.answer("c1", question, {})
        response = await page.endpoint.resume("c1")
        assert response is not None, "a turn that waits is shown too: its page may have lost the stream"
        assert await page.take(response, resumes=True) == asked
        await page.endpoint.answer("c1", question, {"content": {"name": "Ada", "colour": "red"}})
        with pytest.raises(AlreadyAnswered, match="already answered by aisdk:local"):
            await page.endpoint.answer("c1", question, {"content": {"name": "Bob", "colour": "red"}})
        session = await page.endpoint.hub.session("c1")
        await soon(session.wait_until_idle())
        response = await page.endpoint.resume("c1")
        assert response is not None, "its last response ended where the turn waited"
        message = await page.take(response, resumes=True)
        assert await page.endpoint.resume("c1") is None
        assert message == (await page.reload())[-1]


@pytest.mark.parametrize("version", [5, 6, 7])
async def test_a_page_that_loaded_its_messages_before_the_end_is_shown_the_turn(version: Any) -> None:
    go = asyncio.Event()

    async def waits() -> AsyncIterator[str]:
        yield "before "
        await go.wait()
        yield "after"

    async with page_for(waits, version=version) as page:
        response = await page.open(user("go"))
        await page.reload()
        await response.close()
        fresh = Page(page.endpoint, version=version)
        await fresh.reload()
        go.set()
        session = await page.endpoint.hub.session("c1")
        await soon(session.wait_until_idle())
        response = await page.endpoint.resume("c1", version=version)
        assert response is not None
        await fresh.take(response, resumes=True)
        assert fresh.text == "before after"
        loaded = list(fresh.messages)
        assert await fresh.reload() == loaded
        assert await page.endpoint.resume("c1", version=version) is None


async def test_a_page_that_loads_its_messages_after_the_end_is_shown_nothing() -> None:
    async with page_for(echo) as page:
        response = await page.open(user("one two"))
        await response.close()
        session = await page.endpoint.hub.session("c1")
        await soon(session.wait_until_idle())
        turn_id = session.last_turn_id
        await page.reload()
        assert await page.endpoint.resume("c1") is None
        assert await page.endpoint.resume("c1", lacks="turn_other") is None
        response = await page.endpoint.resume("c1", lacks=turn_id)
        assert response is not None
        assert await page.take(response, resumes=True) == page.messages[-1]
        await session.rewind(None)
        assert await page.endpoint.resume("c1", lacks=turn_id) is None, "it does not count any more"


async def test_a_form_is_answered_in_the_body_of_a_request_too() -> None:
    async with page_for() as page:
        asked = await page.send(user("/form"))
        (part,) = [part for part in asked["parts"] if part["type"] == "data-question"]
        reply = {part["data"]["questionId"]: {"content": {"name": "Ada", "colour": "red"}}}
        message = await page.send(answers=reply)
        assert message["id"] == asked["id"]
        assert "Ada" in page.text


async def test_a_tool_of_the_page_is_run_by_the_page() -> None:
    async with page_for(tools=[WEATHER]) as page:
        asked = await page.send(user("/client-tool"))
        call = call_in(asked)
        name = call["type"].removeprefix("tool-") if call["type"] != "dynamic-tool" else call["toolName"]
        assert call["state"] == "input-available"
        assert not call.get("providerExecuted")
        done = {**call, "state": "output-available", "output": {"degrees": 21}}
        parts = [done if part is call else part for part in asked["parts"]]
        message = await page.send({**asked, "parts": parts})
        assert call_in(message)["output"] == {"degrees": 21}
        assert name
        assert (await page.reload())[-1] == message


async def test_the_type_of_a_page_s_own_tool_is_known_after_a_restart_of_the_page() -> None:
    async def asks(ctx: TurnContext) -> AsyncIterator[str]:
        yield str(await ctx.client_call("get_weather", {"city": "Oslo"}))

    async with page_for(asks, tools=[WEATHER]) as page:
        asked = await page.send(user("go"))
        assert call_in(asked)["type"] == "tool-get_weather"
        assert (await page.reload())[-1] == asked


async def test_a_second_message_takes_the_place_of_a_running_turn() -> None:
    async with page_for() as page:
        first = await page.open(user("/wait-for-cancel"))
        batches = aiter(first)
        await soon(anext(batches))
        other = Page(page.endpoint)
        await other.send(user("/text", "u2"))
        assert other.chunks[-1]["finishReason"] == "stop"
        rest = [chunk["type"] async for _, chunks in batches for chunk in chunks]
        assert rest[-2:] == ["abort", "finish"]


async def test_a_second_message_may_be_refused() -> None:
    async with page_for(options=AisdkOptions(busy="reject")) as page:
        first = await page.open(user("/wait-for-cancel"))
        with pytest.raises(SessionBusy, match="on its way"):
            await Page(page.endpoint).open(user("/text", "u2"))
        assert await page.endpoint.stop("c1", first.turn_id)


async def test_a_second_message_may_wait() -> None:
    async with page_for() as page:
        first = await page.open(user("/wait-for-cancel"))
        second = Page(page.endpoint)
        waiting = asyncio.create_task(second.send(user("/text", "u2"), busy="queue"))
        session = await page.endpoint.hub.session("c1")
        await until(lambda: len(session.open_state.queue) == 1)
        assert await page.endpoint.stop("c1", first.turn_id)
        message = await soon(waiting)
        assert message["id"] == session.last_turn_id != first.turn_id
        assert second.text


async def test_a_message_that_steers_joins_the_turn_and_its_response_ends() -> None:
    taken = asyncio.Event()

    async def steerable(ctx: TurnContext) -> AsyncIterator[str]:
        yield "working "
        while not (steered := await ctx.steered()):
            await asyncio.sleep(0.001)
        taken.set()
        yield steered[0].text

    async with page_for(steerable) as page:
        response = await page.open(user("go"))
        running = asyncio.create_task(page.take(response))
        other = Page(page.endpoint)
        await soon(other.send(user("left", "u2"), busy="steer"))
        assert other.types == ["start", "finish"]
        message = await soon(running)
        assert taken.is_set()
        assert page.text == "working left"
        assert await page.reload() == [user("go"), message]
        assert [part["id"] for part in message["parts"] if part["type"] == "steering-message"] == ["u2"]


async def test_a_request_that_is_sent_again_shows_the_same_turn() -> None:
    async with page_for(echo) as page:
        first = await page.send(user("hello there"))
        assert await Page(page.endpoint).send(user("hello there")) == first
        assert len(await page.reload()) == 2


async def test_a_request_whose_turn_failed_is_tried_again() -> None:
    async with page_for() as page:
        failed = await page.send(user("/fails"))
        page.messages = []
        again = await page.send(user("/fails"))
        assert again["id"] != failed["id"]
        assert page.types[-1] == "error"


async def test_an_answer_is_made_anew() -> None:
    async with page_for(echo) as page:
        await page.send(user("one", "u1"))
        first = await page.send(user("two", "u2"))
        page.messages = page.messages[:-1]
        again = await page.send(trigger="regenerate-message", messageId=first["id"])
        assert again["id"] != first["id"]
        assert page.text == "two "
        assert [one["id"] for one in await page.reload()][-2:] == ["u2", again["id"]]
        page.messages = page.messages[:-1]
        await page.send(trigger="regenerate-message")
        assert page.text == "two "


@pytest.mark.parametrize("asks_again", [{}, {"messages": []}], ids=["with its messages", "by its id"])
async def test_metadata_and_data_parts_of_a_message_are_loaded_again(asks_again: dict[str, Any]) -> None:
    cards = [{"type": "data-cite", "data": {"page": 3}}, {"type": "data-cite", "id": "d2", "data": 4}]
    said = {
        "id": "u1",
        "role": "user",
        "metadata": {"at": 1, "aisdk.dataParts": "mine"},
        "parts": [cards[0], {"type": "text", "text": "hello"}, cards[1]],
    }
    kept = {**said, "metadata": {"at": 1}}
    async with page_for(echo, version=7) as page:
        answer = await page.send(said)
        assert (await page.reload())[0] == kept
        body = {"trigger": "regenerate-message", "messageId": answer["id"], **asks_again}
        await page.take(await page.open(**body))
        assert (await page.reload())[0] == kept
        assert page.messages[1]["id"] != answer["id"]


async def test_the_last_answer_is_made_anew_for_a_page_that_sends_neither_messages_nor_an_id() -> None:
    async with page_for(echo) as page:
        bare = read_chat_request({"id": "c1", "trigger": "regenerate-message"})
        with pytest.raises(InvalidCommand, match="there is no message to answer again"):
            await page.endpoint.open(bare)
        await page.send(user("one", "u1"))
        before = await page.send(user("two", "u2"))
        again = await page.take(await page.endpoint.open(bare))
        assert again["id"] != before["id"]
        assert [one["id"] for one in await page.reload()][2:] == ["u2", again["id"]]


async def test_a_message_is_edited() -> None:
    async with page_for(echo) as page:
        await page.send(user("one", "u1"))
        await page.send(user("two", "u2"))
        page.messages = []
        message = await page.send(user("three", "u1"), messageId="u1")
        assert page.text == "three "
        assert await page.reload() == [user("three", "u1"), message]


async def test_what_is_under_way_is_shown_from_its_start() -> None:
    async with page_for() as page:
        first = await page.open(user("/slow 1000 0.01"))
        batches = aiter(first)
        await soon(anext(batches))
        await soon(anext(batches))
        await batches.aclose()
        await first.close()
        for version in (5, 6, 7):
            other = Page(page.endpoint, version=version)
            shown = [one["role"] for one in await other.reload()]
            assert shown == (["user", "assistant"] if version == 7 else ["user"])
        response = await page.endpoint.resume("c1")
        assert response is not None
        taking = asyncio.create_task(page.take(response, resumes=True))
        assert await page.endpoint.stop("c1", first.turn_id)
        message = await soon(taking)
        assert page.chunks[0]["messageId"] == first.turn_id
        assert message == (await page.reload())[-1]


@pytest.mark.parametrize("version", [5, 6])
async def test_a_turn_that_ends_between_the_messages_and_the_stream_is_still_shown(version: Any) -> None:
    async with page_for() as page:
        page.version = version
        running = await page.open(user("/wait-for-cancel"))
        other = Page(page.endpoint, version=version)
        assert [one["role"] for one in await other.reload()] == ["user"]
        assert await page.endpoint.stop("c1", running.turn_id)
        response = await page.endpoint.resume("c1", version=version)
        assert response is not None
        message = await other.take(response)
        assert await page.reload() == [user("/wait-for-cancel"), message]
        assert await page.endpoint.resume("c1", version=version) is None


async def test_a_stale_stop_stops_nothing() -> None:
    async with page_for() as page:
        done = await page.send(user("/text"))
        running = await page.open(user("/wait-for-cancel", "u2"))
        with pytest.raises(SessionBusy, match="nothing was stopped"):
            await page.endpoint.stop("c1", done["id"])
        session = await page.endpoint.hub.session("c1")
        assert session.running_turn_id == running.turn_id
        assert await page.endpoint.stop("c1")
        assert not await page.endpoint.stop("c1")


async def test_a_chat_that_does_not_exist_is_not_found() -> None:
    async with page_for() as page:
        assert await page.endpoint.resume("nowhere") is None
        for call in (
            page.endpoint.messages("nowhere"),
            page.endpoint.stop("nowhere"),
            page.endpoint.answer("nowhere", "q", {}),
        ):
            with pytest.raises(SessionNotFound):
                await call
        await page.send(user("/text"))
        with pytest.raises(SessionNotFound, match="no question"):
            await page.endpoint.answer("c1", "q", {})


async def test_a_history_that_a_page_brings_is_marked_or_dropped() -> None:
    heard: list[Any] = []

    async def listens(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        heard.append([message.text for message in (await ctx.history()).messages])
        yield "yes"

    theirs = [
        user("before", "u0"),
        {"id": "a0", "role": "assistant", "parts": [{"type": "text", "text": "so"}]},
    ]
    for options in (AisdkOptions(), AisdkOptions(import_history="drop")):
        async with page_for(listens, options) as page:
            page.messages = list(theirs)
            await page.send(user("now", "u1"))
    assert heard == [["before", "so"], []]


@pytest.mark.parametrize("version", [5, 6, 7])
async def test_a_history_that_a_page_brings_is_loaded_again_message_by_message(version: Any) -> None:
    said = [
        {**user("one", "u1"), "metadata": {"at": 1}},
        {"id": "a1", "role": "assistant", "parts": [{"type": "text", "text": "first"}]},
        user("two", "u2"),
        {"id": "a2", "role": "assistant", "parts": [{"type": "text", "text": "second"}]},
    ]
    async with page_for(echo) as page:
        page.version = version
        page.messages = list(said)
        await page.send(user("three", "u3"))
        loaded = await page.reload()
        texts = [[part.get("text") for part in one["parts"] if part["type"] == "text"] for one in loaded]
        assert texts[:5] == [["one"], ["first"], ["two"], ["second"], ["three"]]
        assert [one["role"] for one in loaded] == ["user", "assistant"] * 3
        assert loaded[0] == said[0]
        await page.send(trigger="regenerate-message", messageId=loaded[1]["id"])
        assert [one["id"] for one in (await page.reload())][:1] == ["u1"]
        assert len(page.messages) == 2


@pytest.mark.parametrize(
    "part", [{"type": "hologram"}, {"type": "data-x", "data": 1}, {"type": "text", "text": ""}]
)
async def test_a_new_chat_goes_on_after_its_first_message_was_refused(part: dict[str, Any]) -> None:
    async with page_for(echo) as page:
        with pytest.raises(InvalidCommand):
            await page.send({"id": "u1", "role": "user", "parts": [part]})
        await page.send(user("unanswered", "u2"), user("hi", "u3"))
        assert [(one["role"], one["parts"][-1].get("text")) for one in await page.reload()] == [
            ("user", "unanswered"),
            ("user", "hi"),
            ("assistant", "hi "),
        ]


async def test_a_history_that_cannot_be_read_is_refused_where_it_was_answered() -> None:
    async with page_for(echo) as page:
        page.messages = [
            {"id": "u1", "role": "user", "parts": [{"type": "hologram"}]},
            {"id": "a1", "role": "assistant", "parts": [{"type": "text", "text": "so"}]},
        ]
        with pytest.raises(InvalidCommand, match=r"Unsupported part type: hologram \(messages\[0\]"):
            await page.send(user("now", "u2"))


async def test_a_client_that_does_not_follow_sees_only_its_own_turns() -> None:
    async with page_for(echo) as page:
        await page.send(user("hello"))
        endpoint = page.endpoint
        again = read_chat_request({"id": "c1", "messages": [user("hello")]})
        with pytest.raises(SessionBusy, match="another client started"):
            await endpoint.open(again, starter="someone")
        past: dict[str, Any] = {
            "id": "c1",
            "messages": [],
            "trigger": "regenerate-message",
            "messageId": page.messages[-1]["id"],
        }
        with pytest.raises(InvalidCommand, match="there is no message"):
            await endpoint.open(read_chat_request(past), starter="someone")
