"""An agent in one's own program, without our server.

* ``acp``: ``acp_agent`` and ``acp_middleware``
* ``agent``: ``OwnAgent``: what the agents of all protocols have in common
* ``agui``: ``agui_agent`` and ``agui_system``
* ``agui_request``: what the request of an AG-UI client means for an agent
* ``context``: what a caller gives with one invocation: the transport and the ids
* ``graph_stream``: the state and the custom events of a graph that the caller runs
* ``middleware``: the middlewares of an agent in one's own program, made from one set of options
* ``options``: the options of these functions, for type checkers
* ``run``: one run of an agent: who follows it, and how its turn ends
* ``run_channels``: which run uses which channel
"""
