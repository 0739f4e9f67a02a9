"""Privacy: what an agent's own PIIMiddleware keeps from its reader is kept from ours.

LangChain redacts a message when it is whole, and whoever reads tokens has read them by then. So where
output is redacted no token is said: each message is, when it is whole, as the middleware leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from langchain.agents.middleware import PIIMiddleware
from langchain.agents.middleware.pii import PIIDetectionError
from langchain_core.messages import AIMessage

__all__ = ["Scrub", "scrubber"]

Scrub = Callable[[Any], Any]


def scrubber(middleware: Iterable[Any]) -> Scrub | None:
    """Give what makes a message fit to be said, or nothing of it; None where nothing is redacted."""
    guards = [
        cast("Any", one)
        for one in middleware
        if isinstance(one, PIIMiddleware) and (one.apply_to_output or one.apply_to_tool_results)
    ]

    def scrub(message: Any) -> Any:
        for guard in guards:
            look = guard.before_model if message.type == "tool" else guard.after_model
            try:
                # Results are looked for behind the message that asked for them.
                changed = look({"messages": [AIMessage(""), message]}, None)
            except PIIDetectionError:
                return None  # The agent itself will find it and stop.
            message = message if changed is None else changed["messages"][-1]
        return message

    return scrub if guards else None
