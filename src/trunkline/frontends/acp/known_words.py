"""The words of ACP v1, whose sets are closed, for words that an agent's own protocol may add to ours.

https://agentclientprotocol.com/protocol/tool-calls lists the kinds and the states of a call,
https://agentclientprotocol.com/protocol/agent-plan those of a plan. A strict client drops an update with any
other word, so the nearest one is sent. An option's category is open in ACP and is sent as it is.
"""

from __future__ import annotations

from typing import get_args

from trunkline import events as ev
from trunkline.questions import OptionKind

_KINDS = frozenset(get_args(ev.ToolKind))
_OPTION_KINDS = frozenset(get_args(OptionKind))
_STOP_REASONS = frozenset(get_args(ev.StopReason))

# ACP v1 has no denied and no cancelled: both are failed, with the reason as content.
_STATUSES = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "failed": "failed",
    "denied": "failed",
    "cancelled": "failed",
}
_PLAN_STATUSES = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "cancelled": "completed",
}
_PRIORITIES = frozenset({"high", "medium", "low"})
_SEVERITIES = frozenset({"info", "warning", "error"})
_COMPACTIONS = frozenset({"in_progress", "completed", "failed", "cancelled"})


def tool_kind(kind: str) -> str:
    """Give the kind of a call."""
    return kind if kind in _KINDS else "other"


def tool_status(status: str) -> str:
    """Give the status of a call; one that only the agent knows is that of a call that still runs."""
    return _STATUSES.get(status, "in_progress")


def plan_entry(entry: ev.PlanEntry) -> dict[str, str]:
    """Give an entry of a plan; what was called off needs no more work."""
    priority = entry.priority if entry.priority in _PRIORITIES else "medium"
    status = _PLAN_STATUSES.get(entry.status, "pending")
    return {"content": entry.content, "priority": priority, "status": status}


def option_kind(kind: str) -> str:
    """Give the kind of a permission's option.

    One that is not known may allow anything: a client that refuses, or allows once, by the kind of an option
    must not find it.
    """
    if kind in _OPTION_KINDS:
        return kind
    return "reject_once" if kind.startswith("reject") else "allow_always"


def stop_reason(reason: str) -> str:
    """Give the reason why a turn ended."""
    return reason if reason in _STOP_REASONS else "end_turn"


def severity(level: str) -> str:
    """Give the severity of a notice."""
    return level if level in _SEVERITIES else "info"


def compaction_status(status: str) -> str:
    """Give the status of a compaction."""
    return status if status in _COMPACTIONS else "in_progress"
