"""The calls of a turn: shown by the translator, and told by tools that they run, fail or were refused.

The SDK runs tools in tasks of its own, beside the stream of its events: a tool may begin before its call was
shown. So whoever wants to say something about a call to a person waits until it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, cast

import msgspec

from trunkline import events as ev
from trunkline.agents.openai.stream_events.hook_facts import (
    InputChanged,
    NestedEvent,
    ToolDenied,
    ToolFailed,
    ToolProgress,
    ToolStarted,
)
from trunkline.agents.openai.stream_events.translator import StreamTranslator
from trunkline.conversation import Conversation
from trunkline.session.context import TurnContext
from trunkline.tools.adapter_calls import ShownCall
from trunkline.tools.declaration import Tool

PARENT: ContextVar[str | None] = ContextVar("trunkline_openai_parent", default=None)
"""The SDK's id of the call that this code runs below, in an agent that was called as a tool; else None."""

OUTER: ContextVar[str | None] = ContextVar("trunkline_openai_outer", default=None)
"""The SDK's id of the call that PARENT itself was made below; None for a call of the main agent."""
CALL: ContextVar[str | None] = ContextVar("trunkline_openai_call", default=None)
"""The SDK's id of the call that this code runs for, inside a tool; else None."""

_SHOWN_WITHIN = 30.0


class CallNotShown(Exception):
    """A call that the stream of events did not show in time: it must not run unseen."""


