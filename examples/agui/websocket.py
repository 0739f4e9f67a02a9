"""AG-UI on a WebSocket of your own: `uvicorn --app-dir examples/agui websocket:app`.

A page connects to ws://127.0.0.1:8000/agent/NAME, where NAME is its own, and sends a RunAgentInput for each
run. A socket that closes is noticed at once. The run goes on without it, and its events wait until the page
is back; without `on_disconnect="continue"` the run is cancelled instead.

There is no login here, and no page is ever forgotten; both are your app's. `trunkline serve` does that.
"""

import asyncio

from langchain_core.tools import tool
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

from trunkline.agents.langchain import agui_agent
from trunkline.frontends.agui import websocket_transport
from trunkline.testing.chat import call, chat_model


@tool
async def bake() -> str:
    """Bake a cake."""
    await asyncio.sleep(1)  # An oven is slow.
    return "one cake"


# A real agent has "openai:gpt-5.5" here. This model plays a script, so it runs without a key.
model = chat_model(["Into the oven. ", call("bake")], "Your cake is ready.")
agent = agui_agent(model, [bake])
transports = {}


async def serve(websocket):
    await websocket.accept()
    page = websocket.path_params["page"]
    transport = transports.get(page)
    if transport is None:
        transport = transports[page] = websocket_transport(websocket, on_disconnect="continue")
    else:
        transport.reconnect(websocket)
    await transport.serve(lambda request: agent.ainvoke(request, transport=transport))


app = Starlette(routes=[WebSocketRoute("/agent/{page}", serve)])
