"""The floor: an agent that makes one ``orjson.dumps`` and one ``os.write`` per update, and nothing else."""

from __future__ import annotations

import os
import sys
from typing import Any

import orjson

UPDATE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "method": "session/update",
    "params": {
        "sessionId": "sess_0123456789abcdef0",
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}},
    },
}
RESULTS: dict[str, Any] = {
    "initialize": {"protocolVersion": 1},
    "session/new": {"sessionId": UPDATE["params"]["sessionId"]},
    "session/prompt": {"stopReason": "end_turn"},
}


def main() -> None:
    for line in sys.stdin.buffer:
        request = orjson.loads(line)
        if request["method"] == "session/prompt":
            for _ in range(int(request["params"]["prompt"][0]["text"])):
                os.write(1, orjson.dumps(UPDATE) + b"\n")
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": RESULTS[request["method"]]}
        os.write(1, orjson.dumps(answer) + b"\n")


if __name__ == "__main__":
    main()
