"""The user's own MCP servers: a call whose server says that it failed is shown as failed.

The SDK gives the model the text of such a result and tells nobody that it is an error. So a turn uses a twin
of each server: another class over the same attributes, whose ``call_tool`` looks at the result first. The
user's own server is never changed, and has one connection, one cache and one set of settings.
"""

from __future__ import annotations

from typing import Any, cast

from agents.mcp import MCPServer

from trunkline.agents.openai.running_calls import CALL, Calls

_REASON_LENGTH = 500


def watch_server(server: MCPServer, calls: Calls) -> MCPServer:
    """Give a twin of a server that tells ``calls`` which of its calls failed."""
    kind: Any = type(server)
    if any(_keeps_apart(one) for one in kind.__mro__):
        return server  # Its attributes cannot be shared; failures then show as what the server said.

    async def call_tool(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = await kind.call_tool(self, *args, **kwargs)
        note_failure(calls, CALL.get(), result)
        return result

    twin: Any = object.__new__(
        type(kind.__name__, (kind,), {"call_tool": call_tool, "__module__": kind.__module__})
    )
    twin.__dict__ = server.__dict__
    return cast("MCPServer", twin)


def note_failure(calls: Calls, native_id: str | None, result: Any) -> None:
    """Let a call be shown as failed whose result says so (``isError``; ``is_error`` in version 2 of mcp)."""
    failed = getattr(result, "isError", None) or getattr(result, "is_error", None)
    if failed and native_id is not None:
        texts = [text for block in result.content if isinstance(text := getattr(block, "text", None), str)]
        calls.fail(native_id, " ".join(texts)[:_REASON_LENGTH] or "the server says that it failed")


def _keeps_apart(kind: type) -> bool:
    slots: Any = vars(kind).get("__slots__", ())
    names = {slots} if isinstance(slots, str) else set(slots)
    return bool(names - {"__dict__", "__weakref__"})
