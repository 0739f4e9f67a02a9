"""AG-UI for runs in somebody's own program: on any object that can ``emit`` an event.

A run begins with RUN_STARTED and has one terminal. A client cannot answer in the middle of a run, so a
question ends it with an interrupt, or for a tool of the front end with the call pending, and the answer comes
with the next run: https://docs.ag-ui.com/concepts/interrupts.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.conversation import Conversation
from trunkline.cursor import Entry
from trunkline.errors import ConfigurationError
from trunkline.folding import Folder
from trunkline.frontends.agui.buffered_transports import cancel_once
from trunkline.frontends.agui.decoder import is_modern, read_input, read_intent
from trunkline.frontends.agui.encoder import AguiEncoder
from trunkline.frontends.agui.legacy_interrupts import has_answer, with_resume
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.questions import answer_of
from trunkline.frontends.agui.snapshot_size import clearing, corrected, fits_frame, fitting, would_reorder
from trunkline.frontends.agui.thread_outline import ThreadOutline
from trunkline.intents import Intent
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.codes import ErrorCode
from trunkline.protocols.agui.messages import snapshot_of
from trunkline.session.hosted.frontends import GivenIds, HostedOutput, RunInfo, refuse_class, takes_arguments
from trunkline.session.ids import new_id
from trunkline.transports.sender import Sender

log = logging.getLogger("trunkline.agui")


_OF_TRANSPORT = "it is an option of the transport, as in sse_transport(keep_alive=15)"
_OF_SERVER = "it is an option of the server, whose sessions outlive their requests: trunkline.asgi(agent)"
_OPTIONS_ELSEWHERE = {
    "keep_alive": _OF_TRANSPORT,
    "coalesce": _OF_TRANSPORT,
    "high_water_mark": _OF_TRANSPORT,
    "disconnect_grace": _OF_SERVER,
    "import_history": _OF_SERVER,
}


class AguiHosted:
    """Speaks AG-UI for an agent in somebody's own program."""

    option_names: tuple[str, ...] = tuple(
        name for name in AguiOptions.__struct_fields__ if name not in _OPTIONS_ELSEWHERE
    )
    options_elsewhere: Mapping[str, str] = _OPTIONS_ELSEWHERE
    ends_run_on_question: bool = True
    one_run_per_session: bool = True

    def __init__(self, **options: Any) -> None:
        """Speak with these options, which are those of AguiOptions."""
        self.options = AguiOptions.of(**options)
        self.step_kinds: tuple[ev.StepKind, ...] = self.options.step_kinds

    def check(self, transport: Any) -> None:
        """Refuse an object that cannot be a transport."""
        refuse_class(transport)
        speaks_acp = inspect.iscoroutinefunction(getattr(transport, "request", None))
        if speaks_acp or not takes_arguments(getattr(transport, "emit", None), 1):
            raise ConfigurationError(
                "a transport of AG-UI has a plain function emit(event), and "
                f"{type(transport).__name__} has none: sse_transport(), websocket_transport(), "
                "http_transport() and console_transport() make some; one of ACP is for acp_agent"
            )

    def read_request(self, input: Any) -> Any:
        """Read a request that came as bytes, as JSON that was read already, or as ``ag_ui.core`` has it."""
        if isinstance(input, bytes | bytearray):
            return read_input(input)
        if isinstance(input, Mapping):
            fields = cast("Mapping[str, Any]", input)
            # The state of a graph may have one of these names.
            return read_input(fields) if "threadId" in fields and "runId" in fields else fields
        is_official = hasattr(input, "model_dump") and hasattr(input, "forwarded_props")
        return read_input(input) if is_official else input

    def identify(self, transport: Any, given: GivenIds) -> RunInfo:
        """Take the ids of an override, the request, the config or the context, or make new ones."""
        asked = given.request if isinstance(given.request, wire.RunAgentInput) else None
        thread_id = given.config_thread if asked is None else asked.thread_id
        thread_id = self.options.thread_id_override or thread_id or given.context_thread or new_id("thread")
        run_id = self.options.run_id_override or (None if asked is None else asked.run_id)
        run_id = run_id or given.config_run or given.context_run or new_id("run")
        # The graph's thread may have another name than the client's; any client may come with the next run.
        name = given.config_thread or thread_id
        return RunInfo(
            transport=transport,
            session_key=name,
            session_name=name,
            graph_thread=name,
            thread_id=thread_id,
            run_id=run_id,
            turn_id=run_id,
            request=asked,
        )

    def open(self, run: RunInfo, last: HostedOutput | None) -> HostedOutput:
        """Give each turn an output of its own: another client may come with it."""
        return AguiOutput(run, self.options)

    async def connect(self, transport: Any, name: str | None) -> None:
        """Connect a transport that is not connected yet; one that cannot be is logged."""
        connect: Any = getattr(transport, "connect", None)
        if connect is None:
            return
        try:
            is_connected: Any = getattr(transport, "is_connected", None)
            if is_connected is None or not is_connected():
                await connect()
        except Exception as error:
            log.warning(
                "the client of thread %s cannot be reached: %s: %s", name, type(error).__name__, error
            )

    def intent_of(self, request: Any, thread: Conversation, questions: Mapping[str, ev.Asked]) -> Intent:
        """Say what a request means for its thread; raises InvalidCommand."""
        return read_intent(with_resume(request, questions), ThreadOutline.of(thread), questions, by="agui")


