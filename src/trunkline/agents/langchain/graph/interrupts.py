"""LangGraph's interrupts become questions, and their answers become the graph's resume value.

Four shapes are known. LangChain's HumanInTheLoopMiddleware asks about tool calls, batched (many actions in
one interrupt, answered by position, without the ids of their calls) or per call (one action each, answered
by one decision). A question of ours has the whole question, and is answered with our answer. Everything else
is the free-form ``interrupt()`` of LangGraph: a form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, cast

import msgspec
from langgraph import types

from trunkline import events as ev
from trunkline.agents.langchain.graph.free_form_interrupts import (
    DECLINED,
    InterruptForm,
    form_for,
    plain_value,
)
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.conversation import Conversation
from trunkline.errors import AgentError
from trunkline.questions import ALLOW_KINDS, Coverage, Form, Option, Permission, Question, name_coverage
from trunkline.session.context import Decision

Describe = Callable[[str | None, Mapping[str, Any]], str]
Cover = Callable[[Mapping[str, Any]], Coverage | None]

_OPTIONS = {
    "approve": Option(option_id="approve", name="Approve", kind="allow_once"),
    "edit": Option(option_id="edit", name="Run with edited arguments", kind="allow_once"),
    "reject": Option(option_id="reject", name="Reject", kind="reject_once"),
    "respond": Option(option_id="respond", name="Answer for the tool", kind="reject_once", wants_words=True),
}
_ALWAYS = Option(option_id="approve_always", name="Always approve", kind="allow_always")
_REFUSED = "The user refused this call."
_OURS = "trunkline.question"


class OpenCalls:
    """The calls of each lane that have no answer yet, and the lane that each interrupt came from.

    A batched interrupt does not name its calls, and two subagents may use the same id: only the messages of
    the run say which call is meant.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[str | None, str], Mapping[str, Any]] = {}
        self._lanes: dict[str, str | None] = {}

    def see(self, lane: str | None, message: Any) -> None:
        """Follow a message of a lane: it makes calls, or answers one."""
        if message.type == "tool":
            self._calls.pop((lane, str(message.tool_call_id)), None)
        else:
            self.add(lane, getattr(message, "tool_calls", ()))

    def add(self, lane: str | None, calls: Iterable[Mapping[str, Any]]) -> None:
        """Add calls that wait for an answer."""
        for call in calls:
            self._calls[lane, str(call.get("id"))] = call

    def add_interrupts(self, lane: str | None, interrupts: Iterable[Any]) -> None:
        """Remember the lane of interrupts; LangGraph reports the innermost graph first, which is right."""
        for interrupt in interrupts:
            self._lanes.setdefault(str(interrupt.id), lane)

    def restore(self, earlier: Conversation) -> None:
        """Take the open calls and questions that an earlier process showed in this turn."""
        for call in earlier.calls.values():
            if call.status not in ev.FINAL_STATUSES:
                known = {"id": call.native_id or call.call_id, "name": call.name, "args": call.input}
                self.add(call.lane, [known])
        for question in earlier.questions.values():
            if question.asked.group is not None:
                self._lanes.setdefault(question.asked.group, question.asked.lane)

    def lane_of(self, interrupt: Any) -> str | None:
        """The lane an interrupt came from."""
        return self._lanes.get(str(interrupt.id))

    def match(self, lane: str | None, actions: list[dict[str, Any]]) -> list[str | None]:
        """Find the call of each action, in order; the ids of those that have none are None.

        Exact matches go first: an action whose arguments were changed must not take the call of another one.
        """
        left = {native: call for (of_lane, native), call in self._calls.items() if of_lane == lane}
        found: list[str | None] = [None] * len(actions)
        for exact in (True, False):
            for number, action in enumerate(actions):
                if found[number] is None:
                    found[number] = next(
                        (i for i, call in left.items() if _matches(action, call, exact)), None
                    )
                    left.pop(found[number] or "", None)
        return found


