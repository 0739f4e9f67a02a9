"""ACP agents as agents: ``acp:COMMAND ARGS``. The names are imported when they are first used.

* ``registry``: the agents of the public registry, and the commands that start them
"""
