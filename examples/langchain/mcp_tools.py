"""Tools of MCP servers: `trunkline chat examples/langchain/mcp_tools.py:agent`.

One server is a package of somebody else's (`pip install mcp-server-time`), the other is notes_server.py.
Each session starts them for itself and ends them with itself. The agent is compiled once and knows none of
these tools; servers that an editor brings along are added in the same way.
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
    },
    "clock": {
        "transport": "stdio",
        "command": sys.executable,
        "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"],
    },
}

model = chat_model(
    call("notes__search_notes", {"query": "Ada"}),
    call("clock__convert_time", {"source_timezone": "UTC", "time": "09:00", "target_timezone": "Asia/Tokyo"}),
    "You wanted to call Ada about the engine. Nine o'clock here is six in the evening in Tokyo.",
)

agent = create_agent(model, middleware=[SessionMiddleware(mcp_servers=servers)], name="notes")