class _Encoder(AguiEncoder):
    """Goes on from one run of a turn to the next."""

    @property
    def modern(self) -> bool:
        return self._modern

    def continue_in(self, run_id: str, *, resumes: bool) -> None:
        self._run_id = run_id
        self._resumes = resumes


class AguiOutput:
    """Shows one turn to an AG-UI client, in one run after the other."""

    def __init__(self, run: RunInfo, options: AguiOptions) -> None:
        self._options = options
        self._request: wire.RunAgentInput | None = run.request
        self._run = run
        self._encoder = _Encoder(
            run.thread_id or "",
            run.run_id or "",
            options,
            modern=run.request is None or is_modern(run.request),
            state=run.request.state if run.request is not None else None,
        )
        self._folder = Folder()
        self._open = self._has_begun = False
        self._sender = Sender(run.transport, run.thread_id or "")
        self.client_tools: tuple[dict[str, Any], ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether the run has no terminal yet."""
        return self._open

    @property
    def turn_so_far(self) -> Conversation:
        """What the client was shown in this turn."""
        return self._folder.conversation

    @property
    def loop_elsewhere(self) -> asyncio.AbstractEventLoop | None:
        """The event loop of the transport, if it runs in another thread than this code."""
        return self._sender.loop_elsewhere

    def begin(self, run: RunInfo) -> None:
        """Send RUN_STARTED, for whichever client began this run."""
        self._sender = Sender(run.transport, run.thread_id or "", home=run.home, stops_on_error=True)
        self._sender.locate()
        self._run = run
        self._request = run.request
        # Without a request, the caller resumed what this turn was interrupted for.
        resumes = self._has_begun if run.request is None else has_answer(run.request)
        self._encoder.continue_in(run.run_id or "", resumes=resumes)
        self._open = self._has_begun = True
        tools = self._request.tools or () if self._request is not None else ()
        self.client_tools = tuple(msgspec.to_builtins(tool) for tool in tools)
        parent_run_id = self._request.parent_run_id if self._request is not None else None
        for event in self._encoder.begin(time.time(), parent_run_id=parent_run_id):
            self._sender.send(event)

    def show(self, event: ev.AnyEvent) -> None:
        """Send what an event is on this wire."""
        for out in self._encode(event):
            if isinstance(out, wire.RunFinished | wire.RunError):
                if self._encoder.needs_snapshot:
                    self._show_corrections()
                self._open = False
            self._sender.send(out)

    def prime(self, event: ev.AnyEvent) -> None:
        """Take an event as shown in an earlier run."""
        self._encode(event)

    def _encode(self, event: ev.AnyEvent) -> list[wire.AguiEvent]:
        self._folder.feed(event)
        return self._encoder.feed(Entry(0, 0, 0, time.time(), event))

    def report(self, reason: str) -> None:
        """Log that the client cannot be reached, once."""
        self._sender.report(reason)

    async def ready(self) -> None:
        """Wait for a reader that is behind, if the transport knows of one."""
        drained: Any = getattr(self._sender.transport, "drained", None)
        if drained is not None:
            try:
                await drained()
            except Exception as error:
                log.debug("a transport cannot say when its client has caught up: %s", error)

    def cancel_when_gone(self) -> Callable[[], object] | None:
        """Cancel the task that runs here when the client leaves, if that is the policy."""
        when_gone: Any = getattr(self._sender.transport, "when_gone", None)
        task = asyncio.current_task()
        if when_gone is None or task is None or self._options.on_disconnect != "cancel":
            return None
        return when_gone(lambda: cancel_once(task))

    # -- questions ---------------------------------------------------------------------------------

    async def ask(self, asked: ev.Asked, answer: Callable[[Answer], Awaitable[None]]) -> None:
        """A question ends the run; this is asked of no AG-UI client."""
        raise ConfigurationError("an AG-UI client answers with its next run")

    def read_answer(self, asked: ev.Asked, payload: Any) -> Answer:
        """Read the payload of an interrupt's answer."""
        entry = wire.ResumeEntry(interrupt_id=asked.question_id, status="resolved", payload=payload)
        return answer_of(asked, entry, "resume")

    # -- the client's messages ---------------------------------------------------------------------

    def show_missing(self, thread: Conversation) -> None:
        """Show what the client lacks of its thread: a page that was reloaded has only its new message."""
        if self._request is None:
            return
        theirs = self._their_messages
        have = {message["id"] for message in theirs}
        ours = self._messages(thread)
        if all(message["id"] in have for message in ours if message["role"] in ("user", "assistant")):
            return
        known = {message["id"] for message in ours}
        shown = ours + [message for message in theirs if message["id"] not in known]
        if would_reorder(shown, [message["id"] for message in theirs]):
            self._show_messages(clearing(shown))
        self._show_messages(shown)

    def show_known(self) -> None:
        """Show the client its own messages: a run may bring results only of calls that it knows itself."""
        theirs = self._their_messages if self._request is not None else []
        if fits_frame(theirs):
            self._show_messages(theirs)

    def _show_corrections(self) -> None:
        """Show what the events could not say: arguments that were edited after they were shown, say."""
        if self._request is None:
            return  # What the client has is not known.
        self._encoder.needs_snapshot = False
        self._show_messages(corrected(self._their_messages, self._messages(self.turn_so_far)))

    @property
    def _their_messages(self) -> list[dict[str, Any]]:
        return [msgspec.to_builtins(message) for message in self._request.messages] if self._request else []

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

    def _show_messages(self, messages: list[dict[str, Any]]) -> None:
        self._sender.send(wire.MessagesSnapshot(timestamp=_now(), messages=fitting(messages)))

    # -- runs in which nothing is done -------------------------------------------------------------

    def refuse(self, error: Exception) -> None:
        """End the run: its request cannot be carried out."""
        message = str(error) if self._options.shows_error_messages else "the request was refused"
        self._end(wire.RunError(timestamp=_now(), message=message, code=ErrorCode.INVALID_INPUT))

    def finish_too_late(self) -> None:
        """End a run that answers a closed question: the client is free for its next message."""
        resume = self._request.resume or () if self._request is not None else ()
        answered = [entry.interrupt_id for entry in resume if entry.status == "resolved"]
        why = f"no run of this thread waits for {', '.join(answered)}: it was answered before, or never asked"
        self._end(
            wire.RunFinished(
                timestamp=_now(),
                thread_id=self._run.thread_id or "",
                run_id=self._run.run_id or "",
                outcome={"type": "success"},
                result={"stopReason": "too_late", **({"message": why} if answered else {})},
            )
        )

    def _end(self, terminal: wire.AguiEvent) -> None:
        self._open = False
        self._sender.send(terminal)


def _now() -> int:
    return int(time.time() * 1000)
