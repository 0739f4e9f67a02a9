"""``_session/steering``: a message for the turn that is running, as claude-agent-acp and codex-acp serve it.

Read from @agentclientprotocol/claude-agent-acp 0.99.1 and @agentclientprotocol/codex-acp 2.6.0, which agree.
``initialize`` says ``_meta.steering.supported``. The request is ``{sessionId, prompt, _meta}`` with a prompt
that is not empty; ``_meta.steering.idleBehavior`` may be ``promptRequired``. The answer is ``{outcome}``:
``injected`` (it joined the turn), ``startedNewTurn``, or, without a turn and with that wish,
``promptRequired`` with the reason ``noRunningTurn``: the client then sends the message as a prompt.

A message that has to wait for the next turn is ``startedNewTurn`` too, with ``_meta.trunkline.queued``.
"""

from __future__ import annotations

from typing import Any, cast

from trunkline.errors import InvalidCommand
from trunkline.session.receipts import Receipt

METHOD = "_session/steering"

PROMPT_REQUIRED: dict[str, Any] = {"outcome": "promptRequired", "reason": "noRunningTurn"}


def wants_prompt(meta: dict[str, Any] | None) -> bool:
    """Whether the client wants to send the message as a prompt itself, if no turn is running."""
    steering: Any = (meta or {}).get("steering")
    if steering is None:
        return False
    if not isinstance(steering, dict):
        raise InvalidCommand("_meta.steering must be an object")
    wish = cast("dict[str, Any]", steering).get("idleBehavior")
    if wish not in (None, "promptRequired"):
        raise InvalidCommand(f"unsupported steering idleBehavior {wish!r}: send promptRequired or none")
    return wish is not None


def steering_outcome(receipt: Receipt) -> dict[str, Any]:
    """Give the answer to a message that was taken."""
    if receipt.steered:
        return {"outcome": "injected"}
    if receipt.turn_id is not None:
        return {"outcome": "startedNewTurn"}
    return {"outcome": "startedNewTurn", "_meta": {"trunkline": {"queued": True}}}
