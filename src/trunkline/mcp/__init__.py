"""The client side of MCP, without any agent framework: an adapter turns its tools into a framework's own.

* ``allowed_hosts``: which hosts may be called for a client that named a server
* ``checked_transport``: an HTTP transport that connects to allowed addresses only
* ``client``: opens a connection to one server and speaks MCP over it
* ``log_lines``: log lines of a server, as notices
* ``running_calls``: the calls that run on a server: progress and questions
* ``server_connection``: one server, held open by a task of its own
* ``server_set``: the servers of one session: opened side by side, closed with it
* ``server_settings``: reads the settings of servers
* ``tool_names``: a unique name for every tool of several servers
"""
