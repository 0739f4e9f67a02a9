"""The messages of a conversation by every name that a server has for them.

A server may stream a message under one id and tell it in a snapshot under another, and under a new one in
the next snapshot: LlamaIndex (llama-index-protocols-ag-ui) makes up an id whenever a message has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["SaidMessages"]

Json = dict[str, Any]

_SPOKEN = ("assistant", "reasoning")


class _Said:
    """A message that was said."""

    def __init__(self, role: str, lane: str | None, *, earlier: bool) -> None:
        self.role = role
        self.lane = lane
        self.earlier = earlier
        self.names: set[str] = set()
        self.words: list[str] = []

    def is_told_as(self, message: Json) -> bool:
        """Whether a message of a snapshot says the same; some servers strip what they said."""
        alike = (self.role, self.lane) == (message["role"], message.get("subagentRunId"))
        return alike and "".join(self.words).strip() == str(message["content"]).strip()


class SaidMessages:
    """Knows the messages of a conversation again."""

    def __init__(self, earlier: Iterable[Json] = ()) -> None:
        """Begin with the messages of earlier turns, as AG-UI spells them."""
        self._said: dict[tuple[str, str], _Said] = {}
        self._names: set[str] = set()
        for message in earlier:
            self._names.add(message["id"])
            content = message.get("content")
            if message.get("role") in _SPOKEN and isinstance(content, str):
                lane = message.get("subagentRunId")
                self.add(message["id"], message["role"], lane, content, earlier=True)

    def __contains__(self, name: str) -> bool:
        """Whether a message of this name was said."""
        return name in self._names

    def name(self, message_id: str) -> None:
        """Take a message as said that has no words."""
        self._names.add(message_id)

    def add(self, message_id: str, role: str, lane: str | None, words: str, *, earlier: bool = False) -> None:
        """Take words of a message as said."""
        said = self._said.get((role, message_id))
        if said is None:
            said = self._said[role, message_id] = _Said(role, lane, earlier=earlier)
        said.names.add(message_id)
        said.words.append(words)
        self._names.add(message_id)

    def recognise(self, snapshot: list[Json]) -> None:
        """Learn the new names of messages: those that a snapshot lacks under all names we know.

        What stands before its last message of a person is of earlier turns, the rest is of this one.
        """
        present = {message["id"] for message in snapshot}
        missing = [said for said in self._said.values() if not said.names & present]
        asked = max((at for at, message in enumerate(snapshot) if message["role"] == "user"), default=None)
        for at, message in enumerate(snapshot):
            if message["role"] not in _SPOKEN or message["id"] in self._names or not message.get("content"):
                continue
            for said in missing:
                if asked is not None and said.earlier != (at < asked):
                    continue
                if said.is_told_as(message):
                    missing.remove(said)
                    said.names.add(message["id"])
                    self._names.add(message["id"])
                    break
