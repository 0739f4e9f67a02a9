"""The messages of a conversation by every id that a server gives them.

A server may stream a message under one id and repeat it in a snapshot under another, and under a new one in
the next snapshot: LlamaIndex (llama-index-protocols-ag-ui) makes an id whenever a message has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

_AGENT_ROLES = ("assistant", "reasoning")


class _KnownMessage:
    """One message, and all its ids."""

    def __init__(self, role: str, lane: str | None, *, earlier: bool) -> None:
        self.role = role
        self.lane = lane
        self.earlier = earlier
        self.ids: set[str] = set()
        self.texts: list[str] = []

    def matches(self, message: Json) -> bool:
        """Whether a message of a snapshot is this one; some servers strip the text."""
        alike = (self.role, self.lane) == (message["role"], message.get("subagentRunId"))
        return alike and "".join(self.texts).strip() == str(message["content"]).strip()


class KnownMessages:
    """Recognises the messages of a conversation."""

    def __init__(self, earlier: Iterable[Json] = ()) -> None:
        self._known: dict[tuple[str, str], _KnownMessage] = {}
        self._ids: set[str] = set()
        for message in earlier:
            self._ids.add(message["id"])
            content = message.get("content")
            if message.get("role") in _AGENT_ROLES and isinstance(content, str):
                lane = message.get("subagentRunId")
                self.add(message["id"], message["role"], lane, content, earlier=True)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._ids

    def add_id(self, message_id: str) -> None:
        """Add a message that has no text."""
        self._ids.add(message_id)

    def add(self, message_id: str, role: str, lane: str | None, text: str, *, earlier: bool = False) -> None:
        """Add a piece of the text of a message."""
        known = self._known.get((role, message_id))
        if known is None:
            known = self._known[role, message_id] = _KnownMessage(role, lane, earlier=earlier)
        known.ids.add(message_id)
        known.texts.append(text)
        self._ids.add(message_id)

    def recognise(self, snapshot: list[Json]) -> None:
        """Learn new ids of messages: of those that a snapshot has under no id that we know.

        What comes before its last message of a person is of earlier turns, the rest is of this one.
        """
        present = {message["id"] for message in snapshot}
        missing = [known for known in self._known.values() if not known.ids & present]
        asked = max((at for at, message in enumerate(snapshot) if message["role"] == "user"), default=None)
        for at, message in enumerate(snapshot):
            if (
                message["role"] not in _AGENT_ROLES
                or message["id"] in self._ids
                or not message.get("content")
            ):
                continue
            for known in missing:
                if asked is not None and known.earlier != (at < asked):
                    continue
                if known.matches(message):
                    missing.remove(known)
                    known.ids.add(message["id"])
                    self._ids.add(message["id"])
                    break
