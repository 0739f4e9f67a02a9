"""A page without a browser: it sends what useChat sends, and folds what comes with the reducer."""

from collections.abc import Mapping
from typing import Any

from trunkline.frontends.aisdk.chat_request import read_chat_request
from trunkline.frontends.aisdk.endpoint import AisdkEndpoint
from trunkline.frontends.aisdk.message_reducer import MessageReducer
from trunkline.frontends.aisdk.run import AisdkResponse
from trunkline.protocols.aisdk.wire import version_of


def user(text: str, message_id: str = "u1") -> dict[str, Any]:
    """A message of a person."""
    return {"id": message_id, "role": "user", "parts": [{"type": "text", "text": text}]}


def answered(message: Mapping[str, Any], approved: bool = True, **fields: Any) -> dict[str, Any]:
    """The assistant's message, with its approvals answered by the page."""
    parts = [
        {
            **part,
            "state": "approval-responded",
            "approval": {**part["approval"], "approved": approved, **fields},
        }
        if part.get("state") == "approval-requested"
        else part
        for part in message["parts"]
    ]
    return {**message, "parts": parts}


class Page:
    """One page of a chat."""

    def __init__(
        self, endpoint: AisdkEndpoint, chat_id: str = "c1", *, version: Any = 7, **sends: Any
    ) -> None:
        self.endpoint = endpoint
        self.chat_id = chat_id
        self.version = version
        self.sends = sends
        """Fields of every request."""
        self.messages: list[dict[str, Any]] = []
        self.chunks: list[dict[str, Any]] = []
        """The chunks of the last response."""
        self._taken: dict[str, list[dict[str, Any]]] = {}

    async def open(self, *messages: dict[str, Any], **fields: Any) -> AisdkResponse:
        """Send a request; the messages are new, or in place of those with the same id."""
        for message in messages:
            self._put(message)
        body = {"id": self.chat_id, "messages": self.messages, **self.sends, **fields}
        return await self.endpoint.open(read_chat_request(body), version=self.version)

    async def send(self, *messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Send a request and take the whole response; gives the message it is about."""
        return await self.take(await self.open(*messages, **fields))

    async def take(self, response: AisdkResponse, *, resumes: bool = False) -> dict[str, Any]:
        """Take a whole response: it goes on with a message of the same id, or begins it anew."""
        self.chunks = [chunk async for _, chunks in response for chunk in chunks]
        await response.close()
        name = self.chunks[0].get("messageId") or "unnamed"
        before = [] if resumes else self._taken.get(name, [])
        self._taken[name] = [*before, *self.chunks]
        reducer = MessageReducer(name, version_of(self.version))
        reducer.feed_all(self._taken[name])
        if reducer.message["parts"]:
            self._put(reducer.message)
        return reducer.message

    async def reload(self) -> list[dict[str, Any]]:
        """Get the messages anew."""
        self.messages = await self.endpoint.messages(self.chat_id, version=self.version)
        return self.messages

    @property
    def types(self) -> list[str]:
        """The types of the last response's chunks."""
        return [chunk["type"] for chunk in self.chunks]

    @property
    def text(self) -> str:
        """The text of the last response."""
        return "".join(chunk["delta"] for chunk in self.chunks if chunk["type"] == "text-delta")

    def _put(self, message: dict[str, Any]) -> None:
        for place, known in enumerate(self.messages):
            if known["id"] == message["id"]:
                self.messages[place] = message
                return
        self.messages.append(message)
