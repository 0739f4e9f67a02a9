"""Conformance: requirements of a protocol, each with a check that drives a real agent or server.

``trunkline check`` is the command. A check that cannot be made (the agent does not offer it, or no prompt
was given that brings it about) is skipped with the reason; it never counts as passed.

* ``acp``: agents over stdio, against the Agent Client Protocol
* ``agui``: servers over HTTP, against AG-UI
* ``aisdk``: servers over HTTP, against the AI SDK's UI message stream
* ``http``: requests to a server under test, with everything that was sent and came back
* ``report``: what was found, as text, JSON and JUnit
* ``table``: requirements, verdicts, and how a table is held against a subject
"""
