"""What two sides speak, below agents and front ends; pure but for ``jsonrpc.connection``.

* ``acp``: types and content of the Agent Client Protocol
* ``agui``: types, messages and encodings of AG-UI
* ``aisdk``: chunks and messages of the AI SDK's UI message stream
* ``jsonrpc``: JSON-RPC 2.0 over lines of bytes
* ``sse``: the reader and the writer of server-sent events
* ``unified``: UnifiedMessage, the envelope of BeamCode
"""
