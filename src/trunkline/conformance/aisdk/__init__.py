"""AI SDK conformance: a chat endpoint for useChat, driven over HTTP.

* ``kit``: the endpoint under test, and the responses that the checks share
* ``run``: the whole table against an address
* ``stream_requirements``: requirements on requests, headers, chunks, parts, tools and the end
* ``stream_rules``: the rules of a UI message stream that need no AI SDK to check
"""
