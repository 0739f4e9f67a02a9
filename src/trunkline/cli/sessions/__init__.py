"""``trunkline sessions``: the sessions of the journal.

* ``cancel``: ends the turn of a session, wherever it runs
* ``changes``: delete, prune and rename
* ``command``: the group of commands
* ``import_command``: sessions that exist at an agent alone become sessions of the journal
* ``listing``: list and search: sessions as a table
* ``reading``: show and export: one session, whole
"""
