"""AG-UI servers as agents: ``agui:URL``.

* ``agent``: the agent: its runs are one turn, with questions and client tools between them
* ``client``: the HTTP client: one POST for each run, its events as they come
* ``event_shapes``: checks the shape of the server's events before they are read
* ``known_messages``: the messages of a conversation by every id that a server gives them
* ``langgraph``: what ag-ui-langgraph does besides the specification, or instead of it
* ``questions``: the server's interrupts as questions, and answers as what it resumes with
* ``run_end``: how a run ended: RUN_FINISHED and RUN_ERROR
* ``translator``: from AG-UI events to neutral events; pure
"""

from __future__ import annotations

from trunkline.agents.agui.agent import AguiAgent

__all__ = ["AguiAgent"]
