"""The official AG-UI client in node, as a page that a test tells what to do."""

import json
from pathlib import Path
from typing import Any

from tests.peers.node_process import JsonObject, NodeProcess
from tests.server.running_server import BEARER


class Browser(NodeProcess):
    """A node process that holds any number of pages."""

    def __init__(self, root: Path) -> None:
        """Start node."""
        super().__init__(str(root / "tests/peers/node/agui.mjs"))


class Page:
    """One HttpAgent of the official client."""

    def __init__(self, browser: Browser, name: str, report: JsonObject | None = None) -> None:
        """Made by ``open_page``."""
        self._browser = browser
        self._name = name
        self._count = 0
        self.report: JsonObject = report or {}

    async def run(self, *add: JsonObject, **fields: Any) -> JsonObject:
        """Run once, with new messages; the report says what the client made of it."""
        keys = ("set", "abortOn")
        order = {key: fields.pop(key) for key in keys if key in fields}
        self.report = await self._browser.order(
            do="run", name=self._name, add=list(add), input=fields, **order
        )
        return self.report

    async def say(self, content: Any, **fields: Any) -> JsonObject:
        """Send a message and run."""
        self._count += 1
        return await self.run({"id": f"u{self._count}", "role": "user", "content": content}, **fields)

    @property
    def _finished(self) -> JsonObject:
        return self.report.get("finished") or {}

    @property
    def messages(self) -> list[JsonObject]:
        """The messages that the client holds."""
        return self.report["messages"]

    @property
    def interrupts(self) -> list[JsonObject]:
        """What the client was asked and has not answered; an older one does not keep it."""
        kept = self.report.get("pendingInterrupts")
        return self._finished.get("interrupts", []) if kept is None else kept

    @property
    def pending(self) -> list[str]:
        """The calls of tools that the client has to run itself."""
        if self._finished.get("outcome", "interrupt") == "interrupt":
            return []
        answered = {message["toolCallId"] for message in self.messages if message["role"] == "tool"}
        made = [call["id"] for message in self.messages for call in message.get("toolCalls", ())]
        return [call_id for call_id in made if call_id not in answered]

    @property
    def frames(self) -> list[JsonObject]:
        """The events of the last run as they came over the wire."""
        frames = (self.report.get("frames") or "").split("\n\n")
        lines = [line for frame in frames for line in frame.split("\n") if line.startswith("data: ")]
        return [json.loads(line[6:]) for line in lines]

    def resume(self, payload: Any = None) -> list[JsonObject]:
        """Answer every interrupt alike; None dismisses them."""
        if payload is None:
            return [{"interruptId": one["id"], "status": "cancelled"} for one in self.interrupts]
        return [
            {"interruptId": one["id"], "status": "resolved", "payload": payload} for one in self.interrupts
        ]


async def open_page(browser: Browser, address: str, thread: str, name: str = "", **options: Any) -> Page:
    """Open a thread in a page of its own; ``version`` 0.x is a client of before 1.0."""
    key = f"{address} {thread} {name}"
    await browser.order(do="open", name=key, url=address, headers=BEARER, thread=thread, **options)
    return Page(browser, key)