def _matches(action: Mapping[str, Any], call: Mapping[str, Any], exact: bool) -> bool:
    return action.get("name") == call.get("name") and (not exact or action.get("args") == call.get("args"))


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """One question of one interrupt; ``key`` is the same after a restart."""

    interrupt_id: str
    question: Question
    number: int = 0
    lane: str | None = None
    native_id: str | None = None
    """The framework's id of the call that is asked about."""
    action: dict[str, Any] = {}
    decisions: tuple[str, ...] = ()
    """The decisions that the middleware accepts; none for a free-form interrupt."""
    batched: bool = False
    ours: bool = False
    """Whether it is a question of ours, which the answer itself resumes."""
    form: InterruptForm | None = None

    @property
    def key(self) -> str:
        """The durable key of the question."""
        return f"{self.interrupt_id}#{self.number}"


# -- asking ------------------------------------------------------------------------------------------


def pending_questions(
    interrupts: Iterable[Any], calls: OpenCalls, describe: Describe | None = None, cover: Cover | None = None
) -> list[Pending]:
    """Make the questions of these interrupts.

    ``describe(lane, tool_call)`` announces a call, if that is not done yet, and gives its id in the session:
    a permission is always about a call that is shown. ``cover(tool_call)`` gives what an "always" would
    cover; without it no "always" is offered.
    """
    name_call, covers = describe or _native_id, cover or _nothing
    found: list[Pending] = []
    for interrupt in interrupts:
        value: Any = interrupt.value
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        lane = calls.lane_of(interrupt)
        if _fits(fields, _Batch):
            found += _batch(interrupt, fields, lane, calls, name_call, covers)
        elif fields.get("type") == "tool_approval" and _fits(fields, _Approval):
            allowed = fields.get("allowed_decisions") or _decisions_in(interrupt.response_schema)
            native_id = str(fields["tool_call_id"])
            found.append(_review(interrupt, fields, lane, native_id, allowed, name_call, covers))
        elif fields.get("type") == _OURS and _fits(fields, _Ours):
            question = msgspec.convert(fields["question"], Question)
            found.append(
                Pending(interrupt_id=str(interrupt.id), question=question, lane=fields.get("lane"), ours=True)
            )
        else:
            form = form_for(value, interrupt.response_schema)
            form.value = plain_value(value)
            found.append(
                Pending(interrupt_id=str(interrupt.id), question=form.question(), lane=lane, form=form)
            )
    return found


class _Action(msgspec.Struct):
    name: str | None = None


class _Config(msgspec.Struct):
    action_name: str | None = None
    allowed_decisions: list[str] | None = None


class _Batch(msgspec.Struct):
    action_requests: Annotated[list[_Action], msgspec.Meta(min_length=1)]
    review_configs: list[_Config] | None = None


class _Approval(msgspec.Struct):
    tool_call_id: Any
    name: str | None = None
    allowed_decisions: list[str] | None = None


class _Ours(msgspec.Struct):
    question: Question
    lane: str | None = None


def _fits(fields: dict[str, Any], shape: type[msgspec.Struct]) -> bool:
    """Whether a value has a known shape; any other is a free-form interrupt, whatever its keys are called."""
    try:
        msgspec.convert(fields, shape)
    except msgspec.ValidationError:
        return False
    return True


def _nothing(tool_call: Mapping[str, Any]) -> Coverage | None:
    return None


def _native_id(lane: str | None, tool_call: Mapping[str, Any]) -> str:
    return str(tool_call["id"])


def _batch(
    interrupt: Any,
    value: dict[str, Any],
    lane: str | None,
    calls: OpenCalls,
    describe: Describe,
    cover: Cover,
) -> list[Pending]:
    actions = cast("list[dict[str, Any]]", value["action_requests"])
    configs = cast("list[dict[str, Any]]", value.get("review_configs") or [])
    allowed = {config.get("action_name"): config.get("allowed_decisions") for config in configs}
    return [
        _review(
            interrupt,
            action,
            lane,
            native_id or f"{interrupt.id}#{number}",
            allowed.get(action.get("name")),
            describe,
            cover,
            number,
        )
        for number, (action, native_id) in enumerate(zip(actions, calls.match(lane, actions), strict=True))
    ]


