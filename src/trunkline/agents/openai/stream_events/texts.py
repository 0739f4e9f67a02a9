"""What a response says: texts, refusals, reasoning and the sources of both, piece by piece or whole.

Pieces are emitted as they come; what a provider sends only whole is emitted at the end of the part or item.
Each ``message`` item is a message of its own, together with the reasoning before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trunkline import events as ev
from trunkline.agents.openai.stream_events.calls import CallState
from trunkline.agents.openai.stream_events.fields import as_json, list_field, text_field
from trunkline.agents.openai.stream_events.sources import read_annotation
from trunkline.agents.openai.stream_events.stop_reasons import RunFacts

SOURCE = "openai"
"""The source of Raw events: variants that we do not know."""
_BREAK = "\n\n"
"""Between two parts of a summary: OpenAI sends them without anything in between."""


class Slot:
    """One output item of a response."""

    __slots__ = (
        "call", "done", "index", "json_open", "message_id", "notes", "part", "source", "texts",
        "waiting",
    )  # fmt: skip

    def __init__(self, index: int) -> None:
        self.index = index
        self.done = False
        self.message_id: str | None = None
        self.texts: dict[int, list[str]] = {}
        """The text of each content part so far, in pieces."""
        self.notes: dict[int, int] = {}
        """How many annotations of each content part were emitted."""
        self.source: str | None = None
        """Whether the reasoning is shown as its summary or as its text: never both."""
        self.part: int | None = None
        """The part of the reasoning that came last."""
        self.call: CallState | None = None
        self.waiting = ""
        """Arguments of a call whose name is not known yet."""
        self.json_open = False


class Texts:
    """Emits what the responses of one agent say."""

    def __init__(
        self, emit: Callable[[ev.AnyEvent], None], new_id: Callable[[], str], facts: RunFacts
    ) -> None:
        """Send events to ``emit``; ``new_id`` makes the ids of messages, ``facts`` learn of a refusal."""
        self.message_id: str | None = None
        """The message that is being written."""
        self.spoken: list[str] = []
        """The whole messages of the response, until the SDK gives them as items."""
        self._emit = emit
        self._new_id = new_id
        self._facts = facts
        self._text_slot: Slot | None = None
        """The item whose text the message has."""
        self._last_thought: Slot | None = None

    def begin(self) -> None:
        """Begin a response: what it says is in new messages."""
        self.message_id = self._last_thought = self._text_slot = None
        self.spoken = []

    def message_of(self, slot: Slot) -> str:
        """The message that an item belongs to."""
        if slot.message_id is None:
            slot.message_id = self.message_id or self._new_message()
        return slot.message_id

    def _new_message(self) -> str:
        self.message_id = self._new_id()
        self._text_slot = self._last_thought = None
        return self.message_id

    def _text_of(self, slot: Slot) -> str:
        """The message of a text: a second text is another message."""
        if slot.message_id is None:
            slot.message_id = self._new_message() if self._text_slot is not None else self.message_of(slot)
            self._text_slot = slot
        self._last_thought = None
        return slot.message_id

    def _thought_of(self, slot: Slot) -> str:
        """The message of a thought: one that stands after a text is about the next."""
        text = self._text_slot
        if slot.message_id is None and text is not None and slot.index > text.index:
            slot.message_id = self._new_message()
        return self.message_of(slot)

    def interrupt(self) -> None:
        """Note that something stands between two thoughts."""
        self._last_thought = None

    # -- texts -------------------------------------------------------------------------------------

    def text(self, slot: Slot, part: int, delta: str) -> None:
        """Emit a piece of text."""
        if delta:
            slot.texts.setdefault(part, []).append(delta)
            self._emit(ev.Text(message_id=self._text_of(slot), delta=delta))

    def refusal(self, slot: Slot, part: int, delta: str) -> None:
        """Emit a piece of a refusal."""
        self._facts.refusal = True
        self.text(slot, part, delta)

    def complete_message(self, slot: Slot, item: Any) -> None:
        """Emit what is missing of a message item."""
        for part, content in enumerate(list_field(item, "content")):
            self.complete_part(slot, part, content)
        self.spoken.append(whole_text(item))

    def complete_part(self, slot: Slot, part: int, content: Any) -> None:
        """Emit what is missing of a content part: text, a refusal, annotations."""
        if refusal := text_field(content, "refusal"):
            self._facts.refusal = True
        self.complete_text(slot, part, refusal or text_field(content, "text"))
        for note in list_field(content, "annotations")[slot.notes.get(part, 0) :]:
            self.annotate(slot, part, note)

    def complete_text(self, slot: Slot, part: int, whole: str) -> None:
        """Emit what is missing of a text."""
        streamed = "".join(slot.texts.get(part, ()))
        if len(whole) > len(streamed) and whole.startswith(streamed):
            self.text(slot, part, whole[len(streamed) :])

    def annotate(self, slot: Slot, part: int, note: Any) -> None:
        """Emit what a text cites."""
        number = slot.notes[part] = slot.notes.get(part, 0) + 1
        source = read_annotation(note, self._text_of(slot), number)
        self._emit(source if source is not None else ev.Raw(source=SOURCE, payload=as_json(note)))

    # -- reasoning ---------------------------------------------------------------------------------

    def think(self, slot: Slot, source: str, part: int, delta: str) -> None:
        """Emit a piece of reasoning; of an item that has a summary and a text, what comes first is shown."""
        if not delta or (slot.source or source) != source:
            return
        slot.source = source
        message_id = self._thought_of(slot)
        last = self._last_thought
        if last is not None and (last is not slot or slot.part != part):
            delta = _BREAK + delta
        slot.part, self._last_thought = part, slot
        self._emit(ev.Thought(message_id=message_id, delta=delta))

    def complete_reasoning(self, slot: Slot, item: Any) -> None:
        """Emit what is missing of a reasoning item, and the seal that its provider wants back."""
        if slot.source is None:
            summary = list_field(item, "summary")
            for number, part in enumerate(summary or list_field(item, "content")):
                self.think(slot, "summary" if summary else "text", number, text_field(part, "text"))
        if signature := text_field(item, "encrypted_content"):
            self._emit(ev.Thought(message_id=self._thought_of(slot), signature=signature))
            self._last_thought = None


def whole_text(item: Any) -> str:
    """The text of a message item, refusals included."""
    parts = list_field(item, "content")
    return "".join(text_field(part, "text") or text_field(part, "refusal") for part in parts)
