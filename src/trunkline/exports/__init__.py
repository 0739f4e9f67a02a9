"""Sessions as files: the one home of exports, for the command line and for the server.

* ``conversation_text``: a conversation as text for a terminal, and as markdown
* ``formats``: a session of the journal in each format, piece by piece
* ``html``: a conversation as one HTML file without a script
* ``status_marks``: the signs of calls and plan entries
"""