def _review(
    interrupt: Any,
    action: dict[str, Any],
    lane: str | None,
    native_id: str,
    allowed: Iterable[str] | None,
    describe: Describe,
    cover: Cover,
    number: int | None = None,
) -> Pending:
    name: str = str(action.get("name") or "tool")
    args: Any = action.get("args") or {}
    decisions = tuple(word for word in allowed or () if word in _OPTIONS) or ("approve", "reject")
    call = {"id": native_id, "name": name, "args": args}
    call_id = describe(lane, call)
    message = str(action.get("description") or f"Run {name}?")
    runs = [word for word in ("approve", "edit") if word in decisions][:1]
    form = None
    if decisions == ("respond",):
        # A tool that only asks the user: there is nothing to allow, only to answer.
        form = form_for(message)
        question: Question = form.question(call_id)
    else:
        covers = cover(call) if "approve" in decisions else None
        refusals = (word for word in ("reject", "respond") if word in decisions)
        options = [_OPTIONS[word] for word in (*runs, *refusals)]
        if covers is not None:
            options.insert(1, _ALWAYS)
        question = Permission(
            message=message,
            call_id=call_id,
            options=name_coverage(options, covers),
            allows_edit="edit" in decisions,
            covers=covers,
        )
    return Pending(
        interrupt_id=str(interrupt.id),
        number=number or 0,
        question=question,
        lane=lane,
        native_id=native_id,
        action={"name": name, "args": args},
        decisions=decisions,
        batched=number is not None,
        form=form,
    )


def _decisions_in(schema: Any) -> list[str]:
    """Read the allowed decisions from the response schema of a per-call interrupt."""
    if not isinstance(schema, dict):
        return []
    whole = cast("dict[str, Any]", schema)
    branches = [whole, *cast("dict[str, Any]", whole.get("$defs") or {}).values()]
    branches += [*(whole.get("oneOf") or ()), *(whole.get("anyOf") or ())]
    found: list[Any] = []
    for branch in branches:
        kind: Any = cast("dict[str, Any]", branch.get("properties") or {}).get("type") or {}
        found += [kind.get("const"), *(kind.get("enum") or ())]
    return [decision for decision in _OPTIONS if decision in found]


def earlier_answer(item: Pending, decision: Decision | None) -> ev.Answered | None:
    """Answer a review as an earlier "always" did; None when the user must be asked."""
    if decision is None or not item.decisions or not isinstance(item.question, Permission):
        return None
    wanted = "allow_once" if decision else "reject_once"
    option = next((one for one in item.question.options if one.kind == wanted), None)
    if option is None or (decision and "approve" not in item.decisions):
        return None
    return ev.Answered(
        question_id="",
        outcome="selected",
        option_id=option.option_id,
        option_kind=option.kind,
        reason=None if decision else decision.reason,
        by=decision.by,
    )


def reply_form(item: Pending, answered: ev.Answered) -> Form | None:
    """The form for the answer of a user who chose to answer in a tool's place, but gave no text."""
    if answered.option_id != "respond" or answered.reason:
        return None
    return form_for(f"What shall {item.action['name']} answer?").question(
        cast("Permission", item.question).call_id
    )


# -- answering ---------------------------------------------------------------------------------------


def resume_value(pending: Iterable[Pending], answers: Mapping[str, ev.Answered]) -> dict[str, Any]:
    """Give LangGraph's resume map: one value per interrupt id."""
    values: dict[str, Any] = {}
    for item in pending:
        answered = answers.get(item.key)
        if item.ours:
            values[item.interrupt_id] = {"outcome": "declined"} if answered is None else _as_value(answered)
        elif not item.decisions:
            values[item.interrupt_id] = _value(item, answered)
        elif item.batched:
            decided = values.setdefault(item.interrupt_id, {"decisions": []})
            decided["decisions"].append(_decision(item, answered))
        else:
            values[item.interrupt_id] = _decision(item, answered)
    return values


def _value(item: Pending, answered: ev.Answered | None) -> Any:
    form = cast("InterruptForm", item.form)
    if answered is None or answered.outcome != "accepted":
        return form.declined()
    return form.read(answered.content)


