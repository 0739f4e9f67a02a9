"""The call that a tool runs for: its id, its lane, and the channel of its run."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langgraph.prebuilt import tool_node

from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.channel_lookup import find_channel
from trunkline.agents.langchain.permissions.subagents import lane_at
from trunkline.tools.langchain_call_id import called_id

_content_as_text: Callable[[Any], Any] = cast("Any", tool_node).msg_content_output
_TYPED: ContextVar[dict[str, Any] | None] = ContextVar("trunkline_typed_content", default=None)


class Call:
    """One call of a tool; without a channel or an id, nothing of it is shown."""

    def __init__(self, channel: Channel | None, tool_call_id: str | None, lane: str | None = None) -> None:
        self.channel = channel
        self.tool_call_id = tool_call_id
        self.lane = lane

    @property
    def event_id(self) -> str | None:
        """The id of the event that shows this call."""
        if self.channel is None or self.tool_call_id is None:
            return None
        return self.channel.emitter.call_id_of(self.lane, self.tool_call_id)

    def progress(self, output: str) -> None:
        """Append to the output that is shown of this call."""
        if self.channel is not None and self.tool_call_id is not None:
            self.channel.emitter.tool_progress(self.lane, self.tool_call_id, output=output)

    def answer(self, content: Any, artifact: Any, name: str) -> ToolMessage:
        """Make the message that answers this call, for ``keep_content_types`` to see."""
        typed = _TYPED.get()
        if typed is not None:
            typed[self.tool_call_id or ""] = content
        return ToolMessage(content=content, artifact=artifact, name=name, tool_call_id=self.tool_call_id)


@contextmanager
def keep_content_types() -> Generator[Callable[[Any], Any]]:
    """Keep content blocks that LangGraph's ToolNode (``msg_content_output``) would turn into text.

    Gives the function that restores them in the answer of a tool.
    """
    typed: dict[str, Any] = {}
    token = _TYPED.set(typed)

    def restore(answer: Any) -> Any:
        content: Any = typed.get(answer.tool_call_id) if isinstance(answer, ToolMessage) else None
        if content is not None and answer.content == _content_as_text(content):
            answer.content = content
        return answer

    try:
        yield restore
    finally:
        _TYPED.reset(token)


def this_call(runtime: Any) -> Call:
    """The call that a tool runs for; ``runtime`` is the one that its graph gave it, if there is a graph."""
    lane = lane_at(runtime.config) if runtime is not None else None
    return Call(find_channel(runtime), called_id(), lane)
