"""A turn as one client sees it: its updates, its questions, and the waits between two prompts.

A prompt is answered when its turn ends. It is also answered when the turn asks something that this client
has no form for: then the question is the agent's last message, and the person's next prompt is the answer.
So a turn may take several prompts, and one window shows it all the time: what happens because another client
answered is seen at once, and never twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Collection
from functools import partial
from typing import Any, cast

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import Content
from trunkline.cursor import Cursor
from trunkline.errors import InvalidCommand, SessionError, TrunklineError
from trunkline.frontends.acp.encoder import AcpEncoder, Ask, EndPrompt, Out, WaitForMessage, Withdraw
from trunkline.frontends.acp.forms_as_buttons import chosen_option, text_form
from trunkline.frontends.acp.forms_as_text import (
    DECLINE,
    AnswerMismatch,
    answer_as_text,
    ask_as_text,
    message_text,
    read_answer,
)
from trunkline.frontends.acp.known_words import stop_reason
from trunkline.frontends.acp.questions import Asker
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.prompt_result import prompt_result
from trunkline.protocols.jsonrpc.connection import Connection, error_with_details
from trunkline.protocols.jsonrpc.messages import INTERNAL_ERROR
from trunkline.questions import Form, Permission
from trunkline.session.ids import new_id
from trunkline.session.questions import check_answer
from trunkline.session.session import Session
from trunkline.session.window import Window

log = logging.getLogger("trunkline.acp")

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
        shows_exceptions: bool = True,
        own_prompts: Collection[str] = (),
        after: Cursor | None = None,
        announce: bool = False,
    ) -> None:
        """Show a turn; ``after`` is the cursor up to which the client has seen it already.

        What is open at that cursor is asked again; ``announce`` announces the calls first.
        """
        self.session = session
        self.turn_id = turn_id
        self.asked: ev.Asked | None = None
        """The question that the person's next message answers."""
        self._connection = connection
        self._may_answer = may_answer
        self._asker = Asker(connection, session.session_id, session.answer, client)
        self._waits: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._answered_id: str | None = None
        self._encoder = AcpEncoder(
            session.session_id,
            client,
            terminals=terminals,
            folder=session.view.cwd,
            turns_only=True,
            asks_as_text=may_answer,
            shows_exceptions=shows_exceptions,
            own_prompts=own_prompts,
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
        self._task.add_done_callback(_ignore_error)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be shown."""
        return self._task.done()

    def detach(self) -> None:
        """Show nothing more; the turn goes on."""
        self._task.cancel()

    async def reach(self, record: int, offset: int) -> None:
        """Wait until the client was sent everything up to a record and offset, or nothing more is shown."""
        reached = self._window.reached(record, offset)
        if reached is not None:
            await asyncio.wait({reached, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not self.is_over:
            self._connection.send_lines([out for out in self._encoder.flush() if isinstance(out, bytes)])

    async def wait(self) -> Terminal | None:
        """Wait until the turn is over; None as soon as it waits for the person's next message instead."""
        while self.asked is None and not self._task.done():
            await asyncio.wait({self._task, self._waits}, return_when=asyncio.FIRST_COMPLETED)
        return self._task.result() if self._task.done() else None

    async def _show(self, window: Window[Out]) -> Terminal:
        """Send the turn's updates and ask its questions, until it ends."""
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
                        self._on_answered(out.answered)
                    elif isinstance(out, WaitForMessage):
                        if self.session.is_owner:
                            # A client that reads the question can count on it, also after a crash of ours.
                            await self.session.durable()
                        self._wait_for(out.asked)
                    elif isinstance(out, EndPrompt):
                        terminal = out.terminal
                connection.send_lines(lines)
                if connection.congested:
                    await connection.drained()
        assert terminal is not None, "a window ends with its turn"
        return terminal

    # -- questions ---------------------------------------------------------------------------------

    def ask(self, ask: Ask) -> None:
        """Send a question as a request."""
        if self._may_answer:
            self._asker.ask_soon(ask)

    def ask_in_text(self, asked: ev.Asked, *, was_sent: bool = False) -> None:
        """Ask a question in text, again; ``was_sent``: the client has the text already."""
        if not was_sent:
            self._send_text(f"\n\n{ask_as_text(_form(asked))}")
        self._wait_for(asked)

    async def answer_from_message(self, content: tuple[Content, ...], meta: dict[str, Any] | None) -> None:
        """Take the person's message as the answer; if it does not fit, say what is wrong with it."""
        asked = self.asked
        assert asked is not None, "no question is open"
        try:
            answer = _read(asked, content, meta)
        except (AnswerMismatch, InvalidCommand) as error:
            why = str(error)
            self._send_text(f"{why[:1].upper()}{why[1:]}. Please write it again, or `{DECLINE}`.")
            return
        self.stop_waiting()
        try:
            await self.session.answer(answer)
        except (InvalidCommand, SessionError) as error:
            self._send_text(f"This came too late: {error}.")
        except TrunklineError:
            self._answered_id = None
            self._wait_for(asked)
            raise

    async def cancel_turn(self) -> None:
        """Cancel the turn that waits: the person has something else to do first."""
        self.stop_waiting()
        self._send_text("The question before is given up.\n\n")
        await self.session.cancel(self.turn_id, by="acp")
        await asyncio.wait({self._task})

    def stop_waiting(self) -> None:
        """Take no message as the answer to the open question any more."""
        if self.asked is not None:
            self._answered_id = self.asked.question_id
            self._clear_question()

    def _wait_for(self, asked: ev.Asked) -> None:
        if asked.question_id == self._answered_id:
            return  # It was asked before the answer, and is read only now.
        self.asked = asked
        if not self._waits.done():
            self._waits.set_result(None)

    def _clear_question(self) -> None:
        self.asked = None
        if self._waits.done():
            self._waits = asyncio.get_running_loop().create_future()

    def _on_answered(self, answered: ev.Answered) -> None:
        self._asker.withdraw(answered.question_id)
        asked = self.asked
        if asked is None or asked.question_id != answered.question_id:
            return
        self._clear_question()
        if answered.outcome == "accepted":
            self._send_text(f"Answered elsewhere: {answer_as_text(_form(asked), answered.content)}\n\n")
        elif answered.outcome == "declined":
            self._send_text("Declined elsewhere.\n\n")
        elif answered.outcome == "selected":
            self._send_text("Answered elsewhere.\n\n")
        elif answered.outcome == "expired":
            self._send_text("There was no answer in time.\n\n")

    def _send_text(self, text: str) -> None:
        """Send a text as the agent; it is not part of the conversation that is kept."""
        update = {
            "sessionUpdate": "agent_message_chunk",
            "messageId": new_id("aside"),
            "content": {"type": "text", "text": text},
        }
        self._connection.notify("session/update", {"sessionId": self.session.session_id, "update": update})


def answer_to_prompt(terminal: ev.TurnFinished | ev.TurnFailed | None) -> dict[str, Any]:
    """Give the answer to a prompt, or raise RpcError for a failed turn; None: it waits for another prompt."""
    if terminal is None:
        return prompt_result("end_turn", ())
    if isinstance(terminal, ev.TurnFinished):
        return prompt_result(stop_reason(terminal.stop_reason), terminal.usage)
    log.info("the turn failed: %s, fault: %s", terminal.code, terminal.fault)
    raise error_with_details(INTERNAL_ERROR, terminal.message)


def _form(asked: ev.Asked) -> Form:
    return cast("Form", text_form(asked.question))


def _read(asked: ev.Asked, content: tuple[Content, ...], meta: dict[str, Any] | None) -> Answer:
    given = read_answer(_form(asked), message_text(content))
    made: dict[str, Any] = {"question_id": asked.question_id, "by": "acp", "meta": meta}
    if given is None:
        return Answer(outcome="declined", reason="the person declined", **made)
    if isinstance(asked.question, Permission):
        answer = Answer(option_id=chosen_option(given), **made)
    else:
        answer = Answer(outcome="accepted", content=given, **made)
    check_answer(asked, answer)  # Raises now, while nothing is lost, if the form does not take it.
    return answer


def _ignore_error(task: asyncio.Task[Any]) -> None:
    """Take the exception of a task, which a caller of ``wait`` gets; asyncio would log it otherwise."""
    if not task.cancelled():
        task.exception()
