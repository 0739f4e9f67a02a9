"""What a person at a terminal sees and types.

* ``approval_text``: what a person is asked to approve, as lines for a terminal
* ``conversation_text``: a whole conversation as text or markdown
* ``event_lines``: an event as one line for a person
* ``keyboard``: lines from stdin, without a thread
* ``screen``: what a chat draws
* ``table_lines``: Markdown tables among lines of text
"""
