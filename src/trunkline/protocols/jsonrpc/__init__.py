"""JSON-RPC 2.0 over lines of bytes (https://www.jsonrpc.org/specification).

Above is a protocol (ACP, on both of its sides) that gives methods a meaning; below is a transport
that moves bytes.

* ``connection``: a peer in an event loop: tasks and waiting
* ``framing``: a stream of bytes into lines
* ``messages``: what one line means
* ``oversize``: the id of a message that is too long to be read
* ``peer``: one end of a connection as a state machine; pure
"""
