"""Which call a tool is run for: its id, its lane, and the voice of its run.

LangChain tells a tool its call's id only if it is asked for in the arguments, and then refuses to run
it without one. So the id travels beside, in a context variable.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.tools import StructuredTool
from typing_extensions import override

from trunkline.agents.langchain.gate import lane_at
from trunkline.agents.langchain.lookup import voice_of
from trunkline.agents.langchain.voice import Voice

__all__ = ["Call", "CalledTool", "this_call"]

_ID: ContextVar[str | None] = ContextVar("trunkline_tool_call", default=None)


class Call:
    """One call of a tool; without a voice nobody listens, without an id nobody sees it."""

    def __init__(self, voice: Voice | None, tool_call_id: str | None, lane: str | None = None) -> None:
        """Say whose call it is."""
        self.voice = voice
        self.tool_call_id = tool_call_id
        self.lane = lane

    @property
    def event_id(self) -> str | None:
        """The id under which people see this call."""
        if self.voice is None or self.tool_call_id is None:
            return None
        return self.voice.emitter.find(self.lane, self.tool_call_id)

    def progress(self, output: str) -> None:
        """Append to what people see of this call."""
        if self.voice is not None and self.tool_call_id is not None:
            self.voice.emitter.tool_progress(self.lane, self.tool_call_id, output=output)


def this_call(runtime: Any) -> Call:
    """The call that a tool is run for; ``runtime`` is what its graph gave it, if there is one."""
    lane = lane_at(runtime.config) if runtime is not None else None
    return Call(voice_of(runtime), _ID.get(), lane)


class CalledTool(StructuredTool):
    """A tool that knows which call it is run for, however it is run."""

    @override
    async def arun(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
        with _calling(tool_call_id):
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **kwargs)

    @override
    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
        with _calling(tool_call_id):
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **kwargs)


@contextmanager
def _calling(tool_call_id: str | None) -> Generator[None]:
    token = _ID.set(tool_call_id)
    try:
        yield
    finally:
        _ID.reset(token)
