"""Results of front-end tools that a page sends before the agent asks for them.

A page runs its own tools as soon as it gets the calls, also where the same message waits for an approval
and the agent has not asked for the results yet. They come with the approval. They are kept in the messages
that the page gets back, and answer the calls once the agent asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.conversation import Conversation
from trunkline.frontends.agui.history import ThreadSnapshot
from trunkline.frontends.agui.questions import read_tool_results
from trunkline.protocols.agui import wire
from trunkline.questions import ClientCall, Permission


def find_early_results(messages: Sequence[wire.Message], conversation: Conversation) -> list[wire.Message]:
    """Find the results of calls that are open and about which no question was asked."""
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


def add_early_results(thread: ThreadSnapshot, results: Sequence[wire.Message]) -> None:
    """Keep results in the messages that a page gets of its thread."""
    questions = {
        call_id: ev.Asked(question_id=f"early:{call_id}", question=ClientCall(call_id=call_id))
        for message in results
        if (call_id := message.tool_call_id) is not None
    }
    answers = read_tool_results(results, questions, None)
    for call_id, asked in questions.items():
        thread.feed(asked)
        thread.add_answer(answers[call_id])


def early_answers(
    results: Sequence[wire.Message], questions: Mapping[str, ev.Asked], by: str
) -> tuple[Answer, ...]:
    """Give the answers to questions whose results came before them."""
    waiting = {
        asked.question.call_id: asked
        for asked in questions.values()
        if isinstance(asked.question, ClientCall)
    }
    return tuple(read_tool_results(results, waiting, by).values())
