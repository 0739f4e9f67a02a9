"""Sessions as files: the one home of exports, for the command line and for the server.

* ``dates``: when a session began and was last used, in UTC
* ``diff_lines``: a change of a file as lines
* ``formats``: a session of the journal in each format, piece by piece
* ``html``: a conversation as one HTML file without a script
* ``markdown``: a conversation as markdown, and as text for a terminal
* ``markdown_html``: Markdown of an agent as HTML
* ``questions``: what was asked, and what came of it
* ``status_marks``: the signs of calls and plan entries, and the titles of calls
"""
