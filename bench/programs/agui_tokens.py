"""One agent, streamed to AG-UI's bytes in several ways: what each of them costs per token.

It runs in our environment and in that of the peers. ``python agui_tokens.py`` measures what each line of
its input names, within the process; ``python agui_tokens.py WAY`` serves a peer over HTTP and prints its
port. All but pydantic-ai, which has a model of its own, run the same graph on the same model.
"""

from __future__ import annotations

import importlib
import json
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from langchain_tokens import make_agent, stream_bare, threads
from measured import PIECE, Meter, measure

agent: Any = make_agent()
"""What ``trunkline serve`` serves of this file."""


def run_input(pieces: int) -> dict[str, Any]:
    """What a client sends, each time in a thread of its own."""
    number = next(threads)
    message = {"id": f"user-{number}", "role": "user", "content": str(pieces)}
    ids = {"threadId": f"thread-{number}", "runId": f"run-{number}", "protocolVersion": "1.0"}
    return {**ids, "messages": [message], "state": {}, "tools": [], "context": [], "forwardedProps": {}}


# -- ours -----------------------------------------------------------------------------------------


async def stream_ours(pieces: int) -> float:
    """Through a session with a journal in memory, the endpoint and the encoder, to server-sent events."""
    from trunkline.agents.adapt import adapt
    from trunkline.frontends.agui.decoder import read_input
    from trunkline.frontends.agui.endpoint import AguiEndpoint
    from trunkline.journal import open_journal
    from trunkline.server.routes.agui_formats import SSE
    from trunkline.session.hub import Hub

    journal = await open_journal("memory:")
    async with Hub(adapt(make_agent()), journal) as hub:
        endpoint, heard = AguiEndpoint(hub), 0
        meter = Meter()
        run = await endpoint.open(read_input(json.dumps(run_input(pieces)).encode()))
        async for cursor, events in run:
            heard += SSE.write(cursor, events).count(PIECE.encode())
        await run.close()
        cpu = meter.read(pieces, heard)
    await journal.close()
    return cpu


# -- peers ----------------------------------------------------------------------------------------


def langgraph_agent(raw: bool) -> Any:
    """The graph under ag-ui-langgraph; by default it repeats every event of LangGraph."""
    peer = importlib.import_module("ag_ui_langgraph")
    return peer.LangGraphAgent(name="bench", graph=make_agent(), emit_raw_events=raw)


async def stream_langgraph(pieces: int, raw: bool) -> float:
    """Through ag-ui-langgraph and the official encoder, as its endpoint does it."""
    core, encoder = importlib.import_module("ag_ui.core"), importlib.import_module("ag_ui.encoder")
    encode, peer, heard = encoder.EventEncoder().encode, langgraph_agent(raw), 0
    given = core.RunAgentInput.model_validate(run_input(pieces))
    meter = Meter()
    async for event in peer.run(given):
        frame: str = encode(event)
        # The token is repeated in what is raw, so only the frames that carry it are counted.
        heard += '"type":"TEXT_MESSAGE_CONTENT"' in frame[:60]
    return meter.read(pieces, heard)


def pydantic_agent() -> Any:
    """An agent of pydantic-ai whose model says as many pieces as it is asked for."""
    peer = importlib.import_module("pydantic_ai")
    function = importlib.import_module("pydantic_ai.models.function")

    async def speak(messages: list[Any], info: Any) -> AsyncIterator[str]:
        content = messages[-1].parts[-1].content
        asked = content if isinstance(content, str) else str(getattr(content[0], "content", content[0]))
        for _ in range(int(asked)):
            yield PIECE

    return peer.Agent(function.FunctionModel(stream_function=speak))


async def stream_pydantic(pieces: int) -> float:
    """Through pydantic-ai's adapter and its encoder."""
    core = importlib.import_module("ag_ui.core")
    ag_ui = importlib.import_module("pydantic_ai.ui.ag_ui")
    given = core.RunAgentInput.model_validate(run_input(pieces))
    adapter = ag_ui.AGUIAdapter(agent=pydantic_agent(), run_input=given)
    heard = 0
    meter = Meter()
    async for frame in adapter.encode_stream(adapter.run_stream()):
        heard += frame.count(PIECE)
    return meter.read(pieces, heard)


# -- over HTTP ------------------------------------------------------------------------------------


def langgraph_app(raw: bool) -> Any:
    """The peer's own endpoint."""
    peer, fastapi = importlib.import_module("ag_ui_langgraph"), importlib.import_module("fastapi")
    app = fastapi.FastAPI()
    peer.add_langgraph_fastapi_endpoint(app, langgraph_agent(raw), "/agui")
    return app


def pydantic_app() -> Any:
    """The peer's own way to answer a request."""
    applications = importlib.import_module("starlette.applications")
    routing = importlib.import_module("starlette.routing")
    ag_ui = importlib.import_module("pydantic_ai.ui.ag_ui")
    served = pydantic_agent()

    async def run(request: Any) -> Any:
        return await ag_ui.AGUIAdapter.dispatch_request(request, agent=served)

    return applications.Starlette(routes=[routing.Route("/agui", run, methods=["POST"])])


WAYS: dict[str, Callable[[int], Awaitable[float]]] = {
    "bare": stream_bare,
    "ours": stream_ours,
    "langgraph": lambda pieces: stream_langgraph(pieces, raw=False),
    "langgraph-raw": lambda pieces: stream_langgraph(pieces, raw=True),
    "pydantic": stream_pydantic,
}
APPS: dict[str, Callable[[], Any]] = {
    "langgraph": lambda: langgraph_app(raw=False),
    "langgraph-raw": lambda: langgraph_app(raw=True),
    "pydantic": pydantic_app,
}


def serve(way: str) -> None:
    """Serve a peer until somebody ends this process."""
    uvicorn = importlib.import_module("uvicorn")
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"at http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
    uvicorn.Server(uvicorn.Config(APPS[way](), log_level="error")).run(sockets=[listener])


def main() -> None:
    """Serve, or measure what is asked for, for as long as somebody asks."""
    if len(sys.argv) > 1:
        serve(sys.argv[1])
        return
    measure(WAYS)


if __name__ == "__main__":
    main()
