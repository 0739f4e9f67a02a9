"""Tools of a session: those of its MCP servers and those of its front end, as LangChain's.

* ``attached_servers``: the MCP servers of a session, opened and closed with it
* ``client_tools``: the front end's own tools, which the front end runs
* ``current_call``: the call that a tool runs for
* ``deepagents_files``: where the files of deepagents' file tools are on this machine
* ``mcp_results``: the result of an MCP tool as the content of a tool message
* ``mcp_servers``: the MCP servers of one session, with their tools as LangChain's
* ``mcp_tools``: the tools of MCP servers as LangChain's
* ``registered_tools``: tools of a registry, and the calls that are shown of them
* ``session_tools``: adds a session's own tools to a compiled graph
"""
