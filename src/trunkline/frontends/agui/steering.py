"""A run that steers: its message is for the turn that is running.

A client asks for it with ``forwardedProps.trunkline.busy = "steer"``; without that a second run of a thread
is refused. The run shows the turn from its message on: the running one if its agent took the message, else
the next one, for which the run waits. A run that is sent again is the same message.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any, cast

from trunkline.commands import DropPrompt
from trunkline.errors import InvalidCommand, TrunklineError
from trunkline.frontends.agui.history import ThreadSnapshot, read_thread
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.run import AguiRun, Batch
from trunkline.protocols.agui import wire
from trunkline.session.receipts import Receipt
from trunkline.session.run_start import wait_for_start
from trunkline.session.session import Session


def wants_to_steer(request: wire.RunAgentInput) -> bool:
    """Whether a client wants its message to join the turn that is running."""
    props: Any = request.forwarded_props
    ours: Any = cast("dict[str, Any]", props).get("trunkline") if isinstance(props, dict) else None
    if ours is None:
        return False
    busy: Any = cast("dict[str, Any]", ours).get("busy", "reject") if isinstance(ours, dict) else None
    if busy not in ("reject", "steer"):
        raise InvalidCommand('forwardedProps.trunkline must be {"busy": "steer"} or {"busy": "reject"}')
    return busy == "steer"


def steering_key(request: wire.RunAgentInput, run_id: str) -> str:
    """The key of the message of a run: the same request has the same one."""
    return f"agui.{run_id}.{request.messages[-1].id if request.messages else ''}"


class SteeringRun(AguiRun):
    """A run whose message joins a turn, or waits for its own."""

    def __init__(
        self,
        session: Session,
        request: wire.RunAgentInput,
        receipt: Receipt,
        options: AguiOptions,
        *,
        run_id: str,
        front_end: str,
        sees_history: bool,
    ) -> None:
        """Show what becomes of the message that has this receipt."""
        super().__init__(
            session,
            request,
            None,
            options,
            ThreadSnapshot(),
            run_id=run_id,
            front_end=front_end,
            sees_history=sees_history,
        )
        self._receipt = receipt
        self._run: AguiRun | None = None

    async def __aiter__(self) -> AsyncGenerator[Batch]:
        """Wait until the message is in a turn, and give the run from there."""
        try:
            start = await wait_for_start(self.session, self._receipt)
        except TrunklineError as error:
            yield None, self._encoder.begin(self._began)
            yield None, self._fail(str(error), error.code)
            return
        thread = await read_thread(self.session, start)
        self._run = AguiRun(
            self.session,
            self._request,
            start,
            self._options,
            thread,
            run_id=self._run_id,
            front_end=self._front_end,
            sees_history=self._sees_history,
        )
        async with contextlib.aclosing(aiter(self._run)) as batches:
            async for batch in batches:
                yield batch

    async def close(self) -> None:
        """Detach the client; a message that still waits is withdrawn, if the options say so."""
        if self._run is not None:
            await self._run.close()
        elif self._options.on_disconnect == "cancel" and not self._over:
            with contextlib.suppress(TrunklineError):
                await self.session.submit(DropPrompt(prompt_id=self._receipt.prompt_id))
