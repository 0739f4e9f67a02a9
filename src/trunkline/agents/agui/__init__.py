"""AG-UI servers as agents: ``agui:URL``.

agent: runs a server as an agent; its runs are one turn
client: the HTTP client, one POST per run
translator: AG-UI events to neutral events; pure
questions: interrupts as questions, and answers as the request that resumes
run_end: how a run ended
known_messages: recognises messages that a server repeats under other ids
event_shapes: checks events before they are read
langgraph: what ag-ui-langgraph sends besides AG-UI
"""

from __future__ import annotations

from trunkline.agents.agui.agent import AguiAgent

__all__ = ["AguiAgent"]
