"""The AG-UI protocol (https://docs.ag-ui.com).

* ``codes``: the codes of RUN_ERROR, and the errors that each stands for
* ``event_types``: the types of events, by the names of the official SDKs
* ``imported_history``: the history that a client brings to a new thread, as events
* ``messages``: a conversation as messages, and the content of a client's message as blocks
* ``protobuf``: events as protobuf frames
* ``results``: the result of a tool as text or content parts
* ``transport``: what an AG-UI transport of a program can do
* ``usage``: tokens as AG-UI counts them
* ``wire``: the 31 events, and what a client sends to start a run
"""
