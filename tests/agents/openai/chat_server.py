"""A chat-completions server on loopback whose model plays what the prompt says.

The prompt is JSON: the answers of the model, one after the other. Each is ``chunks``, the deltas of its
choice; perhaps ``finish``, its finish reason; ``usage``; or ``error``, an HTTP status and a body.
"""

import json
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai import AsyncOpenAI

from agents import OpenAIChatCompletionsModel
from tests.peers.model.dialect import frame


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages: list[dict[str, Any]] = body["messages"]
        place = max(at for at, message in enumerate(messages) if message["role"] == "user")
        answers = sum(message["role"] == "assistant" for message in messages[place:])
        answer = json.loads(messages[place]["content"])[answers]
        if "error" in answer:
            status, error = answer["error"]
            self._send(status, "application/json", json.dumps({"error": error}))
            return
        frames = [_chunk({"role": "assistant", "content": ""}), *map(_chunk, answer["chunks"])]
        frames.append(_chunk({}, answer.get("finish") or "stop"))
        if usage := answer.get("usage"):
            frames.append(frame({**_COMPLETION, "choices": [], "usage": usage}))
        self._send(200, "text/event-stream", "".join([*frames, "data: [DONE]\n\n"]))

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


_COMPLETION = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "player"}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    return frame({**_COMPLETION, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


@contextmanager
def serving() -> Generator[str]:
    """Serve at a free port of loopback; give the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@asynccontextmanager
async def chat_model(url: str) -> AsyncGenerator[OpenAIChatCompletionsModel]:
    """The SDK's own model for a chat-completions server."""
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield OpenAIChatCompletionsModel(model="acme/player", openai_client=client)
