"""Answers what an agent asks of a program that is only a client: permissions, forms, files and terminals.

Files and terminals are those of the sandboxed workspace in the client's folder. There is no session of ours,
so there is no policy, and nobody to ask but a function of the program.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from trunkline.agents.acp.requests.elicitation_requests import read_form
from trunkline.agents.acp.requests.file_requests import FileRequests
from trunkline.agents.acp.requests.permission_options import (
    CANCELLED,
    PermissionRequest,
    chosen_option,
    option_of_kind,
    read_options,
    selected,
)
from trunkline.agents.acp.requests.permission_requests import Permission, check_permission
from trunkline.agents.acp.requests.request_params import fields_of, refusals
from trunkline.agents.acp.requests.request_turn import RequestTurn
from trunkline.agents.acp.requests.terminal_requests import TerminalRequests
from trunkline.errors import Denied, InvalidCommand, TurnCancelled
from trunkline.events import ToolKind
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.acp.fields import as_object, text_in
from trunkline.protocols.acp.profiles import STANDARD, Profile
from trunkline.protocols.jsonrpc.connection import error_with_details
from trunkline.protocols.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from trunkline.questions import ALLOW_KINDS, Form, Option, default_options
from trunkline.session.form_answers import check_form_answer
from trunkline.session.view import SessionView

log = logging.getLogger("trunkline.acp")

_CALLS_KEPT = 1000
"""Of how many calls of a prompt the name, the title and the kind are known when it is asked about them."""


class PermissionAnswers:
    """Chooses the answer to a permission; nothing is ever allowed for good but by the program's function."""

    def __init__(self, permission: Permission) -> None:
        """``permission`` is ask, allow, refuse or a function; ``ask`` is the function that "ask" asks."""
        check_permission(permission)
        self._permission = permission
        self.ask: Callable[[PermissionRequest], Any] | None = None

    async def allows(self, title: str, kind: ToolKind, params: dict[str, Any]) -> bool:
        """Whether the agent may change a file or run a command, which it may not have asked about."""
        call = {"title": title, "kind": kind, "rawInput": params}
        option = await self.choose(default_options(always=False), call, params)
        return option is not None and option.kind in ALLOW_KINDS

    async def choose(
        self, options: tuple[Option, ...], call: dict[str, Any], params: dict[str, Any]
    ) -> Option | None:
        """Give the option to select; None if there is none that says no."""
        refuse = option_of_kind(options, "reject_once")
        permission = self._permission
        if permission == "allow":
            once = option_of_kind(options, "allow_once")
            if once is None:
                log.warning("refused: the agent offers no option to allow it once, only %s", _kinds(options))
            return once or refuse
        ask = permission if callable(permission) else self.ask
        if permission == "refuse" or ask is None:
            return refuse
        return await self._ask(ask, options, call, params) or refuse

    async def _ask(
        self,
        ask: Callable[[PermissionRequest], Any],
        options: tuple[Option, ...],
        call: dict[str, Any],
        params: dict[str, Any],
    ) -> Option | None:
        """Ask the program's function; one that fails, or gives what is not on offer, is a no."""
        title = text_in(call, "title") or text_in(call, "name") or "unknown"
        about = PermissionRequest(
            session_id=text_in(params, "sessionId") or "",
            title=title,
            tool=text_in(call, "name") or title,
            kind=cast("Any", text_in(call, "kind") or "other"),
            input=call.get("rawInput"),
            options=options,
            params=params,
        )
        try:
            choice = ask(about)
            if inspect.isawaitable(choice):
                choice = await choice
        except Exception:
            log.exception("the function that answers permissions failed: refused")
            return None
        option = None if choice is None else chosen_option(options, choice)
        if option is None and choice not in (None, False):
            log.error("refused: %r is not on offer, only %s", choice, _kinds(options))
        return option


class FormAnswers:
    """Lets a function of the program fill in the agent's forms."""

    def __init__(self) -> None:
        self.ask: Callable[[Form], Any] | None = None

    async def fill_in(self, form: Form) -> dict[str, Any]:
        """Give the function's answer, if it fits the form; else the form is declined."""
        try:
            content = None if self.ask is None else self.ask(form)
            if inspect.isawaitable(content):
                content = await content
        except Exception:
            log.exception("the function that fills in forms failed: declined")
            return {"action": "decline"}
        if content is None:
            return {"action": "decline"}
        try:
            check_form_answer(form, content)
        except InvalidCommand as error:
            log.error("the form was declined: %s", error)
            return {"action": "decline"}
        return {"action": "accept", "content": content}


