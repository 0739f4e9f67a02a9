"""The operator's policy: it holds for every tool call of a model in a session, also without our middlewares.

The hook of the instrumented graph runs each call of a tool node under it, inside of all middlewares: what one
of them asked about already is not asked again. What passes no tool node of the graph (an agent that a node
calls, a tool that a node runs with the model's call) is seen by callbacks. Nothing is asked where no policy
was given.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from trunkline.agents.langchain.channel import Channel, current_channel
from trunkline.agents.langchain.permissions.decide import PermissionRule, decide
from trunkline.agents.langchain.permissions.subagents import guard_calls_below, guard_calls_in_run, lane_at
from trunkline.agents.langchain.permissions.verdicts import Verdict, answer_of, revise_request
from trunkline.agents.langchain.tools.registered_tools import decide_declared

_ASK = PermissionRule()


def _rule_for(tool: str) -> PermissionRule:
    return _ASK


def _has_policy(channel: Channel | None) -> bool:
    return channel is not None and channel.follows_run and channel.ctx.has_policy


async def apply_policy(request: Any, execute: Callable[[Any], Awaitable[Any]]) -> Any:
    """Run a call of a tool node if the policy allows it, or the person whom the policy wants to be asked."""
    channel = current_channel()
    config = request.runtime.config
    if channel is not None and channel.follows_run:
        # What the tool's author wants to be asked is asked before the tool is shown as running.
        declared = await decide_declared(channel, request.tool, request.tool_call, lane_at(config))
        if declared is not None and not declared:
            return answer_of(request.tool_call, declared)
        request = request if declared is None else revise_request(request, declared)
    if not _has_policy(channel):
        return await execute(request)
    verdict = await decide(channel, request.tool_call, _ASK, lane_at(config))
    if not verdict:
        return answer_of(request.tool_call, verdict)
    with guard_calls_below(channel, config, _rule_for, is_policy=True):
        return await execute(revise_request(request, verdict))


async def decide_by_policy(channel: Channel, call: Mapping[str, Any]) -> Verdict | None:
    """Decide about a call that no tool node runs; None where no policy was given."""
    return await decide(channel, call, _ASK) if _has_policy(channel) else None


def guard_run(channel: Channel, handler: Any) -> AbstractContextManager[None]:
    """Hold the policy against the calls of a run that pass no tool node; ``handler`` knows its lanes."""
    return guard_calls_in_run(channel, handler, _rule_for) if _has_policy(channel) else nullcontext()
