"""``trunkline sessions``: the sessions of the journal.

* ``cancel``: ends the turn of a session, wherever it runs
* ``command``: the group of commands
* ``delete``: removes one session for good
* ``export``: a session as a file
* ``import_command``: sessions that exist at an agent alone become sessions of the journal
* ``listing``: list and search: sessions as a table
* ``prune``: forgets old sessions, and the oldest turns of large ones
* ``rename``: gives a session a name
* ``show``: the conversation of a session
"""
