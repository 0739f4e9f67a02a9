"""What AG-UI has no event for: where its meaning goes instead, or its name as a CUSTOM event."""

from __future__ import annotations

from trunkline import events as ev

LOSSES: dict[type[ev.Event], str] = {
    ev.TurnStarted: "the run itself is the start",
    ev.TurnResumed: "the next run shows it",
    ev.PromptQueued: "a run that steers waits; any other second run of a thread is refused (409)",
    ev.PromptDropped: "a run that steers ends with an error",
    ev.Rewound: "a messages snapshot shows the shorter history",
    ev.RunOpened: "the journal's own",
    ev.RunClosed: "the journal's own",
    ev.Decided: "the result of the call shows it",
    ev.Answered: "the result of the call shows it",
    ev.TerminalOutput: "the result of its call brings the output",
}
"""Events that this protocol cannot carry, and where their meaning goes instead."""

CUSTOM_NAMES: dict[type[ev.Event], str] = {
    ev.Notice: "trunkline.notice",
    ev.Compaction: "trunkline.compaction",
    ev.ContextUsage: "trunkline.usage",
    ev.ConfigChanged: "trunkline.config",
    ev.CommandsChanged: "trunkline.commands",
    ev.InfoChanged: "trunkline.info",
}
"""Events that are sent as CUSTOM, with these names."""
