"""LangChain's callbacks: what models and tools report while they run.

* ``begin_run``: begins a run before its first step, and has it followed to its end
* ``hosted_handler``: the callback handler for one's own ``invoke`` and ``ainvoke``
* ``lanes``: which lane (subagent) a run belongs to
* ``listener``: what callbacks report, given to an emitter in the right lane
* ``session_handler``: the callback handler for a turn of a session
"""
