"""The finance agent over its tools: plain on the base install, or with LangChain or the OpenAI Agents SDK.

All variants have the same card, tools, commands and modes. The plain agent calls the offline model itself;
the others give it to their framework as its model, or use a real model if one is named.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline._version import __version__
from trunkline.agents.adapt import FactoryAgent
from trunkline.agents.interface import Agent, AgentCard, PromptCapabilities
from trunkline.commands import Prompt
from trunkline.content import TextBlock
from trunkline.demos.finance.attachments import attached_name
from trunkline.demos.finance.commands import COMMANDS
from trunkline.demos.finance.options import MODE
from trunkline.errors import AgentError, ConfigurationError
from trunkline.session.context import SessionView, TurnContext

if TYPE_CHECKING:
    from trunkline.conversation import Conversation
    from trunkline.demos.finance.ledger.database import Ledger
    from trunkline.demos.finance.offline_model import Item, Reply
    from trunkline.tools import ToolRegistry

__all__ = ["FinanceAgent", "finance_agent", "finance_langchain", "finance_openai"]

CARD = AgentCard(
    name="trunkline-finance",
    title="Trunkline Finance",
    version=__version__,
    description="Answers questions about your own bank data; until you import a file, about made-up data.\n"
    "It is not a language model: it understands questions by rules, and nothing leaves this machine. Try:\n"
    "  How much did I spend on groceries last month?\n"
    "  Why was October higher than September?\n"
    "  Which subscriptions got dearer?\n"
    "  Import statement.csv",
    prompt=PromptCapabilities(embedded_context=True),
    options=(MODE,),
    commands=COMMANDS,
)

_DEFAULT_MODEL = "openai:gpt-5.5"
"""The model of LangChain where only ``OPENAI_API_KEY`` is set."""
_MOST_CALLS = 40
"""How many calls a prompt may lead to: a plan has few steps."""


class Desk:
    """The ledger, its tools and the offline model; nothing is opened or imported before the first use."""

    def __init__(self, url: str | None = None, today: Callable[[], date] | None = None) -> None:
        """Use the ledger at an address, else that of ``DATABASE_URL``; ``today`` is for tests."""
        self._url = url
        self._today = today
        self._ledger: Ledger | None = None
        self._tools: dict[bool, ToolRegistry] = {}
        self._lock = threading.Lock()

    def today(self) -> date:
        """The present day; ``TRUNKLINE_TODAY`` overrides the clock."""
        if self._today is not None:
            return self._today()
        from trunkline.demos.finance.today import now

        return now().date()

    @property
    def ledger(self) -> Ledger:
        """The ledger; at the first start it is filled with made-up data."""
        with self._lock:
            if self._ledger is None:
                from trunkline.demos.finance.ledger.database import Ledger
                from trunkline.demos.finance.ledger.demo import seed_demo

                ledger = Ledger(self._url)
                with ledger.writing() as db:
                    seed_demo(db, self.today())
                self._ledger = ledger
            return self._ledger

    @property
    def tools(self) -> ToolRegistry:
        """The registry of tools; the one for banks is there as long as one is linked."""
        from trunkline.demos.finance.bank.items import linked
        from trunkline.demos.finance.tools.registry import make_tools

        with self.ledger.reading() as db:
            has_bank = linked(db)
        if has_bank not in self._tools:
            self._tools[has_bank] = make_tools(self.ledger, self.today, has_bank=has_bank)
        return self._tools[has_bank]

    def plan(self, items: Sequence[Item], tools: Sequence[str]) -> Reply:
        """Ask the offline model for its next reply."""
        from trunkline.demos.finance.offline_model import plan_reply
        from trunkline.demos.finance.tools.registry import read_vocabulary

        return plan_reply(items, tools, read_vocabulary(self.ledger), self.today())


class FinanceAgent:
    """The plain finance agent: the offline model, the tools, and a loop between them."""

    def __init__(self, url: str | None = None, today: Callable[[], date] | None = None) -> None:
        """Use the ledger at an address, else that of ``DATABASE_URL``; ``today`` is for tests."""
        self.card = CARD
        self.desk = Desk(url, today)

    @property
    def tools(self) -> ToolRegistry:
        """The registry of tools, for ``trunkline mcp finance``."""
        return self.desk.tools

    @property
    def instructions(self) -> str:
        """What the model of an MCP client is told."""
        return _instructions()

    async def open_session(self, session: SessionView) -> None:
        """Open the ledger; a broken one is said now."""
        await asyncio.to_thread(lambda: self.desk.tools)

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        """Answer a prompt: ask the offline model, make its calls, until it has answered."""
        from trunkline.demos.finance.offline_model import Called, Returned, Said, split_words
        from trunkline.tools import ToolError, model_text

        tools = await asyncio.to_thread(lambda: self.desk.tools)
        history = await ctx.history()
        question = prompt_text(prompt)
        if not history.messages:
            ctx.title(question.partition("\n")[0][:60] or "Finance")
        items = [*read_history(history), Said("user", question)]
        for number in range(_MOST_CALLS):
            reply = await asyncio.to_thread(self.desk.plan, items, list(tools))
            for word in split_words(reply.text):
                yield word
                await asyncio.sleep(0)
            if not reply.calls:
                return
            if reply.text:
                items.append(Said("assistant", reply.text))
            for call in reply.calls:
                call_id = f"{ctx.turn_id}.{number}"
                items.append(Called(call_id, call.name, call.arguments))
                try:
                    result = model_text(await tools.call(call.name, call.arguments, ctx))
                except ToolError as error:
                    result = str(error)
                items.append(Returned(call_id, result))
        raise AgentError(f"the question led to more than {_MOST_CALLS} calls")


def prompt_text(prompt: Prompt) -> str:
    """The words of a prompt, with the names of the files that came with it."""
    text = "\n".join(block.text for block in prompt.content if isinstance(block, TextBlock)).strip()
    found = [
        attached_name(uri)
        for block in prompt.content
        if isinstance(uri := getattr(block, "uri", None), str) and attached_name(uri) not in text
    ]
    names = [f'"{name}"' if " " in name else name for name in found]
    return f"{text or 'import'} {' '.join(names)}" if names else text


def read_history(history: Conversation) -> list[Item]:
    """Give the conversation of a session as the offline model takes it."""
    from trunkline.conversation import CallPart, TextPart
    from trunkline.demos.finance.offline_model import Called, Returned, Said
    from trunkline.tools.results import json_text

    items: list[Item] = []
    for message in history.messages:
        if message.role == "user":
            items.append(Said("user", message.text))
            continue
        for part in message.parts:
            if isinstance(part, TextPart):
                items.append(Said("assistant", part.text))
            elif isinstance(part, CallPart) and (call := history.calls.get(part.call_id)) is not None:
                items.append(Called(call.call_id, call.name, call.input or {}))
                result = call.reason or "" if call.raw_output is None else json_text(call.raw_output)
                items.append(Returned(call.call_id, result))
    return items


# -- the TARGETs ---------------------------------------------------------------------------------------


def finance_agent() -> Agent:
    """The TARGET ``finance``."""
    return FinanceAgent()


def finance_langchain(url: str | None = None, today: Callable[[], date] | None = None) -> Agent:
    """The TARGET ``finance:langchain``."""
    desk, name = Desk(url, today), _model_name()
    model = _DEFAULT_MODEL if name == "" else name

    def make(session: SessionView) -> Any:
        try:
            from trunkline.demos.finance.langchain import make_graph
        except ImportError as error:
            raise _missing("finance:langchain", "langchain", error) from error
        return make_graph(desk.tools, desk.plan, model)

    return _Variant(make, desk, model)


def finance_openai(url: str | None = None, today: Callable[[], date] | None = None) -> Agent:
    """The TARGET ``finance:openai``."""
    desk, name = Desk(url, today), _model_name()
    model = None if name is None else name.removeprefix("openai:")

    def make(session: SessionView) -> Any:
        try:
            from trunkline.demos.finance.openai import make_agent
        except ImportError as error:
            raise _missing("finance:openai", "openai", error) from error
        return make_agent(desk.tools, desk.plan, model)

    return _Variant(make, desk, model)


class _Variant(FactoryAgent):
    """A finance agent of a framework, made for each session."""

    def __init__(self, factory: Callable[[SessionView], Any], desk: Desk, model: str | None) -> None:
        card = CARD
        if model is not None:
            # With a real model it would be wrong that nothing leaves the machine.
            description = (
                f"Answers questions about your own bank data with the model {model or 'of the SDK'}, which "
            )
            description += "reads your questions and the results of the tools; account numbers are masked."
            card = msgspec.structs.replace(CARD, description=description)
        super().__init__(factory, card)
        self.desk = desk

    @property
    def tools(self) -> ToolRegistry:
        return self.desk.tools

    @property
    def instructions(self) -> str:
        return _instructions()


def _instructions() -> str:
    from trunkline.demos.finance.instructions import INSTRUCTIONS

    return INSTRUCTIONS


def _missing(target: str, extra: str, error: ImportError) -> ConfigurationError:
    return ConfigurationError(
        f"{target} needs the package {error.name or error}: pip install 'trunkline[{extra}]'; "
        "the TARGET finance works without"
    )


def _model_name() -> str | None:
    """The real model to use: ``TRUNKLINE_MODEL``, "" for the default with ``OPENAI_API_KEY``, else None."""
    from trunkline.demos.finance.ledger.environment import environment

    variables = environment()
    if key := variables.get("OPENAI_API_KEY"):
        # One from .env: the SDKs read the process's own variables only.
        os.environ.setdefault("OPENAI_API_KEY", key)
    if name := variables.get("TRUNKLINE_MODEL"):
        return name
    return "" if key else None
