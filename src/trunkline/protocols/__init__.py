"""What two sides speak, below agents and front ends; pure but for ``jsonrpc.connection``.

acp: the Agent Client Protocol, version 1
agui: the AG-UI protocol, version 1.0 and before
jsonrpc: JSON-RPC 2.0 over lines of bytes, under ACP
sse: the one reader and the one writer of server-sent events

* ``acp``: types and content of the Agent Client Protocol
* ``agui``: types, messages and encodings of AG-UI
* ``jsonrpc``: JSON-RPC 2.0 over lines of bytes
* ``sse``: the reader and the writer of server-sent events
"""
