"""ACP for runs in somebody's own program: on any object that can ``emit`` and ``request``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

import orjson

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.conversation import Conversation
from trunkline.cursor import Entry
from trunkline.errors import ConfigurationError, TurnCancelled
from trunkline.frontends.acp.encoder import AcpEncoder, Ask
from trunkline.frontends.acp.questions import Asker
from trunkline.intents import Intent
from trunkline.protocols.acp import wire
from trunkline.protocols.jsonrpc.messages import REQUEST_CANCELLED, RpcError
from trunkline.session.hosted.frontends import GivenIds, HostedOutput, RunInfo, refuse_class, takes_arguments
from trunkline.transports.sender import Sender

_REQUEST_TIMEOUT = 3600.0  # seconds a person has for an answer
_REQUESTS = (wire.PromptRequest, wire.LoadSessionRequest)


class AcpHosted:
    """Speaks ACP for an agent in somebody's own program."""

    option_names: tuple[str, ...] = ("client_capabilities",)
    ends_run_on_question: bool = False
    one_run_per_session: bool = False
    step_kinds: tuple[ev.StepKind, ...] = ()

    def __init__(self, *, client_capabilities: wire.ClientCapabilities | None = None) -> None:
        """Speak to clients with these capabilities, or with those that the transport knows."""
        self._client = client_capabilities

    def check(self, transport: Any) -> None:
        """Refuse an object that cannot be a transport."""
        refuse_class(transport)
        request: Any = getattr(transport, "request", None)
        if not takes_arguments(getattr(transport, "emit", None), 2) or not callable(request):
            raise ConfigurationError(
                "a transport of ACP has emit(method, params) and async request(method, params, timeout=), "
                f"and {type(transport).__name__} lacks them: stdio_transport() makes one, and "
                "RecordingTransport() is one for tests; one of AG-UI is for agui_agent"
            )

    def read_request(self, input: Any) -> Any:
        """Give the input as it is: a request is read by the transport."""
        return input

    def identify(self, transport: Any, given: GivenIds) -> RunInfo:
        """Take the session of a request, or else the thread of the context or of the config.

        Each transport has its own sessions.
        """
        request = given.request if isinstance(given.request, _REQUESTS) else None
        asked = request.session_id if request is not None else None
        named = (asked, given.context_thread, given.config_thread)
        thread_id = next((one for one in named if one is not None), None)
        return RunInfo(
            transport=transport,
            session_key=(id(transport), thread_id),
            session_name=thread_id or "default",
            graph_thread=asked if named[1:] == (None, None) else given.context_thread,
            thread_id=thread_id,
            run_id=given.context_run,
            request=request,
        )

    def open(self, run: RunInfo, last: HostedOutput | None) -> HostedOutput:
        """Go on with the encoder of the session's last turn: it knows what the client was shown."""
        client = self._client or getattr(run.transport, "client_capabilities", None)
        return last or AcpOutput(run, client or wire.ClientCapabilities())

    async def connect(self, transport: Any, name: str | None) -> None:
        """There is nothing to connect."""

    def intent_of(self, request: Any, thread: Conversation, questions: Mapping[str, ev.Asked]) -> Intent:
        """An ACP client sends prompts, which the caller reads."""
        raise ConfigurationError("an ACP client sends no request for a whole run: give the agent its input")


class AcpOutput:
    """Shows one session to an ACP client."""

    is_open = True
    client_tools: tuple[dict[str, Any], ...] = ()

    def __init__(self, run: RunInfo, client: wire.ClientCapabilities) -> None:
        """Show the session of a run; one without an id leaves it to the transport to add its own."""
        self.session_id = run.thread_id
        self._client = client
        self._sender = Sender(run.transport, run.session_name, home=run.home)
        loads = isinstance(run.request, wire.LoadSessionRequest)
        self._encoder = AcpEncoder(run.thread_id or "", client, replay=loads)
        self._asks: dict[str, Ask] = {}

    @property
    def turn_so_far(self) -> Conversation:
        """An ACP client is shown everything at once, so nothing is kept."""
        return Conversation()

    @property
    def loop_elsewhere(self) -> asyncio.AbstractEventLoop | None:
        """The event loop of the transport, if it runs in another thread than this code."""
        return self._sender.loop_elsewhere

    def begin(self, run: RunInfo) -> None:
        """Find the event loop in which the transport lives now."""
        self._sender.locate()

    def show(self, event: ev.AnyEvent) -> None:
        """Send the updates that an event is; a question waits for ``ask``."""
        # ACP v1 has no update for a shared state, so it goes as an extension that a client may ignore:
        # https://agentclientprotocol.com/protocol/extensibility
        if type(event) is ev.StateReplaced:
            self.send("_trunkline/state", {"sessionId": self.session_id, "state": event.state})
        elif type(event) is ev.StatePatched:
            self.send("_trunkline/state", {"sessionId": self.session_id, "patch": list(event.patch)})
        for out in self._encoder.feed(Entry(0, 0, 0, time.time(), event)):
            if isinstance(out, bytes):
                self.send("session/update", orjson.loads(out)["params"])
            elif isinstance(out, Ask):
                self._asks[out.asked.question_id] = out

    def prime(self, event: ev.AnyEvent) -> None:
        """Take an event as shown."""
        self._encoder.feed(Entry(0, 0, 0, time.time(), event))

    def report(self, reason: str) -> None:
        """Log that the client cannot be reached, once."""
        self._sender.report(reason)

    async def ready(self) -> None:
        """An ACP transport takes everything at once."""

    # -- questions ---------------------------------------------------------------------------------

    async def ask(self, asked: ev.Asked, answer: Callable[[Answer], Awaitable[None]]) -> None:
        """Send a request to the client and give its answer to ``answer``."""
        ask = self._asks.pop(asked.question_id, None)
        if ask is None:
            raise TurnCancelled("the run is over")
        await Asker(_Client(self), self.session_id, answer, self._client).ask(ask)

    def read_answer(self, asked: ev.Asked, payload: Any) -> Answer:
        """An ACP client answers its requests, which ends no run."""
        raise ConfigurationError("an ACP client is asked while the run goes on")

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and give its result; RpcError when it takes too long."""
        try:
            return await self._sender.transport.request(
                method, self._addressed(params), timeout=_REQUEST_TIMEOUT
            )
        except TimeoutError:
            raise RpcError(REQUEST_CANCELLED, "nobody answered in time") from None

    def send(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self._sender.send(method, self._addressed(params))

    def _addressed(self, params: dict[str, Any]) -> dict[str, Any]:
        if self.session_id is None:
            params.pop("sessionId", None)
        return params


class _Client:
    """The transport as the connection that questions need."""

    def __init__(self, output: AcpOutput) -> None:
        self._output = output

    def ask(self, method: str, params: dict[str, Any]) -> tuple[int, asyncio.Future[Any]]:
        return 0, asyncio.ensure_future(self._output.request(method, params))

    def withdraw_request(self, request_id: int) -> None:
        """The transport cannot take a request back."""

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._output.send(method, params)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> object:
        return asyncio.ensure_future(work)
