"""Whether a tool call may run: by the operator's policy while the agent runs, or where the agent stops.

The SDK asks in two ways. A guardrail decides while the run goes on: that is for the policy, and its questions
wait in the process. A tool with ``needs_approval`` stops the run: its questions are durable. A call that was
decided in one way is not asked about again in the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.agents.openai.running_calls import PARENT, Calls
from trunkline.content import as_content
from trunkline.errors import TurnCancelled
from trunkline.questions import ALLOW_KINDS, Permission, default_options, name_coverage
from trunkline.session.context import Decision, ToolRequest, TurnContext
from trunkline.tools.calls import asking_for, rule_for
from trunkline.tools.errors import ToolError
from trunkline.tools.naming import kind_of
from trunkline.tools.tool_context import Asking, ToolContext
from trunkline.tools.turn_calls import TurnHost
from trunkline.workspace.always import command_in

REFUSED = "The user refused this call."


class ToolCallRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A call that a tool is about to run for."""

    native_id: str
    name: str
    input: Any = None
    """The arguments; a text where they are no JSON object."""
    annotations: dict[str, Any] | None = None
    """The annotations that the tool's MCP server gives."""
    editable: bool = False

    @property
    def allows_edit(self) -> bool:
        """Whether a person may give it other arguments."""
        return self.editable and isinstance(self.input, dict)


