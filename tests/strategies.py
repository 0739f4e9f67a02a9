"""Hypothesis strategies: any value of a type, and any nonsense an agent could say.

``values_of`` and ``structs_of`` know the types only. ``sloppy_streams`` draws from few ids, so that
events collide as often as they can. Legal sessions are in legal_sessions.py.
"""

from collections.abc import Iterable
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from trunkline import events as ev
from trunkline import questions as qu
from trunkline.content import TextBlock
from trunkline.open_words import known_words
from trunkline.options import Choice, ChoiceGroup, ConfigOption
from trunkline.translate import Translator

A = TypeVar("A")
B = TypeVar("B")

_KEYS = st.text(alphabet="ab/~0-é ", max_size=3)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)

json_values: st.SearchStrategy[Any] = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=8,
)


def translate(translator: Translator[A, B], items: Iterable[A]) -> list[B]:
    """Feed everything, close, and give all that follows."""
    out = [made for item in items for made in translator.feed(item)]
    return [*out, *translator.close()]


def event_kinds() -> tuple[type[ev.Event], ...]:
    """Every event type."""
    return get_args(ev.AnyEvent)


# -- any value of a type ---------------------------------------------------------------------------


@cache
def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Give any value of a type, as the annotations of our structs spell it."""
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if words := known_words(kind) if origin is Annotated else ():
        return st.sampled_from(words)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of([values_of(argument) for argument in arguments])
    if origin is tuple:
        assert arguments[1:] == (...,), f"no strategy for {kind}"
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    assert issubclass(kind, msgspec.Struct), f"no strategy for {kind}"
    return structs_of(kind)


def structs_of(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Give any value of a struct: each field that has a default may be left out."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for field in msgspec.structs.fields(kind):
        (required if field.required else optional)[field.name] = values_of(field.type)
    return st.fixed_dictionaries(required, optional=optional).map(lambda fields: kind(**fields))


def _config_options() -> st.SearchStrategy[ConfigOption]:
    switches = st.builds(ConfigOption, option_id=st.text(), name=st.text(), value=st.booleans())
    choices = st.lists(structs_of(Choice), min_size=1, max_size=3).map(tuple)
    flat = choices.map(lambda c: ConfigOption(option_id="o", name="O", value=c[-1].value, choices=c))
    grouped = choices.map(
        lambda c: ConfigOption(
            option_id="o", name="O", value=c[0].value, groups=(ChoiceGroup(group="g", name="G", choices=c),)
        )
    )
    return switches | flat | grouped


_BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=6),
    bool: st.booleans(),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    NoneType: st.none(),
    Any: json_values,
    dict[str, Any]: st.dictionaries(_KEYS, json_values, max_size=3),
    ConfigOption: st.deferred(_config_options),
}


# -- any nonsense ----------------------------------------------------------------------------------

_LANES = (None, None, "a", "b", "c")
_MESSAGES = ("m1", "m2", "u1", "m1~t2")
_CALLS = ("c1", "c2", "c1~t2")
_QUESTIONS = ("q1", "q2")
_BLOCK = TextBlock(text="hi")


def _turning() -> Iterable[ev.Event]:
    for turn_id in ("t1", "t2", "t3", None):
        yield ev.TurnStarted(turn_id=turn_id)
        yield ev.TurnFinished(turn_id=turn_id)
        yield ev.TurnFinished(turn_id=turn_id, stop_reason="cancelled")
        yield ev.TurnFailed(turn_id=turn_id, code="broken", message="it broke")
    yield from (ev.TurnStarted(turn_id="t1"), ev.TurnStarted(turn_id="t2"), ev.TurnFinished())


def _speaking() -> Iterable[ev.Event]:
    for message_id in _MESSAGES:
        for lane in _LANES:
            yield ev.Text(message_id=message_id, lane=lane, delta="x")
            yield ev.Thought(message_id=message_id, lane=lane, delta="y")
        yield ev.Text(message_id=message_id, delta="")
        yield ev.Thought(message_id=message_id)
        yield ev.Thought(message_id=message_id, signature="s")
        yield ev.Media(message_id=message_id, content=_BLOCK)
        yield ev.Source(message_id=message_id, source_id="s1", url="https://example.org")
        yield ev.UserMessage(message_id=message_id, content=(_BLOCK,))
        yield ev.UserMessage(message_id=message_id, lane="a")
        yield ev.UserMessage(message_id=message_id, content=(_BLOCK,), prompt_id="p1")
        yield ev.Rewound(to_message_id=message_id)
    yield ev.Rewound()


def _working() -> Iterable[ev.Event]:
    for call_id in _CALLS:
        for lane in _LANES:
            yield ev.ToolCall(call_id=call_id, lane=lane, name="n")
            yield ev.ToolInput(call_id=call_id, lane=lane, delta="{}")
            yield ev.ToolUpdate(call_id=call_id, lane=lane, status="completed", raw_output=1)
        yield ev.ToolCall(call_id=call_id, name="n", native_id="native", message_id="m1")
        yield ev.ToolInput(call_id=call_id, delta="")
        yield ev.ToolUpdate(call_id=call_id)
        yield ev.ToolUpdate(call_id=call_id, title="T", output="more")
        for status in get_args(ev.ToolStatus):
            yield ev.ToolUpdate(call_id=call_id, status=status, reason="r")
    for lane in _LANES:
        yield ev.TerminalOutput(terminal_id="x1", lane=lane, data="$")
        yield ev.TerminalOutput(terminal_id="x1", lane=lane, exited=True, exit_code=0)
    yield ev.TerminalOutput(terminal_id="x1")


def _asking() -> Iterable[ev.Event]:
    for question_id in _QUESTIONS:
        for lane in _LANES:
            yield ev.Asked(question_id=question_id, lane=lane, question=qu.Permission(call_id="c1"))
            yield ev.Asked(question_id=question_id, lane=lane, question=qu.Form(fields={}))
            yield ev.Answered(question_id=question_id, lane=lane, outcome="accepted")
        yield from [ev.TurnSuspended(question_ids=(question_id,))] * 8
    yield from [ev.TurnSuspended(question_ids=_QUESTIONS), ev.TurnSuspended(), ev.TurnResumed()] * 2


def _nesting() -> Iterable[ev.Event]:
    for lane in ("a", "b", "c", None):
        for parent in ("a", "b", None):
            yield ev.SubagentStarted(lane=lane, parent_lane=parent, parent_call_id="c1")
        for outcome in ("completed", "failed", "cancelled"):
            yield ev.SubagentFinished(lane=lane, outcome=outcome)
        for step_id in ("s1", "s2"):
            yield ev.StepStarted(step_id=step_id, lane=lane)
            yield ev.StepFinished(step_id=step_id, lane=lane)
        yield ev.Compaction(compaction_id="k1", lane=lane, status="in_progress")
        yield ev.Compaction(compaction_id="k1", lane=lane, status="completed")
        yield ev.Activity(activity_id="a1", activity_type="t", lane=lane, content={})
        yield ev.Activity(activity_id="a1", activity_type="t", lane=lane, patch=())


def _anytime() -> Iterable[ev.Event]:
    for lane in _LANES:
        yield ev.Plan(lane=lane)
        yield ev.StateReplaced(lane=lane, state=1)
        yield ev.StatePatched(lane=lane, patch=())
        yield ev.Custom(lane=lane, name="n")
        yield ev.Notice(lane=lane, title="hm")
    yield ev.PromptQueued(prompt_id="p1")
    yield ev.PromptDropped(prompt_id="p1")
    yield ev.RunOpened(run_id="r1", front_end="agui", from_seq=1)
    yield ev.RunClosed(run_id="r1", to_seq=2)
    yield ev.ConfigChanged()
    yield ev.CommandsChanged()
    yield ev.InfoChanged(title="T")
    yield ev.ContextUsage(used=1, size=2)
    yield ev.Raw(source="wire")


def _claimed(events: Iterable[ev.Event]) -> st.SearchStrategy[ev.Event]:
    # Most events leave the turn open to interpretation; some claim one, right or wrong.
    listed = list(events)
    claims = [msgspec.structs.replace(e, turn_id=t) for e in listed for t in ("t1", "t2")]
    return st.sampled_from(listed * 8 + claims)


_INSIDE = [_claimed(_speaking()), _claimed(_working()), _claimed(_asking()), _claimed(_nesting())]
_NONSENSE: st.SearchStrategy[ev.Event] = st.one_of(
    *_INSIDE, *_INSIDE, _claimed(_asking()), _claimed(_anytime()), st.sampled_from(list(_turning()))
)


def sloppy_streams() -> st.SearchStrategy[list[ev.Event]]:
    """Give any sequence of events; most begin with a turn, since outside of one little is said."""
    short, long = st.lists(_NONSENSE, max_size=12), st.lists(_NONSENSE, min_size=15, max_size=50)
    return st.tuples(st.integers(0, 3), short | long).map(_opened)


def _opened(drawn: tuple[int, list[ev.Event]]) -> list[ev.Event]:
    return [ev.TurnStarted(turn_id="t1"), *drawn[1]] if drawn[0] else drawn[1]
