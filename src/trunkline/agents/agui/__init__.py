"""AG-UI servers as agents: ``agui:URL``.

agent: runs a server as an agent; its runs are one turn
client: the HTTP client, one POST per run
translator: AG-UI events to neutral events; pure
questions: interrupts as questions, and answers as the request that resumes
run_end: how a run ended
known_messages: recognises messages that a server repeats under other ids
event_shapes: checks events before they are read
langgraph: what ag-ui-langgraph sends besides AG-UI

* ``agent``: the agent: its runs are one turn, with questions and client tools between them
* ``client``: the HTTP client: one POST for each run, its events as they come
* ``event_shapes``: The shapes that an AG-UI server's events must have before they are read
* ``known_messages``: The messages of a conversation by every id that a server gives them
* ``langgraph``: what ag-ui-langgraph does besides the specification, or instead of it
* ``questions``: the server's interrupts as questions, and answers as what it resumes with
* ``run_end``: How a run of an AG-UI server ended: RUN_FINISHED and RUN_ERROR
* ``translator``: from AG-UI events to neutral events; pure
"""

from __future__ import annotations

from trunkline.agents.agui.agent import AguiAgent

__all__ = ["AguiAgent"]
