"""The ACP encoder: neutral events to lines of JSON-RPC, and to the four things a shell must do.

A line is a ``session/update`` notification, ready to be written. ``Ask``, ``Withdraw``, ``Pause`` and
``End`` are for the endpoint: a question becomes a request to the client, one that was answered elsewhere
is taken back, one that the person's next message answers ends the client's own request, and so does the
end of the turn.

ACP v1's update union is closed, so what it has no variant for goes nowhere; ``losses`` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, TypeGuard, Union, cast

import msgspec
from orjson import dumps

from trunkline import events as ev
from trunkline.content import LinkBlock, TextBlock
from trunkline.cursor import Entry
from trunkline.error_redaction import without_words
from trunkline.events import Text
from trunkline.frontends.acp.closed_words import compaction_status, plan_entry, severity
from trunkline.frontends.acp.config_options import mode_option, options_to_wire
from trunkline.frontends.acp.forms_as_buttons import buttons_for, card_for, describe_choice, spoken_form
from trunkline.frontends.acp.forms_as_text import DECLINE, describe_form, put_in_words, write_reply
from trunkline.frontends.acp.tool_calls import CallView
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.content import block_to_wire
from trunkline.questions import Form, Link, Permission, Question

__all__ = ["AcpEncoder", "Ask", "End", "Out", "Pause", "Withdraw", "can_show_forms", "is_spoken"]


class Ask(msgspec.Struct, frozen=True):
    """Ask the client; ``call`` is the tool call in question as the wire shows it."""

    asked: ev.Asked
    call: dict[str, Any] | None = None


class Withdraw(msgspec.Struct, frozen=True):
    """A question was settled: take an open request back."""

    answered: ev.Answered


class Pause(msgspec.Struct, frozen=True):
    """The turn waits for the person's next message: answer the prompt, and take the next one for this."""

    asked: ev.Asked


class End(msgspec.Struct, frozen=True):
    """The turn is over: answer the prompt."""

    terminal: ev.TurnFinished | ev.TurnFailed


Out = Union[bytes, Ask, Withdraw, Pause, End]

_CHUNKS = {
    Text: "agent_message_chunk",
    ev.Thought: "agent_thought_chunk",
    ev.UserMessage: "user_message_chunk",
}


