"""AG-UI without a server of ours: a channel over any object that can ``emit`` an event.

A run begins with RUN_STARTED and has one terminal, whatever becomes of it. Nobody can answer in the middle
of one: a question stops the graph where a checkpointer can keep it, the run ends with an interrupt (or,
for a tool of the front end, with its call pending), and the answer comes with the next run. Where
nothing can be kept, a question is refused.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER

from trunkline import events as ev
from trunkline.agents.langchain.channel_lookup import TrunklineContext
from trunkline.agents.langchain.graph.interrupts import (
    OpenCalls,
    pending_questions,
    put_question,
    read_answer,
)
from trunkline.agents.langchain.messages.history import unanswered_calls
from trunkline.agents.langchain.own_program.agui_request import question_of
from trunkline.agents.langchain.own_program.run import LineVoice, terminal_for
from trunkline.agents.langchain.own_program.runs import Board
from trunkline.agents.langchain.own_program.sender import Line, Ties
from trunkline.agents.langchain.stop_reasons import explain
from trunkline.conversation import Call, Conversation
from trunkline.cursor import Entry
from trunkline.errors import ConfigurationError, SessionBusy
from trunkline.folding import Folder
from trunkline.frontends.agui.buffered_transports import cancel_once
from trunkline.frontends.agui.decoder import is_modern
from trunkline.frontends.agui.encoder import AguiEncoder
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.questions import answer_of
from trunkline.frontends.agui.snapshots import clearing, corrected, fits_frame, fitting, would_reorder
from trunkline.grammar import Grammar
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.codes import ErrorCode
from trunkline.protocols.agui.messages import snapshot_of
from trunkline.questions import ClientCall, Question
from trunkline.session.ids import new_id
from trunkline.session.questions import check_answer
from trunkline.session.usage import Account, add_usage

__all__ = ["AguiBoard", "AguiVoice", "RunContext"]

log = logging.getLogger("trunkline.langchain")

_MOST_THREADS = 1024
_NOBODY = (
    "nobody can be asked in this run: give the agent a checkpointer and resume its interrupt, "
    "or serve it with trunkline"
)


@dataclass(kw_only=True)
class RunContext(TrunklineContext):
    """What is known of a run before it begins: its ids on the wire, and the client's request if any."""

    place: str = ""
    """The thread as the graph knows it, which may be another than the client's."""
    told: wire.RunAgentInput | None = field(default=None, repr=False)


class _Line(Line):
    cancels_waiting = True


class _Encoder(AguiEncoder):
    """Goes on from one run of a turn to the next."""

    @property
    def modern(self) -> bool:
        return self._modern

    def continue_in(self, run_id: str) -> None:
        self._run_id = run_id


