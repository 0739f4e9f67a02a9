"""One response of the AI SDK's stream: a window on a turn, from its start chunk to its one terminal."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping

from trunkline.cursor import Cursor
from trunkline.errors import TrunklineError
from trunkline.frontends.aisdk.encoder import AisdkEncoder
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.protocols.aisdk.wire import Chunk, StreamVersion
from trunkline.session.receipts import Receipt
from trunkline.session.run_start import RunStart, wait_for_start
from trunkline.session.session import Session
from trunkline.session.window import Window

__all__ = ["AisdkResponse", "Batch"]

log = logging.getLogger("trunkline.aisdk")

Batch = tuple[Cursor | None, list[Chunk]]

_FRONT_END = "aisdk"


class AisdkResponse:
    """One response: iterate for batches of chunks; ``close`` when the client is gone."""

    def __init__(
        self,
        session: Session,
        start: RunStart | Receipt | None,
        options: AisdkOptions,
        version: StreamVersion,
        *,
        client_tools: Collection[str] = (),
        page_answers: Mapping[str, bool] | None = None,
        message_id: str | None = None,
        goes_on: bool = False,
        on_left: Callable[[str], None] | None = None,
    ) -> None:
        """Show a turn from ``start``; a receipt is of a message that still waits for its turn.

        ``page_answers`` is how the page has answered approvals. Without a start there is nothing left to show
        of the message ``message_id``. ``goes_on`` is for a client that lost a response and has everything
        before the start: it begins in the middle. ``on_left`` is called once with the turn if the response
        ends before it: the client left, or the turn waits.
        """
        self.session = session
        self._start = start
        self._options = options
        self._version = version
        self._client_tools = client_tools
        self._page_answers = page_answers
        self._message_id = message_id
        self._goes_on = goes_on
        self._on_left = on_left
        self._turn_id: str | None = None
        self._over = False

    @property
    def turn_id(self) -> str | None:
        """The turn that is shown, as soon as it is known."""
        return self._start.turn_id if isinstance(self._start, RunStart) else self._turn_id

    async def __aiter__(self) -> AsyncGenerator[Batch]:
        """Give the response from its start to its one terminal."""
        encoder: AisdkEncoder | None = None
        try:
            start = self._start
            if isinstance(start, Receipt):
                start = await self._wait(start)
            if start is None:
                self._over = True
                yield None, self._nothing_to_show()
                return
            self._turn_id = start.turn_id
            encoder = self._encoder(start.turn_id)
            begin = encoder.begin(time.time())
            if not self._goes_on:
                yield None, begin
            window = Window(
                self.session,
                encoder,
                turn_id=start.turn_id,
                run_id=f"{start.turn_id}:{_FRONT_END}",
                front_end=_FRONT_END,
                after=start.after,
                ends_on_suspend=True,
                announce=None if start.after is None or self._goes_on else encoder.announce,
            )
            # Closed by name: one that is only dropped would still count as a reader for a while.
            async with contextlib.aclosing(aiter(window)) as batches:
                async for cursor, chunks in batches:
                    # From here on the client may leave: one that has seen the end need not stay for more.
                    self._over = chunks[-1]["type"] in ("finish", "error")
                    if self._over:
                        # Noted before the client can answer.
                        self._end(is_whole=_ends_turn(chunks[-1]))
                    yield cursor, chunks
            self._over = True
        except TrunklineError as error:
            log.warning("a response of chat %s failed: %s", self.session.session_id, error)
            yield None, self._fail(encoder, str(error), error.code)
        except Exception:
            log.exception("a response of chat %s failed", self.session.session_id)
            yield (
                None,
                self._fail(encoder, "something went wrong in Trunkline; its log says what", "internal"),
            )

    async def _wait(self, receipt: Receipt) -> RunStart | None:
        """Wait until a message is in a turn of its own; None for one that joined the running turn.

        What comes of that is in the response that shows that turn already.
        """
        if receipt.steered:
            return None
        start = await wait_for_start(self.session, receipt)
        return start if start.after is None else None

    def _encoder(self, turn_id: str) -> AisdkEncoder:
        session = self.session
        return AisdkEncoder(
            turn_id,
            self._options,
            version=self._version.number,
            state=session.state_before_turn if turn_id == session.last_turn_id else None,
            client_tools=self._client_tools,
            page_answers=self._page_answers,
        )

    def _nothing_to_show(self) -> list[Chunk]:
        """End a response without a turn: the page is free for the next message, and keeps what it has.

        A page that sends its answers by itself sends them again after each response whose last step is
        answered: so the message goes on with a step. It is kept only if something is told after it.
        """
        if self._message_id is None:
            return [{"type": "start"}, {"type": "finish", "finishReason": "other"}]
        return [
            {"type": "start", "messageId": self._message_id},
            {"type": "start-step"},
            {"type": "finish-step"},
            {"type": "finish", "finishReason": "other", "messageMetadata": {}},
        ]

    def _fail(self, encoder: AisdkEncoder | None, message: str, code: str) -> list[Chunk]:
        self._over = True
        options = self._options
        text = message if options.shows_error_messages else "the response failed"
        if encoder is None:
            return [{"type": "error", "errorText": text}]
        return encoder.fail(text, None if options.error_detail_level == "none" else code)

    def _end(self, *, is_whole: bool) -> None:
        """Say once whether the client lacks what follows in the turn."""
        on_left, self._on_left = self._on_left, None
        if on_left is not None and not is_whole and self.turn_id is not None:
            on_left(self.turn_id)

    async def close(self) -> None:
        """Detach the client; a turn without followers is cancelled, if the options say so."""
        self._end(is_whole=False)
        session, turn_id = self.session, self.turn_id
        if self._over or turn_id is None or self._options.on_disconnect != "cancel":
            return
        if session.running_turn_id == turn_id and not session.followers:
            session.cancel_soon(turn_id, by=_FRONT_END, reason="the client left")


def _ends_turn(terminal: Chunk) -> bool:
    """Whether a terminal is that of the turn; where the turn waits, it has no reason to stop yet."""
    return terminal["type"] == "error" or "stopReason" in terminal.get("messageMetadata", {})
