"""What the AI SDK's stream has no chunk for: where its meaning goes instead."""

from __future__ import annotations

from trunkline import events as ev

__all__ = ["LOSSES", "OWN_DATA", "TRANSIENT"]

LOSSES: dict[type[ev.Event], str] = {
    ev.PromptQueued: "a second prompt interrupts the turn, or waits on the server",
    ev.PromptDropped: "a second prompt interrupts the turn, or waits on the server",
    ev.Rewound: "the messages that a page loads show the shorter history",
    ev.RunOpened: "the journal's own",
    ev.RunClosed: "the journal's own",
    ev.Decided: "the result of the call shows it",
}
"""Events that this protocol cannot carry, and where their meaning goes instead."""

TRANSIENT: dict[type[ev.Event], str] = {
    ev.ConfigChanged: "data-config",
    ev.CommandsChanged: "data-commands",
    ev.InfoChanged: "data-info",
    ev.Notice: "data-notice",
}
"""Events that are sent as data parts which a page gets once and does not keep."""

OWN_DATA: frozenset[str] = frozenset(
    {
        "activity", "commands", "compaction", "config", "content", "custom", "diff", "info", "notice",
        "permission", "plan", "question", "raw", "state", "status", "step", "subagent", "terminal", "usage",
    }
)  # fmt: skip
"""Names of data parts that an agent's own events may not take: these become ``data-custom``."""
