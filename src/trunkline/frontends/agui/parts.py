"""What is open in a run: the messages, reasoning, steps and calls of each lane."""

from __future__ import annotations

from typing import Any

from trunkline import content as c
from trunkline import events as ev
from trunkline.frontends.agui import wire
from trunkline.frontends.agui.results import result_content, shorten

__all__ = ["CallView", "LaneView"]

Out = list[wire.AguiEvent]
_TAIL = 65_536


class CallView:
    """A tool call as a client sees it."""

    __slots__ = (
        "answered",
        "argued",
        "call_id",
        "content",
        "ended",
        "input",
        "lane",
        "output",
        "raw_output",
        "reason",
        "result_id",
        "status",
    )

    def __init__(self, call_id: str, lane: str | None) -> None:
        """A call that was just announced."""
        self.call_id = call_id
        self.lane = lane
        self.argued = False
        self.ended = False
        self.answered = False
        self.input: Any = None
        self.status: str | None = None
        self.content: tuple[c.Content, ...] = ()
        self.output = ""
        self.raw_output: Any = None
        self.reason: str | None = None
        self.result_id: str | None = None

    def take(self, event: ev.ToolUpdate) -> None:
        """Keep what an update says."""
        if event.input is not None:
            self.input = event.input
        if event.content is not None:
            self.content = event.content
        if event.output is not None:
            self.output = (self.output + event.output)[-_TAIL:]
        if event.raw_output is not None:
            self.raw_output = event.raw_output
        self.status = event.status or self.status
        self.reason = event.reason or self.reason
        self.result_id = self.result_id or event.result_message_id

    def end(self, at: int | None) -> Out:
        """Say that the arguments are complete, and what they are if nobody said so yet."""
        if self.ended:
            return []
        self.ended = True
        said: Out = []
        if not self.argued and self.input is not None:
            text = self.input if isinstance(self.input, str) else wire.encode(self.input).decode()
            said.append(
                wire.ToolCallArgs(
                    timestamp=at, subagent_run_id=self.lane, tool_call_id=self.call_id, delta=text
                )
            )
        said.append(wire.ToolCallEnd(timestamp=at, subagent_run_id=self.lane, tool_call_id=self.call_id))
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

    def result(self, at: int | None, limit: int, *, modern: bool) -> wire.ToolCallResult:
        """Say what the call gave back, or why it did not."""
        content = result_content(self.content, self.raw_output, self.output, self.reason)
        content, facts = shorten(content, limit)
        about: dict[str, Any] = dict(facts or {})
        if self.status != "completed":
            about["status"] = self.status
            about["error"] = self.reason or self.status
        return wire.ToolCallResult(
            timestamp=at,
            subagent_run_id=self.lane,
            message_id=self.result_id or f"{self.call_id}:result",
            tool_call_id=self.call_id,
            content=content,
            metadata={"trunkline": about} if about and modern else None,
        )


