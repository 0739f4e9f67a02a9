"""Answers ``session/request_permission``: the policy first, then an earlier "always", then a person.

Every request is a question of its own, so several are open at once. The person sees the agent's own options,
and what was chosen goes back by the agent's id of it. What the policy or an earlier answer allows is allowed
once: only a person can give the agent an "always".
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, Union, cast, get_args

from trunkline import events as ev
from trunkline.agents.acp.requests.judged_calls import CallView, describe_request
from trunkline.agents.acp.requests.permission_options import (
    CANCELLED,
    Choice,
    PermissionRequest,
    chosen_option,
    option_of_kind,
    read_options,
    selected,
    without_always,
)
from trunkline.agents.acp.requests.request_params import fields_of
from trunkline.agents.acp.requests.request_turn import RequestTurn
from trunkline.errors import ConfigurationError, TurnCancelled
from trunkline.protocols.acp.fields import as_object
from trunkline.protocols.jsonrpc.connection import error_with_details
from trunkline.protocols.jsonrpc.messages import INVALID_PARAMS
from trunkline.questions import ALLOW_KINDS, REJECT_KINDS, Option
from trunkline.session.context import Decision, ToolRequest, TurnContext
from trunkline.session.permissions import command_block
from trunkline.workspace.always import command_in

log = logging.getLogger("trunkline.acp")

Answer = Union[str, bool, Option, None]
Permission = Union[Choice, Callable[[PermissionRequest], Union[Answer, Awaitable[Answer]]]]
"""What answers where the policy leaves it open: a person, always yes or no (once), or a function.

A function gives the id or the kind of an option, True or False; None asks the person.
"""

_PROGRAM = "program"


class CallDecoder(Protocol):
    """What is needed of the decoder of the agent's updates."""

    def call(self, native_id: str) -> CallView | None:
        """Give a call of this turn by the agent's id."""
        ...

    def call_id(self, native_id: str) -> str | None:
        """Give our id of a call by the agent's id."""
        ...

    def asked_about(self, shown: Mapping[str, Any], /) -> str | None:
        """Give the agent's id of the call that a permission shows."""
        ...

    def asked_with(self, native_id: str) -> Sequence[CallView]:
        """Give the calls that a permission is about which shows nothing of its own."""
        ...

    def permission(self, params: Mapping[str, Any], /) -> Sequence[ev.Event]:
        """Show the call that a permission is about."""
        ...

    def denied(self, native_id: str, reason: str | None = None) -> Sequence[ev.Event]:
        """Take that a call was refused."""
        ...

    def terminal(
        self, terminal_id: str, data: str = "", exit_status: Mapping[str, Any] | None = None
    ) -> Sequence[ev.Event]:
        """Give what a terminal printed that is run for the agent."""
        ...


def check_permission(permission: Any) -> None:
    """Refuse a ``permission=`` that means nothing."""
    if permission not in get_args(Choice) and not callable(permission):
        raise ConfigurationError(
            f"permission is {permission!r}: choose one of {', '.join(get_args(Choice))}, or give a function "
            "that takes a PermissionRequest and gives the id or the kind of an option, True or False"
        )


