"""Tool calls on the AG-UI wire: start, arguments, end and result of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trunkline import content as c
from trunkline import events as ev
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.messages import parsed
from trunkline.protocols.agui.results import OUTPUT_TAIL, call_metadata, tool_result

Out = list[wire.AguiEvent]


class CallView:
    """A tool call as a client sees it."""

    __slots__ = (
        "announced_metadata",
        "answered",
        "arguments",
        "call_id",
        "content",
        "ended",
        "input",
        "lane",
        "message_id",
        "metadata",
        "name",
        "output",
        "raw_output",
        "reason",
        "result_id",
        "sent_result",
        "sent_result_id",
        "status",
    )

    def __init__(
        self,
        call_id: str,
        lane: str | None,
        message_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        name: str = "",
    ) -> None:
        self.call_id = call_id
        self.name = name
        self.lane = lane
        self.message_id = message_id
        self.metadata = self.announced_metadata = metadata
        self.arguments: list[str] = []
        """The pieces of the arguments' text that were sent."""
        self.ended = False
        self.answered = False
        self.input: Any = None
        self.status: str | None = None
        self.content: tuple[c.Content, ...] = ()
        self.output = ""
        self.raw_output: Any = None
        self.reason: str | None = None
        self.result_id: str | None = None
        self.sent_result_id: str | None = None
        """The id under which the result was sent."""
        self.sent_result: Any = None
        """The result as it was sent."""

    def start(self, at: int | None) -> wire.ToolCallStart:
        """Announce the call."""
        self.announced_metadata = self.metadata
        return wire.ToolCallStart(
            timestamp=at,
            subagent_run_id=self.lane,
            tool_call_id=self.call_id,
            tool_call_name=self.name,
            parent_message_id=self.message_id,
            metadata=self.metadata,
        )

    def announce(self, at: int | None) -> Out:
        """Announce the call in another run, with its arguments so far: they are read run by run."""
        out: Out = [self.start(at)]
        if self.arguments:
            out.append(self._args("".join(self.arguments), at))
        return out

    def _args(self, text: str, at: int | None) -> wire.ToolCallArgs:
        return wire.ToolCallArgs(
            timestamp=at, subagent_run_id=self.lane, tool_call_id=self.call_id, delta=text
        )

    def apply(self, event: ev.ToolUpdate) -> None:
        """Keep what an update changes."""
        if self.metadata is not None and (event.title is not None or event.kind is not None):
            known = self.metadata["trunkline"]
            self.metadata = call_metadata(event.kind or known["kind"], event.title or known.get("title"))
        if event.input is not None:
            self.input = event.input
        if event.content is not None:
            self.content = event.content
        if event.output is not None:
            self.output = (self.output + event.output)[-OUTPUT_TAIL:]
        if event.raw_output is not None:
            self.raw_output = event.raw_output
        self.status = event.status or self.status
        self.reason = event.reason or self.reason
        self.result_id = event.result_message_id or self.result_id

    def sent_arguments_match(self) -> bool:
        """Whether the arguments that were sent are those of the call."""
        return self.input is None or parsed("".join(self.arguments)) == self.input

    def result_changed(self, limit: int, terminals: Mapping[str, str], *, modern: bool) -> bool:
        """Whether the result is another one than was sent."""
        return self.sent_result is not None and self.sent_result != tool_result(
            self, terminals, limit, modern=modern
        )

    def end(self, at: int | None) -> Out:
        """End the arguments; they are sent first if they were not streamed."""
        if self.ended:
            return []
        self.ended = True
        out: Out = []
        if not self.arguments and self.input is not None:
            text = self.input if isinstance(self.input, str) else wire.encode(self.input).decode()
            self.arguments.append(text)
            out.append(self._args(text, at))
        out.append(
            wire.ToolCallEnd(
                timestamp=at,
                subagent_run_id=self.lane,
                tool_call_id=self.call_id,
                metadata=self.metadata if self.metadata != self.announced_metadata else None,
            )
        )
        return out

    def show_output(self, at: int | None) -> Out:
        """Show what the call has printed so far."""
        return [
            wire.ActivitySnapshot(
                timestamp=at,
                subagent_run_id=self.lane,
                message_id=f"{self.call_id}:output",
                activity_type="TOOL_OUTPUT",
                content={"toolCallId": self.call_id, "output": self.output},
            )
        ]

    def result(
        self, at: int | None, limit: int, terminals: Mapping[str, str], *, modern: bool
    ) -> wire.ToolCallResult:
        """Give the result of the call, or why it has none."""
        content, metadata = self.sent_result = tool_result(self, terminals, limit, modern=modern)
        self.sent_result_id = self.result_id or f"{self.call_id}:result"
        return wire.ToolCallResult(
            timestamp=at,
            subagent_run_id=self.lane,
            message_id=self.sent_result_id,
            tool_call_id=self.call_id,
            content=content,
            metadata=metadata,
        )
