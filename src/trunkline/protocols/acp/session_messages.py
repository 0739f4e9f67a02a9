"""Messages between the sessions of an agent, as activities: they are its work, not its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trunkline import events as ev
from trunkline.protocols.acp.fields import as_list, as_object, text_in

_REMEMBERED = 100


class SessionMessages:
    """The newest messages, of which more may come."""

    def __init__(self) -> None:
        """Know of none."""
        self._messages: dict[str, dict[str, Any]] = {}

    def take(self, update: Mapping[str, Any]) -> ev.Activity | None:
        """Take ``session_message`` or ``session_message_chunk``; None if it cannot be read."""
        message_id = text_in(update, "messageId")
        if message_id is None:
            return None
        message = self._messages.setdefault(message_id, {"content": []})
        if update.get("sessionUpdate") == "session_message_chunk":
            message["content"] = [*message["content"], update.get("content")]
        else:
            fields = {k: v for k, v in update.items() if k not in ("sessionUpdate", "messageId", "_meta")}
            message |= {**fields, "content": as_list(fields.get("content", message["content"]))}
        if len(self._messages) > _REMEMBERED:
            del self._messages[next(iter(self._messages))]
        return ev.Activity(
            meta=as_object(update.get("_meta")) or None,
            activity_id=message_id,
            activity_type="session_message",
            content=dict(message),
        )
