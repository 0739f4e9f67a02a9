"""The AG-UI protocol (https://docs.ag-ui.com).

wire: the types of events, messages and requests
messages: a conversation as messages, and the messages of a client as events
results: the result of a tool call as content, shortened where it is too long
codes: the codes of RUN_ERROR, and which error each stands for
usage: token counts
protobuf: events as protobuf frames
"""
