"""The Agent Client Protocol, version 1 (https://agentclientprotocol.com).

wire: the types of the schema (generated)
lossless: reads parsed JSON as wire types, and keeps what it does not know
content: content blocks, both ways
"""
