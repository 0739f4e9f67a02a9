"""The chat endpoint under test: responses that the checks share, each made once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from trunkline.conformance.http import Exchange, HttpSubject
from trunkline.conformance.table import NotApplicable, Table
from trunkline.protocols.aisdk.wire import Chunk

_SPEC = "https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol"
_PAGES = {
    "HTTP": "https://ai-sdk.dev/docs/ai-sdk-ui/transport",
    "HEADER": f"{_SPEC}#data-stream-protocol",
    "SSE": f"{_SPEC}#data-stream-protocol",
    "CHUNK": "https://github.com/vercel/ai/blob/main/packages/ai/src/ui-message-stream/ui-message-chunks.ts",
    "MESSAGE": f"{_SPEC}#message-start-part",
    "PART": f"{_SPEC}#text-parts",
    "TOOL": f"{_SPEC}#tool-input-start-part",
    "FINISH": f"{_SPEC}#finish-message-part",
    "CHAT": "https://ai-sdk.dev/docs/ai-sdk-ui/chatbot",
}
TABLE: Table[AisdkKit] = Table("aisdk", _PAGES)
requirement = TABLE.requirement


class Prompts(NamedTuple):
    """Words that bring about what the checks need; None where there are none."""

    words: str = "Say hello."
    tool: str | None = None
    """A prompt in whose response a tool is called."""


class Response(NamedTuple):
    """One response: what came back, and its chunks."""

    exchange: Exchange
    chunks: list[Chunk]

    def only(self, *kinds: str) -> list[Chunk]:
        """The chunks of these types."""
        return [chunk for chunk in self.chunks if chunk.get("type") in kinds]


class AisdkKit(HttpSubject):
    """An endpoint under test."""

    prompts = Prompts()
    version: int = 6
    """The major version of the npm package ``ai`` on the page."""
    token: str = "1"
    """Makes the ids of chats differ from those of an earlier check."""

    def chat(self, name: str) -> str:
        """The id of a chat."""
        return f"trunkline-check-{name}-{self.token}"

    def say(
        self,
        chat: str,
        *texts: str,
        leave: Callable[[bytes], bool] | None = None,
        earlier: list[Any] | None = None,
        **fields: Any,
    ) -> Response:
        """Send a message as useChat does: with the whole chat before it."""
        made: list[Any] = [
            {"id": f"{chat}-u{number}", "role": "user", "parts": [{"type": "text", "text": text}]}
            for number, text in enumerate(texts, len(earlier or ()))
        ]
        body = {"id": chat, "messages": [*(earlier or ()), *made], "trigger": "submit-message", **fields}
        exchange = self.post(body, leave=leave)
        return Response(exchange, exchange.objects())

    @cached_property
    def hello(self) -> Response:
        """The response to the ordinary prompt."""
        return self.say(self.chat("hello"), self.prompts.words)

    @cached_property
    def tool(self) -> Response:
        """A response in which a tool is called, if the prompts bring one about."""
        if self.prompts.tool is None:
            raise NotApplicable("there is no prompt that calls a tool (--tool-prompt)")
        response = self.say(self.chat("tool"), self.prompts.tool)
        if not any(str(chunk.get("type")).startswith("tool-") for chunk in response.chunks):
            raise NotApplicable("no tool was called (--tool-prompt)")
        return response

    @property
    def responses(self) -> list[Response]:
        """Every shared response that could be made."""
        made = [self.hello]
        with suppress(NotApplicable):
            made.append(self.tool)
        return made
