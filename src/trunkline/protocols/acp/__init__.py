"""The Agent Client Protocol, version 1 (https://agentclientprotocol.com).

* ``agent_options``: reads the options of a session at an agent, as one list
* ``compactions``: compactions of an agent's context
* ``config_options``: writes our options for clients; the mode for older ones
* ``content``: content blocks both ways
* ``decoder``: what an agent says in a session, as neutral events
* ``fields``: reads fields of JSON that may be of any type
* ``lossless``: decoding that keeps what a newer or a careless peer sends
* ``message_ids``: ids of the messages of an agent that gives none, or some
* ``plans``: plans of an agent, as one
* ``profiles``: what agents send beside the standard
* ``prompt_echo``: recognises the echo of our own prompt
* ``prompt_result``: the answer to a prompt both ways: how a turn ended, and what it cost
* ``replay``: the history of a session at an agent, as session/load sends it
* ``session_facts``: commands, titles, usage and notices
* ``session_messages``: messages between the sessions of an agent
* ``subagents``: subagents of an agent as lanes
* ``tool_calls``: one state a call, made of all the updates that name it
* ``transport``: what an ACP transport of a program can do
* ``wire``: the types, generated from the official schema
"""
