"""What is open in a run: the messages, reasoning, steps and calls of each lane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trunkline import content as c
from trunkline import events as ev
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.messages import parsed
from trunkline.protocols.agui.results import TAIL, about_call, result_of

__all__ = ["CallView", "LaneView"]

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
            self.about = about_call(event.kind or known["kind"], event.title or known.get("title"))
        if event.input is not None:
            self.input = event.input
        if event.content is not None:
            self.content = event.content
        if event.output is not None:
            self.output = (self.output + event.output)[-TAIL:]
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
        return self.told is not None and self.told != result_of(self, terminals, limit, modern=modern)

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
        content, about = self.told = result_of(self, terminals, limit, modern=modern)
        self.told_id = self.result_id or f"{self.call_id}:result"
        return wire.ToolCallResult(
            timestamp=at,
            subagent_run_id=self.lane,
            message_id=self.told_id,
            tool_call_id=self.call_id,
            content=content,
            metadata=about,
        )


class _Thinking:
    """A part of a message's reasoning; one that a run left off may go on in the next."""

    __slots__ = ("open", "thought_id")

    def __init__(self, thought_id: str) -> None:
        self.thought_id = thought_id
        self.open = False


class LaneView:
    """What is open in one lane: the agent's own, or a subagent's."""

    def __init__(self, name: str | None, started: ev.SubagentStarted | None = None) -> None:
        """A lane; a subagent's is opened before anything is said in it."""
        self._name = name
        self._started = started or ev.SubagentStarted(lane=name, name=name or "")
        self.live = name is None
        self.over = False
        """Whether the subagent ended in this run: its name may be used no more."""
        self.speaking: str | None = None
        """The message whose text can go on at once."""
        self.calls: dict[str, CallView] = {}
        self._texts: dict[str, None] = {}
        self._complete: set[str] = set()
        self._thoughts: dict[str, _Thinking] = {}
        self._thought_count: dict[str, int] = {}
        self._steps: dict[str, str] = {}

    @property
    def parent(self) -> str | None:
        """The lane that this one was started from."""
        return self._started.parent_lane

    def open(self, at: int | None, parent: str | None = None) -> Out:
        """Begin a subagent, or begin it again in another run; ``parent`` is one that the run knows."""
        if self.live or self.over:
            return []
        self.live = True
        about = self._started
        return [
            wire.SubagentStarted(
                timestamp=at,
                subagent_run_id=self._name or "",
                name=about.name or self._name or "",
                description=about.description,
                parent_subagent_run_id=parent,
                parent_tool_call_id=about.parent_call_id,
            )
        ]

    def complete(self, message_id: str) -> None:
        """Note that a message's call is under way: whatever begins next, this one has been said."""
        self._complete.add(message_id)

    # -- words -------------------------------------------------------------------------------------

    def say_text(self, message_id: str, at: int | None) -> Out:
        """Open the text of a message; messages that were complete before it are closed now.

        Answers that come side by side (two branches of a graph) stay open side by side: a text that
        was closed cannot go on in the same run.
        """
        said = self.stop_thinking(message_id, at)
        self.speaking = message_id
        if message_id in self._texts:
            return said
        for other in list(self._texts):
            if other in self._complete:
                said += self._end_text(other, at)
        self._texts[message_id] = None
        return [*said, self._start_text(message_id, at)]

    def _start_text(self, message_id: str, at: int | None) -> wire.AguiEvent:
        return wire.TextMessageStart(
            timestamp=at, subagent_run_id=self._name, message_id=message_id, role="assistant"
        )

    def _end_text(self, message_id: str, at: int | None) -> Out:
        del self._texts[message_id]
        return [wire.TextMessageEnd(timestamp=at, subagent_run_id=self._name, message_id=message_id)]

    def think(self, message_id: str, delta: str, signature: str | None, at: int | None) -> Out:
        """Say a piece of reasoning; a signature seals what was said of it."""
        said: Out = []
        self.speaking = None
        thinking = self._thoughts.get(message_id)
        if thinking is None:
            number = self._thought_count[message_id] = self._thought_count.get(message_id, 0) + 1
            thinking = self._thoughts[message_id] = _Thinking(f"{message_id}:reasoning:{number}")
        thought_id = thinking.thought_id
        if not thinking.open:
            thinking.open = True
            said += self._start_thinking(thought_id, at)
        if delta:
            said.append(
                wire.ReasoningMessageContent(
                    timestamp=at, subagent_run_id=self._name, message_id=thought_id, delta=delta
                )
            )
        if signature is not None:
            said.append(
                wire.ReasoningEncryptedValue(
                    timestamp=at,
                    subagent_run_id=self._name,
                    subtype="message",
                    entity_id=thought_id,
                    encrypted_value=signature,
                )
            )
            said += self.stop_thinking(message_id, at)
        return said

    def _start_thinking(self, thought_id: str, at: int | None) -> Out:
        return [
            wire.ReasoningStart(timestamp=at, subagent_run_id=self._name, message_id=thought_id),
            wire.ReasoningMessageStart(timestamp=at, subagent_run_id=self._name, message_id=thought_id),
        ]

    def stop_thinking(self, message_id: str | None, at: int | None) -> Out:
        """End the reasoning of a message that goes on with something else."""
        thinking = self._thoughts.pop(message_id or "", None)
        return [] if thinking is None else self._interrupt(thinking, at)

    def _interrupt(self, thinking: _Thinking, at: int | None) -> Out:
        if not thinking.open:
            return []
        thinking.open = False
        thought_id = thinking.thought_id
        return [
            wire.ReasoningMessageEnd(timestamp=at, subagent_run_id=self._name, message_id=thought_id),
            wire.ReasoningEnd(timestamp=at, subagent_run_id=self._name, message_id=thought_id),
        ]

    # -- steps -------------------------------------------------------------------------------------

    def start_step(self, step_id: str, name: str, at: int | None) -> Out:
        """Begin a step; two at once may not have the same name."""
        number, shown = 2, name
        while shown in self._steps.values():
            shown = f"{name} ({number})"
            number += 1
        self._steps[step_id] = shown
        return [self._start_step(shown, at)]

    def _start_step(self, shown: str, at: int | None) -> wire.AguiEvent:
        return wire.StepStarted(timestamp=at, subagent_run_id=self._name, step_name=shown)

    def finish_step(self, step_id: str, at: int | None) -> Out:
        """End a step."""
        name = self._steps.pop(step_id, None)
        if name is None:
            return []
        if not self._steps:
            self._complete.update(self._texts)
        return [wire.StepFinished(timestamp=at, subagent_run_id=self._name, step_name=name)]

    # -- a run that begins here --------------------------------------------------------------------

    def announce(self, at: int | None) -> Out:
        """Say again what is open, for a client that was told of none of it; what is complete stays closed."""
        for message_id in self._complete & self._texts.keys():
            del self._texts[message_id]
        if self.speaking not in self._texts:
            self.speaking = None
        said = [self._start_step(shown, at) for shown in self._steps.values()]
        for thinking in self._thoughts.values():
            if thinking.open:
                said += self._start_thinking(thinking.thought_id, at)
        said += [self._start_text(message_id, at) for message_id in self._texts]
        return said + [event for call in self.calls.values() for event in call.announce(at)]

    # -- the end -----------------------------------------------------------------------------------

    def _close_parts(self, at: int | None) -> Out:
        self.speaking = None
        said: Out = []
        for thinking in self._thoughts.values():
            said += self._interrupt(thinking, at)
        for message_id in list(self._texts):
            said += self._end_text(message_id, at)
        for call in self.calls.values():
            said += call.end(at)
        self.calls.clear()
        for step_id in list(self._steps):
            said += self.finish_step(step_id, at)
        return said

    def finish(self, event: ev.SubagentFinished, at: int | None) -> Out:
        """End a subagent as it ended."""
        said = self._close_parts(at)
        self.live, self.over = False, True
        if event.outcome == "completed":
            done: wire.AguiEvent = wire.SubagentFinished(
                timestamp=at,
                subagent_run_id=self._name or "",
                result=event.result,
                outcome={"type": "success"},
            )
        else:
            done = wire.SubagentError(
                timestamp=at,
                subagent_run_id=self._name or "",
                message=event.message or f"the subagent {event.outcome}",
                code=event.outcome.upper(),
            )
        return [*said, done]

    def close(self, at: int | None, *, failed: bool, suspended: list[str] | None) -> Out:
        """Close everything at the end of a run; a subagent waits for the next one, or has failed."""
        said = self._close_parts(at)
        if self._name is None or not self.live:
            return said
        self.live = False
        if suspended is not None and not failed:
            outcome: dict[str, Any] = {"type": "suspended"}
            if suspended:
                outcome["interruptIds"] = list(suspended)
            return [*said, wire.SubagentFinished(timestamp=at, subagent_run_id=self._name, outcome=outcome)]
        return [
            *said,
            wire.SubagentError(
                timestamp=at, subagent_run_id=self._name, message="the run ended before the subagent did"
            ),
        ]
