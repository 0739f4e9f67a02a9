"""Whether a tool call may run: the question, its answer, and that both hold below subagents.

* ``answer_file``: a JSON file that keeps "always" answers
* ``decide``: asks whether a tool call may run, and applies the answer to the call
* ``operator_policy``: the policy of the session holds for every call, with or without our middlewares
* ``subagent_modes``: what a mode forbids stays forbidden below the call that starts a subagent
* ``subagents``: the same permissions inside subagents
* ``verdicts``: ``Verdict``, and what it does to a call
"""
