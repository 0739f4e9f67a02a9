"""``trunkline finance``: statements and banks for the finance agent.

* ``command``: the commands
* ``import_command``: ``trunkline finance import``
"""