def _decision(item: Pending, answered: ev.Answered | None) -> dict[str, Any]:
    if item.form is not None:
        return {"type": "respond", "message": str(_value(item, answered))}
    if answered is not None and answered.option_kind in ALLOW_KINDS:
        return _run(item, answered)
    reason = answered.reason if answered is not None else None
    if answered is not None and answered.option_id == "respond":
        return {"type": "respond", "message": reason or DECLINED}
    if "reject" in item.decisions:
        return {"type": "reject", "message": reason} if reason else {"type": "reject"}
    if "respond" in item.decisions:
        return {"type": "respond", "message": reason or _REFUSED}
    raise AgentError(
        f"{item.action['name']} was refused, and its reviewer takes no refusal: allow the decision "
        "'reject' for it, or send another prompt"
    )


def _run(item: Pending, answered: ev.Answered) -> dict[str, Any]:
    args = item.action["args"]
    edited = args if answered.input is None else answered.input
    if "approve" in item.decisions and edited == args:
        return {"type": "approve"}
    return {"type": "edit", "edited_action": {"name": item.action["name"], "args": edited}}


def emit_decision(emitter: Emitter, item: Pending, answered: ev.Answered) -> None:
    """Emit a call as its reviewer decided: with other arguments, or denied."""
    if item.native_id is None:
        return
    if answered.input is not None:
        emitter.change_input(item.lane, item.native_id, answered.input)
    elif answered.option_id == "reject" or answered.outcome == "declined":
        emitter.tool_denied(item.lane, item.native_id, answered.reason or _REFUSED)


# -- breakpoints ------------------------------------------------------------------------


def breakpoints(graph: Any, state: Any, calls: Iterable[Mapping[str, Any]]) -> list[types.Interrupt[Any]]:
    """Interrupts for a graph that stopped at ``interrupt_before`` or ``interrupt_after``."""
    if not state.next or not (graph.interrupt_before_nodes or graph.interrupt_after_nodes):
        return []
    checkpoint_id = str(state.config["configurable"].get("checkpoint_id"))
    asked: list[types.Interrupt[Any]] = [
        types.Interrupt(
            {
                "type": "tool_approval",
                "tool_call_id": call["id"],
                "name": call["name"],
                "args": call["args"],
                "allowed_decisions": ["approve", "reject"],
            },
            f"{checkpoint_id}:{call['id']}",
        )
        for call in calls
    ]
    message = f"The agent stopped before {', '.join(state.next)}. Shall it go on?"
    return asked or [types.Interrupt(message, checkpoint_id, response_schema={"type": "boolean"})]


def may_continue(pending: list[Pending], answers: Mapping[str, ev.Answered]) -> bool:
    """Whether a graph that stopped at a breakpoint goes on: everything was allowed."""
    return all(value in (True, {"type": "approve"}) for value in resume_value(pending, answers).values())


# -- our own questions -----------------------------------------------------------------------------


def interrupt_for(question: Question, lane: str | None) -> Any:
    """Interrupt the graph for a question of ours; when it is resumed, give the value it was resumed with."""
    return types.interrupt({"type": _OURS, "question": msgspec.to_builtins(question), "lane": lane})


def read_answer(value: Any, question_id: str) -> ev.Answered | None:
    """Read an answer that a graph was resumed with; None if it is something else.

    An option counts only where one was selected: a question that was declined allows nothing.
    """
    try:
        answered = msgspec.convert({**value, "type": "answered", "question_id": question_id}, ev.Answered)
    except (TypeError, msgspec.ValidationError):
        return None
    if answered.outcome == "selected":
        return answered
    return msgspec.structs.replace(answered, option_id=None, option_kind=None)


def _as_value(answered: ev.Answered) -> dict[str, Any]:
    """An answer as a checkpoint keeps it."""
    fields = msgspec.to_builtins(answered)
    return {
        key: fields[key] for key in fields if key not in ("type", "turn_id", "lane", "meta", "question_id")
    }
