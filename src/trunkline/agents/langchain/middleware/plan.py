"""Plans: from an agent's state, its todo tools, its own words, or by hand.

A plan comes from several sources, and the adapter shows ``todos`` and ``plan`` of a graph's state too. So the
last plan of every source is kept: a plan is shown when it changed in its own source, and never because
another source had a different one meanwhile. What a tool writes is shown once the tool has done it:
a call that waits for permission, is refused or fails changes no plan.

There are no nodes here: a hook that is a node is a step of the graph, with a checkpoint of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, cast

from langchain.agents.middleware import AgentMiddleware
from langgraph.config import get_config

from trunkline import events as ev
from trunkline.agents.langchain.callbacks.begin_run import begin_run
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.channel_lookup import (
    ChannelSource,
    channels_here,
    find_channel,
    use_run_channel,
)
from trunkline.agents.langchain.messages.plan import check_plan, plan_entries
from trunkline.agents.langchain.middleware._hooks import (
    MODEL_HOOKS,
    NO_PAYLOADS,
    TOOL_HOOKS,
    inline,
    remove_hooks,
)
from trunkline.agents.langchain.middleware._plan_text import plan_in
from trunkline.agents.langchain.middleware._run_observer import add_to_state, middlewares_in, state_channels
from trunkline.errors import ConfigurationError

log = logging.getLogger("trunkline.langchain")

Trigger = Literal["reasoning", "tool_calls", "manual"]
Entry: TypeAlias = str | ev.PlanEntry | Mapping[str, Any]
BuildPlan = Callable[[Any], Iterable[Entry] | None]

_TRIGGERS: tuple[Trigger, ...] = ("reasoning", "tool_calls", "manual")
_TODO_TOOLS = frozenset({"write_todos"})
_MEMORY = "trunkline.plan"


class _Shown:
    """The plan of a session, and the last plan of each source."""

    __slots__ = ("by_hand", "by_source", "now")

    def __init__(self) -> None:
        self.now: tuple[ev.PlanEntry, ...] = ()
        self.by_source: dict[str, tuple[ev.PlanEntry, ...]] = {}
        self.by_hand = True


def emit_plan(entries: Iterable[Entry]) -> None:
    """Show a plan, from a tool, a node or a middleware, in plain and in async functions.

    An entry is a text, a PlanEntry, or a mapping with ``content`` and perhaps ``status`` and
    ``priority``; anything else raises TypeError or ValueError. Outside of a run nothing is shown.
    """
    plan = plan_entries(check_plan(entries))
    for channel in channels_here():
        if (shown := _shown(channel)).by_hand and not _is_silenced():
            _show(channel, shown, plan)


def apply_plan_options(channel: Channel, middleware: Iterable[Any]) -> None:
    """Let a graph's middleware say whether plans are shown by hand, before a run and wherever it goes."""
    for one in middleware:
        if isinstance(one, PlanMiddleware):
            _shown(channel).by_hand = one.by_hand


def show_plan_of(channel: Channel, state: Mapping[str, Any], response: Any, *, planning: bool) -> None:
    """Show the plan in a model's words, unless the agent keeps its plan in its state."""
    if state.get("todos") or state.get("plan"):
        return
    plan = plan_in(_message_of(response), planning=planning)
    if plan:
        _show_from(channel, "words", plan)