class Permissions:
    """Decides about the calls of one turn."""

    def __init__(self, ctx: TurnContext, calls: Calls) -> None:
        self._ctx = ctx
        self._calls = calls
        self._decided: dict[str, Decision] = {}

    @property
    def has_policy(self) -> bool:
        """Whether the operator gave a policy; without one only the agent's own approvals are asked for."""
        return self._ctx.has_policy

    async def decide_live(self, call: ToolCallRequest) -> Decision:
        """Decide about a call that is about to run; a person may be asked, and the call waits."""
        call_id = await self._calls.shown(call.native_id)
        known = self._decided.get(call_id)
        if known is not None:
            return known
        if not self._ctx.has_policy:
            return Decision(allowed=True, call_id=call_id, input=call.input)
        request, declared = self._request(call, call_id), self._calls.declared.get(call.name)
        decision = await self._ctx.permission(
            self._question_about(call),
            tool=call.name,
            input=call.input,
            kind=request.kind,
            call_id=call_id,
            options=None if declared is None else declared.buttons(self._ctx.covers(request)),
            allows_edit=self._allows_edit(call),
            paths=request.paths,
            always_covers_tool=request.always_covers_tool,
            lane=self._calls.lane_of(call_id),
        )
        self._keep(call, decision, PARENT.get())
        return decision

    def is_approved(self, call_id: str) -> bool:
        """Whether a call was decided already, and may run."""
        return bool(self._decided.get(call_id))

    def _question_about(self, call: ToolCallRequest) -> str:
        declared = self._calls.declared.get(call.name)
        return f"Run {call.name}?" if declared is None else f"{declared.title_of(call.input)}?"

    def _allows_edit(self, call: ToolCallRequest) -> bool:
        declared = self._calls.declared.get(call.name)
        return call.allows_edit and (declared is None or declared.allows_edit)

    async def _asking(self, call: ToolCallRequest, call_id: str) -> Asking | None:
        """What the rule of a registry's tool wants to be asked; None for any other tool."""
        declared, given = self._calls.declared.get(call.name), call.input
        if declared is None or not call.allows_edit:
            return None
        try:
            context = ToolContext(declared, given, TurnHost(self._ctx, call_id))
            rule = await rule_for(declared, declared.arguments.read(given), context)
        except ToolError:
            return None  # The call itself says what is wrong.
        return asking_for(declared, rule, given)

    async def decide_interruption(
        self, call: ToolCallRequest, call_id: str, durable_key: str, answered: ev.Answered | None
    ) -> Decision:
        """Decide about a call that stopped the run; ``answered`` is what a person said in an earlier process.

        The policy can refuse the call. What it allows is asked all the same: the agent wants a review.
        """
        ctx, lane = self._ctx, self._calls.lane_of(call_id)
        request = self._request(call, call_id)
        earlier = ctx.decide(request, by_policy_only=answered is not None)
        if earlier is not None and (earlier.by != "policy" or not earlier):
            return self._settle(call, request, earlier, lane)
        covers = ctx.covers(request)
        if answered is None:
            declared, asking = self._calls.declared.get(call.name), await self._asking(call, call_id)
            if asking is not None and asking.content:
                ctx.emit(ev.ToolUpdate(lane=lane, call_id=call_id, content=as_content(asking.content)))
            options = default_options(always=covers is not None, covers=covers)
            if declared is not None:
                options = name_coverage(declared.buttons(covers), covers)
            question = Permission(
                message=self._question_about(call) if asking is None else asking.message,
                call_id=call_id,
                options=options,
                allows_edit=self._allows_edit(call),
                covers=covers,
            )
            answered = await ctx.ask(question, durable_key=durable_key or None, lane=lane)
        if answered.outcome == "cancelled":
            raise TurnCancelled("the turn was cancelled while a question was open")
        decision = Decision(
            allowed=answered.option_kind in ALLOW_KINDS,
            call_id=call_id,
            input=call.input if answered.input is None else answered.input,
            always=(answered.option_kind or "").endswith("_always"),
            reason=answered.reason,
            by=answered.by,
            option_id=answered.option_id,
        )
        ctx.remember(covers, decision)
        if decision and decision.input != call.input:
            # The policy has not seen these arguments: a person cannot allow what it denies.
            edited = msgspec.structs.replace(request, input=decision.input, paths=(), command=None)
            judged = ctx.decide(edited, by_policy_only=True)
            if judged is not None and not judged:
                decision = judged
        return self._settle(call, request, decision, lane)

    def _settle(
        self, call: ToolCallRequest, request: ToolRequest, decision: Decision, lane: str | None
    ) -> Decision:
        """Show a decision about a call that stopped the run."""
        ctx, call_id = self._ctx, request.call_id
        if not decision and call_id not in ctx.denied:
            ctx.denied.add(call_id)
            ctx.emit(
                ev.ToolUpdate(
                    lane=lane,
                    call_id=call_id,
                    status="denied",
                    reason=decision.reason or "the user refused it",
                )
            )
        if decision and decision.by != "policy":
            ctx.approve(msgspec.structs.replace(request, input=decision.input))
        self._keep(call, decision, None)
        return decision

    def _keep(self, call: ToolCallRequest, decision: Decision, parent: str | None) -> None:
        self._decided[decision.call_id] = decision
        if not decision:
            self._calls.deny(call.native_id, decision.reason or REFUSED, parent)
        elif decision.input != call.input and call.allows_edit:
            self._calls.change_input(call.native_id, decision.call_id, decision.input, parent)

    def _request(self, call: ToolCallRequest, call_id: str) -> ToolRequest:
        declared = self._calls.declared.get(call.name)
        return ToolRequest(
            call_id=call_id,
            tool=call.name,
            paths=() if declared is None else tuple(one.path for one in declared.locations_of(call.input)),
            always_covers_tool=declared is not None and declared.always_covers_tool,
            kind=cast("ev.ToolKind", self._calls.kinds.get(call_id) or kind_of(call.name, call.annotations)),
            input=call.input,
            command=command_in(call.input),
        )


def read_arguments(arguments: Any) -> Any:
    """Read the arguments of a call: an object, or the text itself where it is none."""
    if isinstance(arguments, Mapping):
        return dict(cast("Mapping[str, Any]", arguments))
    try:
        read: Any = json.loads(arguments or "{}")
    except (TypeError, ValueError):
        return arguments
    return cast("Any", read) if isinstance(read, dict) else arguments


def durable_key(native_id: str, name: str, arguments: Any) -> str:
    """Name a call that stopped the run the same way in every process."""
    text = json.dumps([name, arguments], sort_keys=True, default=str)
    return f"approve:{native_id}:{hashlib.sha256(text.encode()).hexdigest()[:12]}"