class LaneView:
    """What is open in one lane: the agent's own, or a subagent's."""

    def __init__(self, name: str | None, started: ev.SubagentStarted | None = None) -> None:
        """A lane; a subagent's is opened before anything is said in it."""
        self._name = name
        self._started = started or ev.SubagentStarted(lane=name, name=name or "")
        self.live = name is None
        self.speaking: str | None = None
        """The message whose text can go on at once."""
        self.calls: dict[str, CallView] = {}
        self._texts: dict[str, int] = {}
        self._thoughts: dict[str, str] = {}
        self._thought_count: dict[str, int] = {}
        self._steps: dict[str, str] = {}
        self._pauses = 0

    def open(self, at: int | None) -> Out:
        """Begin a subagent, or begin it again in another run."""
        if self.live:
            return []
        self.live = True
        about = self._started
        return [
            wire.SubagentStarted(
                timestamp=at,
                subagent_run_id=self._name,
                name=about.name or self._name or "",
                description=about.description,
                parent_subagent_run_id=about.parent_lane,
                parent_tool_call_id=about.parent_call_id,
            )
        ]

    def pause(self) -> None:
        """Note that something other than words came: an answer that began before it is complete."""
        self._pauses += 1
        self.speaking = None

    # -- words -------------------------------------------------------------------------------------

    def say_text(self, message_id: str, at: int | None) -> Out:
        """Open the text of a message; messages from before the last pause are complete now.

        Answers that come side by side (two branches of a graph) stay open side by side.
        """
        said = self.stop_thinking(message_id, at)
        self.speaking = message_id
        if message_id in self._texts:
            self._texts[message_id] = self._pauses
            return said
        for other, pauses in list(self._texts.items()):
            if pauses < self._pauses:
                said += self._end_text(other, at)
        self._texts[message_id] = self._pauses
        said.append(
            wire.TextMessageStart(
                timestamp=at, subagent_run_id=self._name, message_id=message_id, role="assistant"
            )
        )
        return said

    def _end_text(self, message_id: str, at: int | None) -> Out:
        del self._texts[message_id]
        return [wire.TextMessageEnd(timestamp=at, subagent_run_id=self._name, message_id=message_id)]

    def think(self, message_id: str, delta: str, signature: str | None, at: int | None) -> Out:
        """Say a piece of reasoning; a signature seals what was said of it."""
        said: Out = []
        self.speaking = None
        thought = self._thoughts.get(message_id)
        if thought is None and delta:
            number = self._thought_count[message_id] = self._thought_count.get(message_id, 0) + 1
            thought = self._thoughts[message_id] = f"{message_id}:reasoning:{number}"
            said.append(wire.ReasoningStart(timestamp=at, subagent_run_id=self._name, message_id=thought))
            said.append(
                wire.ReasoningMessageStart(timestamp=at, subagent_run_id=self._name, message_id=thought)
            )
        if thought is not None and delta:
            said.append(
                wire.ReasoningMessageContent(
                    timestamp=at, subagent_run_id=self._name, message_id=thought, delta=delta
                )
            )
        if signature is not None and message_id in self._thought_count:
            sealed = thought or f"{message_id}:reasoning:{self._thought_count[message_id]}"
            said.append(
                wire.ReasoningEncryptedValue(
                    timestamp=at,
                    subagent_run_id=self._name,
                    subtype="message",
                    entity_id=sealed,
                    encrypted_value=signature,
                )
            )
        return said

    def stop_thinking(self, message_id: str | None, at: int | None) -> Out:
        """End the reasoning of a message that goes on with something else."""
        thought = self._thoughts.pop(message_id or "", None)
        if thought is None:
            return []
        return [
            wire.ReasoningMessageEnd(timestamp=at, subagent_run_id=self._name, message_id=thought),
            wire.ReasoningEnd(timestamp=at, subagent_run_id=self._name, message_id=thought),
        ]

    # -- steps -------------------------------------------------------------------------------------

    def start_step(self, step_id: str, name: str, at: int | None) -> Out:
        """Begin a step; two at once may not have the same name."""
        self.pause()
        number, shown = 2, name
        while shown in self._steps.values():
            shown = f"{name} ({number})"
            number += 1
        self._steps[step_id] = shown
        return [wire.StepStarted(timestamp=at, subagent_run_id=self._name, step_name=shown)]

    def finish_step(self, step_id: str, at: int | None) -> Out:
        """End a step."""
        name = self._steps.pop(step_id, None)
        if name is None:
            return []
        return [wire.StepFinished(timestamp=at, subagent_run_id=self._name, step_name=name)]

    # -- the end -----------------------------------------------------------------------------------

    def _close_parts(self, at: int | None) -> Out:
        self.pause()
        said: Out = []
        for message_id in list(self._thoughts):
            said += self.stop_thinking(message_id, at)
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
        said = [*self.open(at), *self._close_parts(at)]
        self.live = False
        if event.outcome == "completed":
            done: wire.AguiEvent = wire.SubagentFinished(
                timestamp=at, subagent_run_id=self._name, result=event.result, outcome={"type": "success"}
            )
        else:
            done = wire.SubagentError(
                timestamp=at,
                subagent_run_id=self._name,
                message=event.message or f"the subagent {event.outcome}",
                code=event.outcome.upper(),
            )
        return [*said, done]

    def close(self, at: int | None, *, failed: bool, suspended: list[str] | None) -> Out:
        """Close everything at the end of a run; a subagent waits for the next one, or has failed."""
        if not self.live:
            return []
        said = self._close_parts(at)
        if self._name is None:
            return said
        self.live = False
        if suspended is not None and not failed:
            outcome: dict[str, Any] = {"type": "suspended"}
            if suspended:
                outcome["interruptIds"] = suspended
            return [*said, wire.SubagentFinished(timestamp=at, subagent_run_id=self._name, outcome=outcome)]
        return [
            *said,
            wire.SubagentError(
                timestamp=at, subagent_run_id=self._name, message="the run ended before the subagent did"
            ),
        ]
