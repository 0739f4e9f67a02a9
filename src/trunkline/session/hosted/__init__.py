"""Hosted turns: turns that run in a program of the user's own, without a hub.

* ``frontends``: what a front end offers to hosted turns, and how it is found
* ``turn``: ``HostedSession`` and ``HostedTurn``, which the caller's own task or thread drives
"""
