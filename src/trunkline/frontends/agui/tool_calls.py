"""Tool calls on the AG-UI wire: start, arguments, end and result of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trunkline import content as c
from trunkline import events as ev
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.messages import parsed
from trunkline.protocols.agui.results import OUTPUT_TAIL, call_metadata, tool_result

__all__ = ["CallView"]

Out = list[wire.AguiEvent]


class CallView:
    """A tool call as a client sees it."""

    __slots__ = (
        "about",
        "announced",
        "answered",
        "arguments",
        "call_id",
        "content",
        "ended",
        "input",
        "lane",
        "message_id",
        "name",
        "output",
        "raw_output",
        "reason",
        "result_id",
        "status",
        "told",
        "told_id",
    )

    def __init__(
        self,
        call_id: str,
        lane: str | None,
        message_id: str | None = None,
        about: dict[str, Any] | None = None,
        name: str = "",
    ) -> None:
        """A call that is about to be announced, with what is known about it."""
        self.call_id = call_id
        self.name = name
        self.lane = lane
        self.message_id = message_id
        self.about = self.announced = about
        self.arguments: list[str] = []
        """The pieces of the arguments' text that were said."""
        self.ended = False
        self.answered = False
        self.input: Any = None
        self.status: str | None = None
        self.content: tuple[c.Content, ...] = ()
        self.output = ""
        self.raw_output: Any = None
        self.reason: str | None = None
        self.result_id: str | None = None
        self.told_id: str | None = None
        """The id under which the result was told."""
        self.told: Any = None
        """The result as it was told."""

    def start(self, at: int | None) -> wire.ToolCallStart:
        """Announce the call."""
        self.announced = self.about
        return wire.ToolCallStart(
            timestamp=at,
            subagent_run_id=self.lane,
            tool_call_id=self.call_id,
            tool_call_name=self.name,
            parent_message_id=self.message_id,
            metadata=self.about,
        )

    def announce(self, at: int | None) -> Out:
        """Announce the call in another run, with its arguments so far: they are read run by run."""
        said: Out = [self.start(at)]
        if self.arguments:
            said.append(self._args("".join(self.arguments), at))
        return said

    def _args(self, text: str, at: int | None) -> wire.ToolCallArgs:
        return wire.ToolCallArgs(
            timestamp=at, subagent_run_id=self.lane, tool_call_id=self.call_id, delta=text
        )

    def take(self, event: ev.ToolUpdate) -> None:
        """Keep what an update says."""
        if self.about is not None and (event.title is not None or event.kind is not None):
            known = self.about["trunkline"]
            self.about = call_metadata(event.kind or known["kind"], event.title or known.get("title"))
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

    def is_told(self) -> bool:
        """Whether the arguments that were said are those that the call has."""
        return self.input is None or parsed("".join(self.arguments)) == self.input

    def is_changed(self, limit: int, terminals: Mapping[str, str], *, modern: bool) -> bool:
        """Whether the result is another one than was told."""
        return self.told is not None and self.told != tool_result(self, terminals, limit, modern=modern)

    def end(self, at: int | None) -> Out:
        """Say that the arguments are complete, and what they are if nobody said so yet."""
        if self.ended:
            return []
        self.ended = True
        said: Out = []
        if not self.arguments and self.input is not None:
            text = self.input if isinstance(self.input, str) else wire.encode(self.input).decode()
            self.arguments.append(text)
            said.append(self._args(text, at))
        said.append(
            wire.ToolCallEnd(
                timestamp=at,
                subagent_run_id=self.lane,
                tool_call_id=self.call_id,
                metadata=self.about if self.about != self.announced else None,
            )
        )
        return said

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
        """Say what the call gave back, or why it did not."""
        content, about = self.told = tool_result(self, terminals, limit, modern=modern)
        self.told_id = self.result_id or f"{self.call_id}:result"
        return wire.ToolCallResult(
            timestamp=at,
            subagent_run_id=self.lane,
            message_id=self.told_id,
            tool_call_id=self.call_id,
            content=content,
            metadata=about,
        )
