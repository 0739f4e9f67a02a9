"""Text messages that stand for what AG-UI has no event for that pages show.

Such a message is part of the run only. It is not in the thread, and is ignored when a client sends it back.
"""

from __future__ import annotations

import msgspec

from trunkline.protocols.agui import wire


def notice_message(
    message_id: str, kind: str, text: str, at: int | None, *, modern: bool
) -> list[wire.AguiEvent]:
    """Give a text as a message of its own; the metadata says of what kind it is."""
    about = {"trunkline": {"notice": kind}} if modern else None
    return [
        wire.TextMessageStart(timestamp=at, message_id=message_id, role="assistant", metadata=about),
        wire.TextMessageContent(timestamp=at, message_id=message_id, delta=text),
        wire.TextMessageEnd(timestamp=at, message_id=message_id),
    ]


def failure_message(
    error: wire.RunError, finished: wire.RunFinished, *, modern: bool
) -> list[wire.AguiEvent]:
    """Give a failure of a run that must be finished: as a message, and as the result of the run."""
    result = {"stopReason": "failed", "message": error.message}
    if error.code is not None:
        result["code"] = error.code
    message = notice_message(
        f"{finished.run_id}:failed",
        "failed",
        f"The run failed: {error.message}",
        error.timestamp,
        modern=modern,
    )
    end = msgspec.structs.replace(finished, result=result, usage=error.usage, metadata=error.metadata)
    return [*message, end]