class PermissionRequests:
    """Answers the permissions that one session's agent asks for."""

    def __init__(self, scope: RequestTurn, decoder: CallDecoder, permission: Permission) -> None:
        check_permission(permission)
        self._scope = scope
        self._decoder = decoder
        self._permission = permission
        self._noticed: tuple[str, set[str]] = ("", set())

    def take_update(self, update: Mapping[str, Any]) -> None:
        """Tell the person of a call that the policy denies and that the agent ran without asking.

        Nobody could hold it back, as the agent did it in its own process. It is said once in a turn for
        each tool.
        """
        native_id, turn = update.get("toolCallId"), self._scope.turn
        if turn is None or update.get("status") != "completed" or not isinstance(native_id, str):
            return
        call = self._decoder.call(native_id)
        denial = None if call is None else turn.policy_denial(describe_request(call))
        if call is None or denial is None or call.status != "completed":
            return
        if self._noticed[0] != turn.turn_id:
            self._noticed = (turn.turn_id, set())
        if call.name not in self._noticed[1]:
            self._noticed[1].add(call.name)
            self._scope.notice(
                "The agent ran a tool call without asking, which the policy denies",
                f"{call.title or call.name}: {denial}",
                "unasked_call_ran",
            )

    async def answer(self, params: Any) -> dict[str, Any]:
        """Answer a session/request_permission."""
        options = read_options(params)
        shown = as_object(fields_of(params).get("toolCall"))
        native_id = self._decoder.asked_about(shown)
        if not native_id:
            raise error_with_details(INVALID_PARAMS, "invalid params: toolCall must have a toolCallId")
        turn = self._scope.turn
        if self._scope.cancelled:
            return CANCELLED
        if turn is None:
            self._refuse_out_of_turn(shown)
            return CANCELLED
        for event in self._decoder.permission({**params, "toolCall": {**shown, "toolCallId": native_id}}):
            turn.emit(cast("Any", event))
        call = self._decoder.call(native_id)
        if call is None:
            raise error_with_details(INVALID_PARAMS, f"the tool call {native_id!r} is of a turn that is over")
        try:
            decision = await self._scope.until_cancelled(self._decide(turn, call, options, params))
        except TurnCancelled:
            return CANCELLED
        return selected(self._conclude(turn, native_id, call, options, decision))

    async def _decide(
        self, turn: TurnContext, call: CallView, options: tuple[Option, ...], params: dict[str, Any]
    ) -> Decision:
        others = self._decoder.asked_with(call.native_id)
        request = describe_request(call, others)
        if turn.covers(request) is None:
            options = without_always(options)
        turn.inputs[call.call_id] = call.input
        # The command is shown above what the agent shows of the call.
        content = call.content if command_block(request) else ()
        return await turn.permission(
            call.title or call.name,
            tool=request.tool,
            input=request.input,
            kind=request.kind,
            also_kinds=request.also_kinds,
            call_id=call.call_id,
            options=options,
            paths=request.paths,
            command=request.command,
            content=content,
            lane=call.lane,
            others=request.others,
            answer=lambda asked: self._answer(turn, call, asked, options, params),
        )

    def _conclude(
        self,
        turn: TurnContext,
        native_id: str,
        call: CallView,
        options: tuple[Option, ...],
        decision: Decision,
    ) -> Option | None:
        """Find the agent's option for a decision, and let the decoder know of a refusal."""
        option = next((one for one in options if one.option_id == decision.option_id), None)
        if option is None:
            option = option_of_kind(options, "allow_once" if decision else "reject_once")
        reason = decision.reason
        if decision and option is None:
            reason = "the agent offers no option to allow it once"
            self._scope.notice(
                "A tool call was refused", f"{call.title or call.name}: {reason}", "permission_without_once"
            )
        if option is not None and option.kind not in ALLOW_KINDS | REJECT_KINDS:
            return option  # Of a kind that we do not know: what the agent does next shows what it meant.
        if not decision or option is None:
            for event in self._decoder.denied(native_id, reason or "the user refused it"):
                # A refused call is shown as denied already; what ends with it is not.
                if call.call_id not in turn.denied or getattr(event, "call_id", None) != call.call_id:
                    turn.emit(cast("Any", event))
        return option

    async def _answer(
        self,
        turn: TurnContext,
        call: CallView,
        request: ToolRequest,
        options: tuple[Option, ...],
        params: dict[str, Any],
    ) -> Decision | None:
        """Decide in the place of a person; None where a person is to be asked."""
        permission = self._permission
        if permission == "ask" or (permission == "allow" and not turn.has_no_rule_for(request)):
            return None
        reason = f"permission={permission!r}"
        if permission in ("allow", "refuse"):
            return _decision(request, permission == "allow", reason)
        ask = cast("Callable[[PermissionRequest], Any]", permission)
        about = PermissionRequest(
            session_id=self._scope.view.session_id,
            title=call.title or call.name,
            tool=call.name,
            kind=request.kind,
            input=request.input,
            paths=request.named_paths,
            command=command_in(request.input) if request.command is None else request.command,
            options=options,
            params=params,
        )
        try:
            choice = ask(about)
            if inspect.isawaitable(choice):
                choice = await choice
        except Exception as error:
            log.exception("the function that answers permissions failed")
            return _decision(request, False, f"the function that answers permissions failed: {error!r}")
        if choice is None:
            return None
        option = chosen_option(options, choice)
        if option is None:
            if not isinstance(choice, bool):
                reason = f"the function that answers permissions gave {choice!r}, which is not on offer"
                log.error("%s: give one of %s", reason, ", ".join(one.option_id for one in options))
            return _decision(request, False, reason)
        allowed = option.kind in ALLOW_KINDS
        return _decision(request, allowed, f"the program chose {option.name!r}", option.option_id)

    def _refuse_out_of_turn(self, call: dict[str, Any]) -> None:
        title = call.get("title") or call.get("name") or call.get("toolCallId")
        self._scope.notice(
            "A permission was refused: no turn runs",
            f"The agent asked between two turns, where nobody can be asked: {title}",
            "permission_out_of_turn",
        )


def _decision(request: ToolRequest, allowed: bool, reason: str, option_id: str | None = None) -> Decision:
    return Decision(
        allowed=allowed,
        call_id=request.call_id,
        input=request.input,
        reason=reason,
        by=_PROGRAM,
        option_id=option_id,
    )
