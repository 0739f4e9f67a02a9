"""The AI SDK endpoint: opens the responses of pages as windows on the turns of a session.

It knows sessions and chunks, not HTTP. ``open`` decides everything that can be refused, before a byte is
sent; the response it gives is iterated for chunks, and must be closed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.errors import AlreadyAnswered, SessionBusy, SessionNotFound
from trunkline.frontends.aisdk.chat_request import ChatRequest
from trunkline.frontends.aisdk.decoder import ChatOutline, read_intent
from trunkline.frontends.aisdk.history import (
    answered_ids,
    count_new_bytes,
    find_seen,
    given_outputs,
    page_answers,
    read_client_tools,
    read_messages,
    read_outline,
    was_taken_back,
)
from trunkline.frontends.aisdk.lost_ends import LostEnds
from trunkline.frontends.aisdk.messages import CLIENT_TOOLS
from trunkline.frontends.aisdk.openings import Openings
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.aisdk.questions import client_answer, reply_to
from trunkline.frontends.aisdk.run import AisdkResponse
from trunkline.intents import NO_REWIND, AnswerQuestions, StartTurn, TooLate
from trunkline.journal import SessionKey
from trunkline.protocols.aisdk.wire import JsonObject, VersionNumber, version_of
from trunkline.questions import ClientCall
from trunkline.session.hub import Hub
from trunkline.session.imported_history import import_client_history
from trunkline.session.receipts import Receipt
from trunkline.session.run_start import RunStart
from trunkline.session.session import Session
from trunkline.session.turn_starters import TurnStarters

__all__ = ["AisdkEndpoint"]

CheckNew = Callable[[int], None]


class AisdkEndpoint:
    """Opens responses on the sessions of one agent; the id of a chat is that of its session."""

    def __init__(self, hub: Hub, options: AisdkOptions | None = None) -> None:
        self.hub = hub
        self.options = options or AisdkOptions()
        self._openings = Openings()
        self._starters = TurnStarters()
        self._lost_ends = LostEnds()

    async def open(
        self,
        request: ChatRequest,
        *,
        principal: str = "local",
        options: AisdkOptions | None = None,
        version: VersionNumber | None = None,
        starter: str | None = None,
        check_new: CheckNew | None = None,
    ) -> AisdkResponse:
        """Begin a response, or refuse it: InvalidCommand, SessionBusy, or an error of the agent.

        ``version`` is that of the page, if it is another one than the options have. ``check_new`` gets the
        number of bytes of the request that its chat does not have yet, and may refuse it. ``starter`` is the
        name of a client that sees only the turns it started; None sees the whole chat.
        """
        chosen = options or self.options
        shown_as = version_of(version if version is not None else chosen.version)
        key, by = (principal, request.id), f"aisdk:{principal}"
        async with self._openings.enter(key, request) as opening:
            session = await self._session(request.id, principal)
            await session.own()
            start = await self._enter(session, request, by, chosen, starter, check_new)
            if isinstance(start, RunStart):
                if opening.is_stopped:
                    await session.cancel(start.turn_id, by=by)
                if opening.is_expected:
                    self._lost_ends.expect(key, start.turn_id)
        tools = request.client_tools
        if isinstance(start, RunStart):
            if not opening.is_expected:
                self._lost_ends.take(key, start.turn_id)
            tools = tools or await read_client_tools(session, await session.start_of(start.turn_id))
        last = request.messages[-1] if request.messages else None
        shown = last if last is not None and last.role == "assistant" else None
        return AisdkResponse(
            session,
            start,
            chosen,
            shown_as,
            client_tools=tools,
            page_answers=page_answers(shown),
            message_id=None if shown is None else shown.id,
            on_left=partial(self._note_left, session, principal),
        )

    async def resume(
        self,
        chat_id: str,
        *,
        principal: str = "local",
        options: AisdkOptions | None = None,
        version: VersionNumber | None = None,
        lacks: str | None = None,
    ) -> AisdkResponse | None:
        """Show the turn that runs or waits from its start; None without one, or without such a chat.

        After its end the last turn is shown only to a page that lacks that end. ``lacks`` is the id of the
        message, which is the turn's, that the page says it has not got wholly. Pages of the AI SDK say
        nothing by themselves: as many as left before the end, or loaded the messages before it, are shown it.

        A page that resumes begins the message anew: "During resume, a different message ID identifies a
        separate response. A transport can replay a response from the beginning using the same ID."
        (https://github.com/vercel/ai/blob/main/packages/ai/src/ui/process-ui-message-stream.ts) That is so at
        5.0.277 and 6.0.326 too: what came before in the message is lost to a page that gets only the rest.
        """
        chosen = options or self.options
        shown_as = version_of(version if version is not None else chosen.version)
        await self._openings.wait((principal, chat_id))
        try:
            session = await self.hub.session(chat_id, principal=principal)
        except SessionNotFound:
            return None
        await session.own()
        await session.wait_for_ending_turn()
        turn_id = session.running_turn_id or session.last_turn_id
        if turn_id is None:
            return None
        has_left = self._lost_ends.take((principal, chat_id), turn_id)
        is_owed = has_left or lacks == turn_id
        if session.running_turn_id is None and (not is_owed or await was_taken_back(session, turn_id)):
            return None
        tools = await read_client_tools(session, await session.start_of(turn_id))
        return AisdkResponse(
            session,
            RunStart(turn_id, None),
            chosen,
            shown_as,
            client_tools=tools,
            on_left=partial(self._note_left, session, principal),
        )

    async def go_on(
        self,
        chat_id: str,
        start: RunStart,
        *,
        principal: str = "local",
        options: AisdkOptions | None = None,
        version: VersionNumber | None = None,
    ) -> AisdkResponse:
        """Go on with a response whose client has everything up to a cursor: nothing is announced again."""
        chosen = options or self.options
        shown_as = version_of(version if version is not None else chosen.version)
        session = await self.hub.session(chat_id, principal=principal)
        self._lost_ends.take((principal, chat_id), start.turn_id)
        tools = await read_client_tools(session, await session.start_of(start.turn_id))
        return AisdkResponse(
            session,
            start,
            chosen,
            shown_as,
            client_tools=tools,
            goes_on=True,
            on_left=partial(self._note_left, session, principal),
        )

    async def messages(
        self,
        chat_id: str,
        *,
        principal: str = "local",
        options: AisdkOptions | None = None,
        version: VersionNumber | None = None,
    ) -> list[JsonObject]:
        """Give the messages of a chat as a page holds them; raises SessionNotFound without one.

        Pages of versions 5 and 6 may append what they resume to their last message. So for them the message
        of a turn that is running is left out: the resumed stream has all of it, also when it has ended since.
        """
        chosen = options or self.options
        shown_as = version_of(version if version is not None else chosen.version)
        is_opening = self.is_opening(chat_id, principal)
        # Read now: the requests may be in their turns before the journal has answered.
        prompts = list(self._openings.messages((principal, chat_id)))
        if is_opening and not await self._is_stored(chat_id, principal):
            return prompts
        session = await self.hub.session(chat_id, principal=principal)
        await session.wait_for_ending_turn()
        running, last = session.running_turn_id, session.last_turn_id
        if running is not None:
            self._lost_ends.expect((principal, chat_id), running)
        elif last is not None:
            self._lost_ends.take((principal, chat_id), last)
        leaves_out = None if shown_as.replays or session.is_suspended else running
        found = await read_messages(session, chosen, shown_as, leaves_out=leaves_out)
        known = {message["id"] for message in found}
        opening = self._openings.messages((principal, chat_id))
        return found + [message for message in opening if message["id"] not in known]

    def _note_left(self, session: Session, principal: str, turn_id: str) -> None:
        if turn_id == session.last_turn_id:
            self._lost_ends.add((principal, session.session_id), turn_id)

    async def stop(self, chat_id: str, turn_id: str | None = None, *, principal: str = "local") -> bool:
        """Cancel the running turn of a chat, and what is about to begin; False if there was none.

        With a turn's id a stop that comes late cancels no newer turn: it raises SessionBusy.
        """
        stopped = turn_id is None and self._openings.stop((principal, chat_id))
        if stopped and not await self._is_stored(chat_id, principal):
            return True
        session = await self.hub.session(chat_id, principal=principal)
        stopped = await session.cancel(turn_id, by=f"aisdk:{principal}") or stopped
        if not stopped and turn_id is not None:
            raise SessionBusy(f"the turn {turn_id!r} does not run any more: nothing was stopped")
        return stopped

    def is_opening(self, chat_id: str, principal: str = "local") -> bool:
        """Whether a chat has a request on its way; a new one is stored only when its agent has started."""
        return self._openings.has((principal, chat_id))

    async def _is_stored(self, chat_id: str, principal: str) -> bool:
        return await self.hub.journal.get(SessionKey(principal, chat_id)) is not None

    async def answer(
        self, chat_id: str, question_id: str, given: Mapping[str, Any], *, principal: str = "local"
    ) -> None:
        """Answer one question beside the stream; raises AlreadyAnswered when another client was first."""
        session = await self.hub.session(chat_id, principal=principal)
        await session.own()
        asked, by = session.open_questions.get(question_id), f"aisdk:{principal}"
        if asked is None:
            known = session.answered_by
            if question_id in known:
                raise AlreadyAnswered(question_id, known[question_id])
            if question_id in session.question_ids:
                raise AlreadyAnswered(question_id, None)
            raise SessionNotFound(f"there is no question {question_id!r} in this chat")
        if isinstance(asked.question, ClientCall):
            answer = client_answer(asked, dict(given), by)
        else:
            answer = reply_to(asked, given, by)
        await session.answer(answer)

    # -- carrying out a request --------------------------------------------------------------------

    async def _session(self, chat_id: str, principal: str) -> Session:
        try:
            return await self.hub.session(chat_id, principal=principal)
        except SessionNotFound:
            with contextlib.suppress(SessionBusy):
                return await self.hub.create(chat_id, principal=principal)
            return await self.hub.session(chat_id, principal=principal)

    async def _enter(
        self,
        session: Session,
        request: ChatRequest,
        by: str,
        options: AisdkOptions,
        starter: str | None,
        check_new: CheckNew | None,
    ) -> RunStart | Receipt | None:
        """Do what the request means."""
        await session.wait_for_ending_turn()
        if starter is None and request.trigger == "regenerate-message" and not request.messages:
            # A page that sends only what is new asks for the last answer without a word.
            turn_id = request.message_id or session.last_turn_id
            request = msgspec.structs.replace(request, message_id=turn_id)
        # A client that does not see the past cannot have it asked again, unless it knows what was asked.
        chat = await read_outline(session, request, sees_history=starter is None)
        if check_new is not None:
            check_new(count_new_bytes(request, lambda one: _knows(session, chat, one)))
        if (again := await self._sent_again(session, request, chat)) is not None:
            self._starters.check(again.turn_id, starter)
            return again
        read = request
        if options.import_history == "drop" and chat.outline.is_empty:
            read = msgspec.structs.replace(request, messages=request.messages[-1:])
        intent = read_intent(read, chat, dict(session.open_questions), by=by)
        if isinstance(intent, StartTurn):
            busy = request.busy or options.busy
            receipt = await self._start(session, request, intent, by, busy, options)
            if receipt.turn_id is None or receipt.steered:
                return receipt
            self._starters.note(receipt.turn_id, starter)
            return RunStart(receipt.turn_id, None)
        last = request.messages[-1] if request.messages else None
        turn_id = session.last_turn_id if last is None else last.id
        if isinstance(intent, AnswerQuestions):
            # The questions are those of the running turn, whatever a page calls its message.
            turn_id = session.running_turn_id or turn_id
        if turn_id is None or session.turn_start(turn_id) is None:
            return None
        # Where the page's last response ended, not where the agent is by now: it may have gone on talking.
        outputs = given_outputs(last) if isinstance(intent, TooLate) else ()
        seen = await find_seen(session, turn_id, answered_ids(last, intent), outputs)
        here = session.position
        if isinstance(intent, AnswerQuestions):
            # Another client may be faster: then the response shows what came of its answers.
            with contextlib.suppress(AlreadyAnswered):
                await session.answer(*intent.answers)
        if seen is None:
            # The page has this message, unless its turn still runs; one that waits says nothing more.
            if session.running_turn_id != turn_id or session.is_suspended:
                return None
            seen = here
        # To answer is not to follow: what comes of the answers is for the client that started the turn.
        return RunStart(turn_id, seen) if self._starters.may_see(turn_id, starter) else None

    async def _sent_again(self, session: Session, request: ChatRequest, chat: ChatOutline) -> RunStart | None:
        """Find the last turn, if this request started it: a request that is sent again starts nothing.

        One whose turn has failed or was stopped is a second try.
        """
        last = request.messages[-1] if request.messages else None
        edits = request.message_id is not None or request.trigger != "submit-message"
        if last is None or last.role != "user" or edits:
            return None
        turn_id = chat.outline.turn_of(last.id)
        if turn_id is None or turn_id != session.last_turn_id:
            return None
        async for entry in session.replay(await session.start_of(turn_id)):
            event = entry.event
            if isinstance(event, ev.TurnFailed | ev.Rewound):
                return None
            if isinstance(event, ev.TurnFinished) and event.stop_reason == "cancelled":
                return None
        return RunStart(turn_id, None)

    async def _start(
        self,
        session: Session,
        request: ChatRequest,
        intent: StartTurn,
        by: str,
        busy: Any,
        options: AisdkOptions,
    ) -> Receipt:
        goes_back = intent.rewind_to is not NO_REWIND
        if (intent.cancels_waiting and session.is_suspended) or (goes_back and busy != "reject"):
            await session.cancel(by=by)
        if session.busy and (busy == "reject" or goes_back):
            raise SessionBusy("a response of this chat is on its way: wait for it, or stop it first")
        if intent.history and not session.stored_seq:
            await import_client_history(session, intent.history)
        if goes_back:
            await session.rewind(intent.rewind_to, by=by)
        prompt = _with_tools(intent.prompt, request)
        return await session.prompt(
            msgspec.structs.replace(prompt, by=by, busy=busy, step_kinds=options.step_kinds)
        )


def _knows(session: Session, chat: ChatOutline, message_id: str) -> bool:
    return session.turn_start(message_id) is not None or chat.outline.has_id(message_id)


def _with_tools(prompt: Prompt, request: ChatRequest) -> Prompt:
    """Keep the names of the page's tools with its message: later responses of the turn need them."""
    if not request.client_tools:
        return prompt
    meta = {**(prompt.meta or {}), CLIENT_TOOLS: sorted(request.client_tools)}
    return msgspec.structs.replace(prompt, meta=meta)
