"""What AG-UI has no event for: where its meaning goes, or the name it has as a CUSTOM event."""

from __future__ import annotations

from trunkline import events as ev

__all__ = ["LOSSES", "NAMES"]

LOSSES: dict[type[ev.Event], str] = {
    ev.TurnStarted: "the run itself is the start",
    ev.TurnResumed: "the next run shows it",
    ev.PromptQueued: "a second run of a thread is refused (409)",
    ev.PromptDropped: "a second run of a thread is refused (409)",
    ev.Rewound: "a messages snapshot shows the shorter history",
    ev.RunOpened: "the journal's own",
    ev.RunClosed: "the journal's own",
    ev.UserMessage: "the client brought it",
    ev.Answered: "the result of the call shows it",
    ev.TerminalOutput: "the result of its call brings the output",
}
"""Events that this protocol has no form for, and where their meaning goes instead."""

NAMES: dict[type[ev.Event], str] = {
    ev.Notice: "trunkline.notice",
    ev.Compaction: "trunkline.compaction",
    ev.Usage: "trunkline.usage",
    ev.ConfigChanged: "trunkline.config",
    ev.CommandsChanged: "trunkline.commands",
    ev.InfoChanged: "trunkline.info",
}
"""What AG-UI has no event for is a CUSTOM of one of these names."""
