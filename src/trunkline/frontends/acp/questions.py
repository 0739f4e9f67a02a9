"""Questions over ACP: each is a request to the client at once.

A permission is answered by option, and a request has one option of a kind: see ``forms_as_buttons``. If there
is more to choose from, a button opens a form, where the client has forms. A question that a client cannot
show, or answers with an error, is declined: the agent learns why, and its turn goes on.

"If the current prompt turn gets cancelled, the Client MUST respond with the "cancelled" outcome."
(https://agentclientprotocol.com/protocol/v1/tool-calls) So ``cancelled`` cancels the turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, cast

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.errors import InvalidCommand, SessionError
from trunkline.frontends.acp.encoder import Ask, can_show_forms
from trunkline.frontends.acp.form_schema import form_schema, read_form_content
from trunkline.frontends.acp.forms_as_buttons import (
    buttons_for,
    call_for_question,
    choice_form,
    chosen_option,
    describe_choice,
    options_by_kind,
)
from trunkline.frontends.acp.known_words import option_kind
from trunkline.frontends.acp.tool_calls import CallView
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.lossless import decode
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.questions import Form, Link, Option, OptionKind, Permission

log = logging.getLogger("trunkline.acp")

_EDIT = "trunkline:edit"
_TEXT = "words"
_BY = "acp"
_DECLINED = "the person declined"
_REFUSE = Option(option_id="trunkline:decline", name="Reject", kind="reject_once")
_REFUSALS: tuple[OptionKind, ...] = ("reject_once", "reject_always")
_NO_FORMS = "the client cannot show forms"


class _Withdrawn(Exception):
    """The question was answered before its request was sent."""


class _Client(Protocol):
    """What questions need of the connection to a client."""

    def ask(self, method: str, params: dict[str, Any]) -> tuple[int, asyncio.Future[Any]]: ...
    def withdraw_request(self, request_id: int) -> None: ...
    def notify(self, method: str, params: dict[str, Any]) -> None: ...
    def spawn(self, work: Coroutine[Any, Any, Any]) -> object: ...


class Asker:
    """Asks one client the questions of one session."""

    def __init__(
        self,
        connection: _Client,
        session_id: str | None,
        answer: Callable[[Answer], Awaitable[None]],
        client: wire.ClientCapabilities,
    ) -> None:
        """Ask a client with these capabilities; what it answers goes to ``answer``."""
        self._connection = connection
        self._session_id = session_id
        self._answer = answer
        self._forms = can_show_forms(client)
        self._links = client.elicitation is not None and client.elicitation.url is not None
        self._open: dict[str, int | None] = {}

    def withdraw(self, question_id: str) -> None:
        """Withdraw an open request: another client answered, or the turn is over."""
        request_id = self._open.pop(question_id, None)
        if request_id is not None:
            self._connection.withdraw_request(request_id)

    def ask_soon(self, ask: Ask) -> None:
        """Ask in a task of its own, unless the question is withdrawn before that."""
        self._open[ask.asked.question_id] = None
        self._connection.spawn(self._ask_unless_withdrawn(ask))

    async def ask(self, ask: Ask) -> None:
        """Ask, and answer the question with the client's answer."""
        self._open[ask.asked.question_id] = None
        await self._ask_unless_withdrawn(ask)

    async def _ask_unless_withdrawn(self, ask: Ask) -> None:
        with contextlib.suppress(_Withdrawn):
            await self._ask(ask)

    async def _ask(self, ask: Ask) -> None:
        question = ask.asked.question
        try:
            if isinstance(question, Permission):
                answer = await self._permission(ask, question)
            elif isinstance(question, Form):
                answer = await self._form(ask, question)
            elif isinstance(question, Link):
                answer = await self._link(ask, question)
            else:
                answer = self._declined(ask.asked, "an editor has no tools of its own to call")
        except (RpcError, msgspec.ValidationError) as error:
            answer = self._declined(ask.asked, f"the client could not be asked: {error}")
        except _Withdrawn:
            raise
        except Exception as error:
            # Whatever a client sends back, the agent must not wait for ever.
            log.exception("an answer of the client could not be read")
            answer = self._declined(ask.asked, f"the client's answer could not be read: {error}")
        finally:
            self._open.pop(ask.asked.question_id, None)
        try:
            await self._answer(answer)
        except InvalidCommand as error:
            await self._answer(self._declined(ask.asked, str(error)))
        except SessionError:
            return  # Another client was first, or the turn is over: both are fine.

    async def _request(self, asked: ev.Asked, method: str, params: dict[str, Any]) -> Any:
        if asked.question_id not in self._open:
            raise _Withdrawn
        request_id, future = self._connection.ask(method, params)
        self._open[asked.question_id] = request_id
        return await future

    # -- permissions -------------------------------------------------------------------------------

    async def _permission(self, ask: Ask, question: Permission) -> Answer:
        asked = ask.asked
        groups = options_by_kind(question.options)
        given = (ask.call or {}).get("rawInput")
        once = next((option for kind, (option, *_) in groups.items() if kind == "allow_once"), None)
        editable = question.allows_edit and isinstance(given, dict) and once is not None
        more = [option for option in question.options if option.wants_words]
        if editable:
            more.insert(0, Option(option_id=_EDIT, name="Run it with changed arguments", kind="allow_once"))
        refusal = next((groups[kind][0] for kind in _REFUSALS if kind in groups), _REFUSE)
        groups.setdefault(refusal.kind, [refusal])
        names = {kind: _name(group if self._forms else group[:1]) for kind, group in groups.items()}
        if more and self._forms:
            # Behind the refusal: a person who closes the form has refused.
            names[refusal.kind] += " or change…" if editable else " or answer…"
        params: dict[str, Any] = {
            "sessionId": self._session_id,
            "toolCall": ask.call or {"toolCallId": question.call_id},
            "options": [
                {"optionId": group[0].option_id, "name": names[kind], "kind": option_kind(kind)}
                for kind, group in groups.items()
            ],
        }
        while True:
            selected = await self._select(asked, params)
            if isinstance(selected, Answer):
                return selected
            pressed = next((group for group in groups.values() if group[0].option_id == selected), None)
            if pressed is None:
                return self._declined(asked, f"the client gave an option {selected!r} that was not on offer")
            refuses = pressed[0] is refusal
            among = [*pressed, *more] if refuses else pressed
            message = f"{question.message} What shall be done instead?" if refuses else question.message
            answer = await self._choose_among(ask, message, among, once)
            if answer is not None:
                return answer

    async def _choose_among(
        self, ask: Ask, message: str, options: list[Option], once: Option | None
    ) -> Answer | None:
        """Answer with the only option, or the one chosen in a form; None to ask again."""
        asked, chosen, text = ask.asked, options[0], None
        if len(options) > 1 and self._forms:
            form = choice_form(message, options)
            fields = dict(form.fields["properties"])
            if any(option.wants_words for option in options):
                fields[_TEXT] = {"type": "string", "title": "Your answer, if you give one"}
            filled = await self._elicit(asked, message, {**form.fields, "properties": fields}) or {}
            picked = chosen_option(filled)
            refusal = chosen if chosen.kind in _REFUSALS else _REFUSE
            chosen = next((option for option in options if option.option_id == picked), refusal)
            text = filled.get(_TEXT)
        if chosen.option_id != _EDIT:
            reason = text if chosen.wants_words and isinstance(text, str) and text else None
            return self._selected(asked, chosen, reason=reason)
        edited = await self._edit(asked, cast("dict[str, Any]", (ask.call or {})["rawInput"]))
        return None if edited is None else self._selected(asked, cast("Option", once), input=edited)

    def _selected(self, asked: ev.Asked, option: Option, **fields: Any) -> Answer:
        if option is _REFUSE:
            return self._declined(asked, _DECLINED)
        return Answer(question_id=asked.question_id, option_id=option.option_id, by=_BY, **fields)

    async def _select(self, asked: ev.Asked, params: dict[str, Any]) -> str | Answer:
        """Let the person select an option; an answer at once when they did not."""
        result = await self._request(asked, "session/request_permission", params)
        outcome = decode(wire.RequestPermissionResponse, result).outcome
        if isinstance(outcome, wire.CancelledPermissionOutcome):
            return Answer(question_id=asked.question_id, outcome="cancelled", by=_BY)
        if not isinstance(outcome, wire.SelectedPermissionOutcome):
            return self._declined(asked, "the client gave an outcome that ACP does not know")
        return outcome.option_id

    async def _edit(self, asked: ev.Asked, given: dict[str, Any]) -> dict[str, Any] | None:
        """Let the person edit the arguments in a form; None when they change their mind."""
        fields: dict[str, Any] = {}
        for name, value in given.items():
            kind = _field_type(value)
            shown = value if kind != "string" or isinstance(value, str) else _json(value)
            fields[name] = {"type": kind, "title": name, "default": shown}
        content = await self._elicit(asked, "Edit the arguments", {"type": "object", "properties": fields})
        if content is None:
            return None
        edited = dict(given)
        for name in fields.keys() & content.keys():
            value = content[name]
            structured = isinstance(given.get(name), dict | list | None) and isinstance(value, str)
            edited[name] = _parsed(value) if structured else value
        return edited

    # -- forms and links ---------------------------------------------------------------------------

    async def _form(self, ask: Ask, question: Form) -> Answer:
        asked = ask.asked
        if not self._forms:
            return await self._choice(ask, question)
        content = await self._elicit(asked, question.message, form_schema(question))
        if content is None:
            return self._declined(asked, _DECLINED)
        filled = read_form_content(question, content)
        return Answer(question_id=asked.question_id, outcome="accepted", content=filled, by=_BY)

    async def _choice(self, ask: Ask, question: Form | Link) -> Answer:
        """Let the person press a button, as for a permission, and answer with what it means."""
        asked, buttons = ask.asked, buttons_for(question)
        if not buttons:
            return self._declined(asked, _NO_FORMS)
        options = [{"optionId": one.option_id, "name": one.name, "kind": one.kind} for one in buttons]
        if len(options) == 1:
            options.append({"optionId": _REFUSE.option_id, "name": "Decline", "kind": _REFUSE.kind})
        call: dict[str, Any] = dict(ask.call or CallView(call_for_question(asked), (), {}).describe())
        # The title of a call does not say what is asked, nor does every client show the name of an option.
        description = {
            "type": "content",
            "content": {"type": "text", "text": describe_choice(question, buttons)},
        }
        if description not in call.get("content", ()):
            call["content"] = [*call.get("content", ()), description]
        params = {"sessionId": self._session_id, "toolCall": call, "options": options}
        selected = await self._select(asked, params)
        if isinstance(selected, Answer):
            return selected
        if selected == _REFUSE.option_id:
            return self._declined(asked, _DECLINED)
        pressed = next((one for one in buttons if one.option_id == selected), None)
        if pressed is None:
            return self._declined(asked, f"the client gave an option {selected!r} that was not on offer")
        return Answer(question_id=asked.question_id, outcome="accepted", content=pressed.content, by=_BY)

    async def _elicit(self, asked: ev.Asked, message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
        params = self._scope(asked, {"mode": "form", "message": message, "requestedSchema": schema})
        result = await self._request(asked, "elicitation/create", params)
        if not isinstance(result, dict):
            return None
        reply = cast("dict[str, Any]", result)
        content: Any = reply.get("content") or {}
        if reply.get("action") != "accept" or not isinstance(content, dict):
            return None
        return cast("dict[str, Any]", content)

    async def _link(self, ask: Ask, question: Link) -> Answer:
        if not self._links:
            return await self._choice(ask, question)
        asked = ask.asked
        elicitation_id = asked.question_id
        params = self._scope(
            asked,
            {
                "mode": "url",
                "message": question.message,
                "url": question.url,
                "elicitationId": elicitation_id,
            },
        )
        result = await self._request(asked, "elicitation/create", params)
        accepted = isinstance(result, dict) and cast("dict[str, Any]", result).get("action") == "accept"
        if not accepted:
            return self._declined(asked, _DECLINED)
        self._connection.notify("elicitation/complete", {"elicitationId": elicitation_id})
        return Answer(question_id=asked.question_id, outcome="accepted", by=_BY)

    def _scope(self, asked: ev.Asked, params: dict[str, Any]) -> dict[str, Any]:
        params["sessionId"] = self._session_id
        call_id = getattr(asked.question, "call_id", None)
        if call_id is not None:
            params["toolCallId"] = call_id
        return params

    def _declined(self, asked: ev.Asked, reason: str) -> Answer:
        return Answer(question_id=asked.question_id, outcome="declined", reason=reason, by=_BY)


def _name(options: list[Option]) -> str:
    """The name of one button for several options."""
    return " / ".join(option.name for option in options)


def _field_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, float) else "string"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _parsed(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
