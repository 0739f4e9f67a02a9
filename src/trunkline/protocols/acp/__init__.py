"""The Agent Client Protocol, version 1 (https://agentclientprotocol.com).

* ``config_options``: configuration options on the wire, and modes for clients that know no options
* ``content``: content blocks both ways
* ``lossless``: decoding that keeps what a newer or a careless peer sends
* ``transport``: what an ACP transport of a program can do
* ``wire``: the types, generated from the official schema
"""
