"""The Agent Client Protocol, version 1 (https://agentclientprotocol.com).

wire: the types of the schema (generated)
lossless: reads parsed JSON as wire types, and keeps what it does not know
content: content blocks, both ways

* ``content``: content blocks both ways
* ``lossless``: decoding that keeps what a newer or a careless peer sends
* ``wire``: the types, generated from the official schema
"""
