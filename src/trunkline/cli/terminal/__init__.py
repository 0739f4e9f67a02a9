"""What a person at a terminal sees and types.

* ``approval_text``: what a person is asked to approve, as lines for a terminal
* ``blocked_loop``: Ctrl-C as a signal while an agent blocks the event loop
* ``call_text``: a tool call that has ended, as lines
* ``completion``: suggestions as completions of the line editor
* ``devices``: a line editor, a plain terminal or pipes, as stdin and stdout are
* ``display``: what a chat can show
* ``editor_keys``: the keys of the line editor
* ``event_lines``: an event as one line for a person
* ``history_file``: the prompts of earlier chats
* ``line_editor``: an input line below everything that is printed
* ``line_input``: lines for whoever asked last
* ``live_area``: the paragraph that grows, running calls and a spinner
* ``past_turns``: what was said before in a session
* ``plain_screen``: a conversation as plain text, for pipes
* ``questions``: an agent's questions at the keyboard
* ``rich_parts``: markdown without air around it, and lines behind a bar
* ``screen``: a conversation drawn on a terminal
* ``spinner``: a spinner before a chat or an answer can begin
* ``stdin_lines``: lines from stdin, typed or piped, read without a thread
* ``suggestions``: commands, option values and files to complete
* ``table_lines``: Markdown tables among lines of text
"""
