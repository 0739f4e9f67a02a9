"""The ACP encoder: neutral events to lines of JSON-RPC, and to what only an endpoint can do.

A line is a ``session/update`` notification, ready to be written. For the endpoint there are ``Ask`` (send a
question as a request), ``Withdraw`` (a request whose question was answered elsewhere), ``WaitForMessage``
(answer the prompt: the person's next message is the answer to a question) and ``EndPrompt``.

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
from trunkline.frontends.acp.forms_as_buttons import (
    buttons_for,
    call_for_question,
    describe_choice,
    text_form,
)
from trunkline.frontends.acp.forms_as_text import DECLINE, answer_as_text, ask_as_text, describe_form
from trunkline.frontends.acp.known_words import compaction_status, plan_entry, severity
from trunkline.frontends.acp.tool_calls import OUTPUT_TAIL, CallView
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.config_options import mode_option, options_to_wire
from trunkline.protocols.acp.content import block_to_wire
from trunkline.questions import Form, Link, Permission, Question


class Ask(msgspec.Struct, frozen=True):
    """Ask the client; ``call`` is the tool call in question as the wire shows it."""

    asked: ev.Asked
    call: dict[str, Any] | None = None


class Withdraw(msgspec.Struct, frozen=True):
    """A question was answered: withdraw its request, if that is open."""

    answered: ev.Answered


class WaitForMessage(msgspec.Struct, frozen=True):
    """The turn waits for the person's next message: answer the prompt, and take the next one for this."""

    asked: ev.Asked


class EndPrompt(msgspec.Struct, frozen=True):
    """The turn is over: answer the prompt."""

    terminal: ev.TurnFinished | ev.TurnFailed


