"""Agents of the OpenAI Agents SDK on the trunk; every name is loaded when it is first used.

An agent needs none of these: ``trunkline acp app.py:agent`` takes it as it is.

* ``agent``: ``OpenAIAgent``: an ``agents.Agent`` as an agent of ours
* ``agent_copies``: the agents of one turn: copies of the user's own
* ``errors``: what went wrong in a run, in codes and in words
* ``input_items``: our conversation as the input items of a model
* ``options``: the options of a session: model, reasoning effort, verbosity
* ``permissions``: whether a tool call may run
* ``recognise``: recognises the SDK's agents without importing the SDK
* ``run_states``: a run that stopped for approvals, kept for another process
* ``running_calls``: the calls of a turn: shown, begun, failed, refused
* ``sdk_session``: the user's own ``Session`` of the SDK: repaired, rewound, copied
* ``stream_events``: the SDK's events as ours
* ``tools``: the tools of an agent as a session runs them
* ``turn``: one turn of an agent, from the prompt to its end
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.agents.openai.agent import OpenAIAgent

__all__ = ["OpenAIAgent"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"OpenAIAgent": "trunkline.agents.openai.agent"},
    extras={"trunkline.agents.openai": "openai"},
)