class AguiVoice(LineVoice):
    """Talks to an AG-UI client for one run of an agent, and for those that resume it."""

    halts = True

    def __init__(
        self,
        line: Line,
        run_id: str,
        options: AguiOptions,
        *,
        told: wire.RunAgentInput | None = None,
        **manner: Any,
    ) -> None:
        """Begin a run; ``told`` is the client's request, where the client is known."""
        self._options = options
        self._run_id = run_id
        self._encoder = _Encoder(
            line.name,
            run_id,
            options,
            modern=told is None or is_modern(told),
            state=told.state if told is not None else None,
        )
        self._told: wire.RunAgentInput | None = None
        self._said = Folder()
        self._account: Account = {}
        self._shown: dict[Any, Any] = {}
        self._open_calls: dict[str, tuple[str | None, dict[str, Any]]] = {}
        self._interrupts: dict[str, tuple[str | None, Any]] = {}
        self._resumed = False
        self._resting = False
        self._ended = False
        self._stop_watching: Callable[[], object] | None = None
        super().__init__(line, run_id, line.ties.lend() or Grammar(), **manner)
        self._begin(told)
        self.say(ev.TurnStarted(turn_id=run_id, run_id=run_id))

    def _begin(self, told: wire.RunAgentInput | None) -> None:
        self._ended = False
        self._told = told
        tools = told.tools or () if told is not None else ()
        self.client_tools = tuple(msgspec.to_builtins(tool) for tool in tools)
        parent_run_id = told.parent_run_id if told is not None else None
        for event in self._encoder.begin(time.time(), parent_run_id=parent_run_id):
            self.line.send(event)

    @property
    def shown(self) -> dict[Any, Any]:
        """What this run's client was shown: another client may come with the next run."""
        return self._shown

    @property
    def questions(self) -> Mapping[str, ev.Asked]:
        """The open questions, as the client was told them."""
        return self._grammar.questions

    # -- life --------------------------------------------------------------------------------------

    def count(self, usage: ev.TokenUsage) -> None:
        """Add to the tokens that the run spent."""
        add_usage(self._account, usage)

    async def ready(self) -> None:
        """Wait for a reader that is behind, if the transport knows of one."""
        drained: Any = getattr(self.line.transport, "drained", None)
        if drained is not None:
            try:
                await drained()
            except Exception as error:
                log.debug("a transport cannot say when its client has caught up: %s", explain(error))

    def watch(self) -> None:
        """Cancel the task that runs here when the client leaves, if that is the policy."""
        when_gone: Any = getattr(self.line.transport, "when_gone", None)
        task = asyncio.current_task()
        if when_gone is not None and task is not None and self._options.on_disconnect == "cancel":
            self._stop_watching = when_gone(lambda: cancel_once(task))

    def interrupt(self, error: BaseException | None = None, lane: str | None = None) -> None:
        """The run stops to be resumed; the innermost graph tells first where that was."""
        super().interrupt(error, lane)
        stops = cast("Iterable[Any]", error.args[0]) if error is not None and error.args else ()
        for stop in stops:
            self._interrupts.setdefault(str(stop.id), (lane, stop))

    def resume(self, line: Line, run_id: str, told: wire.RunAgentInput | None) -> None:
        """Go on in another run, for whoever asks for it."""
        with self._lock:
            self.line = line
            self._interrupts.clear()
            self.go_on()
            self._resumed, self._resting = True, False
            self._run_id = run_id
            self._encoder.continue_in(run_id)
            self._begin(told)

    def recall(self, messages: list[Any], asked: Iterable[ev.Asked] = ()) -> None:
        """Take as said what an earlier run said, in this process or another."""
        self.emitter.add_history(messages)
        last = next((message.id for message in reversed(messages) if message.type == "ai"), None)
        for call in unanswered_calls(messages):
            call_id, name = str(call["id"]), str(call["name"])
            if self.emitter.call_id_of(None, call_id) is None:
                known = Call(call_id=call_id, name=name, native_id=call_id, input=call["args"])
                self.emitter.restore_calls([known])
                self._prime(
                    ev.ToolCall(
                        turn_id=self.turn_id,
                        call_id=call_id,
                        name=name,
                        native_id=call_id,
                        message_id=last,
                    )
                )
                self._prime(ev.ToolUpdate(turn_id=self.turn_id, call_id=call_id, input=call["args"]))
        for one in asked:
            self._prime(one)

    def catch_up(self, thread: Conversation) -> None:
        """Show a client what it lacks of its thread: a page that was reloaded has only its new message."""
        if self._told is None:
            return
        theirs = [msgspec.to_builtins(message) for message in self._told.messages]
        have = {message["id"] for message in theirs}
        ours = self._messages(thread)
        if all(message["id"] in have for message in ours if message["role"] in ("user", "assistant")):
            return
        known = {message["id"] for message in ours}
        told = ours + [message for message in theirs if message["id"] not in known]
        if would_reorder(told, [message["id"] for message in theirs]):
            self._show(clearing(told))
        self._show(told)

    def remind(self) -> None:
        """Show a client the messages it has: a run may bring results only of calls that it knows itself."""
        theirs = [msgspec.to_builtins(message) for message in self._told.messages] if self._told else []
        if fits_frame(theirs):
            self._show(theirs)

    def give_up(self, reason: str) -> None:
        """End the calls that wait for an answer: there will be none."""
        for call_id, (lane, _) in list(self._open_calls.items()):
            self.say(ev.ToolUpdate(lane=lane, call_id=call_id, status="cancelled", reason=reason))

    def _prime(self, event: ev.AnyEvent) -> None:
        with self._lock:
            for legal in self._grammar.feed(event):
                self._encode(cast("ev.AnyEvent", legal))

    def turn_away(self, error: Exception) -> None:
        """End a run whose request cannot be carried out."""
        message = str(error) if self._options.shows_error_messages else "the request was refused"
        self._close(wire.RunError(timestamp=_now(), message=message, code=ErrorCode.INVALID_INPUT))

    def be_too_late(self) -> None:
        """End a run that answers what nobody asks any more: the client is free for its next message."""
        self._close(
            wire.RunFinished(
                timestamp=_now(),
                thread_id=self.line.name,
                run_id=self._run_id,
                outcome={"type": "success"},
                result={"stopReason": "too_late"},
            )
        )

    def _close(self, terminal: wire.AguiEvent) -> None:
        """End a run in which nothing was done; what the turn waits for can still be answered."""
        with self._lock:
            self.line.send(terminal)
            if self._resumed:
                self._interrupted = self._resting = True
                super()._rest()
            else:
                self._fall_silent()

    def finish(self, outcome: Any = None) -> None:
        """End the turn for good; between two runs there is nobody to tell."""
        with self._lock:
            if self._resting:
                self._fall_silent()
        super().finish(outcome)

    def _fall_silent(self) -> None:
        self._grammar.close()
        self._over = True
        self._give_back()
        if self.line.ties.interrupted is self:
            self.line.ties.interrupted = None
        self._let_go()

    def _rest(self) -> None:
        """End the run with what it waits for; a run that waits for nothing is over."""
        if self._resting:
            return
        calls = OpenCalls()
        for lane, call in self._open_calls.values():
            calls.add(lane, [call])
        for lane, stop in self._interrupts.values():
            calls.stop(lane, [stop])
        stops = [stop for _, stop in self._interrupts.values()]
        asked = [question_of(item) for item in pending_questions(stops, calls, self.emitter.describe)]
        for question in asked:
            self.say(question)
        self.say(ev.TurnSuspended(turn_id=self.turn_id, question_ids=tuple(one.question_id for one in asked)))
        if not self._ended:
            self.finish(self.final)
            return
        self._resting = True
        super()._rest()

    def _let_go(self) -> None:
        if self._stop_watching is not None:
            self._stop_watching()
            self._stop_watching = None
        if self.kept:
            self.line.ties.busy = False
        super()._let_go()

    def _terminal(self, outcome: Any) -> ev.TurnFinished | ev.TurnFailed:
        return terminal_for(outcome, self.turn_id, tuple(self._account.values()))

    def _give_back(self) -> None:
        self.line.ties.take_back(self._grammar)

    # -- saying ------------------------------------------------------------------------------------

    def say(self, event: ev.AnyEvent) -> None:
        """Say an event; one that comes between two runs has nobody to hear it."""
        if not self._resting:
            super().say(event)

    def _deliver(self, event: ev.AnyEvent) -> None:
        for out in self._encode(event):
            self._ended = isinstance(out, wire.RunFinished | wire.RunError)
            if self._ended and self._encoder.needs_snapshot:
                self._correct()
            self.line.send(out)

    def _correct(self) -> None:
        """Show what the events could not say: arguments that were edited after they were told, say."""
        if self._told is None:
            return  # Nobody knows what the client has.
        self._encoder.needs_snapshot = False
        theirs = [msgspec.to_builtins(message) for message in self._told.messages]
        self._show(corrected(theirs, self._messages(self._said.conversation)))

    def _messages(self, conversation: Conversation) -> list[dict[str, Any]]:
        options = self._options
        return snapshot_of(
            conversation,
            options.max_ui_payload_size,
            modern=self._encoder.modern,
            results=options.emit_tool_results,
            with_metadata=True,
            errors=options.shows_error_messages,
        )

    def _show(self, messages: list[dict[str, Any]]) -> None:
        self.line.send(wire.MessagesSnapshot(timestamp=_now(), messages=fitting(messages)))

    def _encode(self, event: ev.AnyEvent) -> list[wire.AguiEvent]:
        if isinstance(event, ev.ToolCall):
            call = {"id": event.native_id or event.call_id, "name": event.name, "args": None}
            self._open_calls[event.call_id] = (event.lane, call)
        elif isinstance(event, ev.ToolUpdate) and event.call_id in self._open_calls:
            if event.input is not None:
                self._open_calls[event.call_id][1]["args"] = event.input
            if event.status in ev.FINAL_STATUSES:
                del self._open_calls[event.call_id]
        self._said.feed(event)
        return self._encoder.feed(Entry(0, 0, 0, time.time(), event))

    # -- asking ------------------------------------------------------------------------------------

    async def ask(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Stop the graph, or refuse where that leads nowhere."""
        return self._ask(question, durable_key, lane)

    def ask_sync(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Stop the graph from a plain function."""
        return self._ask(question, durable_key, lane)

    def _ask(self, question: Question, durable_key: str | None, lane: str | None) -> ev.Answered:
        # What has no key is asked in the middle of something that nobody could begin again.
        if durable_key is None or not (_is_kept() or isinstance(question, ClientCall)):
            key = durable_key or "question"
            return ev.Answered(question_id=key, outcome="declined", reason=_NOBODY, by="trunkline")
        given = put_question(question, lane)
        answered = read_answer(given, durable_key)
        if answered is not None:
            return answered
        asked = ev.Asked(question_id=durable_key, question=question, lane=lane)
        entry = wire.ResumeEntry(interrupt_id=durable_key, status="resolved", payload=given)
        return check_answer(asked, answer_of(asked, entry, "resume"))


def _now() -> int:
    return int(time.time() * 1000)


def _is_kept() -> bool:
    """Whether the graph that runs here can be resumed."""
    return bool(get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER))


