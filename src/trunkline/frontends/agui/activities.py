"""Activities: what an agent shows besides text, as a whole or as a change of it."""

from __future__ import annotations

from typing import Any

from trunkline import events as ev
from trunkline.protocols.agui import wire


def activity_event(event: ev.Activity, owner: str | None, at: int | None) -> wire.AguiEvent:
    """Give an activity, or a change of it; ``owner`` is the lane that showed it first."""
    if event.patch is None:
        return activity(event.activity_id, event.activity_type, event.content or {}, owner, at)
    return wire.ActivityDelta(
        timestamp=at,
        subagent_run_id=owner,
        message_id=event.activity_id,
        activity_type=event.activity_type,
        patch=event.patch,
    )


def activity(
    message_id: str, kind: str, content: dict[str, Any], owner: str | None, at: int | None
) -> wire.AguiEvent:
    """Give an activity as a whole."""
    return wire.ActivitySnapshot(
        timestamp=at, subagent_run_id=owner, message_id=message_id, activity_type=kind, content=content
    )
