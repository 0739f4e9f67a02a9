"""What the events of an agent change in its session, and which ones an agent may not emit."""

from __future__ import annotations

from trunkline import events as ev
from trunkline.errors import AgentProtocolError
from trunkline.json_patch import PatchError
from trunkline.session.interfaces import TurnSession

__all__ = ["apply_to_session"]

# Only the session emits these: it alone knows about turns, windows, the queue and decisions.
_ONLY_BY_SESSION = (
    ev.TurnStarted,
    ev.RunOpened,
    ev.RunClosed,
    ev.PromptQueued,
    ev.PromptDropped,
    ev.Rewound,
    ev.UserMessage,
    ev.Decided,
)


def apply_to_session(event: ev.Event, session: TurnSession, *, agent_began: bool) -> bool:
    """Apply an agent's event to its session; False when the event must not be emitted.

    ``agent_began`` is for a turn that the agent began without a prompt.
    """
    if isinstance(event, ev.StateReplaced):
        session.view.replace_state(event.state)
    elif isinstance(event, ev.StatePatched):
        try:
            session.view.replace_state(session.view.patched(event.patch))
        except PatchError as error:
            raise AgentProtocolError(
                f"{session.agent_name} sent a state patch that does not fit: {error}"
            ) from None
    elif isinstance(event, ev.ConfigChanged):
        session.view.options = event.options
    elif isinstance(event, ev.CommandsChanged):
        session.view.commands = event.commands
    elif isinstance(event, ev.InfoChanged):
        session.set_title(event.title)
    elif isinstance(event, ev.Asked):
        session.questions.reopen(event, expires_in=session.settings.question_ttl)
    elif isinstance(event, ev.Answered):
        return not session.questions.withdraw(event)
    elif isinstance(event, ev.UserMessage) and agent_began:
        return True  # What a user wrote to the agent through another program.
    elif isinstance(event, _ONLY_BY_SESSION):
        for notice in session.event_stream.grammar.report("foreign-turn", type(event).__name__):
            session.event_stream.emit(notice)
        return False
    return True
