"""The tools of an agent as a session runs them: copies that ask, report and fail visibly.

* ``client_tools``: the front end's own tools
* ``function_tools``: function tools, also those of MCP servers
* ``hosted_servers``: MCP servers that the provider calls itself
* ``native_tools``: shell, patch and custom tools
* ``nested_agents``: agents that are called as tools
* ``own_servers``: the user's own MCP servers, whose failed calls show as failed
* ``session_servers``: the MCP servers that a client names for its session
"""
