"""``trunkline chat``: a conversation in this terminal.

* ``client_commands``: the slash commands of the chat itself
* ``command``: the command and its options
* ``follower``: draws what happens in a session, and asks what is asked
* ``loop``: prompts from the keyboard, one session after the other, Ctrl-C
* ``page``: the page beside a chat
* ``resume_line``: the command that goes on with a session
"""
