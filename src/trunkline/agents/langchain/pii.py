"""Personal data: what an agent's own PIIMiddleware redacts is not shown to the client either.

LangChain's middleware redacts whole messages, too late for tokens. So where output is redacted no token is
shown, and each message is shown when it is whole, as the middleware leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from langchain.agents.middleware import PIIMiddleware
from langchain.agents.middleware.pii import PIIDetectionError
from langchain_core.messages import AIMessage

Scrub = Callable[[Any], Any]


def scrubber(middleware: Iterable[Any]) -> Scrub | None:
    """Make the function that redacts a message, or gives None to hide it; None if nothing is redacted."""
    guards = [
        cast("Any", one)
        for one in middleware
        if isinstance(one, PIIMiddleware) and (one.apply_to_output or one.apply_to_tool_results)
    ]

    def scrub(message: Any) -> Any:
        for guard in guards:
            redact = guard.before_model if message.type == "tool" else guard.after_model
            try:
                # PIIMiddleware looks for tool results behind the last AI message.
                changed = redact({"messages": [AIMessage(""), message]}, None)
            except PIIDetectionError:
                return None  # The agent's own middleware raises this too, and stops the turn.
            message = message if changed is None else changed["messages"][-1]
        return message

    return scrub if guards else None
