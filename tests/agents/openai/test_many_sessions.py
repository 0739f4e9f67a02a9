"""Twenty sessions of one agent at once: each has its own words, calls, answers and ids."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

from agents.testing import ScriptedModel

from agents import Agent, Model, ModelResponse, function_tool
from tests.agents.openai.sdk_agents import call, conversation, ended, say, started
from tests.hubs import events_of, hub_for, soon, until
from trunkline import events as ev
from trunkline.agents.openai import OpenAIAgent
from trunkline.commands import Answer
from trunkline.session.session import Session
from trunkline.workspace import Policy

SESSIONS = 20
WITHIN = 60.0


class Repeating(Model):
    """Calls ``look`` with the person's last word, always under the same id, and repeats what came back."""

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Nobody calls it without a stream."""
        raise NotImplementedError

    async def stream_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        items = cast("list[dict[str, Any]]", input)
        last = max(at for at, item in enumerate(items) if item.get("role") == "user")
        outputs = [item["output"] for item in items[last:] if item.get("type") == "function_call_output"]
        step = say(f"I saw {outputs[0]}.") if outputs else [call("look", "c1", word=_text(items[last]))]
        model = ScriptedModel([step])
        async for event in model.stream_response(system_instructions, input, *args, **kwargs):
            yield event


def _text(item: dict[str, Any]) -> str:
    content: Any = item["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


async def allow(session: Session) -> None:
    """Allow what a session asks for, with a word of its own in the arguments."""
    await until(lambda: bool(session.open_questions), WITHIN)
    (asked,) = session.open_questions.values()
    await soon(session.answer(Answer(question_id=asked.question_id, option_id="allow_once")), WITHIN)


async def test_twenty_sessions_at_once_mix_neither_words_nor_calls_nor_ids() -> None:
    everybody = asyncio.Barrier(SESSIONS)

    @function_tool
    async def look(word: str) -> str:
        """Look at a word, once every session does."""
        await soon(everybody.wait(), WITHIN)
        return f"<{word}>"

    agent = OpenAIAgent(Agent(name="Repeating", model=Repeating(), tools=[look]))
    async with hub_for(agent, policy=Policy.ask()) as hub:
        sessions = [await hub.create() for _ in range(SESSIONS)]
        for turn in ("first", "second"):
            # No session goes on before all are inside their tool.
            await asyncio.gather(*(started(one, f"{turn}-{at}") for at, one in enumerate(sessions)))
            await asyncio.gather(*(allow(one) for one in sessions))
            await asyncio.gather(*(soon(ended(one), WITHIN) for one in sessions))
        ids: list[str] = []
        for at, session in enumerate(sessions):
            shown = await conversation(session)
            # A message that holds a call alone has no text.
            assert [message.text for message in shown.messages if message.text] == [
                f"first-{at}",
                f"I saw <first-{at}>.",
                f"second-{at}",
                f"I saw <second-{at}>.",
            ]
            calls = list(shown.calls.values())
            assert [(one.input, one.status) for one in calls] == [
                ({"word": f"first-{at}"}, "completed"),
                ({"word": f"second-{at}"}, "completed"),
            ]
            events = await events_of(session)
            asked = [event for event in events if isinstance(event, ev.Asked)]
            assert [getattr(one.question, "call_id", None) for one in asked] == [one.call_id for one in calls]
            ids += [one.question_id for one in asked]
            ids += [message.message_id for message in shown.messages]
            ids += [one.turn_id for one in shown.turns]
    assert len(ids) == len(set(ids)) == SESSIONS * (2 + 6 + 2)
    assert len({one.session_id for one in sessions}) == SESSIONS
