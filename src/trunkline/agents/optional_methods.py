"""The optional methods of an agent, as one session calls them.

An agent needs only ``card`` and ``run``; which other methods it has is asked here and nowhere else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from trunkline import events as ev
from trunkline.agents.interface import (
    Agent,
    ClosesSessions,
    HasHistory,
    JudgesHistory,
    OpensSessions,
    RemembersQuestions,
    Resumes,
    Rewinds,
    Sayable,
    SetsConfig,
    Steers,
)
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.errors import AuthenticationRequired
from trunkline.options import ConfigOption
from trunkline.session.context import SessionView, TurnContext

log = logging.getLogger("trunkline.session")

PROCESS_ENDED = "the process that ran this turn ended before it"


class AgentHooks:
    """Calls the optional methods of an agent for one session."""

    def __init__(
        self,
        agent: Agent,
        view: SessionView,
        *,
        target: str,
        prepare: Callable[[], Awaitable[None]],
        before_open: Callable[[], Awaitable[None]],
        after_open: Callable[[], Awaitable[None]],
    ) -> None:
        self._agent = agent
        self._card = agent.card  # Of the time when the session was opened here: it may be a placeholder.
        self._view = view
        self.target = target
        """The TARGET that names the agent on a command line; it may be one that a program made up."""
        self._prepare = prepare
        self._before_open = before_open
        self._after_open = after_open
        self._opened = False
        self._opening = asyncio.Lock()

    @property
    def is_opening(self) -> bool:
        """Whether the agent is getting ready for the session."""
        return self._opening.locked()

    async def open(self) -> None:
        """Let the agent get ready for the session, once; raises what is missing, a login for example."""
        async with self._opening:
            if not self._opened:
                try:
                    await self._open()
                except AuthenticationRequired as error:
                    raise error.advise(self.target) from None
            self._opened = True

    async def _open(self) -> None:
        await self._prepare_agent()
        if isinstance(self._agent, OpensSessions):
            await self._before_open()
            await self._agent.open_session(self._view)
            await self._after_open()

    async def _prepare_agent(self) -> None:
        """Wait for the agent's own card; before, a session has the options of a placeholder."""
        await self._prepare()
        view, before, card = self._view, self._card, self._agent.card
        if view.options == before.options:
            view.options = card.options
        if view.commands == before.commands:
            view.commands = card.commands

    async def close(self) -> None:
        """Let the agent close what it opened for the session."""
        if self._opened and isinstance(self._agent, ClosesSessions):
            await self._agent.close_session(self._view)

    async def close_until_needed(self) -> None:
        """Let the agent close the session; ``open`` opens it again, as another process left it."""
        async with self._opening:
            if self._opened and isinstance(self._agent, ClosesSessions):
                self._opened = False
                await self._agent.close_session(self._view)

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Go on with a turn of an earlier process; the agent is one that ``can_resume``."""
        assert isinstance(self._agent, Resumes)
        await self.open()
        return self._agent.resume(answers, ctx)

    async def set_config(self, options: tuple[ConfigOption, ...]) -> tuple[ConfigOption, ...]:
        """Give the agent the options that a person wants; returns those that are set."""
        if not isinstance(self._agent, SetsConfig):
            return options
        await self.open()
        return await self._agent.set_config(self._view, options) or options

    async def steer(self, prompt: Prompt) -> bool:
        """Offer the agent a message for the running turn; False when it does not take it."""
        return isinstance(self._agent, Steers) and await self._agent.steer(self._view, prompt)

    async def rewind(self, to_message_id: str | None) -> None:
        """Let the agent's memory go back to a message."""
        if isinstance(self._agent, Rewinds):
            await self.open()
            await self._agent.rewind(self._view, to_message_id)

    async def history(self, *, may_fill: bool) -> Conversation | None:
        """The conversation as the agent remembers it, if that counts.

        An authoritative memory always does; any other only with ``may_fill``, in a session without a turn.
        """
        agent = self._agent
        counts = may_fill or agent.card.authoritative_history
        if not counts and isinstance(agent, JudgesHistory):
            counts = await agent.has_authoritative_history(self._view)
        return await recall(agent, self._view) if counts else None

    def can_resume(self, questions: Sequence[ev.Asked]) -> bool:
        """Whether the agent takes the answers to these questions in another process too."""
        durable = bool(questions) and all(asked.durable_key for asked in questions)
        return durable and isinstance(self._agent, Resumes)

    async def why_over(self, questions: Sequence[ev.Asked]) -> str | None:
        """Why the turn of an earlier process is over; None when the agent can still take its answers."""
        if not self.can_resume(questions):
            return PROCESS_ENDED
        agent, keys = self._agent, [asked.durable_key or "" for asked in questions]
        try:
            if not isinstance(agent, RemembersQuestions) or await agent.still_waits(self._view, keys):
                return None
        except Exception as error:
            # Whether it waits will show when it gets the answer.
            log.warning("%s could not say whether it still waits: %s", agent.card.name, error)
            return None
        return "the process that ran this turn ended, and the agent's memory no longer holds what it asked"


async def recall(agent: Agent, view: SessionView) -> Conversation | None:
    """What an agent remembers of a session; an agent that fails to say so remembers nothing."""
    if not isinstance(agent, HasHistory):
        return None
    try:
        return await agent.history(view)
    except Exception as error:
        log.warning("%s could not say what it remembers of %s: %s", agent.card.name, view.session_id, error)
        return None
