"""Streams that are being opened: in time, late, not at all."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.responses import Response
from tests.hubs import soon, until
from tests.server.asgi_requests import call, scope
from tests.server.running_server import served

from trunkline.errors import InvalidCommand
from trunkline.server.event_stream import Framing
from trunkline.server.limits import Limits
from trunkline.server.routes.opening_streams import OpeningStreams

NOTHING = Response(status_code=204)
FRAMING = Framing(media_type="text/plain", write=lambda _, events: b"".join(events), comment=b"#")


class Two:
    """Shows two batches."""

    def __init__(self) -> None:
        self.closed = 0

    async def __aiter__(self) -> AsyncGenerator[tuple[None, list[bytes]]]:
        yield None, [b"a"]
        yield None, [b"b"]

    async def close(self) -> None:
        self.closed += 1


def tell(error: Exception) -> bytes:
    return str(error).encode()


async def opened(shown: Two | Exception | None, begin: asyncio.Event | None = None) -> Two | None:
    if begin is not None:
        await begin.wait()
    if isinstance(shown, Exception):
        raise shown
    return shown


async def test_what_is_opened_in_time_is_streamed_and_closed() -> None:
    async with served() as (app, _):
        streams, shown = OpeningStreams(app.agents), Two()
        response = await streams.respond(opened(shown), FRAMING, nothing=NOTHING, tell=tell, comment=b"!")
        reply = await call(response, scope("/"))
        assert (reply.status, reply.body, shown.closed) == (200, b"!ab", 1)
        assert await streams.respond(opened(None), FRAMING, nothing=NOTHING, tell=tell) is NOTHING
        with pytest.raises(InvalidCommand, match="no"):
            await streams.respond(opened(InvalidCommand("no")), FRAMING, nothing=NOTHING, tell=tell)


@pytest.mark.parametrize(
    ("shown", "body"), [(Two(), b"#ab"), (None, b"#"), (InvalidCommand("too bad"), b"#too bad")]
)
async def test_what_is_opened_late_is_streamed_without_delay_of_the_headers(shown: Any, body: bytes) -> None:
    begin = asyncio.Event()
    async with served(limits=Limits(open_seconds=0.01)) as (app, _):
        streams = OpeningStreams(app.agents)
        response = await soon(
            streams.respond(opened(shown, begin), FRAMING, nothing=NOTHING, tell=tell),
        )
        begin.set()
        reply = await call(response, scope("/"))
        assert (reply.status, reply.body) == (200, body)
        if isinstance(shown, Two):
            await until(lambda: shown.closed == 1)


async def test_a_client_that_leaves_while_it_is_opened_takes_the_opening_along() -> None:
    begin = asyncio.Event()
    async with served() as (app, _):
        opening = opened(Two(), begin)
        streams = OpeningStreams(app.agents)
        waiting = asyncio.create_task(streams.respond(opening, FRAMING, nothing=NOTHING, tell=tell))
        await until(lambda: opening.cr_await is not None)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await soon(waiting)
        await until(lambda: opening.cr_running is False and opening.cr_frame is None)