class PlanMiddleware(AgentMiddleware[Any, Any, Any]):
    """Shows plans as they change.

    ``auto_detect_planning``
        read numbered and checkbox lists in the model's reasoning and text as plans.
    ``build_plan``
        a function of the state that gives the plan's entries, or None to leave it to the others.
    ``emit_on``
        when to show: ``reasoning`` after a model's answer, ``tool_calls`` after tools changed the
        state (``todos`` or ``plan``), ``manual`` when ``emit_plan`` is called.
    """

    trace_policy = NO_PAYLOADS
    channel_source: ChannelSource | None = None

    def __init__(
        self,
        *,
        auto_detect_planning: bool = True,
        build_plan: BuildPlan | None = None,
        emit_on: Iterable[Trigger] = _TRIGGERS,
    ) -> None:
        """Refuse a trigger that does not exist."""
        super().__init__()
        self._triggers = _checked(emit_on)
        if build_plan is not None and not callable(build_plan):
            raise ConfigurationError(f"build_plan must be a function of the state, not {build_plan!r}")
        self._build = build_plan
        self._has_failed = False
        self._reads_words = auto_detect_planning and "reasoning" in self._triggers
        self._after_model = "reasoning" in self._triggers and (auto_detect_planning or build_plan is not None)
        self._after_tools = "tool_calls" in self._triggers
        self.by_hand = "manual" in self._triggers
        if not self._triggers:
            remove_hooks(self, *MODEL_HOOKS, *TOOL_HOOKS)
        add_to_state(self, begin_run if self._triggers else None)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Show what tools changed before the model is called, and what its answer says after."""
        channel = self._before(request)
        response = handler(request)
        self._after(channel, request, response)
        return response

    @inline
    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Show what tools changed before the model is called, and what its answer says after."""
        channel = self._before(request)
        response = await handler(request)
        self._after(channel, request, response)
        return response

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Show the todos that a tool wrote."""
        with use_run_channel(request.runtime, self) as channel:
            result = handler(request)
        self._show_written(channel, request, result)
        return result

    @inline
    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Show the todos that a tool wrote."""
        with use_run_channel(request.runtime, self) as channel:
            result = await handler(request)
        self._show_written(channel, request, result)
        return result

    def _before(self, request: Any) -> Channel | None:
        channel = find_channel(request.runtime, self)
        if channel is not None:
            _shown(channel).by_hand = self.by_hand
            if self._after_tools and not self._show_built(channel, request.state):
                self._show_todos(channel, request.state.get("todos"), request.state.get("plan"))
        return channel

    def _after(self, channel: Channel | None, request: Any, response: Any) -> None:
        if channel is None or not self._after_model:
            return
        if self._build is not None:
            messages = [*request.state.get("messages", ()), _message_of(response)]
            if self._show_built(channel, {**request.state, "messages": messages}):
                return
        if self._reads_words:
            show_plan_of(channel, request.state, response, planning=False)

    def _show_written(self, channel: Channel | None, request: Any, result: Any) -> None:
        if channel is None or not self._after_tools or self._build is not None:
            return
        update = getattr(result, "update", None)
        if request.tool_call["name"] in _TODO_TOOLS and isinstance(update, dict):
            self._show_todos(channel, cast("dict[str, Any]", update).get("todos"))

    def _show_built(self, channel: Channel, state: Any) -> bool:
        """Show the plan that the user's own function makes of a state; its bugs cost the plan only."""
        if self._build is None:
            return False
        try:
            made = self._build(state)
            plan = None if made is None else plan_entries(check_plan(made))
        except Exception:
            if not self._has_failed:
                self._has_failed = True
                log.exception("build_plan failed, so no plan is shown")
            return True
        if plan is not None:
            _show_from(channel, "built", plan)
        return plan is not None

    def _show_todos(self, channel: Channel, *fields: Any) -> None:
        """Show a plan that stands in the state; the adapter sees it too, and one of us says it."""
        todos = next((cast("list[Any]", field) for field in fields if isinstance(field, list)), None)
        if todos is None:
            return
        shown, plan = _shown(channel), plan_entries(todos)
        if shown.by_source.get("state") != plan:
            shown.by_source["state"] = shown.now = plan
            channel.emitter.plan(todos)


def _show_from(channel: Channel, source: str, plan: tuple[ev.PlanEntry, ...]) -> None:
    """Show a plan if it is not the last one of this source."""
    shown = _shown(channel)
    if shown.by_source.get(source) != plan:
        shown.by_source[source] = plan
        _show(channel, shown, plan)


def _show(channel: Channel, shown: _Shown, plan: tuple[ev.PlanEntry, ...]) -> None:
    if plan != shown.now:
        shown.now = plan
        channel.emit(ev.Plan(turn_id=channel.emitter.turn_id, entries=plan))


def _is_silenced() -> bool:
    """Whether a middleware without hooks wants no plan that is shown by hand."""
    try:
        channels = state_channels(get_config())
    except RuntimeError:
        return False
    return any(isinstance(one, PlanMiddleware) and not one.by_hand for one in middlewares_in(channels))


def _shown(channel: Channel) -> _Shown:
    return channel.memory.setdefault(_MEMORY, _Shown())


def _message_of(response: Any) -> Any:
    """The message of whatever a model call gives: a response, one with a command, or the message."""
    result = getattr(getattr(response, "model_response", response), "result", None)
    return result[0] if result else response


def _checked(emit_on: Iterable[Trigger]) -> frozenset[str]:
    if isinstance(emit_on, str):
        raise ConfigurationError(
            f"emit_on is a set of words, not the word {emit_on!r}: write {{{emit_on!r}}}"
        )
    words = frozenset(emit_on)
    unknown = sorted(str(word) for word in words - set(_TRIGGERS))
    if unknown:
        raise ConfigurationError(f"emit_on has no {', '.join(unknown)}; choose from {', '.join(_TRIGGERS)}")
    return words
