"""A policy holds inside subagents too: the calls below a guarded call are checked by callbacks.

A middleware sees the calls of its own agent only. What runs below one of those calls (the ``task`` of a
deep agent, an agent inside a tool) is seen by callbacks, and one that raises ToolInvocationError stops
a tool before it begins: the agent below gets the reason as the tool's result, and goes on.

There are two callback handlers, because LangChain awaits an async handler only where the agent runs async,
and swallows what it raises where it does not. So ``AsyncPermissionCheck`` asks and refuses where the agent
runs async, and ``PermissionCheck`` where it does not. Their order is not known: LangChain merges handlers as
a set.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, cast
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.tools import ToolException
from langchain_core.tracers.context import register_configure_hook
from langgraph.prebuilt.tool_node import ToolInvocationError

from trunkline.agents.langchain.callbacks.session_handler import handler_in
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.permissions.decide import (
    Always,
    Describe,
    PermissionRule,
    decide,
    decide_sync,
    discard_verdict,
)
from trunkline.agents.langchain.permissions.verdicts import Verdict

Call = dict[str, Any]

_REFUSING = ("ModeCheck", "AsyncPermissionCheck", "PermissionCheck")
"""The names of the callback handlers that refuse calls."""


class Refused(ToolInvocationError):
    """A call was refused; LangGraph answers the model with its message."""

    def __init__(self, tool_name: str, message: str) -> None:
        """Refuse a tool, saying why; there is no validation error as in the base class."""
        ToolException.__init__(self, message)
        self.message = message
        self.tool_name = tool_name
        self.tool_kwargs = {}
        self.filtered_errors = None


@contextmanager
def guard_calls_below(
    channel: Channel | None,
    config: Any,
    rule_for: Callable[[str], PermissionRule | None],
    *,
    describe: Describe | None = None,
    always: Always | None = None,
    is_policy: bool = False,
) -> Generator[None]:
    """Hold ``rule_for`` against every call below the one that runs in this block.

    ``config`` is the configuration that call runs with. Several may guard one call: each has its say.
    ``is_policy`` says that the rules are those of the operator's policy.
    """
    guard = _CallGuard(channel, handler_in(config), _run_of(config), rule_for, describe, always)
    guard.is_policy = is_policy
    if (other := _CHECK.get()) is not None:
        guard.join_outer(other.guard)
    with _installed(guard):
        yield


@contextmanager
def guard_calls_in_run(
    channel: Channel, handler: Any, rule_for: Callable[[str], PermissionRule | None]
) -> Generator[None]:
    """Hold the operator's policy against the calls of a run that pass no tool node of its graph."""
    guard = _CallGuard(channel, handler, None, rule_for, None, None)
    guard.is_policy = guard.is_whole_run = True
    # The calls of the run's own tool nodes are decided later, inside of their middlewares.
    guard.can_ask_early = False
    with _installed(guard):
        yield


@contextmanager
def _installed(guard: _CallGuard) -> Generator[None]:
    hide_refusals_from_log()
    tokens = _ASYNC_CHECK.set(AsyncPermissionCheck(guard)), _CHECK.set(PermissionCheck(guard))
    try:
        yield
    finally:
        _ASYNC_CHECK.reset(tokens[0])
        _CHECK.reset(tokens[1])


@functools.cache
def hide_refusals_from_log() -> None:
    """Keep LangChain from logging a refusal as an error in a callback: it does so before it raises it.

    Called by the first run that guards a call, so that importing this changes no logger.
    """
    logging.getLogger("langchain_core.callbacks.manager").addFilter(_is_no_refusal)


def _is_no_refusal(record: logging.LogRecord) -> bool:
    """Whether a warning of LangChain's is about a callback of another package."""
    return not (isinstance(record.args, tuple) and record.args and record.args[0] in _REFUSING)


