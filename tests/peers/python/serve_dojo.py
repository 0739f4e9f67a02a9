"""The dojo's graphs on ag-ui-langgraph, each at its name; prints the port.

It runs in our environment; the argument is the folder of the packages that we do not have.
"""

import importlib
import socket
import sys
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from tests.agents.langchain.dojo_graphs import GRAPHS, SCRIPTS

from trunkline.testing.chat import ScriptedChatModel


def main() -> None:
    sys.path.append(sys.argv[1])
    peer: Any = importlib.import_module("ag_ui_langgraph")
    fastapi: Any = importlib.import_module("fastapi")
    uvicorn: Any = importlib.import_module("uvicorn")
    app = fastapi.FastAPI()
    for name, made in GRAPHS.items():
        graph = made(ScriptedChatModel(*SCRIPTS[name], chunk_size=12), InMemorySaver())
        agent = peer.LangGraphAgent(name=name, graph=graph, emit_interrupt_outcome=True)
        peer.add_langgraph_fastapi_endpoint(app, agent, f"/{name}")
    listener = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    main()
