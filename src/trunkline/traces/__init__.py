"""Traces: what a client and an agent said on stdio, recorded and played again.

A trace is a file of JSON lines: ``{"t": seconds, "dir": "client->agent" | "agent->client", "msg": {...}}``; a
line that was no JSON object has ``raw``, its text, in place of ``msg``.

* ``agent_player``: a trace as a fake agent
* ``client_player``: a trace as a fake client, which compares what an agent does now
* ``recorder``: stands between a client and an agent's command, and writes the trace
* ``trace``: the lines of a trace, read and written
"""
