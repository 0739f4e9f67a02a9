"""What a turn context needs of its turn; the same for turns of a session and hosted turns."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol, TypeVar

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.session.permissions import Permissions

T = TypeVar("T")


class TurnInterface(Protocol):
    """What a context needs of its turn."""

    turn_id: str
    prefix: str

    @property
    def live(self) -> bool:
        """Whether events can still be emitted."""
        ...

    @property
    def lagging(self) -> bool:
        """Whether the journal is far behind."""
        ...

    @property
    def permissions(self) -> Permissions:
        """The policy and the earlier answers of the session."""
        ...

    def emit(self, item: Any) -> None:
        """Emit an item from any thread."""
        ...

    def emit_text(self, text: str, message_id: str) -> None:
        """Emit a piece of a message that the agent named."""
        ...

    def record(self, decided: ev.Decided) -> None:
        """Store a decision about a permission."""
        ...

    async def ready(self) -> None:
        """Wait for a journal that is far behind."""
        ...

    async def durable(self) -> None:
        """Wait until every event so far is stored."""
        ...

    def count(self, usage: ev.TokenUsage) -> None:
        """Count tokens."""
        ...

    def hold(self, call_id: str) -> None:
        """End a call as soon as something else is emitted."""
        ...

    async def ask(self, asked: ev.Asked, expires_in: float | None) -> ev.Answered:
        """Put a question to the followers of the session."""
        ...

    def suspend(self) -> None:
        """Emit that the turn waits for its questions."""
        ...

    async def history(self) -> Conversation:
        """The conversation before this turn."""
        ...

    async def turn_so_far(self) -> Conversation:
        """The conversation of this turn so far."""
        ...

    async def steered(self) -> list[Prompt]:
        """Let the agent take the messages that wait for this turn."""
        ...

    def wait(self, awaitable: Awaitable[T]) -> T:
        """Wait for something from a plain function."""
        ...
