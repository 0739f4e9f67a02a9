"""An agent of LangChain to be served: by us as it is, and by a peer when the peer's name is given."""

from __future__ import annotations

import asyncio
import importlib
import sys
from typing import Any

# Beside this file, which is on the path however it is run.
agent: Any = importlib.import_module("langchain_tokens").make_agent()


def serve(peer: str) -> None:
    """Serve the agent as a peer does."""
    if peer == "langchain-acp":
        importlib.import_module("langchain_acp").run_acp(agent)
    else:
        acp, peer_server = importlib.import_module("acp"), importlib.import_module("deepagents_acp.server")
        asyncio.run(acp.run_agent(peer_server.AgentServerACP(agent)))


if __name__ == "__main__":
    serve(sys.argv[1])
