"""An AG-UI transport without a page: it records the events of an agent and folds them to messages."""

from __future__ import annotations

from typing import Any, TypeVar

from trunkline.agents.agui.translator import AguiTranslator
from trunkline.folding import fold
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.event_types import EventType
from trunkline.protocols.agui.messages import snapshot_of

E = TypeVar("E", bound=wire.BaseEvent)


class AguiRecorder:
    """Stands in for the object that ``sse_transport`` makes.

    ::

        page = AguiRecorder()
        await agui_agent(model, tools, transport=page).ainvoke(prompt)
        assert page.types[0] == EventType.RUN_STARTED
        assert page.messages[-1]["content"] == "Done."
    """

    def __init__(self) -> None:
        """Begin with nothing recorded."""
        self.events: list[wire.AguiEvent] = []

    def emit(self, event: wire.AguiEvent, /) -> None:
        """Keep an event."""
        self.events.append(event)

    @property
    def types(self) -> list[EventType]:
        """The types of the events, in order."""
        return [EventType.of(event) for event in self.events]

    def events_of(self, kind: type[E]) -> list[E]:
        """The events of one class, as ``TextMessageContent``."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that a page shows after these events, as AG-UI writes them."""
        translator = AguiTranslator()
        neutral = [one for event in self.events for one in translator.feed(wire.to_dict(event))]
        return snapshot_of(fold(neutral))
