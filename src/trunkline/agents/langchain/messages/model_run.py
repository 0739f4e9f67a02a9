"""What is known of one call of a model while its tokens come, and of the tool calls that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trunkline import events as ev
from trunkline.agents.langchain.messages.openai_items import OpenAIItems
from trunkline.agents.langchain.messages.server_tools import ServerToolCalls


class CallState:
    """A tool call: its id, and what of it was emitted."""

    __slots__ = (
        "call_id", "described", "diff", "done", "kind", "messages", "name", "native_id", "raised", "refused",
        "returned", "running",
    )  # fmt: skip

    def __init__(self, call_id: str, native_id: str, name: str, kind: ev.ToolKind) -> None:
        self.call_id = call_id
        self.native_id = native_id
        self.name = name
        self.kind: ev.ToolKind = kind
        self.described = self.diff = self.done = self.running = False
        self.raised: str | None = None
        self.refused: str | None = None
        self.returned: Any = None
        self.messages: set[str] = set()
        """The messages that made this call, and earlier calls with the same id."""


class ModelRun:
    """One call of a model: where its tokens belong, and what they brought so far."""

    __slots__ = (
        "calls", "internal", "lane", "message_id", "openai_items", "pending", "predictions", "server_tools",
        "step_id",
    )  # fmt: skip

    def __init__(
        self,
        lane: str | None,
        *,
        internal: bool,
        whole: bool = False,
        predictions: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """A run in a lane; an internal one (a summarizer) is not shown, and a ``whole`` one has no tokens.

        ``predictions`` say which arguments of which tools are fields of the state to be.
        """
        self.lane = lane
        self.predictions = predictions
        self.internal = internal
        self.message_id: str | None = None
        self.step_id: str | None = None
        self.calls: dict[Any, CallState] = {}
        self.pending: dict[Any, dict[str, Any]] = {}
        self.server_tools = ServerToolCalls()
        self.openai_items = OpenAIItems(whole=whole)
