"""Chats of the real AI SDK in node, which a test tells what to do: useChat without React."""

from pathlib import Path
from typing import Any

from tests.peers.aisdk import VERSIONS, installed
from tests.peers.node_process import JsonObject, NodeProcess
from tests.server.running_server import BEARER


class ChatPages(NodeProcess):
    """A node process that holds any number of chats, of any version."""

    def __init__(self, root: Path) -> None:
        folders = [installed(root, version) for version in VERSIONS]
        super().__init__("--experimental-websocket", str(root / "tests/peers/node/aisdk_chat.mjs"), *folders)
        self._count = 0

    async def open(self, server: Any, chat: str = "c1", *, version: int = 7, **fields: Any) -> "ChatPage":
        """Open a chat in a page of its own; ``server`` is the address, as ``http://host:port``."""
        self._count += 1
        name = f"page{self._count}"
        api = fields.pop("api", f"{server}/api/chat")
        query = f"?v={version}"
        page = ChatPage(self, name, server, chat, version)
        given: JsonObject = {"api": api + query if version != 7 else api, "headers": BEARER, **fields}
        await page.order("open", folder=VERSIONS.index(version), chat=chat, **given)
        return page

    async def order(self, **order: Any) -> JsonObject:
        """Have one thing done and give the report."""
        report = await super().order(**order)
        assert "failure" not in report, report["failure"]
        return report


class ChatPage:
    """One chat as a page holds it."""

    def __init__(self, pages: ChatPages, name: str, server: str, chat: str, version: int) -> None:
        self._pages = pages
        self._name = name
        self.server = server
        self.chat = chat
        self.version = version
        self.report: JsonObject = {}

    async def order(self, do: str, **fields: Any) -> JsonObject:
        """Have one thing done."""
        self.report = await self._pages.order(do=do, name=self._name, **fields)
        return self.report

    async def say(self, text: str, **fields: Any) -> JsonObject:
        """Send a message, and wait until the page is at rest."""
        await self.order("send", text=text, **fields)
        return await self.settle()

    async def settle(self) -> JsonObject:
        """Wait until the page is at rest."""
        return await self.order("settle")

    async def approve(self, approved: bool = True, **fields: Any) -> JsonObject:
        """Answer what waits for approval, and wait until the page is at rest."""
        await self.order("approve", approved=approved, **fields)
        return await self.settle()

    async def resume(self) -> JsonObject:
        """Resume what is under way, to its end."""
        await self.order("resume")
        return await self.settle()

    @property
    def messages(self) -> list[JsonObject]:
        """The messages that the page holds."""
        return self.report["messages"]

    @property
    def last(self) -> JsonObject:
        """The last of them."""
        return self.messages[-1]

    @property
    def text(self) -> str:
        """The text of the last message."""
        return "".join(part["text"] for part in self.last["parts"] if part["type"] == "text")

    def parts(self, *kinds: str) -> list[JsonObject]:
        """The parts of the last message of some kinds."""
        return [part for part in self.last["parts"] if part["type"] in kinds]

    @property
    def calls(self) -> list[JsonObject]:
        """The calls of the last message."""
        return [part for part in self.last["parts"] if "toolCallId" in part]
