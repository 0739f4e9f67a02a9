"""The client side of MCP, without any agent framework: an adapter turns its tools into a framework's own.

``connections``
    read the settings of servers (a mapping of names, or the list that ACP clients send)
``client``
    open a connection and speak MCP over it
``server``
    one server, held open by a task of its own
``calls``
    the calls that run on a server: their progress, and the questions and log lines of the server
``tool_names``
    a name for every tool of several servers
``allowed_hosts``
    which hosts may be called for a client that named a server
``checked_transport``
    an HTTP transport that connects to allowed addresses only
"""
