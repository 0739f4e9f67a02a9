"""Answers ``elicitation/create``: an agent's form or link is a question of the session.

What a person fills in is checked against the form before it counts (``trunkline.session.form_answers``), so
the agent gets what it asked for, or a refusal.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast
from urllib.parse import urlsplit

from trunkline.agents.acp.requests.permission_requests import CallDecoder
from trunkline.agents.acp.requests.request_params import fields_of
from trunkline.agents.acp.requests.request_turn import RequestTurn
from trunkline.errors import TurnCancelled
from trunkline.protocols.jsonrpc.connection import error_with_details
from trunkline.protocols.jsonrpc.messages import INVALID_PARAMS, RpcError
from trunkline.questions import Form, Link, Question
from trunkline.session.context import TurnContext

CANCEL: dict[str, Any] = {"action": "cancel"}
"""The answer to a form or a link that nobody answers."""


class ElicitationRequests:
    """Puts the forms and links of one session's agent to a person."""

    def __init__(self, scope: RequestTurn, decoder: CallDecoder) -> None:
        self._scope = scope
        self._decoder = decoder
        self._links: dict[str, asyncio.Event] = {}

    async def answer(self, params: Any) -> dict[str, Any]:
        """Ask, and give what the person did: accept, decline or cancel."""
        fields = fields_of(params)
        question = self._question(fields)
        turn = self._scope.turn
        if self._scope.cancelled:
            return CANCEL
        if turn is None:
            self._scope.notice(
                "A question was not asked: no turn runs",
                f"The agent asked between two turns, where nobody can be asked: {question.message}",
                "elicitation_out_of_turn",
            )
            return CANCEL
        try:
            if isinstance(question, Link):
                return await self._scope.until_cancelled(self._visit(turn, question, fields["elicitationId"]))
            return await self._scope.until_cancelled(self._ask(turn, question))
        except TurnCancelled:
            return CANCEL

    def complete(self, params: Any) -> None:
        """Take ``elicitation/complete``: what a link led to is done, so nobody needs to say so."""
        elicitation_id: Any = (
            cast("dict[str, Any]", params).get("elicitationId") if isinstance(params, dict) else None
        )
        done = self._links.get(elicitation_id) if isinstance(elicitation_id, str) else None
        if done is not None:
            done.set()

    async def _ask(self, turn: TurnContext, question: Question) -> dict[str, Any]:
        answered = await turn.ask(question)
        if answered.outcome == "declined":
            return {"action": "decline"}
        if answered.outcome != "accepted":
            return CANCEL
        return {"action": "accept"} | (
            {"content": answered.content or {}} if isinstance(question, Form) else {}
        )

    async def _visit(self, turn: TurnContext, question: Link, elicitation_id: str) -> dict[str, Any]:
        """Wait until the person says that they were there, or the agent does."""
        done = self._links[elicitation_id] = asyncio.Event()
        asking = asyncio.create_task(self._ask(turn, question))
        completed = asyncio.create_task(done.wait())
        try:
            await asyncio.wait({asking, completed}, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else {"action": "accept"}
        finally:
            del self._links[elicitation_id]
            asking.cancel()
            completed.cancel()
            await asyncio.wait({asking, completed})

    def _question(self, fields: dict[str, Any]) -> Form | Link:
        native_id: Any = fields.get("toolCallId")
        call_id = self._decoder.call_id(native_id) if isinstance(native_id, str) else None
        mode = fields.get("mode")
        if mode == "form":
            return read_form(fields, call_id)
        # "Clients that do not understand this mode ... MUST NOT render it as a known elicitation mode."
        if mode != "url":
            raise _invalid(f"mode must be form or url, not {mode!r}")
        elicitation_id: Any = fields.get("elicitationId")
        if not isinstance(elicitation_id, str) or not elicitation_id:
            raise _invalid("elicitationId must be text")
        if elicitation_id in self._links:
            raise _invalid(f"the elicitation {elicitation_id[:80]!r} is open already")
        return Link(message=_message(fields), url=_address(fields.get("url")), call_id=call_id)


def read_form(fields: dict[str, Any], call_id: str | None = None) -> Form:
    """Read the form of an ``elicitation/create``."""
    if fields.get("mode") != "form":
        raise _invalid(f"mode must be form, not {fields.get('mode')!r}")
    return Form(message=_message(fields), fields=_schema(fields.get("requestedSchema")), call_id=call_id)


def _message(fields: dict[str, Any]) -> str:
    message: Any = fields.get("message")
    if not isinstance(message, str):
        raise _invalid("message must be text")
    return message


def _schema(given: Any) -> dict[str, Any]:
    schema = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    properties: Any = schema.get("properties", {})
    if not isinstance(given, dict) or not isinstance(properties, dict | None):
        raise _invalid("requestedSchema must be an object with properties")
    fields = cast("dict[str, Any]", properties or {})
    if not all(isinstance(field, dict) for field in fields.values()):
        raise _invalid("every property of requestedSchema must be an object")
    required: Any = schema.get("required") or []
    if not isinstance(required, list) or not all(
        isinstance(name, str) and name in fields for name in cast("list[Any]", required)
    ):
        raise _invalid("required of requestedSchema must name some of its properties")
    return {**schema, "type": "object", "properties": fields, "required": required}


def _address(given: Any) -> str:
    """Take an address of the web: any other may do something on the person's machine when it is opened."""
    try:
        parts = urlsplit(given if isinstance(given, str) else "")
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _invalid("url must be an address that begins with https:// or http://")
    return cast("str", given)


def _invalid(reason: str) -> RpcError:
    return error_with_details(INVALID_PARAMS, f"invalid params: {reason}")
