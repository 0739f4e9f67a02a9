"""The legal order of events, as tables, and the rules behind them.

A session is a sequence of turns. A turn is *idle*, *running* or *suspended*, and
``TURN_TABLE`` says for every event and phase which ``Action`` is taken. Most events belong to a turn;
some belong to the session and are legal at any time. Because starts and ends of texts are derived, only
few things can be left open: calls, questions, lanes (subagents), steps and compactions. Each is opened
by one event and closed by one, by id, and ``STATUS_TABLE`` says which status of a call may follow which.

Three promises hold whatever an agent emits:

* what comes out is legal: exactly one terminal per turn, no event of a turn outside of one, everything
  that was opened is closed before the terminal, innermost lane first;
* it is idempotent: feeding the output to a fresh grammar gives the same output, and an event that comes
  twice by the same id comes out once;
* nothing is silent: an agent that breaks a rule is named in a ``Notice`` (once per rule and turn),
  and its turn goes on.

Rule 1: everything that decides about order lives in this package, and as much as possible in these
tables; machine.py only carries them out. Rule 2: it does not know any framework or protocol.
"""

from __future__ import annotations

from enum import Enum, IntEnum

from trunkline import events as ev


class Phase(IntEnum):
    """The state of a session between and inside its turns; also the column of TURN_TABLE."""

    IDLE = 0
    RUNNING = 1
    SUSPENDED = 2


class Action(Enum):
    """What to do with an event in a phase."""

    BEGIN = "begin the turn"
    RESTART = "fail the old turn, then begin the new one; the same turn again is ignored"
    END = "close what is open in the turn, then emit the event"
    SUSPEND = "suspend the turn, if one of the questions it names is open"
    RESUME = "go on with the suspended turn"
    EMIT = "check the event and emit it"
    RESUME_AND_EMIT = "go on with the suspended turn, then check the event and emit it"
    EMIT_FOR_SESSION = "check the event and emit it, whatever turn it names"
    IGNORE = "drop the event in silence: what it says is the case already"
    REJECT = "drop the event and report it: there is no turn that it could belong to"


Row = tuple[Action, Action, Action]
"""The actions for (idle, running, suspended)."""

IN_TURN: Row = (Action.REJECT, Action.EMIT, Action.RESUME_AND_EMIT)
_IN_TURN_SUSPENDED: Row = (Action.REJECT, Action.EMIT, Action.EMIT)
_ALWAYS: Row = (Action.EMIT, Action.EMIT, Action.EMIT)
_OF_SESSION: Row = (Action.EMIT_FOR_SESSION, Action.EMIT_FOR_SESSION, Action.EMIT_FOR_SESSION)

TURN_TABLE: dict[type[ev.Event], Row] = {
    ev.TurnStarted: (Action.BEGIN, Action.RESTART, Action.RESTART),
    ev.TurnSuspended: (Action.REJECT, Action.SUSPEND, Action.IGNORE),
    ev.TurnResumed: (Action.IGNORE, Action.IGNORE, Action.RESUME),
    ev.TurnFinished: (Action.REJECT, Action.END, Action.END),
    ev.TurnFailed: (Action.REJECT, Action.END, Action.END),
    ev.UserMessage: _IN_TURN_SUSPENDED,
    ev.Answered: _IN_TURN_SUSPENDED,
    **dict.fromkeys(
        (
            ev.Text,
            ev.Thought,
            ev.Media,
            ev.Source,
            ev.ToolCall,
            ev.ToolInput,
            ev.ToolUpdate,
            ev.TerminalOutput,
            ev.Asked,
            ev.Plan,
            ev.StepStarted,
            ev.StepFinished,
            ev.SubagentStarted,
            ev.SubagentFinished,
            ev.Activity,
            ev.Compaction,
            ev.StateReplaced,
            ev.StatePatched,
        ),
        IN_TURN,
    ),
    **dict.fromkeys(
        (
            ev.Decided,
            ev.Notice,
            ev.ConfigChanged,
            ev.CommandsChanged,
            ev.InfoChanged,
            ev.ContextUsage,
            ev.Custom,
            ev.Raw,
        ),
        _ALWAYS,
    ),
    # A window or a prompt of an earlier turn may end while the next one runs.
    **dict.fromkeys((ev.PromptQueued, ev.PromptDropped, ev.Rewound, ev.RunOpened, ev.RunClosed), _OF_SESSION),
}

# Which status of a call may follow which. A final status stays; late content is still welcome.
STATUS_TABLE: dict[str, frozenset[str]] = {
    "pending": frozenset({"pending", "in_progress"}) | ev.FINAL_STATUSES,
    "in_progress": frozenset({"in_progress"}) | ev.FINAL_STATUSES,
    **{status: frozenset({status}) for status in ev.FINAL_STATUSES},
}

RULES: dict[str, str] = {
    "after-end": "it spoke after its turn had ended; that was dropped",
    "foreign-turn": "it spoke for a turn that is not running; that was dropped",
    "unknown-call": "it updated a tool call it never announced; the call was announced for it",
    "unfinished-call": "it ended its turn with a tool call still open; the call was closed as failed",
    "final-status": "it changed the status of a finished tool call; the first result stays",
    "ended-call": "it updated a tool call of an earlier turn, which is over; that was dropped",
    "late-input": "it sent arguments for a call that already ran; they were dropped",
    "unknown-lane": "it spoke for a subagent it never announced; the subagent was announced for it",
    "closed-lane": "it spoke for a subagent that had finished; that was dropped",
    "unfinished-lane": "it ended its turn with a subagent still open; the subagent was closed as failed",
    "unknown-question": "it answered a question that is not open; that was dropped",
    "unknown-step": "it finished a step that is not open; that was dropped",
    "unknown-activity": "it patched an activity it never showed; that was dropped",
    "closed-terminal": "it wrote to a terminal that had exited; that was dropped",
    "idle-suspension": "it suspended its turn without an open question; that was dropped",
}
