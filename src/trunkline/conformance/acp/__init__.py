"""ACP conformance: an agent's command, driven over stdin and stdout.

* ``kit``: the agent under test, and what the checks share
* ``run``: the whole table against a command
* ``schema``: the official JSON schema as a judge
* ``session_requirements``: opening, loading, listing, closing, modes, options and logins
* ``stdio_client``: talking ACP with a command, line by line
* ``tool_requirements``: tool calls, and the permissions that are asked for them
* ``turn_requirements``: prompts, what they may hold, cancelling, and a client's missing abilities
* ``wire_requirements``: transport, JSON-RPC, initialize, the schema, bad input, errors and the end
"""
