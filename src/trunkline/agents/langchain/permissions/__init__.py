"""Whether a tool call may run: the question, its answer, and that both hold below subagents.

* ``decide``: asks whether a tool call may run, and applies the answer to the call
* ``subagent_modes``: what a mode forbids stays forbidden below the call that starts a subagent
* ``subagents``: the same permissions inside subagents
"""