class ClientRequests:
    """Answers the requests of the sessions of one agent process."""

    def __init__(
        self,
        cwd: str,
        permissions: PermissionAnswers,
        forms: FormAnswers | None = None,
        profile: Profile = STANDARD,
    ) -> None:
        """Answer from the folder ``cwd``; ``forms`` fills in forms, if they were offered to the agent."""
        self._permissions = permissions
        self._forms = forms
        self._profile = profile
        self._calls: dict[str, dict[str, Any]] = {}
        self._scope = RequestTurn(SessionView(session_id="", cwd=cwd))
        files = FileRequests(self._scope)
        self._terminals = terminals = TerminalRequests(self._scope, AcpDecoder())
        self._methods: dict[str, Callable[[Any], Awaitable[dict[str, Any]]]] = {
            "session/request_permission": self._permission,
            "fs/read_text_file": files.read,
            "fs/write_text_file": self._ask_before(files.write, "Write", "path", "edit"),
            "terminal/create": self._ask_before(terminals.create, "Run", "command", "execute"),
            "terminal/output": terminals.output,
            "terminal/wait_for_exit": terminals.wait_for_exit,
            "terminal/kill": terminals.kill,
            "terminal/release": terminals.release,
        }
        if forms is not None:
            self._methods["elicitation/create"] = self._form

    @property
    def is_cancelled(self) -> bool:
        """Whether the last prompt was cancelled."""
        return self._scope.cancelled

    async def handle(self, method: str, params: Any) -> Any:
        """Give the result of a request; raises RpcError."""
        answer = self._methods.get(method)
        if answer is None:
            raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")
        with refusals():
            return await answer(params)

    def take_update(self, update: Mapping[str, Any]) -> None:
        """Remember what a call is called: a permission may name only its id."""
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            call_id = text_in(update, "toolCallId")
            if call_id is not None and (call_id in self._calls or len(self._calls) < _CALLS_KEPT):
                self._calls.setdefault(call_id, {}).update(self._names_of(call_id, update))

    def _names_of(self, call_id: str, call: Mapping[str, Any]) -> dict[str, str]:
        name = text_in(call, "name") or self._profile.name_of_tool(as_object(call.get("_meta")), call_id)
        found = {"name": name, "title": text_in(call, "title"), "kind": text_in(call, "kind")}
        return {field: value for field, value in found.items() if value is not None}

    def begin_turn(self) -> None:
        """Answer by the rules again: a prompt is sent."""
        self._calls.clear()
        self._scope.turn = None

    def cancel_turn(self) -> None:
        """Answer the open permissions of this prompt, and those to come, with "cancelled"."""
        self._scope.cancel()

    async def close(self) -> None:
        """Withdraw what is open, and release every terminal."""
        self._scope.cancel()
        await self._terminals.close()

    def _ask_before(
        self, answer: Callable[[Any], Awaitable[dict[str, Any]]], verb: str, field: str, kind: ToolKind
    ) -> Callable[[Any], Awaitable[dict[str, Any]]]:
        """Refuse a request that the program does not allow: an agent may not have asked before it."""

        async def answer_if_allowed(params: Any) -> dict[str, Any]:
            given = as_object(params)
            title = f"{verb} {text_in(given, field) or ''}".strip()
            if not await self._scope.until_cancelled(self._permissions.allows(title, kind, given)):
                raise Denied(
                    f"{title}: the program does not allow it; permission= or set_permission_callback can"
                )
            return await answer(params)

        return answer_if_allowed

    async def _permission(self, params: Any) -> dict[str, Any]:
        options = read_options(params)
        call = as_object(fields_of(params).get("toolCall"))
        call_id = text_in(call, "toolCallId")
        if call_id is None:
            raise error_with_details(INVALID_PARAMS, "invalid params: toolCall must have a toolCallId")
        call = {**call, **self._calls.get(call_id, {}), **self._names_of(call_id, call)}
        if self._scope.cancelled:
            return CANCELLED
        try:
            option = await self._scope.until_cancelled(self._permissions.choose(options, call, params))
        except TurnCancelled:
            return CANCELLED
        return selected(option)

    async def _form(self, params: Any) -> dict[str, Any]:
        form, forms = read_form(fields_of(params)), self._forms
        if forms is None or self._scope.cancelled:
            return {"action": "cancel"}
        try:
            return await self._scope.until_cancelled(forms.fill_in(form))
        except TurnCancelled:
            return {"action": "cancel"}


def _kinds(options: tuple[Option, ...]) -> str:
    return ", ".join(f"{option.option_id} ({option.kind})" for option in options)
