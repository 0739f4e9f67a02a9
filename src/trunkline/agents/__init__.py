"""Agents: the interface that every source of events has, and what makes agents of objects and addresses.

* ``acp``: agents that speak ACP, as processes
* ``adapt``: makes an agent of an object: ours, a function, a factory (one for each session), an adapter's
* ``agui``: an AG-UI server as an agent (``agui:URL``)
* ``function``: functions and generators as agents, and the decorator ``agent``
* ``import_hints``: what to do about an import that failed in a user's file
* ``interface``: ``Agent``, ``AgentCard`` and the optional methods of an agent
* ``json_values``: values of an agent made fit for JSON
* ``langchain``: LangChain, LangGraph and deepagents
* ``lifespan``: what a factory opens for its agent and closes behind its ``yield``
* ``module_agents``: the agents in a module, for a TARGET that names none of them
* ``openai``: agents of the OpenAI Agents SDK
* ``optional_methods``: calls the optional methods of an agent for one session
* ``own_thread``: runs plain (not async) code in a thread of its own
* ``pty``: a program in a pseudo-terminal (``pty:COMMAND``)
* ``targets``: from a TARGET on the command line to an agent
"""
