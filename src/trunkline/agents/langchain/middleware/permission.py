"""Permissions: a table that says which tools need a person's word before they run."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from trunkline.agents.langchain.callbacks.begin_run import begin_run
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.channel_lookup import ChannelSource, find_channel
from trunkline.agents.langchain.middleware._hooks import NO_PAYLOADS, inline
from trunkline.agents.langchain.middleware._run_observer import add_to_state
from trunkline.agents.langchain.permissions.answer_file import AnswerFile
from trunkline.agents.langchain.permissions.decide import (
    Always,
    Describe,
    decide,
    decide_sync,
    discard_verdict,
)
from trunkline.agents.langchain.permissions.decide import PermissionRule as Rule
from trunkline.agents.langchain.permissions.subagents import guard_calls_below, lane_at
from trunkline.agents.langchain.permissions.verdicts import answer_of, revise_request
from trunkline.agents.langchain.user_functions import contain
from trunkline.errors import ConfigurationError
from trunkline.workspace.policy import Policy

__all__ = ["PermissionMiddleware", "Rule"]

Result = ToolMessage | Command[Any]


class PermissionMiddleware(AgentMiddleware[Any, Any, Any]):
    """Asks before tools run, in subagents too.

    ``policy``
        rules by pattern (``write_*``, ``*``); of the patterns that fit a tool the most specific one
        counts: a plain name, else the one with the most letters. A rule is a Rule or a dict of its
        fields. **A tool that fits no pattern runs without asking**: add ``"*": Rule()`` to ask about
        everything else. What the operator's policy denies never runs, whatever the table says, and what
        it allows is not asked about.
    ``description``
        what the question says: a text, or a function of the tool call.
    ``persist``
        where "always" answers are kept beyond the session, for everybody this agent serves: the path of
        a JSON file, or a mapping of tool names to ``allow`` and ``reject``.
    ``subagents``
        False to leave the calls of subagents alone. There a call can be approved or rejected only.
    """

    trace_policy = NO_PAYLOADS
    channel_source: ChannelSource | None = None

    def __init__(
        self,
        policy: Mapping[str, Rule | Mapping[str, Any]],
        *,
        description: Describe | None = None,
        persist: str | os.PathLike[str] | Always | None = None,
        subagents: bool = True,
    ) -> None:
        """Check the table: what is wrong with it is said now."""
        super().__init__()
        self.policy = _read_policy(policy)
        self._rule_for = lru_cache(maxsize=1024)(self.find_rule)
        words = (
            contain(description, "description", "the usual question is asked")
            if callable(description)
            else description
        )
        self._about: dict[str, Any] = {"describe": words, "always": _read_place(persist)}
        self._subagents = subagents
        self._asks = any(rule.require_permission for rule in self.policy.values())
        add_to_state(self, begin_run)

    def find_rule(self, tool: str) -> Rule | None:
        """The rule of the most specific pattern that fits a tool."""
        fitting = [pattern for pattern in self.policy if pattern == tool or fnmatchcase(tool, pattern)]
        return self.policy[max(fitting, key=_specificity)] if fitting else None

    @inline
    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Ask, then run the call, answer in its place, or refuse it."""
        channel, call = find_channel(_runtime(request), self), request.tool_call
        lane = lane_at(_config(request))
        verdict = await decide(channel, call, self._rule_for(call["name"]), lane, **self._about)
        if verdict:
            with self._guard(channel, request):
                result = await handler(revise_request(request, verdict))
        else:
            result = answer_of(call, verdict)
        discard_verdict(channel, call, lane)
        return result

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Ask from a plain function, as ``awrap_tool_call`` does."""
        channel, call = find_channel(_runtime(request), self), request.tool_call
        lane = lane_at(_config(request))
        verdict = decide_sync(channel, call, self._rule_for(call["name"]), lane, **self._about)
        if verdict:
            with self._guard(channel, request):
                result = handler(revise_request(request, verdict))
        else:
            result = answer_of(call, verdict)
        discard_verdict(channel, call, lane)
        return result

    def _guard(self, channel: Channel | None, request: ToolCallRequest) -> AbstractContextManager[None]:
        # Only a session has a policy of its own besides these rules.
        has_policy = channel is not None and channel.follows_run
        if not self._subagents or not (self._asks or has_policy):
            return nullcontext()
        return guard_calls_below(channel, _config(request), self._rule_for, **self._about)


def _runtime(request: ToolCallRequest) -> Any:
    return cast("Any", request).runtime


def _config(request: ToolCallRequest) -> Any:
    return cast("Any", request).runtime.config


# -- the table -------------------------------------------------------------------------------------


def _specificity(pattern: str) -> tuple[int, ...]:
    """Rank a pattern: a plain name first, then by letters, then by how little is left open."""
    wild = sum(pattern.count(sign) for sign in "*?[")
    return (wild == 0, len(pattern) - wild, -pattern.count("*"), -wild)


def _read_policy(policy: Any) -> dict[str, Rule]:
    if isinstance(policy, Policy):
        raise ConfigurationError(
            "this is the operator's Policy: give it to trunkline.asgi, Hub or serve_acp. Here a policy is a "
            'table of rules by tool, such as {"write_*": Rule()}'
        )
    if not isinstance(policy, Mapping):
        raise ConfigurationError(f"a permission policy is a table of patterns and rules, not {policy!r}")
    return {
        _read_pattern(key): _read_rule(key, rule) for key, rule in cast("Mapping[Any, Any]", policy).items()
    }


def _read_pattern(pattern: Any) -> str:
    if not isinstance(pattern, str) or not pattern:
        raise ConfigurationError(f"a pattern is the name of a tool, or one with wildcards, not {pattern!r}")
    return pattern


def _read_rule(pattern: str, rule: Any) -> Rule:
    if isinstance(rule, Rule):
        return rule
    fields = ", ".join(Rule.__struct_fields__)
    if not isinstance(rule, Mapping):
        raise ConfigurationError(f"the rule for {pattern!r} is a Rule or a dict of {fields}, not {rule!r}")
    table = cast("Mapping[str, Any]", rule)
    for name in table:
        if name not in Rule.__struct_fields__:
            raise ConfigurationError(f"the rule for {pattern!r} has no field {name!r}: it has {fields}")
    try:
        return Rule(**table)
    except ConfigurationError as error:
        raise ConfigurationError(f"the rule for {pattern!r}: {error}") from None


# -- answers for good ------------------------------------------------------------------------------


def _read_place(place: Any) -> Always | None:
    if place is None or isinstance(place, MutableMapping):
        return cast("Always | None", place)
    if isinstance(place, str | os.PathLike):
        return AnswerFile(cast("str | os.PathLike[str]", place))
    raise ConfigurationError(f"persist is the path of a JSON file or a mutable mapping, not {place!r}")
