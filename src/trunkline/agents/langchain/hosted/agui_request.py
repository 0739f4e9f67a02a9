"""RequestMeaning: what the request of an AG-UI client means for an agent.

With a checkpointer the thread is the truth, and of a client's history only what is new counts. Without one
the client's history is all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec
from langgraph.types import Command

from trunkline import events as ev
from trunkline.agents.langchain.graph import threads
from trunkline.agents.langchain.graph.client_input import client_state
from trunkline.agents.langchain.graph.inputs import input_for
from trunkline.agents.langchain.graph.interrupts import OpenCalls, Pending, pending_questions, resume_value
from trunkline.agents.langchain.graph.repair import config_of, is_broken, repair, thread_messages
from trunkline.agents.langchain.hosted.run import question_of
from trunkline.agents.langchain.messages.content_mapper import ContentBlockMapper
from trunkline.agents.langchain.messages.history import conversation_of, messages_of, unanswered_calls
from trunkline.commands import Prompt
from trunkline.conversation import IMPORTED, Conversation
from trunkline.errors import InvalidCommand
from trunkline.folding import fold
from trunkline.intents import NO_REWIND, AnswerQuestions, Intent, StartTurn
from trunkline.json_patch import copy_json
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.imported_history import history_events
from trunkline.session.questions import check_answer

IntentOf = Callable[[Any, Conversation, Mapping[str, ev.Asked]], Intent]
"""How the front end reads a request for a thread with these open questions."""


class RequestMeaning(msgspec.Struct, kw_only=True):
    """What a request means for an agent."""

    payload: Any = None
    """What the agent is given; None when there is nothing left to do."""
    known: list[Any] = []
    """The messages that the client has already."""
    asked: list[ev.Asked] = []
    """The questions that were open."""
    answers: list[tuple[Pending, ev.Answered]] = []
    cancels_waiting: bool = False
    """Whether what the agent waited for is not answered any more."""


async def read_request(
    agent: Any,
    request: wire.RunAgentInput,
    thread_id: str,
    open_questions: Mapping[str, ev.Asked],
    intent_of: IntentOf,
) -> RequestMeaning:
    """Say what a request means; one that cannot be carried out raises InvalidCommand.

    ``open_questions`` are those that the client was asked, as far as this process knows.
    """
    mapper = ContentBlockMapper()
    if not threads.is_durable(agent):
        return _from_history(agent, request, mapper)
    config = config_of(thread_id)
    snapshot: Any = await agent.aget_state(config)
    messages = thread_messages(snapshot)
    pending = _pending(snapshot, messages)
    asked = {item.key: open_questions.get(item.key) or question_of(item) for item in pending}
    if request.resume and not asked.keys() & {entry.interrupt_id for entry in request.resume}:
        return RequestMeaning(known=messages)  # Too late: this is not asked any more.
    conversation = conversation_of(messages, mapper)
    intent = intent_of(_without_unknown_results(request, conversation, asked), conversation, asked)
    if isinstance(intent, AnswerQuestions):
        answers = {
            answer.question_id: check_answer(asked[answer.question_id], answer) for answer in intent.answers
        }
        return RequestMeaning(
            payload=Command(resume=resume_value(pending, answers)),
            known=messages,
            asked=list(asked.values()),
            answers=[(item, answers[item.key]) for item in pending if item.key in answers],
        )
    if not isinstance(intent, StartTurn):
        return RequestMeaning(known=messages)  # Too late as well: this result is not waited for.
    broken = is_broken(agent, snapshot)
    if broken:
        await repair(agent, thread_id)
    if intent.rewind_to is not NO_REWIND:
        await threads.rewind(agent, thread_id, intent.rewind_to)
    if broken or intent.rewind_to is not NO_REWIND:
        messages = thread_messages(await agent.aget_state(config))
    claimed = [msgspec.structs.replace(event, turn_id=f"{IMPORTED}_") for event in intent.history]
    brought = messages_of(fold(claimed), mapper)
    given = [*brought, mapper.user_message(intent.prompt.content, intent.prompt.message_id)]
    prompt = intent.prompt
    client = client_state(agent, prompt)
    payload = input_for(agent, given, prompt.text, _fields(prompt.state), "the agent", client)
    return RequestMeaning(
        payload=payload, known=[*messages, *brought], cancels_waiting=intent.cancels_waiting
    )


def client_prompt(request: wire.RunAgentInput) -> Prompt:
    """What a request says besides its messages; an older client's answer is no part of it."""
    tools: Any = tuple(msgspec.to_builtins(tool) for tool in request.tools or ())
    context: Any = tuple(msgspec.to_builtins(item) for item in request.context or ())
    props: Any = request.forwarded_props
    given = cast("dict[str, Any]", props) if isinstance(props, dict) else {}
    forwarded = {name: value for name, value in given.items() if name != "command"}
    return Prompt(tools=tools, context=context, forwarded=forwarded)


def _pending(snapshot: Any, messages: list[Any]) -> list[Pending]:
    calls = OpenCalls()
    calls.add(None, unanswered_calls(messages))
    return pending_questions(snapshot.interrupts, calls)


def _without_unknown_results(
    request: wire.RunAgentInput, conversation: Conversation, asked: Mapping[str, ev.Asked]
) -> wire.RunAgentInput:
    """Leave out results of calls that the thread does not know: they are never taken over anyway."""
    known = conversation.calls.keys() | {getattr(one.question, "call_id", None) for one in asked.values()}
    kept = [one for one in request.messages if one.role != "tool" or one.tool_call_id in known]
    return msgspec.structs.replace(request, messages=kept)


def _from_history(agent: Any, request: wire.RunAgentInput, mapper: ContentBlockMapper) -> RequestMeaning:
    if request.resume:
        raise InvalidCommand(
            "this agent has no memory to resume from: give it a checkpointer, or send a message instead"
        )
    messages = messages_of(fold(history_events(request.messages)), mapper)
    last = messages[-1] if messages else None
    if last is None or last.type not in ("human", "tool"):
        raise InvalidCommand("there is nothing to answer: the last message must be the user's, or a result")
    text = last.text if last.type == "human" else ""
    known = messages[:-1] if last.type == "human" else messages
    client = client_state(agent, client_prompt(request))
    payload = input_for(agent, list(messages), text, _fields(request.state), "the agent", client)
    return RequestMeaning(payload=payload, known=list(known))


def _fields(state: Any) -> dict[str, Any]:
    """Give the fields of a state as the agent's own: its client compares with what it sent."""
    return cast("dict[str, Any]", copy_json(state)) if isinstance(state, dict) else {}
