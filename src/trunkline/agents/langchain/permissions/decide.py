"""Asking: may this tool call run? One question, and what its answer means for the call.

Permissions and modes share this, so that a call which both of them gate is asked about once. The
operator's policy and the session's earlier "always" answers come first, then the rule, then a person.
Without a channel LangGraph asks: ``interrupt()`` where a checkpointer can keep the question, else the call
is refused.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, MutableMapping
from typing import Annotated, Any, NoReturn, Union, cast, get_args
from weakref import WeakKeyDictionary

import msgspec
from langchain.agents.middleware.human_in_the_loop import (
    ApproveDecision,
    EditDecision,
    RejectDecision,
    RespondDecision,
)
from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.types import interrupt
from pydantic import BeforeValidator, Discriminator

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.permissions.verdicts import Verdict, Word
from trunkline.errors import ConfigurationError
from trunkline.questions import (
    ALLOW_KINDS,
    Coverage,
    Form,
    Option,
    Permission,
    Question,
    default_options,
    name_coverage,
)
from trunkline.session.context import Decision
from trunkline.session.handles import in_loop
from trunkline.tools.naming import Declared, kind_of
from trunkline.workspace.always import coverage_of

log = logging.getLogger("trunkline.langchain")

DECISIONS: tuple[Word, ...] = get_args(Word)

Call = Mapping[str, Any]
Describe = str | Callable[[Call], str]
Always = MutableMapping[str, str]
"""Answers for good, by the key of what they cover: ``allow`` or ``reject``."""

_KINDS: tuple[str, ...] = get_args(ev.ToolKind)
_SHAPES: dict[Word, Any] = {
    "approve": ApproveDecision,
    "edit": EditDecision,
    "reject": RejectDecision,
    "respond": RespondDecision,
}
_REFUSED = "The user refused this call; it did not run."
_REMEMBERED = 1024
_NOBODY = "trunkline"  # who answers a question that ran out


class PermissionRule(msgspec.Struct, frozen=True):
    """What a policy says of the tools that fit a pattern.

    ``kind`` is what the tool does (read, edit, execute, ...) where its name does not tell. ``respond``
    lets the person answer in the tool's place; it is not among the decisions unless it is asked for.
    """

    kind: ev.ToolKind | None = None
    require_permission: bool = True
    allowed_decisions: tuple[Word, ...] = ("approve", "edit", "reject")

    def __post_init__(self) -> None:
        """Refuse what is no kind, no decision, or no decision at all."""
        if self.kind is not None and self.kind not in _KINDS:
            _wrong(f"there is no kind {self.kind!r}: choose one of {', '.join(_KINDS)}, or None")
        if not isinstance(cast("Any", self.require_permission), bool):
            _wrong(f"require_permission is True or False, not {self.require_permission!r}")
        given: Any = self.allowed_decisions
        if not isinstance(given, tuple | list | set | frozenset) or not given:
            _wrong(f"allowed_decisions names at least one of {', '.join(DECISIONS)}, not {given!r}")
        for word in cast("list[Any]", given):
            if word not in DECISIONS:
                _wrong(f"there is no decision {word!r}: choose from {', '.join(DECISIONS)}")


def _wrong(why: str) -> NoReturn:
    raise ConfigurationError(f"a permission rule is wrong: {why}")


_APPROVED = Verdict(word="approve")


async def decide(
    channel: Channel | None,
    call: Call,
    rule: PermissionRule | None,
    lane: str | None = None,
    *,
    describe: Describe | None = None,
    always: Always | None = None,
    changeable: bool = True,
) -> Verdict:
    """Decide about a call, asking a person if the rule says so; a refused call is shown as denied.

    No ``rule`` means that only the operator's policy counts. ``describe`` words the question, ``always``
    holds answers that outlive the session, and where the call is not ``changeable`` its arguments and
    its result are the tool's own. Raises TurnCancelled when the turn ends meanwhile.
    """
    steps = _decision_steps(channel, call, rule or _FREE, lane, describe, always, changeable)
    try:
        question, key = next(steps)
        while True:
            question, key = steps.send(
                await cast("Channel", channel).ask(question, durable_key=key, lane=lane)
            )
    except StopIteration as end:
        return end.value


def decide_sync(
    channel: Channel | None,
    call: Call,
    rule: PermissionRule | None,
    lane: str | None = None,
    *,
    describe: Describe | None = None,
    always: Always | None = None,
    changeable: bool = True,
) -> Verdict:
    """Decide from a plain function, as ``decide`` does."""
    steps = _decision_steps(channel, call, rule or _FREE, lane, describe, always, changeable)
    try:
        question, key = next(steps)
        if in_loop() and not (channel is not None and channel.ends_run_on_question):
            return _refuse(
                channel, call, lane, "Nobody can be asked from here: call ainvoke(), not invoke()."
            )
        while True:
            answered = cast("Channel", channel).ask_sync(question, durable_key=key, lane=lane)
            question, key = steps.send(answered)
    except StopIteration as end:
        return end.value


def note_approval(channel: Channel, call: Call, lane: str | None) -> None:
    """Note that a person approved a call when the agent itself asked: it is not asked about again."""
    _note(channel, _key(call, lane), _APPROVED)


def discard_verdict(channel: Channel | None, call: Call, lane: str | None = None) -> None:
    """Discard what was decided about a call: it is over, and another of its kind is asked anew."""
    decided = _DECIDED.get(channel) if channel is not None else None
    if decided:
        verdict = decided.pop(_key(call, lane), None)
        if verdict is not None and verdict.args is not None:
            decided.pop(_key({**call, "args": verdict.args}, lane), None)


# -- the way to a verdict --------------------------------------------------------------------------

_FREE = PermissionRule(require_permission=False)

# What was decided in each run, so that a call which comes twice (a retry, a second gate) is asked once.
_DECIDED: WeakKeyDictionary[Any, OrderedDict[str, Verdict]] = WeakKeyDictionary()


def _decision_steps(
    channel: Channel | None,
    call: Call,
    rule: PermissionRule,
    lane: str | None,
    describe: Describe | None,
    always: Always | None,
    changeable: bool,
) -> Generator[tuple[Question, str], ev.Answered, Verdict]:
    """Yield the questions to ask, with their durable keys; take their answers; give the verdict."""
    key, name = _key(call, lane), str(call["name"])
    earlier: Decision | None = None
    kind = rule.kind or (kind_of(name) if channel is None else channel.emitter.kind_of(name))
    if channel is not None:
        known = _decided(channel).get(key)
        if known is not None:
            return known
        earlier = channel.decide(call, kind, durable_key=key)
    if earlier is None and not rule.require_permission:
        return _APPROVED
    covers: Coverage | None = None
    if earlier is None:
        covers = coverage_of(name, kind, call.get("args")) if channel is None else channel.covers(call, kind)
        earlier = _kept(always, covers, _principal_prefix(channel))
    if earlier is not None:
        if not earlier:
            return _refuse(channel, call, lane, earlier.reason or _REFUSED)
        if channel is not None:
            _note(channel, key, _APPROVED)
        return _APPROVED
    words: list[Word] = [
        word for word in rule.allowed_decisions if changeable or word in ("approve", "reject")
    ]
    if set(words) <= {"reject"}:
        return _refuse(channel, call, lane, f"No call of {name} can be approved here; it did not run.")
    declared = None if channel is None else channel.emitter.tools.declared.get(name)
    usual = f"Run {name}?" if declared is None else f"{declared.title_of(call.get('args'))}?"
    message = (describe(call) if callable(describe) else describe) or usual
    if channel is None:
        return _interrupt(call, words, message)
    call_id = channel.emitter.describe(lane, call)
    if rule.kind is not None:
        channel.emit(ev.ToolUpdate(lane=lane, call_id=call_id, kind=rule.kind))
    answered = yield (
        Permission(
            message=message,
            call_id=call_id,
            options=_options(words, covers, declared),
            allows_edit="edit" in words,
            covers=covers,
        ),
        key,
    )
    verdict = _read(answered, call, words)
    if verdict.word == "edit" and not isinstance(cast("Any", verdict.args), dict):
        verdict = Verdict(word="reject", message=f"The edited arguments are no object: {verdict.args!r}.")
        channel.emitter.tool_failed(lane, str(call.get("id")), verdict.message)
    if verdict.word == "edit":
        # The policy has not seen these arguments: a person cannot allow what it denies.
        edited = channel.decide({**call, "args": verdict.args}, kind, durable_key=key)
        if edited is not None and not edited and edited.by == "policy":
            verdict = Verdict(word="reject", message=edited.reason or _REFUSED)
    if verdict.word == "respond" and not verdict.message:
        form = Form(message=f"What is the answer of {name}?", fields=_WORDS, call_id=call_id)
        verdict = _read_words((yield form, f"{key}:words"))
    said_yes = answered.option_kind in ALLOW_KINDS
    if (answered.option_kind or "").endswith("_always") and bool(verdict) == said_yes:
        channel.remember(covers, Decision(allowed=bool(verdict), call_id=call_id, always=True))
        _keep(always, covers, _principal_prefix(channel), verdict)
    _show(channel, call, lane, verdict)
    _note(channel, key, verdict)
    if verdict.args is not None:
        # A second gate sees the call as it was edited.
        _note(channel, _key({**call, "args": verdict.args}, lane), _APPROVED)
    return verdict


def _key(call: Call, lane: str | None) -> str:
    """Name a call the same way in every process; the id alone may be given twice by a careless model."""
    about = [call["question"]] if "question" in call else []  # A tool may ask more than once.
    text = json.dumps([call["name"], call.get("args"), *about], sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"permit:{lane or ''}:{call.get('id')}:{digest}"


def _decided(channel: Channel) -> OrderedDict[str, Verdict]:
    return _DECIDED.setdefault(channel, OrderedDict())


def _note(channel: Channel, key: str, verdict: Verdict) -> None:
    decided = _decided(channel)
    decided[key] = verdict
    if len(decided) > _REMEMBERED:
        decided.popitem(last=False)


def _principal_prefix(channel: Channel | None) -> str:
    """The prefix of the key of an "always": it counts for the calls of one principal only."""
    principal = channel.ctx.session.principal if channel is not None else "local"
    return "" if principal == "local" else json.dumps(principal)


def _kept(always: Always | None, covers: Coverage | None, whose: str) -> Decision | None:
    if always is None or covers is None:
        return None
    answer = always.get(whose + covers.key)
    if answer is None:
        answer = _kept_by_name(always, covers)
    if answer is None:
        return None
    return Decision(
        allowed=answer == "allow", call_id="", reason=f"An earlier answer was to always {answer} {covers}."
    )


def _kept_by_name(always: Always, covers: Coverage) -> str | None:
    """An answer for a whole tool: as it is written by hand, and as earlier versions kept it.

    It allows no command: those are covered one by one.
    """
    answer = always.get(covers.tool)
    whole = not covers.words and covers.digest is None
    return answer if answer == "reject" or whole else None


def _keep(always: Always | None, covers: Coverage | None, whose: str, verdict: Verdict) -> None:
    if always is not None and covers is not None:
        try:
            always[whose + covers.key] = "allow" if verdict else "reject"
        except Exception as error:
            # The answer holds for this session all the same.
            log.warning("the answer for %s could not be kept: %s", covers, error)


def _refuse(channel: Channel | None, call: Call, lane: str | None, why: str) -> Verdict:
    verdict = Verdict(word="reject", message=why)
    if channel is not None:
        _show(channel, call, lane, verdict)
    return verdict


def _show(channel: Channel, call: Call, lane: str | None, verdict: Verdict) -> None:
    """Show a refusal or an edit; the rest shows by itself when the call runs or is answered."""
    native_id = str(call.get("id"))
    if verdict.word == "reject":
        channel.emitter.describe(lane, call)
        channel.emitter.tool_denied(lane, native_id, verdict.message)
    elif verdict.args is not None:
        channel.emitter.change_input(lane, native_id, verdict.args)


# -- questions and answers ---------------------------------------------------------------------------

_WORDS: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer"}},
    "required": ["answer"],
}
_ALLOW_ONCE, _ALLOW_ALWAYS, _REJECT_ONCE, _REJECT_ALWAYS = default_options()
_BUTTONS: tuple[tuple[Word, Option], ...] = (
    ("edit", _ALLOW_ONCE),
    ("approve", _ALLOW_ONCE),
    ("approve", _ALLOW_ALWAYS),
    ("reject", _REJECT_ONCE),
    ("reject", _REJECT_ALWAYS),
    ("respond", Option(option_id="respond", name="Answer instead", kind="reject_once", wants_words=True)),
)


def _options(
    words: list[Word], covers: Coverage | None, declared: Declared | None = None
) -> tuple[Option, ...]:
    """The buttons for these decisions; none for good where such an answer would not count."""
    if declared is not None and "respond" not in words:
        return name_coverage(declared.buttons(covers), covers)
    named = {option.option_id: option for option in default_options(always=covers is not None, covers=covers)}
    offered = dict.fromkeys(option for word, option in _BUTTONS if word in words)
    return tuple(
        named.get(option.option_id, option)
        for option in offered
        if covers is not None or not option.kind.endswith("_always")
    )


def _read(answered: ev.Answered, call: Call, words: list[Word]) -> Verdict:
    """Say what an answer means; whatever is no clear yes is a no."""
    if answered.outcome == "selected" and answered.option_kind in ALLOW_KINDS:
        if answered.input is None or answered.input == call.get("args"):
            if "approve" in words:
                return _APPROVED
            return Verdict(word="reject", message=f"{call['name']} runs only once its arguments were edited.")
        if "edit" not in words:
            return Verdict(word="reject", message=f"The arguments of {call['name']} may not be edited.")
        return Verdict(word="edit", args=answered.input)
    if answered.option_id == "respond" and "respond" in words and answered.by != _NOBODY:
        return Verdict(word="respond", message=answered.reason or "")
    return Verdict(word="reject", message=answered.reason or _REFUSED)


def _read_words(answered: ev.Answered) -> Verdict:
    content: Any = answered.content
    if answered.outcome != "accepted" or not isinstance(content, dict):
        return Verdict(word="reject", message=answered.reason or _REFUSED)
    return Verdict(word="respond", message=str(cast("dict[str, Any]", content).get("answer", "")))


def _interrupt(call: Call, words: list[Word], message: str) -> Verdict:
    """Ask by LangGraph's own means, as HumanInTheLoopMiddleware does call by call."""
    if not get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER):
        why = (
            f"{call['name']} needs a permission and nobody can be asked. Give the run a transport, serve the "
            "agent with trunkline, or give it a checkpointer and resume its interrupt."
        )
        return Verdict(word="reject", message=why)
    shapes = tuple(_SHAPES[word] for word in dict.fromkeys(words))
    shape: Any = shapes[0] if len(shapes) == 1 else Annotated[Union[shapes], Discriminator("type")]
    schema: Any = Annotated[shape, BeforeValidator(_only_decision)]
    asked = {
        "type": "tool_approval",
        "tool_call_id": call.get("id"),
        "name": call["name"],
        "args": call.get("args"),
        "description": message,
    }
    given = _only_decision(interrupt(asked, response_schema=schema))
    if given["type"] == "edit":
        return Verdict(word="edit", args=given["edited_action"]["args"])
    return Verdict(word=given["type"], message=given.get("message") or _REFUSED)


def _only_decision(given: Any) -> Any:
    """Take an answer that is written as HumanInTheLoopMiddleware's batches are answered, too."""
    decisions = cast("dict[str, Any]", given).get("decisions") if isinstance(given, dict) else None
    if decisions is None:
        return cast("Any", given)
    if not isinstance(decisions, list) or len(cast("list[Any]", decisions)) != 1:
        raise ValueError(
            "this interrupt is about one call: give one decision in a list, and resume several by their ids"
        )
    return cast("list[Any]", decisions)[0]