def lane_at(config: Any) -> str | None:
    """The lane of the agent that runs with this configuration; None is the main agent."""
    graph = handler_in(config)
    return graph.lane_of(_run_of(config)) if graph is not None else None


def _run_of(config: Any) -> UUID | None:
    return getattr(config.get("callbacks"), "parent_run_id", None)


class _DecidedCall(NamedTuple):
    """A call below, and what was decided about it."""

    call: Call
    lane: str | None
    verdict: Verdict


_UNDECIDED = Verdict(word="reject", message="This call was not decided; it did not run.")


class _CallGuard:
    """What is known of the calls below one call."""

    def __init__(
        self,
        channel: Channel | None,
        handler: Any,
        own_run: UUID | None,
        rule_for: Callable[[str], PermissionRule | None],
        describe: Describe | None,
        always: Always | None,
    ) -> None:
        self.channel = channel
        self.is_policy = self.is_whole_run = False
        # A question that stops the run can only be put from inside of the call.
        self.can_ask_early = channel is not None and not channel.ends_run_on_question
        self._graph = handler
        self._own_run = own_run
        self._rule_for = rule_for
        self._about: dict[str, Any] = {"describe": describe, "always": always, "changeable": False}
        self.outer: _CallGuard | None = None
        self._decided: dict[tuple[UUID | None, str], _DecidedCall] = {}
        self.checked: set[UUID] = set()
        """The runs that PermissionCheck has checked, until AsyncPermissionCheck is called for them."""
        self._running: dict[UUID, _DecidedCall] = {}

    def join_outer(self, other: _CallGuard) -> None:
        """Add another guard of the same call: a callback handler is found for the last one only."""
        if other._own_run == self._own_run:
            self.outer = other

    def _skips(self, parent: UUID | None, call: Call) -> bool:
        """Whether a call is decided already, or is decided elsewhere."""
        if (parent, call["id"]) in self._decided or parent == self._own_run:
            return True
        return self.is_whole_run and _policy_is_nearer(self)

    async def decide_call(self, parent: UUID | None, call: Call, sibling: UUID | None) -> None:
        """Decide about a call of the run ``parent``, once; ``sibling`` is a run in the same lane."""
        if self.outer is not None:
            await self.outer.decide_call(parent, call, sibling)
        if not self._skips(parent, call):
            lane = self._graph.lane_of(sibling) if self._graph is not None else None
            verdict = await decide(self.channel, call, self._rule_for(call["name"]), lane, **self._about)
            self._decided[parent, call["id"]] = _DecidedCall(call, lane, verdict)

    def decide_call_sync(self, parent: UUID | None, call: Call, sibling: UUID | None) -> None:
        """Decide in a plain function."""
        if self.outer is not None:
            self.outer.decide_call_sync(parent, call, sibling)
        if not self._skips(parent, call):
            lane = self._graph.lane_of(sibling) if self._graph is not None else None
            # If this is interrupted, the async check must not ask again: its answer would not be used.
            self._decided[parent, call["id"]] = _DecidedCall(call, lane, _UNDECIDED)
            verdict = decide_sync(self.channel, call, self._rule_for(call["name"]), lane, **self._about)
            self._decided[parent, call["id"]] = _DecidedCall(call, lane, verdict)

    def check(self, parent: UUID | None, call: Call, run_id: UUID) -> None:
        """Refuse a call that was not allowed."""
        if self.outer is not None:
            self.outer.check(parent, call, run_id)
        decided = self._decided.get((parent, call["id"]))
        if decided is None:
            return  # It is the middleware's own.
        if not decided.verdict:
            discard_verdict(self.channel, decided.call, decided.lane)
            raise Refused(call["name"], decided.verdict.message)
        self._running[run_id] = decided

    def end(self, run_id: UUID) -> None:
        """Forget a call that gave a result."""
        if self.outer is not None:
            self.outer.end(run_id)
        if (decided := self._running.pop(run_id, None)) is not None:
            discard_verdict(self.channel, decided.call, decided.lane)


