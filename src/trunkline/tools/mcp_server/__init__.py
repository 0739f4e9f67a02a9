"""An MCP server for the tools of a registry; it needs no package of MCP.

* ``calls``: a call for an MCP client: progress, permission by elicitation, and calls that wait for input
* ``listing``: tools, results and questions as MCP writes them; pure
* ``server``: the methods of the server
* ``stdio``: the server on standard input and output
"""
