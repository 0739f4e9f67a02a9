"""The agents of served.py under an app of somebody else: a Starlette whose middleware is of the AnyIO kind.

``BaseHTTPMiddleware`` runs what is behind it in a task group, as FastAPI's stack does, and when the client
leaves it cancels that again and again until it is gone.
"""

import os
import socket
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount

import trunkline
from tests.faults.children.served import agent


async def pass_on(request: Request, call_next: RequestResponseEndpoint) -> Response:
    return await call_next(request)


def main() -> None:
    inner = trunkline.asgi(agent, journal=os.environ["TRUNKLINE_JOURNAL"])
    outer = Starlette(
        routes=[Mount("/agents", app=inner)],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=pass_on)],
        lifespan=inner.lifespan,
    )
    listener = socket.create_server(("127.0.0.1", 0))
    sys.stderr.write(f"mounted at http://127.0.0.1:{listener.getsockname()[1]}/\nCtrl-C stops.\n")
    sys.stderr.flush()
    uvicorn.Server(uvicorn.Config(outer, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
