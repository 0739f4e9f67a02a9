"""JSON-RPC 2.0 over lines of bytes (https://www.jsonrpc.org/specification).

Above is a protocol (ACP, on both of its sides) that gives methods a meaning; below is a transport
that moves bytes.

* ``connection``: a peer in an event loop: the order of requests, tasks and waiting
* ``framing``: a stream of bytes into lines, of ``MAX_LINE`` bytes at most
* ``long_message_id``: the id of a message that is too long to be read, from its edges
* ``messages``: what one line means; refuses batches, too deep nesting and wrong shapes
* ``peer``: one end of a connection as a state machine: ids, answers, limits, cancellation; pure
"""
