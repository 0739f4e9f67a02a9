"""Results that a page sends before anybody asks for them.

A page runs its own tools as soon as it hears of the calls, also where the same message waits for an approval
and nobody has asked for the results yet. They come with the approval. They are kept in what the page is
told, and answer the calls once these are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.conversation import Conversation
from trunkline.frontends.agui.decoder import read_tool_results
from trunkline.frontends.agui.history import ThreadSnapshot
from trunkline.protocols.agui import wire
from trunkline.questions import ClientCall, Permission

__all__ = ["early_answers", "add_early_results", "early_results"]


def early_results(messages: Sequence[wire.Message], conversation: Conversation) -> list[wire.Message]:
    """Find the results of calls that are still open and that nobody asked anything about."""
    asked = {
        question.asked.question.call_id
        for question in conversation.questions.values()
        if isinstance(question.asked.question, ClientCall | Permission)
    }
    calls = conversation.calls
    return [
        message
        for message in messages
        if message.role == "tool"
        and (call := calls.get(message.tool_call_id or "")) is not None
        and call.status not in ev.FINAL_STATUSES
        and call.call_id not in asked
    ]


def add_early_results(standing: ThreadSnapshot, results: Sequence[wire.Message]) -> None:
    """Keep results in what a page is told of its thread."""
    for asked, answer in _answered(results, None):
        standing.feed(asked)
        standing.feed(
            ev.Answered(
                question_id=asked.question_id,
                outcome=answer.outcome,
                content=answer.content,
                reason=answer.reason,
                meta=answer.meta,
            )
        )


def early_answers(
    results: Sequence[wire.Message], questions: Mapping[str, ev.Asked], by: str
) -> tuple[Answer, ...]:
    """Give the answers to questions whose results are there already."""
    waiting = {
        asked.question.call_id: asked
        for asked in questions.values()
        if isinstance(asked.question, ClientCall)
    }
    return tuple(read_tool_results(results, waiting, by).values())


def _answered(results: Sequence[wire.Message], by: str | None) -> list[tuple[ev.Asked, Answer]]:
    asked = {
        call_id: ev.Asked(question_id=f"ahead:{call_id}", question=ClientCall(call_id=call_id))
        for message in results
        if (call_id := message.tool_call_id) is not None
    }
    answers = read_tool_results(results, asked, by)
    return [(question, answers[call_id]) for call_id, question in asked.items()]
