"""The AG-UI protocol (https://docs.ag-ui.com).

* ``codes``: the codes of RUN_ERROR, and the errors that each stands for
* ``messages``: a conversation as messages, and the messages of a client as events
* ``protobuf``: events as protobuf frames
* ``results``: the result of a tool as text or content parts
* ``transport``: what an AG-UI transport of a program can do
* ``usage``: tokens as AG-UI counts them
* ``wire``: the 31 events, and what a client sends to start a run
"""
