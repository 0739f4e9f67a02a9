"""The turn that the running code belongs to, for code that is not given a context.

A tool that a framework calls, or a helper deep inside one, asks for the context of the turn that runs it::

    from trunkline import context

    async def search(query: str) -> str:
        ctx = context.current()
        if ctx is not None:
            ctx.notice(f"searching for {query}")
"""

from __future__ import annotations

from trunkline.session.context import Decision, SessionView, ToolHandle, TurnContext, current

__all__ = ["Decision", "SessionView", "ToolHandle", "TurnContext", "current"]
