"""Agents that come with the package, for trying it out and for tests.

* ``scenarios``: what the scripted agent can show, one scenario each
* ``scripted``: the scripted agent: deterministic, offline, does everything that an agent can do
"""
