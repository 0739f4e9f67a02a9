"""The AI SDK encoder: neutral events to the chunks of a UI message stream, legal in any prefix.

One turn is one assistant message, whose id is the turn's. A part closes when another kind of part follows.
Everything that is open is closed before the end of a response. An encoder that is primed with what a client
has seen already goes on from there: nothing is sent twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

from trunkline import events as ev
from trunkline.cursor import Entry
from trunkline.error_redaction import without_words
from trunkline.frontends.aisdk.content_parts import user_part
from trunkline.frontends.aisdk.lane_encoder import LaneEncoder
from trunkline.frontends.aisdk.metadata import usage_metadata
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.aisdk.questions import approval_about, is_approved, permission_part, question_part
from trunkline.frontends.aisdk.subagents import Subagents
from trunkline.frontends.aisdk.terminals import Terminals
from trunkline.frontends.aisdk.throttle import Throttle
from trunkline.frontends.aisdk.tool_calls import CallView
from trunkline.json_patch import PatchError, apply_patch
from trunkline.protocols.aisdk.finish_reasons import finish_reason
from trunkline.protocols.aisdk.wire import Chunk, VersionNumber, version_of
from trunkline.questions import ClientCall, Permission

__all__ = ["AisdkEncoder"]

Out = list[Chunk]

_CUT_OFF = "the response was cut off before its end"


class AisdkEncoder:
    """Translates the events of one turn for one response; a Translator[Entry, Chunk]."""

    def __init__(
        self,
        message_id: str,
        options: AisdkOptions | None = None,
        *,
        version: VersionNumber | None = None,
        state: Any = None,
        client_tools: Collection[str] = (),
        page_answers: Mapping[str, bool] | None = None,
        metadata: Mapping[str, Any] | None = None,
        folds: bool = False,
        is_bare: bool = False,
    ) -> None:
        """Encode for one response; ``message_id`` is the turn's id.

        ``version`` is that of the page, if it is another one than the options have. ``state`` is the shared
        state where the turn begins. ``client_tools`` are the tools that the page itself has: their calls are
        parts of their own type, which the page runs. ``page_answers`` is how the page itself has answered
        approvals, by their ids: it keeps that if its version cannot be told better. ``metadata`` is told
        beside the turn's id. ``folds`` is for messages that are made whole: they have the answers that a
        stream of version 6 leaves to the client. ``is_bare`` leaves out what is ours: calls have only what
        their agent said of them.
        """
        self._message_id = message_id
        self._options = options or AisdkOptions()
        self._version = version_of(version if version is not None else self._options.version)
        self._metadata = {"turnId": message_id, **(metadata or {})}
        self._state = state
        self._at = 0.0
        self._throttle = Throttle()
        self._terminals = Terminals()
        self._tells_answers = self._version.tells_answers or folds
        self._main = LaneEncoder(
            self._options,
            self._version,
            self._terminals,
            lambda key, render: self._throttle.offer(key, render, self._at),
            client_tools=client_tools,
            is_bare=is_bare,
            tells_answers=self._tells_answers,
        )
        self._parts, self._calls = self._main.parts, self._main.calls
        self._subagents = Subagents(self._version, self._encoder_of_subagent)
        self._questions: dict[str, ev.Asked] = {}
        self._page_answers = page_answers or {}
        self._as_data: set[str] = set()
        """Permissions that are shown as data parts."""
        self._activity_lanes: dict[str, str | None] = {}
        self._has_decided = False
        """Whether the page was told of an approval, or gave an output, since the turn waits."""
        self._is_prompted = False
        self._over = False

    def _encoder_of_subagent(self) -> LaneEncoder:
        return LaneEncoder(
            self._options, self._version, self._terminals, lambda _, render: render(), tells_answers=True
        )

    # -- the translator ----------------------------------------------------------------------------

    def begin(self, at: float | None = None) -> Out:
        """Start the response; one that goes on with a message has the same id."""
        self._at = at or 0.0
        self._over = False
        return [{"type": "start", "messageId": self._message_id, "messageMetadata": self._metadata}]

    def announce(self) -> Out:
        """Announce what is open, where a new response begins after this encoder was primed.

        Its client has the message up to here. Text goes on in a part of its own.
        """
        self._parts.discard()
        return self._calls.announce()

    def feed(self, entry: Entry, /) -> Out:
        """Give what one event is on this wire."""
        event = entry.event
        self._at = entry.at
        waits = self._throttle.is_waiting
        if type(event) is ev.Text and event.lane is None and not waits:
            parts = self._parts
            if event.message_id == parts.text_id and event.delta and not event.meta:
                return [{"type": "text-delta", "id": parts.part_id, "delta": event.delta}]
        out = self._throttle.due(entry.at) if waits else []
        handle = self._handlers.get(type(event))
        if handle is None and not LaneEncoder.knows(type(event)):
            return out
        self._over = False
        if not self._options.shows_exception_texts:
            event = without_words(event)
        if handle is not None:
            return out + handle(self, event)
        lane = event.lane
        if isinstance(event, ev.Activity):
            # It stays in the message where it began.
            lane = self._activity_lanes.setdefault(event.activity_id, lane)
        return out + (self._main.feed(event) if lane is None else self._of_subagent(lane, event))

    def feed_all(self, entries: Sequence[Entry]) -> Out:
        """Give what several events are: the shorter way for pieces of one text, which nearly all are."""
        out: Out = []
        parts, throttle = self._parts, self._throttle
        for entry in entries:
            event = entry.event
            if (
                type(event) is ev.Text
                and event.message_id == parts.text_id
                and event.lane is None
                and event.delta
                and not event.meta
                and not throttle.is_waiting
            ):
                self._at = entry.at
                out.append({"type": "text-delta", "id": parts.part_id, "delta": event.delta})
            else:
                out += self.feed(entry)
        return out

    def close(self) -> Out:
        """End a response that got no terminal: close what is open, and send the error."""
        return [] if self._over else self.fail(_CUT_OFF, "interrupted")

    def fail(self, message: str, code: str | None) -> Out:
        """End a response that cannot go on: close what is open, and send the error with the reason."""
        about = {"stopReason": "error", **({"error": {"code": code}} if code else {})}
        return self._end(message, {"type": "error", "errorText": message}, about)

    # -- turns -------------------------------------------------------------------------------------

    def _started(self, event: ev.TurnStarted) -> Out:
        return self._main.next_step()

    def _resumed(self, event: ev.TurnResumed) -> Out:
        decided, self._has_decided = self._has_decided, False
        if not decided and self._calls.is_running_in_step():
            # A call has its form and may ask for approval next. Pages send an approval by themselves only if
            # its call is in the last step.
            return []
        return self._main.next_step(always=True)

    def _suspended(self, event: ev.TurnSuspended) -> Out:
        out = [*self._throttle.flush(), *self._parts.close()]
        waiting = [self._questions[key] for key in event.question_ids if key in self._questions]
        if self._version.asks_approval and not self._version.tells_answers:
            # The answer to one that is asked earlier could come in this stream, which cannot tell it.
            for asked in waiting:
                if isinstance(asked.question, Permission):
                    out += self._ask(asked)
        about_calls = any(isinstance(asked.question, Permission | ClientCall) for asked in waiting)
        self._over = True
        # Clients keep a step that has no part yet only if something is told after it.
        finish: Chunk = {
            "type": "finish",
            "finishReason": "tool-calls" if about_calls else "other",
            "messageMetadata": self._metadata,
        }
        return [*out, *self._parts.end_step(), finish]

    def _finished(self, event: ev.TurnFinished) -> Out:
        about = {"stopReason": event.stop_reason, **usage_metadata(event.usage)}
        reason = finish_reason(event.stop_reason, self._version)
        terminal: Chunk = {"type": "finish", "finishReason": reason, "messageMetadata": about}
        if event.stop_reason != "cancelled":
            return self._end("the turn ended before it did", terminal)
        why = "the turn was cancelled"
        abort: Chunk = {"type": "abort", "reason": why}
        if not self._version.keeps_results_metadata:
            del abort["reason"]
        return [*self._end(why, abort), terminal]

    def _failed(self, event: ev.TurnFailed) -> Out:
        level = self._options.error_detail_level
        message = event.message if self._options.shows_error_messages else "the turn failed"
        error: dict[str, Any] = {} if level == "none" else {"code": event.code}
        if level == "full":
            error["fault"] = event.fault
        about = {"stopReason": "error", **({"error": error} if error else {}), **usage_metadata(event.usage)}
        return self._end("the turn failed", {"type": "error", "errorText": message}, about)

    def _end(self, reason: str, terminal: Chunk, about: Mapping[str, Any] | None = None) -> Out:
        """Close everything, and end the response."""
        out = [*self._throttle.flush(), *self._main.end(reason)]
        out += [self._subagents.part(lane) for lane in self._subagents.end_all(reason)]
        out += self._parts.end_step()
        if about is not None:
            out.append({"type": "message-metadata", "messageMetadata": dict(about)})
        self._over = True
        return [*out, terminal]

    def _user(self, event: ev.UserMessage) -> Out:
        """Show a message that joined the turn; the first one is what the turn answers."""
        joined = self._is_prompted or self._parts.has_any
        self._is_prompted = True
        if not joined or event.lane is not None or not self._version.knows("steering-message"):
            return []
        parts = [part for block in event.content if (part := user_part(block))["type"] in ("text", "file")]
        out = self._parts.close()
        self._parts.touch()
        return [*out, {"type": "steering-message", "id": event.message_id, "parts": parts}]

    # -- subagents ---------------------------------------------------------------------------------

    def _subagent_started(self, event: ev.SubagentStarted) -> Out:
        self._parts.touch()
        return [self._subagents.part(self._subagents.start(event))]

    def _subagent_finished(self, event: ev.SubagentFinished) -> Out:
        shown, _ = self._subagents.feed(event.lane or "", event)
        return self._show_subagent(shown)

    def _of_subagent(self, lane: str, event: ev.Event) -> Out:
        out: Out = []
        call_id = getattr(event, "call_id", None)
        if isinstance(event, ev.ToolInput | ev.ToolUpdate) and call_id in self._calls.views:
            # A call that the page was asked about is a part of the page's message too.
            out += self._main.feed(event)
        shown, passing = self._subagents.feed(lane, event)
        out += passing
        if isinstance(event, ev.Text | ev.Thought | ev.ToolInput):
            return out + self._throttle.offer(
                f"subagent:{shown}", lambda: [self._subagents.part(shown)], self._at
            )
        return out if passing else out + self._show_subagent(shown)

    def _show_subagent(self, lane: str) -> Out:
        return self._throttle.now(f"subagent:{lane}", [self._subagents.part(lane)])

    # -- asking ------------------------------------------------------------------------------------

    def _asked(self, event: ev.Asked) -> Out:
        self._questions[event.question_id] = event
        question = event.question
        self._parts.touch()
        if isinstance(question, ClientCall):
            found, out = self._call_of(question.call_id)
            return out if found is None else [*out, *self._calls.hand_over(found, question.input)]
        if not isinstance(question, Permission):
            return [question_part(event, None)]
        if self._version.asks_approval and not self._version.tells_answers:
            # It is asked when the response ends. What is decided on is whole, so a step may begin after it.
            found, out = self._call_of(question.call_id)
            return out if found is None else [*out, *self._calls.give_input(found)]
        return self._ask(event)

    def _ask(self, asked: ev.Asked) -> Out:
        """Ask for a permission: as the approval of its call, or as a data part where that cannot be."""
        question = asked.question
        assert isinstance(question, Permission)
        if not self._version.asks_approval:
            return self._ask_as_data(asked)
        found, out = self._call_of(question.call_id)
        requested = None
        if found is not None:
            about = approval_about(asked, found.content)
            requested = self._calls.request(found, asked.question_id, about)
        return out + (self._ask_as_data(asked) if requested is None else requested)

    def _ask_as_data(self, asked: ev.Asked) -> Out:
        self._as_data.add(asked.question_id)
        call = self._asked_call(asked)
        own = call is not None and call.call_id in self._calls.views and not call.is_settled
        shown = self._calls.give_input(call) if call is not None and own else []
        return [*shown, permission_part(asked, call, None)]

    def _asked_call(self, asked: ev.Asked) -> CallView | None:
        call_id: str = getattr(asked.question, "call_id", "")
        found = self._calls.views.get(call_id)
        if found is None and (elsewhere := self._subagents.find_call(call_id)) is not None:
            found = elsewhere[1]
        return found

    def _call_of(self, call_id: str) -> tuple[CallView | None, Out]:
        """Find a call that a page has to answer for; one of a subagent becomes a part of the message."""
        found = self._calls.views.get(call_id)
        if found is not None:
            return found, []
        elsewhere = self._subagents.find_call(call_id)
        if elsewhere is None or elsewhere[1].is_settled:
            return None, []
        out = self._parts.close()
        if self._calls.is_running_in_step():
            # Pages send an answer by themselves only when every call of the step has one.
            out += self._main.next_step()
        return self._calls.adopt(elsewhere[1], elsewhere[0]), out

    def _answered(self, event: ev.Answered) -> Out:
        asked = self._questions.pop(event.question_id, None)
        if asked is None:
            return []
        self._has_decided |= isinstance(asked.question, Permission | ClientCall)
        if isinstance(asked.question, ClientCall):
            return []
        if not isinstance(asked.question, Permission):
            return [question_part(asked, event)]
        if event.question_id in self._as_data:
            return [permission_part(asked, self._asked_call(asked), event)]
        view = self._calls.views.get(asked.question.call_id)
        if view is None or view.approval is None or view.approval.approval_id != event.question_id:
            return []
        approved = is_approved(asked.question, event)
        page_said = self._page_answers.get(event.question_id)
        return self._calls.answer(view, approved=approved, reason=event.reason, page_said=page_said)

    # -- terminals and state -----------------------------------------------------------------------

    def _terminal(self, event: ev.TerminalOutput) -> Out:
        self._terminals.add(event)
        out = self._calls.show_terminal(event.terminal_id)
        for lane in self._subagents.show_terminal(event.terminal_id):
            out += self._show_subagent(lane)
        return out

    def _replaced(self, event: ev.StateReplaced) -> Out:
        self._state = event.state
        return self._main.show("state", "state", self._state)

    def _patched(self, event: ev.StatePatched) -> Out:
        try:
            self._state = apply_patch(self._state, event.patch)
        except PatchError:
            return []
        return self._main.show("state", "state", self._state)

    _handlers: ClassVar[dict[type[Any], Callable[[Any, Any], Out]]] = {
        ev.TurnStarted: _started,
        ev.TurnSuspended: _suspended,
        ev.TurnResumed: _resumed,
        ev.TurnFinished: _finished,
        ev.TurnFailed: _failed,
        ev.UserMessage: _user,
        ev.SubagentStarted: _subagent_started,
        ev.SubagentFinished: _subagent_finished,
        ev.Asked: _asked,
        ev.Answered: _answered,
        ev.TerminalOutput: _terminal,
        ev.StateReplaced: _replaced,
        ev.StatePatched: _patched,
    }
