"""What ACP has no update for, and where its meaning goes instead: the loss table of the encoder."""

from __future__ import annotations

from trunkline import events as ev

LOSSES: dict[type[ev.Event], str] = {
    ev.TurnStarted: "the prompt itself is the start",
    ev.TurnResumed: "the next update shows it",
    ev.PromptQueued: "the answer to _session/steering says it; a second prompt is refused (-32600)",
    ev.PromptDropped: "its turn never begins; a second prompt is refused (-32600)",
    ev.Rewound: "ACP v1 cannot take messages back; a load shows the shorter history",
    ev.RunOpened: "the journal's own",
    ev.RunClosed: "the journal's own",
    ev.Decided: "the status of the call shows it",
    ev.StepStarted: "ACP v1 has no steps",
    ev.StepFinished: "ACP v1 has no steps",
    ev.SubagentStarted: "updates of a subagent carry its lane in _meta",
    ev.SubagentFinished: "updates of a subagent carry its lane in _meta",
    ev.Activity: "ACP v1 has no activities",
    ev.StateReplaced: "ACP v1 has no shared state",
    ev.StatePatched: "ACP v1 has no shared state",
    ev.Custom: "ACP v1's update union is closed",
    ev.Raw: "ACP v1's update union is closed",
}
"""Events that this protocol cannot carry, and where their meaning goes instead."""
