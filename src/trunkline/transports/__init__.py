"""Transports: what moves bytes, and with the journals the only modules that wait for them.

* ``event_loops``: the event loop that runs here, and one in which plain threads wait
* ``memory``: two ends in one process
* ``outbox``: messages that wait for readers that may be slow, come and go
* ``process``: child processes
* ``sender``: sends messages to a transport from any thread, in order
* ``stdio``: standard input and output
"""
