"""The text and the reasoning of one lane: which messages are open, and what closes them.

The reasoning of a message ends before its text begins, and where it is signed: the signature is its encrypted
value.
"""

from __future__ import annotations

from trunkline.protocols.agui import wire

Out = list[wire.AguiEvent]


class _Reasoning:
    """A part of a message's reasoning; one that a run left off may go on in the next."""

    __slots__ = ("is_open", "reasoning_id")

    def __init__(self, reasoning_id: str) -> None:
        self.reasoning_id = reasoning_id
        self.is_open = False


class TextParts:
    """What is open of the messages of one lane."""

    def __init__(self, lane: str | None) -> None:
        self._lane = lane
        self.current_text_id: str | None = None
        """The message whose text can go on at once."""
        self._texts: dict[str, None] = {}
        self._complete: set[str] = set()
        self._reasoning: dict[str, _Reasoning] = {}
        self._reasoning_count: dict[str, int] = {}

    # -- text --------------------------------------------------------------------------------------

    def start_text(self, message_id: str, at: int | None) -> Out:
        """Open the text of a message; messages that were complete before it are closed now.

        Answers that come side by side (two branches of a graph) stay open side by side: a text that
        was closed cannot go on in the same run.
        """
        out = self.end_reasoning(message_id, at)
        self.current_text_id = message_id
        if message_id in self._texts:
            return out
        for other in list(self._texts):
            if other in self._complete:
                out += self._end_text(other, at)
        self._texts[message_id] = None
        return [*out, self._start_text(message_id, at)]

    def _start_text(self, message_id: str, at: int | None) -> wire.AguiEvent:
        return wire.TextMessageStart(
            timestamp=at, subagent_run_id=self._lane, message_id=message_id, role="assistant"
        )

    def _end_text(self, message_id: str, at: int | None) -> Out:
        del self._texts[message_id]
        return [wire.TextMessageEnd(timestamp=at, subagent_run_id=self._lane, message_id=message_id)]

    def end_message(self, message_id: str, at: int | None) -> Out:
        """End the reasoning and the text of a message that is complete."""
        out = self.end_reasoning(message_id, at)
        if message_id not in self._texts:
            return out
        if message_id == self.current_text_id:
            self.current_text_id = None
        return out + self._end_text(message_id, at)

    def complete(self, message_id: str) -> None:
        """Note that a call of a message runs: its text is complete, whatever begins next."""
        self._complete.add(message_id)

    def complete_all(self) -> None:
        """Note that what is open is complete, as the last step has ended."""
        self._complete.update(self._texts)

    # -- reasoning ---------------------------------------------------------------------------------

    def add_reasoning(self, message_id: str, delta: str, signature: str | None, at: int | None) -> Out:
        """Add a piece of reasoning; a signature ends it."""
        out: Out = []
        self.current_text_id = None
        reasoning = self._reasoning.get(message_id)
        if reasoning is None:
            number = self._reasoning_count[message_id] = self._reasoning_count.get(message_id, 0) + 1
            reasoning = self._reasoning[message_id] = _Reasoning(f"{message_id}:reasoning:{number}")
        reasoning_id = reasoning.reasoning_id
        if not reasoning.is_open:
            reasoning.is_open = True
            out += self._start_reasoning(reasoning_id, at)
        if delta:
            out.append(
                wire.ReasoningMessageContent(
                    timestamp=at, subagent_run_id=self._lane, message_id=reasoning_id, delta=delta
                )
            )
        if signature is not None:
            out.append(
                wire.ReasoningEncryptedValue(
                    timestamp=at,
                    subagent_run_id=self._lane,
                    subtype="message",
                    entity_id=reasoning_id,
                    encrypted_value=signature,
                )
            )
            out += self.end_reasoning(message_id, at)
        return out

    def _start_reasoning(self, reasoning_id: str, at: int | None) -> Out:
        return [
            wire.ReasoningStart(timestamp=at, subagent_run_id=self._lane, message_id=reasoning_id),
            wire.ReasoningMessageStart(timestamp=at, subagent_run_id=self._lane, message_id=reasoning_id),
        ]

    def end_reasoning(self, message_id: str | None, at: int | None) -> Out:
        """End the reasoning of a message that goes on with something else."""
        reasoning = self._reasoning.pop(message_id or "", None)
        return [] if reasoning is None else self._interrupt(reasoning, at)

    def _interrupt(self, reasoning: _Reasoning, at: int | None) -> Out:
        if not reasoning.is_open:
            return []
        reasoning.is_open = False
        reasoning_id = reasoning.reasoning_id
        return [
            wire.ReasoningMessageEnd(timestamp=at, subagent_run_id=self._lane, message_id=reasoning_id),
            wire.ReasoningEnd(timestamp=at, subagent_run_id=self._lane, message_id=reasoning_id),
        ]

    # -- a run begins or ends ----------------------------------------------------------------------

    def announce(self, at: int | None) -> Out:
        """Open again what is open, for a client that saw no start of it; what is complete stays closed."""
        for message_id in self._complete & self._texts.keys():
            del self._texts[message_id]
        if self.current_text_id not in self._texts:
            self.current_text_id = None
        out: Out = []
        for reasoning in self._reasoning.values():
            if reasoning.is_open:
                out += self._start_reasoning(reasoning.reasoning_id, at)
        return out + [self._start_text(message_id, at) for message_id in self._texts]

    def close(self, at: int | None) -> Out:
        """Close everything; reasoning may go on in the next run."""
        self.current_text_id = None
        out: Out = []
        for reasoning in self._reasoning.values():
            out += self._interrupt(reasoning, at)
        for message_id in list(self._texts):
            out += self._end_text(message_id, at)
        return out
