"""Agents that come with the package, for trying it out and for tests.

* ``finance``: the finance agent: a ledger in SQLite, statements, questions and its tools
* ``login``: the login program of ``demo-auth``, and the login that it keeps
* ``scenarios``: what the scripted agent can show, one scenario each
* ``scripted``: the scripted agent: deterministic, offline, does everything that an agent can do
"""
