"""Responses as windows on the turns of a real session: a page asks, answers, resumes and asks again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.frontends.aisdk.responses import kinds
from tests.hubs import WAIT, echo, entries_of, session_for

from trunkline.conformance.aisdk.stream_rules import breaches
from trunkline.cursor import Cursor
from trunkline.frontends.aisdk.decoder import ChatOutline, read_chat_request, read_intent
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.frontends.aisdk.message_reducer import MessageReducer
from trunkline.frontends.aisdk.messages import fold_ui_messages
from trunkline.intents import NO_REWIND, AnswerQuestions, StartTurn
from trunkline.protocols.aisdk.wire import VERSIONS
from trunkline.session.session import Session
from trunkline.session.window import Window
from trunkline.testing import ScriptedAgent


class Page:
    """A page that sends requests, and folds the responses as the AI SDK does."""

    def __init__(self, session: Session, version: Any = 7) -> None:
        self.session = session
        self.version = version
        self.messages: list[Any] = []
        self._cursor: Cursor | None = None
        self._turn_id = ""

    async def send(self, **fields: Any) -> list[Any]:
        """Send a request and take the response; gives its chunks."""
        body = {"id": "chat", "messages": self.messages, **fields}
        chat = ChatOutline.of(await self.session.history())
        intent = read_intent(read_chat_request(body), chat, self.session.open_questions, by="page")
        if isinstance(intent, StartTurn):
            if intent.rewind_to is not NO_REWIND:
                await self.session.rewind(intent.rewind_to)
            self._turn_id = (await self.session.prompt(intent.prompt)).turn_id or ""
            self._cursor = None
        else:
            assert isinstance(intent, AnswerQuestions)
            await self.session.answer(*intent.answers)
        return await self.take()

    async def say(self, text: str, message_id: str = "u1") -> list[Any]:
        """Say something."""
        self.messages.append({"id": message_id, "role": "user", "parts": [{"type": "text", "text": text}]})
        return await self.send()

    async def take(self) -> list[Any]:
        """Take a response from where this page is in the turn."""
        encoder = AisdkEncoder(self._turn_id, version=self.version)
        window = Window(
            self.session,
            encoder,
            turn_id=self._turn_id,
            run_id="r",
            front_end="aisdk",
            after=self._cursor,
            ends_on_suspend=True,
            announce=None if self._cursor is None else encoder.announce,
        )
        chunks = encoder.begin()
        async with asyncio.timeout(WAIT):
            async for cursor, batch in window:
                chunks += batch
                self._cursor = cursor
        return chunks

    def folded(self, *responses: list[Any]) -> Any:
        """The message that responses make."""
        reducer = MessageReducer("", VERSIONS[self.version])
        for chunks in responses:
            reducer.feed_all(chunks)
        return reducer.message

    def approve(self, message: Any, *, approved: bool = True) -> Any:
        """Answer every approval of a message, as the page does by itself."""
        for part in message["parts"]:
            if part.get("state") == "approval-requested":
                part["state"] = "approval-responded"
                part["approval"] = {**part["approval"], "approved": approved}
        return message


async def held(session: Session, version: Any = 7) -> Any:
    """The assistant's last message, as the server holds it."""
    return fold_ui_messages(await entries_of(session), version=version)[-1]


def said(message: Any) -> str:
    return "".join(part.get("text", "") for part in message["parts"])


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("name", ["permission", "permission-twice"])
async def test_a_page_approves_in_the_next_request_and_the_message_goes_on(name: str, approved: bool) -> None:
    async with session_for(ScriptedAgent()) as session:
        page = Page(session)
        first = await page.say(f"/{name}")
        assert first[-1]["finishReason"] == "tool-calls"
        asked = page.approve(page.folded(first), approved=approved)
        second = await page.send(messages=[*page.messages, asked], messageId=asked["id"])

        assert breaches(first, 7) == []
        assert second[0]["messageId"] == first[0]["messageId"]
        assert kinds(second)[-1] == "finish"
        assert page.folded(first, second) == await held(session)
        # A page that is loaded anew takes the whole message again, through what was answered since.
        page._cursor = None  # pyright: ignore[reportPrivateUsage]
        assert page.folded(await page.take()) == await held(session)


async def test_version_5_answers_beside_the_messages() -> None:
    async with session_for(ScriptedAgent()) as session:
        page = Page(session, 5)
        first = await page.say("/permission")
        (question,) = [chunk["id"] for chunk in first if chunk["type"] == "data-permission"]
        second = await page.send(
            messages=[*page.messages, page.folded(first)], answers={question: {"optionId": "allow_once"}}
        )

        assert page.folded(first, second) == await held(session, 5)


async def test_a_form_is_filled_in_beside_the_messages() -> None:
    async with session_for(ScriptedAgent()) as session:
        page = Page(session)
        first = await page.say("/form")
        (question,) = [chunk["id"] for chunk in first if chunk["type"] == "data-question"]
        content = {"name": "Ada", "colour": "red"}
        second = await page.send(
            messages=[*page.messages, page.folded(first)], answers={question: {"content": content}}
        )

        message = page.folded(first, second)
        assert message == await held(session)
        assert said(message).startswith("Ordered: ")


async def test_a_tool_of_the_page_gives_its_output_in_the_next_request() -> None:
    async with session_for(ScriptedAgent()) as session:
        page = Page(session)
        first = await page.say("/client-tool")
        asked = page.folded(first)
        for part in asked["parts"]:
            if part.get("toolName") == "pick_colour":
                part |= {"state": "output-available", "output": "blue"}
        second = await page.send(messages=[*page.messages, asked])

        assert said(page.folded(first, second)) == 'The front end gave "blue".'


async def test_an_answer_is_made_again_and_an_edited_message_takes_back_what_followed() -> None:
    async with session_for(echo) as session:
        page = Page(session)
        first = page.folded(await page.say("one"))
        second = page.folded(await page.send(trigger="regenerate-message", messageId=first["id"]))
        assert second["id"] != first["id"]
        history = fold_ui_messages(await entries_of(session))
        assert [message["id"] for message in history] == ["u1", second["id"]]

        page.messages[-1]["parts"][0]["text"] = "two"
        third = page.folded(await page.send(messageId="u1"))
        history = fold_ui_messages(await entries_of(session))
        assert [message["id"] for message in history] == ["u1", third["id"]]
        assert history[0]["parts"][0]["text"] == "two"


async def test_a_response_that_is_cut_in_the_middle_of_a_text_goes_on_without_a_loss() -> None:
    gate = asyncio.Event()

    async def slow() -> AsyncIterator[str]:
        yield "one "
        await gate.wait()
        yield "two"

    async with session_for(slow) as session:
        page = Page(session)
        turn_id = (await session.prompt("go")).turn_id or ""
        encoder = AisdkEncoder(turn_id)
        window = Window(session, encoder, turn_id=turn_id, run_id="r", front_end="aisdk")
        seen: list[Any] = encoder.begin()
        async with asyncio.timeout(WAIT):
            async for cursor, batch in window:
                seen += batch
                if "text-delta" in kinds(batch):
                    page._cursor, page._turn_id = cursor, turn_id  # pyright: ignore[reportPrivateUsage]
                    break
        gate.set()
        rest = await page.take()

        assert said(page.folded(seen, rest)) == "one two"
