"""Questions over ACP: each is a request to the client at once, and its answer settles it.

A permission is answered by option, never by silence. ``cancelled`` from a client means that the
turn was cancelled. A form is a permission too where the client has no forms and one choice is all it
wants. What a client cannot be asked it declines, and so does one that answers with an error: the agent
learns why, and its turn goes on.
"""

from __future__ import annotations

import contextlib
import logging
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.errors import InvalidCommand, SessionError
from trunkline.frontends.acp import wire
from trunkline.frontends.acp.calls import CallView
from trunkline.frontends.acp.choices import Button, buttons_for, card_for
from trunkline.frontends.acp.connection import Connection
from trunkline.frontends.acp.encoder import Ask, can_show_forms
from trunkline.frontends.acp.lossless import decode
from trunkline.frontends.acp.words import blank_form, read_form
from trunkline.jsonrpc import RpcError
from trunkline.questions import Form, Link, Permission
from trunkline.session import Session

__all__ = ["Asker"]

log = logging.getLogger("trunkline.acp")

_EDIT = "trunkline:edit"
_DECLINE = "trunkline:decline"
_BY = "acp"
_NO_FORMS = "the client cannot show forms"


class _Withdrawn(Exception):
    """Somebody else was faster than the request."""


class Asker:
    """Puts the questions of one session to one client."""

    def __init__(self, connection: Connection, session: Session, client: wire.ClientCapabilities) -> None:
        """Ask a client with these capabilities."""
        self._connection = connection
        self._session = session
        self._forms = can_show_forms(client)
        self._links = client.elicitation is not None and client.elicitation.url is not None
        self._open: dict[str, int | None] = {}

    def withdraw(self, question_id: str) -> None:
        """Take an open request back: someone else answered, or the turn is over."""
        request_id = self._open.pop(question_id, None)
        if request_id is not None:
            self._connection.take_back(request_id)

    def put(self, ask: Ask) -> None:
        """Ask beside everything else, unless the question is withdrawn before it is put."""
        self._open[ask.asked.question_id] = None
        self._connection.spawn(self._put(ask))

    async def ask(self, ask: Ask) -> None:
        """Ask, and settle the question with whatever comes back."""
        self._open[ask.asked.question_id] = None
        await self._put(ask)

    async def _put(self, ask: Ask) -> None:
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
                answer = await self._link(ask.asked, question)
            else:
                answer = self._declined(ask.asked, "an editor has no tools of its own to call")
        except (RpcError, msgspec.ValidationError) as error:
            answer = self._declined(ask.asked, f"the client could not be asked: {error}")
        except _Withdrawn:
            raise
        except Exception as error:
            # Whatever a client sends back, nobody may wait for ever.
            log.exception("an answer of the client could not be read")
            answer = self._declined(ask.asked, f"the client's answer could not be read: {error}")
        finally:
            self._open.pop(ask.asked.question_id, None)
        try:
            await self._session.answer(answer)
        except InvalidCommand as error:
            await self._session.answer(self._declined(ask.asked, str(error)))
        except SessionError:
            return  # Someone was first, or the turn is over: both are fine.

    async def _request(self, asked: ev.Asked, method: str, params: dict[str, Any]) -> Any:
        if asked.question_id not in self._open:
            raise _Withdrawn
        request_id, future = self._connection.ask(method, params)
        self._open[asked.question_id] = request_id
        return await future

    # -- permissions -------------------------------------------------------------------------------

    async def _permission(self, ask: Ask, question: Permission) -> Answer:
        asked = ask.asked
        options = [
            {"optionId": option.option_id, "name": option.name, "kind": option.kind}
            for option in question.options
        ]
        given = (ask.call or {}).get("rawInput")
        once = next((o.option_id for o in question.options if o.kind == "allow_once"), None)
        editable = question.allows_edit and self._forms and isinstance(given, dict) and once is not None
        if editable:
            options.insert(1, {"optionId": _EDIT, "name": "Edit…", "kind": "allow_once"})
        params: dict[str, Any] = {
            "sessionId": self._session.session_id,
            "toolCall": ask.call or {"toolCallId": question.call_id},
            "options": options,
        }
        while True:
            selected = await self._select(asked, params)
            if isinstance(selected, Answer):
                return selected
            if selected != _EDIT:
                return Answer(question_id=asked.question_id, option_id=selected, by=_BY)
            edited = await self._edit(asked, cast("dict[str, Any]", given))
            if edited is not None:
                return Answer(question_id=asked.question_id, option_id=once, input=edited, by=_BY)

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
            buttons = buttons_for(question)
            return await self._choice(ask, question, buttons) if buttons else self._declined(asked, _NO_FORMS)
        content = await self._elicit(asked, question.message, blank_form(question))
        if content is None:
            return self._declined(asked, "the person declined")
        filled = read_form(question, content)
        return Answer(question_id=asked.question_id, outcome="accepted", content=filled, by=_BY)

    async def _choice(self, ask: Ask, question: Form, buttons: list[Button]) -> Answer:
        """Let the person press a button, as for a permission, and fill in the form with what it means."""
        asked = ask.asked
        options = [{"optionId": one.option_id, "name": one.name, "kind": "allow_once"} for one in buttons]
        options.append({"optionId": _DECLINE, "name": "Decline", "kind": "reject_once"})
        if question.call_id is None:
            call = ask.call or CallView(card_for(asked), (), {}).describe()
        else:
            # The card is the call's own, which does not tell what is asked.
            told = {"type": "content", "content": {"type": "text", "text": question.message}}
            call: dict[str, Any] = dict(ask.call or {"toolCallId": question.call_id})
            call["content"] = [*call.get("content", ()), told]
        params = {"sessionId": self._session.session_id, "toolCall": call, "options": options}
        selected = await self._select(asked, params)
        if isinstance(selected, Answer):
            return selected
        if selected == _DECLINE:
            return self._declined(asked, "the person declined")
        content = next((one.content for one in buttons if one.option_id == selected), None)
        if content is None:
            return self._declined(asked, f"the client gave an option {selected!r} that was not on offer")
        return Answer(question_id=asked.question_id, outcome="accepted", content=content, by=_BY)

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

    async def _link(self, asked: ev.Asked, question: Link) -> Answer:
        if not self._links:
            return self._declined(asked, "the client cannot open links")
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
            return self._declined(asked, "the person declined")
        self._connection.notify("elicitation/complete", {"elicitationId": elicitation_id})
        return Answer(question_id=asked.question_id, outcome="accepted", by=_BY)

    def _scope(self, asked: ev.Asked, params: dict[str, Any]) -> dict[str, Any]:
        params["sessionId"] = self._session.session_id
        call_id = getattr(asked.question, "call_id", None)
        if call_id is not None:
            params["toolCallId"] = call_id
        return params

    def _declined(self, asked: ev.Asked, reason: str) -> Answer:
        return Answer(question_id=asked.question_id, outcome="declined", reason=reason, by=_BY)


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
