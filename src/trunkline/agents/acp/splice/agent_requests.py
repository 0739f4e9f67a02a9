"""What the agent asks in a splice: the policy first, then the editor and every other client at once.

The request goes to the editor as it came, unless the policy decides it. A permission is also a question of
the session. The first answer wins: the editor's reaches the agent as it came; after another one the editor's
request is withdrawn, and what it still answers is discarded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol, cast

import orjson

from trunkline import events as ev
from trunkline.agents.acp.requests.permission_options import option_of_kind, read_options
from trunkline.agents.acp.splice.journal import BY, SessionJournal
from trunkline.agents.acp.splice.loose_parsing import IdKey, id_key
from trunkline.agents.acp.splice.own_requests import OwnIds, request_line
from trunkline.agents.acp.splice.policy_checks import (
    GUARDED,
    JUDGED,
    PERMISSION,
    check_request,
    judge,
    show_request,
)
from trunkline.commands import Answer
from trunkline.errors import TrunklineError
from trunkline.protocols.acp.fields import as_object, text_in
from trunkline.protocols.jsonrpc.connection import error_with_details
from trunkline.protocols.jsonrpc.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    REQUEST_CANCELLED,
    Id,
    Request,
    Response,
    RpcError,
    written,
)
from trunkline.questions import Form, Permission
from trunkline.session.context import CURRENT
from trunkline.session.session import Session

log = logging.getLogger("trunkline.splice")

ELICITATION = "elicitation/create"
ASKING = (PERMISSION, ELICITATION)
"""What is a question of the session too."""

CONCLUDED_WITHIN = 10.0
"""Seconds in which an answer of the editor must be in the journal before what follows it is."""


class AgentRequest:
    """A request of the agent that is not answered."""

    def __init__(self, raw: bytes, request: Request) -> None:
        self.raw = raw
        self.id: Id = request.id
        self.method = request.method
        self.params = as_object(request.params)
        self.forwarded = False
        """Whether the editor has it."""
        self.answered = False
        """Whether the agent has its answer."""
        self.is_the_editors = False
        """Whether only the editor answers it any more, as the turn that it was asked in is over."""
        self.answer: Response | None = None
        """What the editor answered."""
        self.asked: ev.Asked | None = None
        """The question that it is in the session."""
        self.own_id: str | None = None
        """The permission that we ask the editor for because of it."""
        self.text_before: str | None = None
        """What is in the file that it would write, once that was read."""
        self.task: asyncio.Task[None] | None = None


CURRENT_REQUEST: ContextVar[AgentRequest | None] = ContextVar("trunkline.splice.request", default=None)


class Ends(Protocol):
    """The two ends of the splice, and its sessions."""

    def to_agent(self, line: bytes) -> None:
        """Send a line to the agent."""

    def to_editor(self, line: bytes) -> None:
        """Send a line to the editor."""

    def journal_of(self, session_id: str) -> SessionJournal | None:
        """Give the journal of a session."""
        ...


class SpliceRequests:
    """The open requests of the agent."""

    def __init__(self, ends: Ends, *, has_policy: bool) -> None:
        self._ends = ends
        self._has_policy = has_policy
        self._open: dict[IdKey, AgentRequest] = {}
        self._ids = OwnIds()
        self._own: dict[str, AgentRequest] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # -- what the agent asks -----------------------------------------------------------------------

    def take(self, raw: bytes, message: Request) -> None:
        """Take a request of the agent: it goes to the editor, unless the policy says otherwise."""
        request = AgentRequest(raw, message)
        self._open[id_key(request.id)] = request
        try:
            check_request(request, has_policy=self._has_policy)
        except RpcError as error:
            self._refuse(request, error)
            return
        if request.method in ASKING:
            self._take_question(request)
        elif request.method in GUARDED and self._has_policy:
            self._put(request, self._guard)
        else:
            self._forward(request)

    def _take_question(self, request: AgentRequest) -> None:
        journal = self._journal_of(request)
        judged = self._is_judged(request)
        if not judged and (journal is None or not journal.is_foreign):
            self._forward(request)
        if journal is not None or judged:
            self._put(request, self._permit)

    def _is_judged(self, request: AgentRequest) -> bool:
        """Whether the policy decides before anybody else; it says nothing about forms and links."""
        return self._has_policy and request.method in JUDGED

    def _journal_of(self, request: AgentRequest) -> SessionJournal | None:
        return self._ends.journal_of(str(request.params.get("sessionId")))

    def _put(self, request: AgentRequest, work: Callable[[AgentRequest, SessionJournal], Any]) -> None:
        """Judge a request once all that the agent said before it is known."""
        journal = self._journal_of(request)
        if journal is None:
            why = f"there is no session {request.params.get('sessionId')!r} here, whose policy could decide"
            self._refuse(request, error_with_details(INVALID_PARAMS, why))
        else:
            journal.put(self._begin, request, journal, work)

    def _begin(
        self,
        request: AgentRequest,
        journal: SessionJournal,
        work: Callable[[AgentRequest, SessionJournal], Any],
    ) -> Any:
        if journal.prompts is None or journal.session is None or journal.session.closed:
            self._without_journal(request, journal.failure or "the session is closed")
            return None
        task = asyncio.create_task(self._run(request, journal, work))
        request.task = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return asyncio.sleep(0)

    async def _run(
        self,
        request: AgentRequest,
        journal: SessionJournal,
        work: Callable[[AgentRequest, SessionJournal], Any],
    ) -> None:
        CURRENT_REQUEST.set(request)
        try:
            await work(request, journal)
        except RpcError as error:
            self._refuse(request, error)
        except TrunklineError as error:
            self._refuse(request, error_with_details(error.hint.jsonrpc, str(error)))
        except Exception as error:
            log.exception("%s could not be judged", request.method)
            self._without_journal(request, repr(error))
        finally:
            self._withdraw_own(request)

    def _without_journal(self, request: AgentRequest, why: str) -> None:
        """Let the editor decide alone, unless there is a policy: what that decides must be recorded."""
        if not self._is_judged(request):
            self._forward(request)
        else:
            why = f"what the policy decides cannot be recorded ({why}), so it is refused"
            self._refuse(request, error_with_details(INTERNAL_ERROR, why))

    async def _permit(self, request: AgentRequest, journal: SessionJournal) -> None:
        """Let the policy or a person decide; the decision is stored before the agent gets it."""
        assert journal.prompts is not None
        try:
            result = await journal.prompts.events.handle(request.method, request.params)
        except RpcError:
            if self._is_judged(request) or not request.forwarded:
                raise
            return  # The editor has it, and answers as it likes.
        if not request.is_the_editors:
            self._respond(request, result)

    async def _guard(self, request: AgentRequest, journal: SessionJournal) -> None:
        """Let the policy judge a file or a command, and the editor do it then."""
        assert journal.prompts is not None
        assert journal.session is not None
        CURRENT.set(journal.prompts.requests.turn)
        await judge(request, journal.session.view)
        self._forward(request)

    # -- questions ---------------------------------------------------------------------------------

    def asked(self, session: Session, asked: ev.Asked) -> None:
        """Take that the session asks its clients: the editor is asked too."""
        request = CURRENT_REQUEST.get()
        if request is None or request.is_the_editors:
            return
        if request.method not in ASKING:
            if isinstance(asked.question, Permission):
                request.asked = asked
                self._ask_editor(request, asked.question)
            return
        request.asked = asked
        if request.answered:
            # The editor was faster than the journal.
            asyncio.get_running_loop().call_soon(self._settle, request)
        else:
            journal = self._journal_of(request)
            if journal is None or not journal.is_foreign:
                self._forward(request)

    def _ask_editor(self, request: AgentRequest, question: Permission) -> None:
        """Ask the editor for a permission that the policy wants and the agent did not ask for."""
        own_id = request.own_id = self._ids.next()
        self._own[own_id] = request
        call = {"toolCallId": question.call_id or own_id, "title": question.message, "status": "pending"}
        call |= show_request(request)
        options = [
            {"optionId": option.option_id, "name": option.name, "kind": option.kind}
            for option in question.options
        ]
        params = {"sessionId": request.params.get("sessionId"), "toolCall": call, "options": options}
        self._ends.to_editor(request_line(own_id, PERMISSION, params))

    def _withdraw_own(self, request: AgentRequest) -> None:
        if request.own_id is not None and self._own.get(request.own_id) is request:
            # Kept as one whose answer is discarded.
            self._own[request.own_id] = _DISCARDED
            self._cancel_at_editor(request.own_id)

    def take_answer(self, response: Response) -> bool:
        """Take an answer of the editor; whether it is for the agent."""
        if isinstance(response.id, str) and response.id in self._own:
            request = self._own.pop(response.id)
            request.answer = response
            self._settle(request)
            return False
        request = self._open.pop(id_key(response.id), None)
        if request is None:
            return True
        if request.answered:
            return False
        if request.method not in ASKING:
            request.answered = True
            return True
        if request.asked is not None and not self._is_open(request):
            # Another client was first, and its answer is on the way to the agent.
            request.forwarded = False
            return False
        request.answered, request.answer = True, response
        self._settle(request)
        if (journal := self._journal_of(request)) is not None:
            # What the agent says after this answer stands behind it in the journal, too.
            journal.put(self._concluded, request)
        return True

    def _concluded(self, request: AgentRequest) -> Any:
        task = request.task
        return None if task is None or task.done() else asyncio.wait({task}, timeout=CONCLUDED_WITHIN)

    def _session_of(self, request: AgentRequest) -> Session | None:
        journal = self._journal_of(request)
        return None if journal is None else journal.session

    def _is_open(self, request: AgentRequest) -> bool:
        session = self._session_of(request)
        return (
            session is not None
            and request.asked is not None
            and session.holds_question(request.asked.question_id)
        )

    def _settle(self, request: AgentRequest) -> None:
        """Let the editor's answer be that of the session's question."""
        session = self._session_of(request)
        if session is None or request.asked is None or not self._is_open(request):
            return
        question_id = request.asked.question_id
        given = as_object(request.answer.result if request.answer is not None else None)
        answer = _answer_of(request, request.asked, given)
        try:
            if answer is None:
                session.withdraw_question(question_id, "the editor gave no answer to it")
                return
            session.record_answer(answer)
        except TrunklineError as error:
            log.warning("the editor's answer cannot be journalled: %s", error)
            session.withdraw_question(question_id, str(error))

    # -- answers -----------------------------------------------------------------------------------

    def _forward(self, request: AgentRequest) -> None:
        if not request.forwarded and not request.answered:
            request.forwarded = True
            self._ends.to_editor(request.raw)

    def _respond(self, request: AgentRequest, result: Any) -> None:
        self._answer(request, {"result": result})

    def _refuse(self, request: AgentRequest, error: RpcError) -> None:
        failure: dict[str, Any] = {"code": error.rpc_code, "message": error.message}
        if error.data is not None:
            failure["data"] = error.data
        self._answer(request, {"error": failure})

    def _answer(self, request: AgentRequest, answer: dict[str, Any]) -> None:
        if request.answered:
            return
        request.answered = True
        self._ends.to_agent(orjson.dumps({"jsonrpc": "2.0", "id": written(request.id), **answer}))
        if request.forwarded:
            # It stays known, so that a late answer is discarded.
            self._cancel_at_editor(request.id)
        elif self._open.get(id_key(request.id)) is request:
            del self._open[id_key(request.id)]

    def _cancel_at_editor(self, request_id: Id) -> None:
        note = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": written(request_id)}}
        self._ends.to_editor(orjson.dumps(note))

    def withdraw(self, request_id: Id) -> bool:
        """Take that the agent no longer needs an answer; whether the editor should know."""
        request = self._open.get(id_key(request_id))
        if request is None:
            return True
        if request.task is not None:
            request.task.cancel()
        if not request.forwarded:
            self._refuse(request, RpcError(REQUEST_CANCELLED, "request cancelled"))
            return False
        # The question is withdrawn, too: whatever the editor answers now is for the agent.
        request.asked = None
        return not request.answered

    def leave_to_editor(self, session_id: str) -> None:
        """Let the editor alone answer what it was asked in a turn that is over."""
        for request in self._open.values():
            # One that came since then waits in the journal's queue, and has no task yet.
            begun = request.task is not None and request.forwarded
            if begun and request.params.get("sessionId") == session_id:
                request.asked, request.is_the_editors = None, True

    def close(self) -> None:
        """Decide nothing more."""
        for task in self._tasks:
            task.cancel()


def _answer_of(request: AgentRequest, asked: ev.Asked, given: dict[str, Any]) -> Answer | None:
    """Give the editor's answer as one to the session's question; None if it did not answer it."""
    if isinstance(asked.question, Permission):
        option_id = _chosen(request, asked.question, as_object(given.get("outcome")))
        if option_id is None:
            return None
        return Answer(question_id=asked.question_id, option_id=option_id, by=BY)
    outcome = {"accept": "accepted", "decline": "declined"}.get(str(given.get("action")))
    if outcome is None:
        return None
    content = given.get("content") if isinstance(asked.question, Form) else None
    return Answer(question_id=asked.question_id, outcome=cast("Any", outcome), content=content, by=BY)


def _chosen(request: AgentRequest, question: Permission, outcome: dict[str, Any]) -> str | None:
    """Give the option of the question that the editor's answer means; None if it chose none."""
    option_id = text_in(outcome, "optionId")
    if outcome.get("outcome") != "selected" or option_id is None:
        return None
    offered = question.options
    if any(option.option_id == option_id for option in offered) or request.method != PERMISSION:
        return option_id
    # An "always" that would not count in the session is not offered there; the agent gets it all the same.
    kind = next((one.kind for one in read_options(request.params) if one.option_id == option_id), "")
    once = option_of_kind(offered, "allow_once" if kind.startswith("allow") else "reject_once")
    return None if once is None else once.option_id


_DISCARDED = AgentRequest(b"", Request(None, ""))
