"""Why an answer that came too late was not used, as a sentence for the person who gave it."""

from __future__ import annotations

from collections.abc import Container, Iterable

from trunkline.conversation import Conversation, QuestionState
from trunkline.protocols.agui import wire
from trunkline.questions import ClientCall


def explain_too_late(request: wire.RunAgentInput, conversation: Conversation) -> str | None:
    """Say why the answers of a client were not used, and what to do; None if it only dismissed questions."""
    answered = {entry.interrupt_id for entry in request.resume or () if entry.status == "resolved"}
    if request.resume and not answered:
        return None
    what = "answer" if request.resume else "result"
    if not conversation.messages:
        return f"Your {what} was not used: this thread is not known here any more. Send your message again."
    results = {message.tool_call_id for message in request.messages[-1:] if not request.resume}
    why = _reason(conversation, answered, results)
    return f"Your {what} came too late and was not used: {why}"


_AGAIN = "Send your message again to go on."


def _reason(conversation: Conversation, question_ids: Iterable[str], results: Container[str | None]) -> str:
    turn = conversation.turns[-1] if conversation.turns else None
    if turn is not None and turn.code == "interrupted":
        return f"the server was restarted while it waited. {_AGAIN}"
    found = [one for key in question_ids if (one := conversation.questions.get(key)) is not None]
    found += [one for one in conversation.questions.values() if _call_of(one) in results]
    answered = found[-1].answered if found else None
    if answered is not None and answered.by == "trunkline" and answered.reason:
        return f"{answered.reason}. {_AGAIN}"
    if answered is not None and answered.outcome not in ("cancelled", "expired"):
        return "it had been answered already."
    return f"the run was over by then. {_AGAIN}"


def _call_of(question: QuestionState) -> str:
    asked = question.asked.question
    return asked.call_id if isinstance(asked, ClientCall) else ""
