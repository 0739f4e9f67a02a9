"""The AG-UI protocol (https://docs.ag-ui.com).

wire: the types of events, messages and requests
messages: a conversation as messages, and the messages of a client as events
results: the result of a tool call as content, shortened where it is too long
codes: the codes of RUN_ERROR, and which error each stands for
usage: token counts
protobuf: events as protobuf frames

* ``codes``: the codes of RUN_ERROR, and the errors that each stands for
* ``messages``: a conversation as messages, and the messages of a client as events
* ``protobuf``: events as protobuf frames
* ``results``: the result of a tool as text or content parts
* ``usage``: tokens as AG-UI counts them
* ``wire``: the 31 events, and what a client sends to start a run
"""
