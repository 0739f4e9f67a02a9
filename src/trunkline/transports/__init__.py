"""Transports: what moves bytes, and with the journals the only modules that wait for them.

* ``memory``: two ends in one process
* ``outbox``: messages that wait for readers that may be slow, come and go
* ``process``: child processes
* ``sender``: sends messages to a transport from any thread, in order
* ``stdio``: standard input and output
"""
