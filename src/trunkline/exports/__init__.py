"""Sessions as files: the one home of exports, for the command line and for the server.

* ``changes``: a change of a file as lines
* ``conversation_text``: a conversation as text for a terminal, and as markdown
* ``formats``: a session of the journal in each format, piece by piece
* ``html``: a conversation as one HTML file without a script
* ``markdown_html``: Markdown of an agent as HTML
* ``questions``: what was asked, and what came of it
* ``status_marks``: the signs of calls and plan entries, and the titles of calls
"""
