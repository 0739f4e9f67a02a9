"""Tools of an MCP server: `trunkline chat examples/langchain/mcp_tools.py:agent`.

Each session starts the server of notes_server.py for itself and ends it with itself. The agent is compiled
once and knows none of these tools; servers that an editor brings along are added in the same way.
"""

import sys
from pathlib import Path

from langchain.agents import create_agent

from trunkline.agents.langchain import SessionMiddleware
from trunkline.testing.chat import call, chat_model

servers = {
    "notes": {
        "transport": "stdio",
        "command": sys.executable,
        "args": [str(Path(__file__).with_name("notes_server.py"))],
    }
}

model = chat_model(
    call("notes__search_notes", {"query": "Ada"}),
    "You wanted to call Ada about the engine.",
)

agent = create_agent(model, middleware=[SessionMiddleware(mcp_servers=servers)], name="notes")
