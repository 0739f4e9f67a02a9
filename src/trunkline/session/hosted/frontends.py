"""What a front end offers to runs in the user's own program, and how it is found by name.

A front end registers a class under the entry point group ``trunkline.frontends``: ``acp`` and ``agui`` are
ours, and any package can add one. So an agent adapter knows no front end, and a program that speaks one
protocol loads no other.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Hashable, Mapping
from importlib.metadata import entry_points
from typing import Any, NamedTuple, Protocol

import msgspec

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.conversation import Conversation
from trunkline.errors import ConfigurationError
from trunkline.intents import Intent

GROUP = "trunkline.frontends"


class GivenIds(NamedTuple):
    """How a run is named: in its context and in its config by the caller, and in the client's request."""

    context_thread: str | None = None
    context_run: str | None = None
    config_thread: str | None = None
    config_run: str | None = None
    request: Any = None


class RunInfo(msgspec.Struct, kw_only=True):
    """What is known of a run before it begins."""

    transport: Any
    session_key: Hashable
    """Runs with the same key are turns of one session."""
    session_name: str
    """The session as the agent knows it: the thread of a graph."""
    graph_thread: str | None = None
    """The thread that the graph's config gets; None leaves it as the caller gave it."""
    thread_id: str | None = None
    """The session as the client knows it; None leaves that to the transport."""
    run_id: str | None = None
    turn_id: str | None = None
    """The id of the turn, if a new one begins; None has them counted."""
    request: Any = None
    """The client's request, where the run began with one."""
    home: asyncio.AbstractEventLoop | None = None
    """The event loop in which the transport was given to the agent."""


class HostedOutput(Protocol):
    """Shows the events of a hosted turn on a transport; called by one thread at a time."""

    @property
    def is_open(self) -> bool:
        """Whether the client still expects something of this run."""
        ...

    @property
    def turn_so_far(self) -> Conversation:
        """What was shown so far, as far as the front end needs to know it."""
        ...

    @property
    def client_tools(self) -> tuple[dict[str, Any], ...]:
        """The tools that the client runs itself."""
        ...

    @property
    def loop_elsewhere(self) -> asyncio.AbstractEventLoop | None:
        """The event loop of the transport, if it runs in another thread than this code."""
        ...

    def begin(self, run: RunInfo) -> None:
        """Begin a run: the first of the turn, or one that resumes it."""
        ...

    def show(self, event: ev.AnyEvent) -> None:
        """Show one event of the grammar."""
        ...

    def prime(self, event: ev.AnyEvent) -> None:
        """Take an event as shown: the client has seen it in an earlier run."""
        ...

    def report(self, reason: str) -> None:
        """Log that the client cannot be reached, once."""
        ...

    async def ask(self, asked: ev.Asked, answer: Callable[[Answer], Awaitable[None]]) -> None:
        """Put a question that was shown to the client, and give its answer to ``answer``."""
        ...

    def read_answer(self, asked: ev.Asked, payload: Any) -> Answer:
        """Read what a caller resumed a run with as the answer to its question."""
        ...

    async def ready(self) -> None:
        """Wait for a client that reads slowly."""
        ...


class RequestOutput(HostedOutput, Protocol):
    """Shows hosted turns to a client that sends a request with its whole history for each run."""

    def show_missing(self, thread: Conversation) -> None:
        """Show what the client lacks of its thread."""
        ...

    def show_known(self) -> None:
        """Show the client's own messages again, where its protocol needs them in each run."""
        ...

    def refuse(self, error: Exception) -> None:
        """End the run: its request cannot be carried out."""
        ...

    def finish_too_late(self) -> None:
        """End the run: it answers a question that is no longer open."""
        ...

    def cancel_when_gone(self) -> Callable[[], object] | None:
        """Cancel the task that runs here when the client leaves; gives a function that takes this back."""
        ...


class HostedFrontEnd(Protocol):
    """A front end as an agent adapter uses it; made with the options of the front end."""

    ends_run_on_question: bool
    """Whether a question ends the run, to be answered by the next one."""
    one_run_per_session: bool
    """Whether a second run at the same time is refused."""
    step_kinds: tuple[ev.StepKind, ...]
    """What of a framework it takes as steps; none where it shows no steps and no end of a message."""

    def check(self, transport: Any) -> None:
        """Refuse an object that cannot be a transport of this front end."""
        ...

    def read_request(self, input: Any) -> Any:
        """Read an input that is a client's request in another form; give any other input as it is."""
        ...

    def identify(self, transport: Any, given: GivenIds) -> RunInfo:
        """Give the session and the run, from what the caller and the client gave."""
        ...

    def open(self, run: RunInfo, last: HostedOutput | None) -> HostedOutput:
        """Give the output of a new turn; ``last`` is that of the session's last turn, if it is not in use."""
        ...

    async def connect(self, transport: Any, name: str | None) -> None:
        """Connect a transport that is not connected yet; never raises."""
        ...

    def intent_of(self, request: Any, thread: Conversation, questions: Mapping[str, ev.Asked]) -> Intent:
        """Give what a client's request means for its thread; raises InvalidCommand."""
        ...


class FrontEndClass(Protocol):
    """What a front end registers: its class."""

    option_names: tuple[str, ...]
    """The options that it takes; ``options_elsewhere``, if it has them, says of others where they belong."""

    def __call__(self, **options: Any) -> HostedFrontEnd:
        """Make the front end with its options."""
        ...


def refuse_class(transport: Any) -> None:
    """Refuse a class, of which no object was made."""
    if isinstance(transport, type):
        raise ConfigurationError(f"{transport.__name__} is a class: give an object of it as the transport")


def takes_arguments(method: Any, count: int) -> bool:
    """Whether a plain function can be called with so many positional arguments, as far as one can see."""
    if not callable(method) or inspect.iscoroutinefunction(method):
        return False
    function: Any = getattr(method, "__func__", None)
    return _takes(method, count) if function is None else _method_takes(function, count + 1)


def _takes(function: Any, count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # Written in C, without a signature.
        return True
    return True


_method_takes = functools.lru_cache(maxsize=64)(_takes)  # Each run is checked.


@functools.cache
def load_front_end(name: str) -> FrontEndClass:
    """Give the class that a front end registered under this name."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise ConfigurationError(
            f"no installed package registers a front end {name!r} under {GROUP!r} (there is: {known}): "
            "install the package that has it, or trunkline itself again if its source changed"
        )
    return found[name].load()