class AguiBoard(Board):
    """Connects runs to channels that speak AG-UI."""

    def __init__(self, transport: Any, options: AguiOptions, **manner: Any) -> None:
        """Speak with these options; ids on the wire are an override, the config's, the context's or new."""
        super().__init__(transport, **manner)
        self.options = options
        self._threads: OrderedDict[str, Ties] = OrderedDict()
        if transport is not None:
            _check(transport)

    def name(
        self, context: TrunklineContext, config: Any, told: wire.RunAgentInput | None = None
    ) -> RunContext:
        """Give a run its ids: what a client or a caller gave is used as it is."""
        given = self._session_of(config)
        configurable = cast("dict[str, Any]", config.get("configurable") or {})
        thread_id = self.options.thread_id_override or (told.thread_id if told is not None else given)
        run_id = self.options.run_id_override or (told.run_id if told is not None else None)
        thread_id = thread_id or context.thread_id or new_id("thread")
        return RunContext(
            transport=context.transport,
            thread_id=thread_id,
            run_id=run_id or configurable.get("run_id") or context.run_id or new_id("run"),
            place=given or thread_id,
            told=told,
        )

    async def meet(self, context: TrunklineContext) -> None:
        """Connect a transport that is not connected yet; one that cannot be is left alone."""
        transport = self._transport if context.transport is None else context.transport
        connect: Any = getattr(transport, "connect", None)
        if connect is None:
            return
        try:
            is_connected: Any = getattr(transport, "is_connected", None)
            if is_connected is None or not is_connected():
                await connect()
        except Exception as error:
            log.warning("the client of thread %s cannot be reached: %s", context.thread_id, explain(error))

    def _begin(self, transport: Any, context: TrunklineContext, config: Any, *, kept: bool) -> AguiVoice:
        _check(transport)
        about = context if isinstance(context, RunContext) else self.name(context, config)
        ties = self._ties(about.place)
        if kept and ties.busy:
            # Of two runs at once, a checkpoint keeps one: the other would be lost without a word.
            raise SessionBusy("a run of this thread is on its way: wait for it, or stop it first")
        ties.busy = ties.busy or kept
        line = _Line(transport, cast("str", about.thread_id), ties=ties, home=self._home)
        channel, run_id = ties.interrupted, str(about.run_id)
        if isinstance(channel, AguiVoice):
            channel.resume(line, run_id, about.told)
            channel.kept = kept
            return channel
        return AguiVoice(line, run_id, self.options, told=about.told, **self._manner(kept=kept))

    def _ties(self, place: str) -> Ties:
        ties = self._threads.setdefault(place, Ties())
        self._threads.move_to_end(place)
        if len(self._threads) > _MOST_THREADS:
            self._threads.popitem(last=False)
        return ties


def _check(transport: Any) -> None:
    emit: Any = getattr(transport, "emit", None)
    if not callable(emit) or inspect.iscoroutinefunction(emit):
        raise ConfigurationError(
            f"a transport has a plain function emit(event), and {type(transport).__name__} has none: "
            "sse_transport(), websocket_transport(), http_transport() and console_transport() make some"
        )