class Calls:
    """Emits what the translator makes of the SDK's events, and knows the calls among them."""

    def __init__(self, ctx: TurnContext, translator: StreamTranslator) -> None:
        self._ctx = ctx
        self._translator = translator
        self._waiting: list[tuple[str, str | None, asyncio.Future[str]]] = []
        self._lanes: dict[str, str | None] = {}
        self._results: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._tools: dict[str, Tool | None] = {}
        self._annotations: dict[str, dict[str, Any] | None] = {}
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.declared: dict[str, Tool] = {}
        """The tools of a registry, by name: their authors declared how their calls are shown."""
        self.kinds: dict[str, str] = {}
        """The kinds of the calls, by the ids of their events."""
        self.inputs: dict[str, dict[str, Any]] = {}
        """The arguments that a person gave in the place of the model's, by the ids of their events."""

    def feed(self, item: Any) -> None:
        """Emit what an event of the SDK, or a fact about a call, means."""
        for event in self._translator.feed(item):
            self._emit(event)

    def close(self, reason: str, status: Any) -> None:
        """Settle every call and lane that is open."""
        for event in self._translator.close(reason=reason, status=status):
            self._emit(event)

    def _emit(self, event: ev.AnyEvent) -> None:
        if type(event) is ev.Text and event.lane is None and event.meta is None:
            self._ctx.emit_text(event.delta, event.message_id)
            return
        if isinstance(event, ev.ToolUpdate):
            if event.call_id in self._ctx.denied:
                return  # The turn has shown the refusal, and nothing follows it.
            event = self._as_declared(event)
            if event.kind is not None:
                self.kinds[event.call_id] = event.kind
            if event.status in ev.FINAL_STATUSES:
                self._results.pop(event.call_id, None)
        elif isinstance(event, ev.ToolCall) and (tool := self.declared.get(event.name)) is not None:
            self._names[event.call_id] = event.name
            event = msgspec.structs.replace(event, kind=tool.kind)
        self._ctx.emit(event)
        if isinstance(event, ev.ToolCall):
            self.kinds[event.call_id] = event.kind
            self._lanes[event.call_id] = event.lane
            self._wake()

    def declare(self, name: str, tool: Tool | None) -> None:
        """Show the calls of a name as a registry's tool declares; None is any other tool.

        Agents of one turn may have different tools of one name: then nothing is declared for it, so that no
        tool is judged by what another one declares.
        """
        if self._tools.setdefault(name, tool) is not tool:
            self._tools[name] = None
            self.declared.pop(name, None)
        elif tool is not None:
            self.declared[name] = tool

    def annotate(self, name: str, annotations: dict[str, Any] | None) -> None:
        """Keep what an MCP server says of a tool; nothing where two tools of a name differ in it."""
        if self._annotations.setdefault(name, annotations) != annotations:
            self._annotations[name] = None

    def annotations_of(self, name: str) -> dict[str, Any] | None:
        """What the MCP server of a tool says of it."""
        return self._annotations.get(name)

    def _as_declared(self, event: ev.ToolUpdate) -> ev.ToolUpdate:
        """Give the arguments of a call the title and the files that the author of its tool declared."""
        tool = self.declared.get(self._names.get(event.call_id, ""))
        if tool is not None and isinstance(event.raw_output, str):
            event = msgspec.structs.replace(event, raw_output=_as_object(event.raw_output))
        if tool is None or event.input is None:
            return event
        return msgspec.structs.replace(
            event,
            title=tool.title_of(event.input),
            kind=None,
            locations=tool.locations_of(event.input) or event.locations,
        )

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for native_id, parent, future in waiting:
            call_id = self._translator.call_id(native_id, parent)
            if call_id is None:
                self._waiting.append((native_id, parent, future))
            elif not future.done():
                future.set_result(call_id)

    def restore(self, conversation: Conversation) -> None:
        """Learn of the calls and lanes that an earlier process showed."""
        self._translator.restore(conversation)
        for call in conversation.calls.values():
            self.kinds[call.call_id] = call.kind
            self._lanes[call.call_id] = call.lane
            if call.status == "denied":
                self._ctx.denied.add(call.call_id)

    # -- about one call --------------------------------------------------------------------------------

    def find(self, native_id: str, parent: str | None = None) -> str | None:
        """The id of the event that shows a call; None if none does."""
        return self._translator.call_id(native_id, parent)

    def lane_of(self, call_id: str) -> str | None:
        """The lane that a call is shown in."""
        return self._lanes.get(call_id)

    def shown_call(self, native_id: str, is_approved: Callable[[str], bool]) -> ShownCall | None:
        """What a tool of a registry needs to know of the call that it runs for."""
        parent = PARENT.get()
        call_id = self._translator.call_id(native_id, parent)
        if call_id is None:
            return None
        return ShownCall(
            call_id=call_id,
            lane=self.lane_of(call_id),
            approved=is_approved(call_id),
            progress=lambda text: self.progress(native_id, text, parent),
        )

    async def shown(self, native_id: str) -> str:
        """Wait until a call is shown; give the id of its event."""
        parent = PARENT.get()
        call_id = self._translator.call_id(native_id, parent)
        if call_id is not None:
            return call_id
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        waiting = (native_id, parent, future)
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout(_SHOWN_WITHIN):
                return await future
        except TimeoutError:
            raise CallNotShown(f"the call {native_id} was not shown in time, so it was not run") from None
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)

    async def begin(self, native_id: str) -> None:
        """Show that a call runs, and wait until that is stored: nothing happens without a record of it."""
        self.feed(ToolStarted(call_id=native_id, parent=PARENT.get()))
        await self._ctx.durable()

    @contextmanager
    def running(self) -> Generator[None]:
        """Count a tool's function as running."""
        self._running += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def wait_until_idle(self, within: float) -> None:
        """Wait until no tool's function runs, for so many seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._idle.wait()

    def progress(self, native_id: str, output: str, parent: str | None) -> None:
        """Append to the output that is shown of a call."""
        self.feed(ToolProgress(call_id=native_id, output=output, parent=parent))

    def keep_result(self, native_id: str, output: Any) -> None:
        """Keep the SDK's event of a result: it comes when the other calls of the response have theirs too."""
        parent = PARENT.get()
        call_id = self._translator.call_id(native_id, parent)
        if call_id is None:
            return
        if parent is not None:
            output = NestedEvent(tool_call={"call_id": parent}, parent=OUTER.get(), event=output)
        self._results[call_id] = output

    def show_results(self) -> None:
        """Show the results that did not come, as the run was cancelled before."""
        for output in list(self._results.values()):
            self.feed(output)

    def fail(self, native_id: str, reason: str) -> None:
        """Let the result of a call be shown as a failure."""
        self.feed(ToolFailed(call_id=native_id, reason=reason, parent=PARENT.get()))

    def deny(self, native_id: str, reason: str, parent: str | None) -> None:
        """Let the text that answers the model not be shown as the result of a refused call."""
        self.feed(ToolDenied(call_id=native_id, reason=reason, parent=parent))

    def change_input(self, native_id: str, call_id: str, input: dict[str, Any], parent: str | None) -> None:
        """Let a call run with, and show, the arguments that a person gave it."""
        self.inputs[call_id] = input
        self.feed(InputChanged(call_id=native_id, arguments=input, parent=parent))

    def edited(self, native_id: str) -> dict[str, Any] | None:
        """The arguments that a person gave a call; None if they are the model's."""
        return self.inputs.get(self._translator.call_id(native_id, PARENT.get()) or "")


def _as_object(text: str) -> Any:
    """The object that a registered tool's result is the JSON of, as in every other front; else the text."""
    try:
        read: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return cast("Any", read) if isinstance(read, dict) and "type" not in read else text