def _policy_is_nearer(guard: _CallGuard) -> bool:
    """Whether the call that runs here is one of a tool node, or below one, where the policy is held."""
    check = _CHECK.get()
    other = check.guard if check is not None else None
    while other is not None:
        if other.is_policy and other is not guard:
            return True
        other = other.outer
    return False


class AsyncPermissionCheck(AsyncCallbackHandler):
    """Asks about the calls of agents that run async, and refuses what was not allowed."""

    run_inline = True
    raise_error = True

    def __init__(self, guard: _CallGuard) -> None:
        self._guard = guard

    async def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Ask as soon as the calls are known: a plain tool would keep a thread waiting for the answer."""
        if self._guard.can_ask_early:
            for call in _calls_in(inputs):
                await self._guard.decide_call(run_id, call, parent_run_id)

    async def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Ask about a call that was not known before it started, and raise Refused if it may not run."""
        call = _call_of(serialized, kwargs)
        if self._guard.channel is not None and call is not None:
            await self._guard.decide_call(parent_run_id, call, parent_run_id)
            if run_id in self._guard.checked:
                # In a plain run LangChain runs this coroutine after the other check, and logs what it raises.
                self._guard.checked.discard(run_id)
            else:
                self._guard.check(parent_run_id, call, run_id)


class PermissionCheck(BaseCallbackHandler):
    """Asks about the calls of agents that run in a plain function, and refuses what was not allowed."""

    run_inline = True
    raise_error = True

    def __init__(self, guard: _CallGuard) -> None:
        self.guard = guard

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Ask about the calls that the async check is called for too late."""
        if self.guard.can_ask_early and not _is_awaited():
            for call in _calls_in(inputs):
                self.guard.decide_call_sync(run_id, call, parent_run_id)

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Let a call begin, or raise Refused."""
        call = _call_of(serialized, kwargs)
        if call is not None and not (self.guard.channel is not None and _is_awaited()):
            self.guard.decide_call_sync(parent_run_id, call, parent_run_id)
            self.guard.checked.add(run_id)
            self.guard.check(parent_run_id, call, run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a call that ended."""
        self.guard.end(run_id)


def _is_awaited() -> bool:
    """Whether LangChain's async callback manager calls the check: then it awaits the async check as well."""
    frame = inspect.currentframe()
    caller = frame.f_back.f_back if frame is not None and frame.f_back is not None else None
    return caller is not None and caller.f_code.co_name == "_ahandle_event_for_handler"


def _calls_in(inputs: Any) -> list[Call]:
    """The calls that a tool node is sent, one by one; not those in a whole state."""
    if isinstance(inputs, dict):
        sent = cast("dict[str, Any]", inputs)
        return [sent["tool_call"]] if sent.get("__type") == "tool_call_with_context" else []
    items: list[Any] = cast("list[Any]", inputs) if isinstance(inputs, list) else []
    calls = [cast("Call", item) for item in items if isinstance(item, dict)]
    return [call for call in calls if call.get("type") == "tool_call"]


def _call_of(serialized: dict[str, Any] | None, kwargs: dict[str, Any]) -> Call | None:
    """The call that a tool starts with; None when no model made it."""
    if kwargs.get("tool_call_id") is None:
        return None
    # The tool's own name: the name of the run is the caller's to choose.
    name = str((serialized or {}).get("name") or kwargs.get("name") or "tool")
    return {"id": kwargs["tool_call_id"], "name": name, "args": kwargs.get("inputs") or {}}


_ASYNC_CHECK: ContextVar[AsyncPermissionCheck | None] = ContextVar(
    "trunkline_async_permission_check", default=None
)
_CHECK: ContextVar[PermissionCheck | None] = ContextVar("trunkline_permission_check", default=None)
register_configure_hook(_ASYNC_CHECK, inheritable=True)
register_configure_hook(_CHECK, inheritable=True)
