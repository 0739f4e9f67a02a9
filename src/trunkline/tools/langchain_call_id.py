"""The id of the call that a tool of LangChain runs for, as its function can ask for it.

LangChain gives a tool the id of its call only as an argument (``InjectedToolCallId``), and then does not run
it without one. So the id is in a context variable.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.tools import StructuredTool
from typing_extensions import override

_ID: ContextVar[str | None] = ContextVar("trunkline_tool_call", default=None)


def called_id() -> str | None:
    """The id of the call that this code runs for; None outside of a ``CalledTool``."""
    return _ID.get()


class CalledTool(StructuredTool):
    """A tool whose function can ask for the id of its call: ``called_id``."""

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
