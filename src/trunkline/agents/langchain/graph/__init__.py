"""A compiled graph: what is in it, what is added to it, what it remembers and what it stops for.

* ``checkpointers``: a checkpointer for graphs that have none, or one that is not async
* ``client_input``: what a front end sends with a prompt, where graphs written for AG-UI look for it
* ``free_form_interrupts``: from what a free-form ``interrupt()`` asks to a form, and from its answer back
* ``hooks``: the two hooks: add the session's tools to model requests, answer for failed tools
* ``inputs``: the input that a Runnable takes, made of a prompt
* ``inspect``: the tools, middlewares and model of a graph; reads only
* ``instrument``: copies a compiled graph with the hooks
* ``interrupts``: interrupts to questions, and answers to the graph's resume
* ``manually_emitted``: custom events of a node that stand for state, a message or a call
* ``plain_wrappers``: runs a wrapper of tool calls that is not async in a thread
* ``remembered_questions``: what a thread waits for after a restart
* ``repair``: answers the calls that a cancelled or failed turn left open in a thread
* ``shared_state``: which fields of the state are shared with a front end, and when
* ``threads``: what a checkpointer remembers: read, rewind, copy, delete
"""
