"""Agents of the OpenAI Agents SDK on the trunk.

* ``errors``: what went wrong in a run, in codes and in words
* ``stream_events``: the SDK's events as ours
"""