class AcpEncoder:
    """Translates the events of one session for one client; a Translator[Entry, Out]."""

    def __init__(
        self,
        session_id: str,
        client: wire.ClientCapabilities | None = None,
        *,
        terminals: Collection[str] = (),
        folder: str | None = None,
        replay: bool = False,
        turns_only: bool = False,
        replies: bool = False,
        quotes: bool = True,
    ) -> None:
        """Speak to a client with these capabilities.

        ``terminals`` are those the client runs itself; paths that are not absolute begin in ``folder``;
        ``replay`` shows the person's messages too; ``turns_only`` leaves out what belongs to no turn,
        because someone else tells it; with ``replies`` a question that the client cannot show is put in
        words, for the next message to answer; without ``quotes`` exceptions are told without their words.
        """
        self._head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":'
        self._head += dumps(session_id) + b',"update":'
        session = client.session if client is not None else None
        self._notices = session is not None and session.notices is not None
        self._compaction = session is not None and session.compaction is not None
        self._forms = client is None or can_show_forms(client)
        self._links = client is None or (
            client.elicitation is not None and client.elicitation.url is not None
        )
        options = session.config_options if session is not None else None
        self._boolean = options is not None and options.boolean is not None
        self._terminals = terminals
        self._folder = folder
        self._replay = replay
        self._turns_only = turns_only
        self._replies = replies
        self._quotes = quotes
        self._calls: dict[str, CallView] = {}
        self._screens: dict[str, str] = {}
        self._asked: dict[str, ev.Asked] = {}
        self._put: str | None = None
        self._mode: Any = None
        # The start of a text line, up to the text itself, for the message that is being said.
        self._prefix = b""
        self._message_id: str | None = None
        self._lane: str | None = None

    def feed(self, entry: Entry, /) -> list[Out]:
        """Give what one event is on this wire."""
        event = entry.event
        if type(event) is Text and event.meta is None:
            if event.message_id != self._message_id or event.lane != self._lane:
                self._message_id, self._lane = event.message_id, event.lane
                self._prefix = self._text_prefix(event)
            return [self._prefix + dumps(event.delta) + b"}}}}"]
        handle = self._handlers.get(type(event))
        if handle is None or (self._turns_only and event.turn_id is None):
            return []
        return handle(self, event if self._quotes else without_words(event), entry.at)

    def feed_all(self, entries: Sequence[Entry], /) -> list[Out]:
        """Give what many events are.

        Nearly all of them are more of the same text, where only the text itself is new.
        """
        said: list[Out] = []
        for entry in entries:
            event = entry.event
            if (
                type(event) is Text
                and event.message_id == self._message_id
                and event.lane == self._lane
                and event.meta is None
            ):
                said.append(self._prefix + dumps(event.delta) + b"}}}}")
            else:
                said += self.feed(entry)
        return said

    def close(self) -> list[Out]:
        """Say what still waits; a turn without an end is the endpoint's to answer."""
        return self.flush()

    # -- messages ----------------------------------------------------------------------------------

    def _text_prefix(self, event: Text) -> bytes:
        chunk: dict[str, Any] = {"sessionUpdate": "agent_message_chunk", "messageId": event.message_id}
        if event.lane is not None:
            chunk["_meta"] = _lane_meta(event)
        return self._head + dumps(chunk)[:-1] + b',"content":{"type":"text","text":'

    def _piece(self, event: Any, at: float = 0.0) -> list[Out]:
        if not event.delta:
            return []
        return [self._chunk(_CHUNKS[type(event)], event, {"type": "text", "text": event.delta})]

    def _user(self, event: ev.UserMessage, at: float) -> list[Out]:
        if not self._replay:
            return []
        return [self._chunk("user_message_chunk", event, block_to_wire(block)) for block in event.content]

    def _media(self, event: ev.Media, at: float) -> list[Out]:
        return [self._chunk("agent_message_chunk", event, block_to_wire(event.content))]

    def _source(self, event: ev.Source, at: float) -> list[Out]:
        uri = event.url or f"source:{event.source_id}"
        link = LinkBlock(uri=uri, name=event.title or event.document or uri, mime_type=event.mime_type)
        return [self._chunk("agent_message_chunk", event, block_to_wire(link))]

    def _chunk(self, kind: str, event: Any, content: dict[str, Any]) -> bytes:
        chunk = {"sessionUpdate": kind, "messageId": event.message_id, "content": content}
        return self._line(chunk, event)

    def _line(self, update: dict[str, Any], event: ev.Event) -> bytes:
        meta = _lane_meta(event)
        if meta:
            update["_meta"] = meta
        return self._head + dumps(update) + b"}}"

    # -- tools -------------------------------------------------------------------------------------

    def _call(self, event: ev.ToolCall, at: float) -> list[Out]:
        view = self._calls[event.call_id] = CallView(event, self._terminals, self._screens, self._folder)
        return [self._line(view.announce(), event)]

    def _input(self, event: ev.ToolInput, at: float) -> list[Out]:
        view = self._calls.get(event.call_id)
        if view is not None:
            view.add_argument(event.delta)
        return []

    def _update(self, event: ev.ToolUpdate, at: float) -> list[Out]:
        view = self._calls.get(event.call_id)
        if view is None:
            # A call of an earlier turn, which this client was told of then.
            name = event.title or event.call_id
            call = ev.ToolCall(call_id=event.call_id, name=name)
            view = self._calls[event.call_id] = CallView(call, self._terminals, self._screens, self._folder)
        told = view.update(event, at)
        return [] if told is None else [self._line(told, event)]

    def _terminal(self, event: ev.TerminalOutput, at: float) -> list[Out]:
        text = (self._screens.get(event.terminal_id, "") + event.data)[-65_536:]
        if event.exited and event.signal is not None:
            text += f"\n[ended by {event.signal}]"
        elif event.exited and event.exit_code:
            text += f"\n[exit code {event.exit_code}]"
        self._screens[event.terminal_id] = text
        said: list[Out] = []
        for view in self._calls.values():
            if view.watches(event.terminal_id):
                told = view.refresh(at)
                if told is not None:
                    said.append(self._line(told, event))
        return said

    def flush(self) -> list[Out]:
        """Say the output that still waits to be said with more."""
        said: list[Out] = []
        for view in self._calls.values():
            told = view.flush()
            if told is not None:
                said.append(self._line(told, _NOBODY))
        return said

    # -- asking and ending -------------------------------------------------------------------------

    def _ask(self, event: ev.Asked, at: float) -> list[Out]:
        self._asked[event.question_id] = event
        question = event.question
        said = self.flush()
        if self._is_spoken(question):
            if self._replies or self._replay:
                return said
        elif self._is_choice(question) and question.call_id is None:
            said += self._show_card(event, at)
        return [*said, *self._untold(event), self._ask_for(event)]

    def _is_spoken(self, question: Question) -> bool:
        return not self._forms and is_spoken(question)

    def _is_choice(self, question: Question) -> TypeGuard[Form | Link]:
        """Whether a question is asked as a permission, though it is none."""
        if isinstance(question, Link):
            return not self._links
        return isinstance(question, Form) and not self._forms

    def _ask_for(self, asked: ev.Asked) -> Ask:
        """Ask with the whole call, as far as it is known."""
        call_id: str | None = getattr(asked.question, "call_id", None)
        view = self._calls.get(card_for(asked).call_id if call_id is None else call_id)
        return Ask(asked, view.describe() if view is not None else None)

    def ask_again(self, *, announce: bool) -> list[Out]:
        """Put the open questions again, with their calls; ``announce`` tells a client of these first."""
        said: list[Out] = []
        if announce:
            open_calls = [view for view in self._calls.values() if view.status not in ev.FINAL_STATUSES]
            said += [self._line({**view.announce(), **view.describe()}, _NOBODY) for view in open_calls]
        waits = list(self._asked.values())
        said += [self._ask_for(asked) for asked in waits if not self._is_spoken(asked.question)]
        if (
            waits
            and isinstance(waits[0].question, Permission)
            and all(self._is_spoken(w.question) for w in waits)
        ):
            said += self._put_in_words(waits[0])
        return said

    def _show_card(self, event: ev.Asked, at: float) -> list[Out]:
        """Show a call for a choice that belongs to none, with all that is asked and what the buttons mean."""
        call, question = card_for(event), cast("Form | Link", event.question)
        about = (TextBlock(text=describe_choice(question, buttons_for(question))),)
        told = ev.ToolUpdate(turn_id=event.turn_id, lane=event.lane, call_id=call.call_id, content=about)
        return [*self._call(call, at), *self._update(told, at)]

    def _untold(self, event: ev.Asked) -> list[Out]:
        """Tell what was asked to a client that cannot show it, and whose person declines unasked."""
        if self._replay or not self._is_spoken(event.question):
            return []
        title = "The agent asks what this editor cannot show"
        words = event.question.message
        return self._notice(
            ev.Notice(turn_id=event.turn_id, title=title, description=words, severity="warning"), 0
        )

    def _suspended(self, event: ev.TurnSuspended, at: float) -> list[Out]:
        """Put a question in words once the turn is quiet, and nothing else is open; one after the other."""
        if not self._replies or self._forms:
            return []
        waits = [asked for name in event.question_ids if (asked := self._asked.get(name)) is not None]
        if not waits or not all(is_spoken(asked.question) for asked in waits):
            return []
        return [*self.flush(), *self._put_in_words(waits[0])]

    def _put_in_words(self, asked: ev.Asked) -> list[Out]:
        said: list[Out] = []
        if self._put != asked.question_id:
            self._put = asked.question_id
            form = cast("Form", spoken_form(asked.question))
            call = self._ask_for(asked).call if isinstance(asked.question, Permission) else None
            said = self._words(asked, put_in_words(form, call))
        return [*said, Pause(asked)]

    def _words(self, asked: ev.Asked, words: str) -> list[Out]:
        name = f"{asked.question_id}.question"
        # A client that knows no message ids would show it as the end of what was said before.
        before = "\n\n" if self._message_id is not None else ""
        return self._piece(ev.Text(turn_id=asked.turn_id, message_id=name, delta=before + words))

    def _answered(self, event: ev.Answered, at: float) -> list[Out]:
        asked = self._asked.pop(event.question_id, None)
        if asked is None:
            return []
        said: list[Out] = []
        if self._is_choice(asked.question):
            said += self._show_answer(asked, asked.question, event, at)
        return [*said, Withdraw(event)]

    def _show_answer(
        self, asked: ev.Asked, question: Form | Link, event: ev.Answered, at: float
    ) -> list[Out]:
        """Show the answer to what was a choice; to a form that was put in words, if it is a replay."""
        form = question if isinstance(question, Form) else Form(fields={})
        reply = write_reply(form, event.content) if event.outcome == "accepted" else None
        card_id = card_for(asked).call_id
        if card_id in self._calls:
            told = ev.ToolUpdate(turn_id=asked.turn_id, lane=asked.lane, call_id=card_id, status="completed")
            if reply is None:
                refusal = "denied" if event.outcome == "declined" else "cancelled"
                told = msgspec.structs.replace(told, status=refusal, reason=event.reason)
            elif reply:
                told = msgspec.structs.replace(told, content=(TextBlock(text=reply),))
            return self._update(told, at)
        if not self._replay or not is_spoken(question):
            return []
        said = self._words(asked, describe_form(form))
        if reply is None and event.outcome == "declined":
            reply = DECLINE
        if reply:
            words = TextBlock(text=reply)
            name = f"{asked.question_id}.answer"
            said += self._user(ev.UserMessage(turn_id=asked.turn_id, message_id=name, content=(words,)), at)
        return said

    def _end(self, event: ev.TurnFinished | ev.TurnFailed, at: float) -> list[Out]:
        said = [*self.flush(), End(event)]
        # All calls are settled now: a long history costs no more than its longest turn.
        self._calls.clear()
        self._screens.clear()
        return said

    # -- the rest ----------------------------------------------------------------------------------

    def _plan(self, event: ev.Plan, at: float) -> list[Out]:
        entries = [plan_entry(entry) for entry in event.entries]
        return [self._line({"sessionUpdate": "plan", "entries": entries}, event)]

    def _notice(self, event: ev.Notice, at: float) -> list[Out]:
        if not self._notices:
            return self._aside(event)
        told = {"sessionUpdate": "notice", "severity": severity(event.severity), "title": event.title}
        if event.description is not None:
            told["description"] = event.description
        return [self._line(told, event)]

    def _aside(self, event: ev.Notice) -> list[Out]:
        """Tell a client that knows no notices what its person has to know, as a thought.

        What an agent does wrong against our rules is for its author, who reads the log.
        """
        if severity(event.severity) == "info" or event.code == "agent_protocol" or event.turn_id is None:
            return []
        words = event.title if event.description is None else f"{event.title}: {event.description}"
        thought = ev.Thought(turn_id=event.turn_id, message_id=f"{event.turn_id}.notice", delta=f"{words}\n")
        return self._piece(thought)

    def _compact(self, event: ev.Compaction, at: float) -> list[Out]:
        if not self._compaction:
            return []
        told: dict[str, Any] = {
            "sessionUpdate": "compaction_update",
            "compactionId": event.compaction_id,
            "status": compaction_status(event.status),
        }
        if event.summary is not None:
            told["summary"] = [block_to_wire(TextBlock(text=event.summary))]
        if event.error is not None:
            told["error"] = event.error
        return [self._line(told, event)]

    def _config(self, event: ev.ConfigChanged, at: float) -> list[Out]:
        options = options_to_wire(event.options, boolean=self._boolean)
        said: list[Out] = [
            self._line({"sessionUpdate": "config_option_update", "configOptions": options}, event)
        ]
        mode = mode_option(event.options)
        if mode is not None and mode.value != self._mode:
            self._mode = mode.value
            update = {"sessionUpdate": "current_mode_update", "currentModeId": mode.value}
            said.append(self._line(update, event))
        return said

    def _commands(self, event: ev.CommandsChanged, at: float) -> list[Out]:
        return [self._line(commands_update(event.commands), event)]

    def _info(self, event: ev.InfoChanged, at: float) -> list[Out]:
        return [self._line({"sessionUpdate": "session_info_update", "title": event.title}, event)]

    def _usage(self, event: ev.Usage, at: float) -> list[Out]:
        told: dict[str, Any] = {"sessionUpdate": "usage_update", "used": event.used, "size": event.size}
        if event.cost is not None:
            told["cost"] = {"amount": event.cost.amount, "currency": event.cost.currency}
        return [self._line(told, event)]

    _handlers: ClassVar[dict[type[ev.Event], Callable[[AcpEncoder, Any, float], list[Out]]]] = {
        ev.UserMessage: _user,
        Text: _piece,
        ev.Thought: _piece,
        ev.Media: _media,
        ev.Source: _source,
        ev.ToolCall: _call,
        ev.ToolInput: _input,
        ev.ToolUpdate: _update,
        ev.TerminalOutput: _terminal,
        ev.Asked: _ask,
        ev.TurnSuspended: _suspended,
        ev.Answered: _answered,
        ev.TurnFinished: _end,
        ev.TurnFailed: _end,
        ev.Plan: _plan,
        ev.Notice: _notice,
        ev.Compaction: _compact,
        ev.ConfigChanged: _config,
        ev.CommandsChanged: _commands,
        ev.InfoChanged: _info,
        ev.Usage: _usage,
    }


_NOBODY = ev.Custom(name="")


def can_show_forms(client: wire.ClientCapabilities) -> bool:
    """Whether a client has forms."""
    return client.elicitation is not None and client.elicitation.form is not None


def is_spoken(question: Question) -> bool:
    """Whether a client without forms can only be asked this in words."""
    return spoken_form(question) is not None


def _lane_meta(event: ev.Event) -> dict[str, Any]:
    """What goes into _meta: the agent's own, untouched, and the lane under our name."""
    meta = dict(event.meta) if event.meta else {}
    if event.lane is not None:
        meta["trunkline"] = {"lane": event.lane}
    return meta


def commands_update(commands: Collection[ev.CommandInfo]) -> dict[str, Any]:
    """The agent's slash commands as an update."""
    listed: list[dict[str, Any]] = []
    for command in commands:
        made: dict[str, Any] = {"name": command.name, "description": command.description}
        if command.hint is not None:
            made["input"] = {"hint": command.hint}
        listed.append(made)
    return {"sessionUpdate": "available_commands_update", "availableCommands": listed}