Out = Union[bytes, Ask, Withdraw, WaitForMessage, EndPrompt]

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
        asks_as_text: bool = False,
        shows_exceptions: bool = True,
        own_prompts: Collection[str] = (),
    ) -> None:
        """Encode for a client with these capabilities.

        ``terminals`` are those the client runs itself; paths that are not absolute begin in ``folder``;
        ``replay`` sends the person's messages too; ``turns_only`` leaves out what belongs to no turn;
        with ``asks_as_text`` a question that the client cannot show is asked in text, and the next message
        answers it; without ``shows_exceptions`` the texts of exceptions are left out. A message that joined
        the turn is sent unless the client sent it: ``own_prompts`` are its keys.
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
        self._asks_as_text = asks_as_text
        self._shows_exceptions = shows_exceptions
        self._own_prompts = own_prompts
        self._calls: dict[str, CallView] = {}
        self._screens: dict[str, str] = {}
        self._asked: dict[str, ev.Asked] = {}
        self._asked_as_text: str | None = None
        self._mode: Any = None
        # The start of a text line, up to the text itself, of the message that is open.
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
        return handle(self, event if self._shows_exceptions else without_words(event), entry.at)

    def feed_all(self, entries: Sequence[Entry], /) -> list[Out]:
        """Give what many events are on this wire.

        Nearly all of them are more of the same text, where only the text itself is new.
        """
        outs: list[Out] = []
        for entry in entries:
            event = entry.event
            if (
                type(event) is Text
                and event.message_id == self._message_id
                and event.lane == self._lane
                and event.meta is None
            ):
                outs.append(self._prefix + dumps(event.delta) + b"}}}}")
            else:
                outs += self.feed(entry)
        return outs

    def close(self) -> list[Out]:
        """Give what still waits; a turn without an end is for the endpoint to answer."""
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
        is_news = event.prompt_id is not None and event.prompt_id not in self._own_prompts
        if not self._replay and not is_news:
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
            # A call of an earlier turn, which was announced to this client then.
            name = event.title or event.call_id
            call = ev.ToolCall(call_id=event.call_id, name=name)
            view = self._calls[event.call_id] = CallView(call, self._terminals, self._screens, self._folder)
        update = view.update(event, at)
        return [] if update is None else [self._line(update, event)]

    def _terminal(self, event: ev.TerminalOutput, at: float) -> list[Out]:
        text = (self._screens.get(event.terminal_id, "") + event.data)[-OUTPUT_TAIL:]
        if event.exited and event.signal is not None:
            text += f"\n[ended by {event.signal}]"
        elif event.exited and event.exit_code:
            text += f"\n[exit code {event.exit_code}]"
        self._screens[event.terminal_id] = text
        outs: list[Out] = []
        for view in self._calls.values():
            if view.watches(event.terminal_id):
                update = view.refresh(at)
                if update is not None:
                    outs.append(self._line(update, event))
        return outs

    def flush(self) -> list[Out]:
        """Give the output that waits to be sent together with more."""
        outs: list[Out] = []
        for view in self._calls.values():
            update = view.flush()
            if update is not None:
                outs.append(self._line(update, _NO_EVENT))
        return outs

    # -- asking and ending -------------------------------------------------------------------------

    def _ask(self, event: ev.Asked, at: float) -> list[Out]:
        self._asked[event.question_id] = event
        question = event.question
        outs = self.flush()
        if self._needs_text(question):
            if self._asks_as_text or self._replay:
                return outs
        elif self._is_choice(question) and question.call_id is None:
            outs += self._show_card(event, at)
        return [*outs, *self._warn_unshown(event), self._ask_for(event)]

    def _needs_text(self, question: Question) -> bool:
        return not self._forms and needs_text(question)

    def _is_choice(self, question: Question) -> TypeGuard[Form | Link]:
        """Whether a question is asked as a permission, though it is none."""
        if isinstance(question, Link):
            return not self._links
        return isinstance(question, Form) and not self._forms

    def _ask_for(self, asked: ev.Asked) -> Ask:
        """Ask with the whole call, as far as it is known."""
        call_id: str | None = getattr(asked.question, "call_id", None)
        view = self._calls.get(call_for_question(asked).call_id if call_id is None else call_id)
        return Ask(asked, view.describe() if view is not None else None)

    def ask_again(self, *, announce: bool) -> list[Out]:
        """Ask the open questions again, with their calls; ``announce`` announces these first."""
        outs: list[Out] = []
        if announce:
            open_calls = [view for view in self._calls.values() if view.status not in ev.FINAL_STATUSES]
            outs += [self._line({**view.announce(), **view.describe()}, _NO_EVENT) for view in open_calls]
        questions = list(self._asked.values())
        outs += [self._ask_for(asked) for asked in questions if not self._needs_text(asked.question)]
        if (
            questions
            and isinstance(questions[0].question, Permission)
            and all(self._needs_text(w.question) for w in questions)
        ):
            outs += self._ask_as_text(questions[0])
        return outs

    def _show_card(self, event: ev.Asked, at: float) -> list[Out]:
        """Show a call for a choice that belongs to none, with all that is asked and what the buttons mean."""
        call, question = call_for_question(event), cast("Form | Link", event.question)
        about = (TextBlock(text=describe_choice(question, buttons_for(question))),)
        content = ev.ToolUpdate(turn_id=event.turn_id, lane=event.lane, call_id=call.call_id, content=about)
        return [*self._call(call, at), *self._update(content, at)]

    def _warn_unshown(self, event: ev.Asked) -> list[Out]:
        """Warn a client that cannot show a question: it is declined without asking the person."""
        if self._replay or not self._needs_text(event.question):
            return []
        title = "The agent asks what this editor cannot show"
        message = event.question.message
        return self._notice(
            ev.Notice(turn_id=event.turn_id, title=title, description=message, severity="warning"), 0
        )

    def _suspended(self, event: ev.TurnSuspended, at: float) -> list[Out]:
        """Ask in text once the turn is suspended and nothing else is open; one question after the other."""
        if not self._asks_as_text or self._forms:
            return []
        questions = [asked for name in event.question_ids if (asked := self._asked.get(name)) is not None]
        if not questions or not all(needs_text(asked.question) for asked in questions):
            return []
        return [*self.flush(), *self._ask_as_text(questions[0])]

    def _ask_as_text(self, asked: ev.Asked) -> list[Out]:
        outs: list[Out] = []
        if self._asked_as_text != asked.question_id:
            self._asked_as_text = asked.question_id
            form = cast("Form", text_form(asked.question))
            call = self._ask_for(asked).call if isinstance(asked.question, Permission) else None
            outs = self._agent_text(asked, ask_as_text(form, call))
        return [*outs, WaitForMessage(asked)]

    def _agent_text(self, asked: ev.Asked, text: str) -> list[Out]:
        message_id = f"{asked.question_id}.question"
        # A client that knows no message ids would show it as the end of the message before.
        separator = "\n\n" if self._message_id is not None else ""
        return self._piece(ev.Text(turn_id=asked.turn_id, message_id=message_id, delta=separator + text))

    def _answered(self, event: ev.Answered, at: float) -> list[Out]:
        asked = self._asked.pop(event.question_id, None)
        if asked is None:
            return []
        outs: list[Out] = []
        if self._is_choice(asked.question):
            outs += self._show_answer(asked, asked.question, event, at)
        return [*outs, Withdraw(event)]

    def _show_answer(
        self, asked: ev.Asked, question: Form | Link, event: ev.Answered, at: float
    ) -> list[Out]:
        """Show the answer to a question with buttons; in a replay also to one that was asked in text."""
        form = question if isinstance(question, Form) else Form(fields={})
        reply = answer_as_text(form, event.content) if event.outcome == "accepted" else None
        card_id = call_for_question(asked).call_id
        if card_id in self._calls:
            update = ev.ToolUpdate(
                turn_id=asked.turn_id, lane=asked.lane, call_id=card_id, status="completed"
            )
            if reply is None:
                refusal = "denied" if event.outcome == "declined" else "cancelled"
                update = msgspec.structs.replace(update, status=refusal, reason=event.reason)
            elif reply:
                update = msgspec.structs.replace(update, content=(TextBlock(text=reply),))
            return self._update(update, at)
        if not self._replay or not needs_text(question):
            return []
        outs = self._agent_text(asked, describe_form(form))
        if reply is None and event.outcome == "declined":
            reply = DECLINE
        if reply:
            text = TextBlock(text=reply)
            name = f"{asked.question_id}.answer"
            outs += self._user(ev.UserMessage(turn_id=asked.turn_id, message_id=name, content=(text,)), at)
        return outs

    def _end(self, event: ev.TurnFinished | ev.TurnFailed, at: float) -> list[Out]:
        outs = [*self.flush(), EndPrompt(event)]
        # All calls are settled now: a long history costs no more than its longest turn.
        self._calls.clear()
        self._screens.clear()
        return outs

    # -- the rest ----------------------------------------------------------------------------------

    def _plan(self, event: ev.Plan, at: float) -> list[Out]:
        entries = [plan_entry(entry) for entry in event.entries]
        return [self._line({"sessionUpdate": "plan", "entries": entries}, event)]

    def _notice(self, event: ev.Notice, at: float) -> list[Out]:
        if not self._notices:
            return self._notice_as_thought(event)
        update = {"sessionUpdate": "notice", "severity": severity(event.severity), "title": event.title}
        if event.description is not None:
            update["description"] = event.description
        return [self._line(update, event)]

    def _notice_as_thought(self, event: ev.Notice) -> list[Out]:
        """Give a notice that the person has to know as a thought, for a client without notices.

        What an agent does against our rules is for its author, who reads the log.
        """
        if severity(event.severity) == "info" or event.code == "agent_protocol" or event.turn_id is None:
            return []
        text = event.title if event.description is None else f"{event.title}: {event.description}"
        thought = ev.Thought(turn_id=event.turn_id, message_id=f"{event.turn_id}.notice", delta=f"{text}\n")
        return self._piece(thought)

    def _compact(self, event: ev.Compaction, at: float) -> list[Out]:
        if not self._compaction:
            return []
        update: dict[str, Any] = {
            "sessionUpdate": "compaction_update",
            "compactionId": event.compaction_id,
            "status": compaction_status(event.status),
        }
        if event.summary is not None:
            update["summary"] = [block_to_wire(TextBlock(text=event.summary))]
        if event.error is not None:
            update["error"] = event.error
        return [self._line(update, event)]

    def _config(self, event: ev.ConfigChanged, at: float) -> list[Out]:
        options = options_to_wire(event.options, boolean=self._boolean)
        outs: list[Out] = [
            self._line({"sessionUpdate": "config_option_update", "configOptions": options}, event)
        ]
        mode = mode_option(event.options)
        if mode is not None and mode.value != self._mode:
            self._mode = mode.value
            update = {"sessionUpdate": "current_mode_update", "currentModeId": mode.value}
            outs.append(self._line(update, event))
        return outs

    def _commands(self, event: ev.CommandsChanged, at: float) -> list[Out]:
        return [self._line(commands_update(event.commands), event)]

    def _info(self, event: ev.InfoChanged, at: float) -> list[Out]:
        return [self._line({"sessionUpdate": "session_info_update", "title": event.title}, event)]

    def _usage(self, event: ev.ContextUsage, at: float) -> list[Out]:
        update: dict[str, Any] = {"sessionUpdate": "usage_update", "used": event.used, "size": event.size}
        if event.cost is not None:
            update["cost"] = {"amount": event.cost.amount, "currency": event.cost.currency}
        return [self._line(update, event)]

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
        ev.ContextUsage: _usage,
    }


_NO_EVENT = ev.Custom(name="")


def can_show_forms(client: wire.ClientCapabilities) -> bool:
    """Whether a client has forms."""
    return client.elicitation is not None and client.elicitation.form is not None


def needs_text(question: Question) -> bool:
    """Whether a client without forms can only be asked this in text."""
    return text_form(question) is not None


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
