"""Transports: what moves bytes, and with the journals the only modules that wait for them.

* ``memory``: two ends in one process
* ``outbox``: messages that wait for readers that may be slow, come and go
* ``process``: child processes
* ``stdio``: standard input and output
"""
