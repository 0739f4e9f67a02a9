"""Small agents of the SDK with models that say what a test tells them, and what tests ask of a session."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from agents.testing import ScriptedModel, assistant_message, function_call

from agents import Agent, function_tool
from tests.hubs import soon, until
from trunkline.agents.openai import OpenAIAgent
from trunkline.commands import Answer, Prompt
from trunkline.conversation import Call, Conversation
from trunkline.folding import fold
from trunkline.session.session import Session


def say(text: str) -> list[Any]:
    """A model's answer."""
    return [assistant_message(text)]


def call(tool: str, call_id: str, /, **arguments: Any) -> Any:
    """A model's call of a tool."""
    return function_call(tool, arguments, call_id=call_id)


@function_tool
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"It is sunny in {city}."


@function_tool
def broken(why: str) -> str:
    """Fail, always."""
    raise ValueError(why)


class Payments:
    """A tool that must be approved, and what it did."""

    def __init__(self) -> None:
        self.paid: list[int] = []

        @function_tool(needs_approval=True)
        def pay(amount: int) -> str:
            """Pay an amount."""
            self.paid.append(amount)
            return f"Paid {amount}."

        self.tool: Any = pay


class WaitingTool:
    """A tool that waits until it may go on, and what is known of it meanwhile."""

    def __init__(self) -> None:
        self.begun, self.go, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

        @function_tool
        async def wait() -> str:
            """Wait."""
            self.begun.set()
            try:
                await self.go.wait()
            finally:
                self.ended.set()
            return "done"

        self.tool: Any = wait


def agent_of(
    *steps: Any, tools: Any = (weather,), name: str = "Helper", **options: Any
) -> tuple[OpenAIAgent, ScriptedModel]:
    """An agent and its model."""
    own = {key: options.pop(key) for key in list(options) if key in Agent.__dataclass_fields__}
    model = ScriptedModel([say(step) if isinstance(step, str) else step for step in steps])
    agent: Agent[Any] = Agent(name=name, model=model, tools=list(tools), **own)
    return OpenAIAgent(agent, **options), model


PAY = [call("pay", "p1", amount=3), call("weather", "w1", city="Rome"), call("pay", "p2", amount=4)]
"""Two calls that must be approved, with one between that need not be."""


def paying(*steps: Any, payments: Payments | None = None) -> tuple[OpenAIAgent, ScriptedModel, Payments]:
    """An agent that can pay."""
    payments = payments or Payments()
    agent, model = agent_of(*(steps or (PAY, "Done.")), tools=[payments.tool, weather])
    return agent, model, payments


# -- sessions ------------------------------------------------------------------------------------------


async def started(session: Session, words: str = "Pay them.") -> Any:
    """Begin a turn, without waiting for its end."""
    return await soon(session.prompt(Prompt.of(words)))


async def stopped(session: Session, questions: int) -> list[Any]:
    """Wait until a session has asked everything that it wants to know at once."""
    await until(lambda: len(session.open_questions) == questions and session.is_suspended)
    return list(session.open_questions.values())


def answers_to(session: Session, answers: Mapping[str, Any]) -> list[Answer]:
    """Answers to the open questions about these calls: an option, or the fields of an answer."""
    given: list[Answer] = []
    for asked in session.open_questions.values():
        answer: Any = answers.get(getattr(asked.question, "call_id", ""))
        if answer is not None:
            fields: Any = {"option_id": answer} if isinstance(answer, str) else answer
            given.append(Answer(question_id=asked.question_id, **fields))
    return given


async def finish(session: Session, answers: Mapping[str, Any]) -> Conversation:
    """Answer open questions by their calls, and give the conversation once the turn ended."""
    await soon(session.answer(*answers_to(session, answers)))
    return await ended(session)


async def ended(session: Session) -> Conversation:
    """The conversation of a session whose turn has come to its end."""
    await until(lambda: not session.busy)
    return await conversation(session)


async def conversation(session: Session) -> Conversation:
    """What was said in a session so far."""
    return fold([entry.event async for entry in session.replay()])


def named(conversation: Conversation) -> dict[str, Call]:
    """The calls by the ids that the model gave them."""
    return {call.native_id or call.call_id: call for call in conversation.calls.values()}


def statuses(conversation: Conversation) -> dict[str, str]:
    """What became of each call."""
    return {call_id: str(call.status) for call_id, call in named(conversation).items()}


def sent(model: ScriptedModel, number: int = -1) -> list[tuple[str, Any]]:
    """What a model was given: roles with text, calls with their arguments, outputs with their text."""
    given: Any = model.calls[number].input
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return [_short(dict(item)) for item in items]


def _short(item: dict[str, Any]) -> tuple[str, Any]:
    if item.get("type") == "function_call":
        return f"call {item['call_id']}", item["arguments"]
    if item.get("type") == "function_call_output":
        return f"output {item['call_id']}", item["output"]
    content: Any = item.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", part["type"])) for part in cast("list[Any]", content))
    return str(item.get("role")), content
