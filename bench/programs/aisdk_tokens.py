"""One agent, streamed to the bytes of a UI message stream in several ways: what each of them costs.

It runs in our environment and in that of the peers, and measures what each line of its input names. The
LangChain agent is the same for the bare stream and for us; pydantic-ai has a model of its own. The ways that
only encode begin with events that are there already.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from agui_tokens import pydantic_agent
from langchain_tokens import make_agent, stream_bare, threads
from measured import PIECE, Meter, measure

# -- ours -----------------------------------------------------------------------------------------


async def stream_ours(pieces: int) -> float:
    """Through a session with a journal in memory, a window and the encoder, to server-sent events."""
    from trunkline.agents.adapt import adapt
    from trunkline.frontends.aisdk import AisdkEncoder
    from trunkline.journal import open_journal
    from trunkline.protocols.aisdk.wire import encode
    from trunkline.protocols.sse import write_frames
    from trunkline.session.hub import Hub
    from trunkline.session.window import Window

    journal = await open_journal("memory:")
    async with Hub(adapt(make_agent()), journal) as hub:
        session, heard = await hub.create(), 0
        meter = Meter()
        turn_id = (await session.prompt(str(pieces))).turn_id or ""
        encoder = AisdkEncoder(turn_id)
        write_frames([encode(chunk) for chunk in encoder.begin()])
        window = Window(session, encoder, turn_id=turn_id, run_id=turn_id, front_end="aisdk")
        async for _, chunks in window:
            heard += write_frames([encode(chunk) for chunk in chunks]).count(PIECE.encode())
        cpu = meter.read(pieces, heard)
    await journal.close()
    return cpu


async def encode_ours(pieces: int) -> float:
    """Events that are there already, to server-sent events."""
    from trunkline.cursor import Entry
    from trunkline.events import Text
    from trunkline.frontends.aisdk import AisdkEncoder
    from trunkline.protocols.aisdk.wire import encode
    from trunkline.protocols.sse import write_frames

    entries = [Entry(at, 0, 0, 0.0, Text(message_id="m1", delta=PIECE)) for at in range(pieces)]
    encoder, heard = AisdkEncoder("t1"), 0
    meter = Meter()
    for entry in entries:
        heard += write_frames([encode(chunk) for chunk in encoder.feed(entry)]).count(PIECE.encode())
    encoder.close()
    return meter.read(pieces, heard)


# -- peers ----------------------------------------------------------------------------------------


def vercel_adapter(pieces: int) -> Any:
    """pydantic-ai's adapter for one request of useChat, at version 7."""
    vercel = importlib.import_module("pydantic_ai.ui.vercel_ai")
    requests = importlib.import_module("pydantic_ai.ui.vercel_ai.request_types")
    number = next(threads)
    message = {"id": f"user-{number}", "role": "user", "parts": [{"type": "text", "text": str(pieces)}]}
    given = {"trigger": "submit-message", "id": f"chat-{number}", "messages": [message]}
    request = requests.SubmitMessage.model_validate(given)
    return vercel.VercelAIAdapter(agent=pydantic_agent(), run_input=request, sdk_version=7)


async def stream_pydantic(pieces: int) -> float:
    """Through pydantic-ai's adapter and its encoder."""
    adapter, heard = vercel_adapter(pieces), 0
    meter = Meter()
    async for frame in adapter.encode_stream(adapter.run_stream()):
        heard += frame.count(PIECE)
    return meter.read(pieces, heard)


async def encode_pydantic(pieces: int) -> float:
    """Events of pydantic-ai that are there already, through its adapter and its encoder."""
    messages = importlib.import_module("pydantic_ai.messages")
    delta = messages.TextPartDelta(content_delta=PIECE)
    events = [messages.PartStartEvent(index=0, part=messages.TextPart(content=""))]
    events += [messages.PartDeltaEvent(index=0, delta=delta) for _ in range(pieces)]

    async def ready() -> AsyncIterator[Any]:
        for event in events:
            yield event

    adapter, heard = vercel_adapter(pieces), 0
    meter = Meter()
    async for frame in adapter.encode_stream(adapter.transform_stream(ready())):
        heard += frame.count(PIECE)
    return meter.read(pieces, heard)


WAYS: dict[str, Callable[[int], Coroutine[Any, Any, float]]] = {
    "bare": stream_bare,
    "ours": stream_ours,
    "encode-ours": encode_ours,
    "pydantic": stream_pydantic,
    "encode-pydantic": encode_pydantic,
}


if __name__ == "__main__":
    measure(WAYS)
