"""Showing a turn to a client: its updates, its questions, and the waits between two prompts.

A prompt is answered when its turn ends. It is also answered when the turn waits for words that this
client has no form for: the question is the agent's last message then, and the person's next prompt is
the answer. So a turn may take several prompts, and is shown by one window all the time: what happens
because somebody else answered is seen at once, and never twice.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection
from functools import partial
from typing import Any, cast

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import Content
from trunkline.cursor import Cursor
from trunkline.errors import InvalidCommand, SessionError, TrunklineError
from trunkline.frontends.acp.encoder import AcpEncoder, Ask, End, Out, Pause, Withdraw
from trunkline.frontends.acp.forms_as_buttons import chosen_in, spoken_form
from trunkline.frontends.acp.forms_as_text import (
    DECLINE,
    Unfit,
    put_in_words,
    read_reply,
    text_in,
    write_reply,
)
from trunkline.frontends.acp.questions import Asker
from trunkline.protocols.acp import wire
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.questions import Form, Permission
from trunkline.session.ids import new_id
from trunkline.session.questions import settle
from trunkline.session.session import Session
from trunkline.session.window import Window

__all__ = ["PromptView"]

Terminal = ev.TurnFinished | ev.TurnFailed


class PromptView:
    """One turn as one client sees it, over as many prompts as its questions take."""

    def __init__(
        self,
        connection: Connection,
        session: Session,
        client: wire.ClientCapabilities,
        turn_id: str,
        *,
        terminals: Collection[str] = (),
        may_answer: bool = True,
        quotes: bool = True,
        after: Cursor | None = None,
        announce: bool = False,
    ) -> None:
        """Begin to show; ``after`` is the place up to which the client has seen the turn already.

        What is open at that place is asked again; ``announce`` tells a client of the calls first.
        """
        self.session = session
        self.turn_id = turn_id
        self.asked: ev.Asked | None = None
        """The question that the person's next message answers."""
        self._connection = connection
        self._may_answer = may_answer
        self._asker = Asker(connection, session.session_id, session.answer, client)
        self._paused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._replied: str | None = None
        self._encoder = AcpEncoder(
            session.session_id,
            client,
            terminals=terminals,
            folder=session.view.cwd,
            turns_only=True,
            replies=may_answer,
            quotes=quotes,
        )
        self._window = Window(
            session,
            self._encoder,
            turn_id=turn_id,
            run_id=new_id("run"),
            front_end="acp",
            after=after,
            announce=None if after is None else partial(self._encoder.ask_again, announce=announce),
        )
        self._task = connection.spawn(self._show(self._window))
        self._task.add_done_callback(_look_away)

    @property
    def over(self) -> bool:
        """Whether nothing more will be shown."""
        return self._task.done()

    def stop(self) -> None:
        """Show nothing more; the turn goes on."""
        self._task.cancel()

    async def reach(self, record: int, offset: int) -> None:
        """Wait until the client was sent everything up to a place, or nothing more is shown."""
        reached = self._window.reached(record, offset)
        if reached is not None:
            await asyncio.wait({reached, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not self.over:
            self._connection.send_lines([out for out in self._encoder.flush() if isinstance(out, bytes)])

    async def rest(self) -> Terminal | None:
        """Wait until the turn is over; None as soon as it waits for the person's next message instead."""
        while self.asked is None and not self._task.done():
            await asyncio.wait({self._task, self._paused}, return_when=asyncio.FIRST_COMPLETED)
        return self._task.result() if self._task.done() else None

    async def _show(self, window: Window[Out]) -> Terminal:
        """Write the turn's updates and put its questions, until it ends."""
        terminal: Terminal | None = None
        connection = self._connection
        async with contextlib.aclosing(aiter(window)) as batches:
            async for _, outs in batches:
                lines: list[bytes] = []
                for out in outs:
                    if type(out) is bytes:
                        lines.append(out)
                        continue
                    connection.send_lines(lines)
                    lines = []
                    if isinstance(out, Ask):
                        self.ask(out)
                    elif isinstance(out, Withdraw):
                        self._settled(out.answered)
                    elif isinstance(out, Pause):
                        if self.session.is_owner:
                            # Whoever is told that it waits can count on it, whatever happens to us.
                            await self.session.durable()
                        self._wait_for(out.asked)
                    elif isinstance(out, End):
                        terminal = out.terminal
                connection.send_lines(lines)
                if connection.congested:
                    await connection.drained()
        assert terminal is not None, "a window ends with its turn"
        return terminal

    # -- questions ---------------------------------------------------------------------------------

    def ask(self, ask: Ask) -> None:
        """Put a question as a request."""
        if self._may_answer:
            self._asker.put(ask)

    def put(self, asked: ev.Asked, *, silently: bool = False) -> None:
        """Put a question in words, again; silently, if the client has them already."""
        if not silently:
            self._say(f"\n\n{put_in_words(_form(asked))}")
        self._wait_for(asked)

    async def reply(self, content: tuple[Content, ...], meta: dict[str, Any] | None) -> None:
        """Take the person's message as the answer; what is wrong with one that does not fit is said."""
        asked = self.asked
        assert asked is not None, "nobody asked"
        try:
            answer = _read(asked, content, meta)
        except (Unfit, InvalidCommand) as error:
            why = str(error)
            self._say(f"{why[:1].upper()}{why[1:]}. Please write it again, or `{DECLINE}`.")
            return
        self.forget()
        try:
            await self.session.answer(answer)
        except (InvalidCommand, SessionError) as error:
            self._say(f"This came too late: {error}.")
        except TrunklineError:
            self._replied = None
            self._wait_for(asked)
            raise

    async def give_up(self) -> None:
        """Cancel the turn that waits: its person has something else to do first."""
        self.forget()
        self._say("The question before is given up.\n\n")
        await self.session.cancel(self.turn_id, by="acp")
        await asyncio.wait({self._task})

    def forget(self) -> None:
        """Take no message for an answer any more to what was asked."""
        if self.asked is not None:
            self._replied = self.asked.question_id
            self._go_on()

    def _wait_for(self, asked: ev.Asked) -> None:
        if asked.question_id == self._replied:
            return  # It was said before the answer, and is read only now.
        self.asked = asked
        if not self._paused.done():
            self._paused.set_result(None)

    def _go_on(self) -> None:
        self.asked = None
        if self._paused.done():
            self._paused = asyncio.get_running_loop().create_future()

    def _settled(self, answered: ev.Answered) -> None:
        self._asker.withdraw(answered.question_id)
        asked = self.asked
        if asked is None or asked.question_id != answered.question_id:
            return
        self._go_on()
        if answered.outcome == "accepted":
            self._say(f"Answered elsewhere: {write_reply(_form(asked), answered.content)}\n\n")
        elif answered.outcome == "declined":
            self._say("Declined elsewhere.\n\n")
        elif answered.outcome == "selected":
            self._say("Answered elsewhere.\n\n")
        elif answered.outcome == "expired":
            self._say("Nobody answered in time.\n\n")

    def _say(self, words: str) -> None:
        """Say something as the agent, which is not part of the conversation that is kept."""
        update = {
            "sessionUpdate": "agent_message_chunk",
            "messageId": new_id("aside"),
            "content": {"type": "text", "text": words},
        }
        self._connection.notify("session/update", {"sessionId": self.session.session_id, "update": update})


def _form(asked: ev.Asked) -> Form:
    return cast("Form", spoken_form(asked.question))


def _read(asked: ev.Asked, content: tuple[Content, ...], meta: dict[str, Any] | None) -> Answer:
    given = read_reply(_form(asked), text_in(content))
    made: dict[str, Any] = {"question_id": asked.question_id, "by": "acp", "meta": meta}
    if given is None:
        return Answer(outcome="declined", reason="the person declined", **made)
    if isinstance(asked.question, Permission):
        answer = Answer(option_id=chosen_in(given), **made)
    else:
        answer = Answer(outcome="accepted", content=given, **made)
    settle(asked, answer)  # Raises now, while nothing is lost, if the form does not take it.
    return answer


def _look_away(task: asyncio.Task[Any]) -> None:
    """Whoever waits hears of an error; when nobody does, it is no news."""
    if not task.cancelled():
        task.exception()
