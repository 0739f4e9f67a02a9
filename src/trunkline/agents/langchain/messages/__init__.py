"""LangChain's messages and blocks to events and back.

* ``content_mapper``: content both ways: LangChain's, ours and ACP's
* ``emitter``: messages to events, each emitted once; pure
* ``history``: a conversation as messages, and messages as a conversation
* ``model_run``: what is known of one call of a model, and of the tool calls it makes
* ``openai_items``: blank lines between the items of an OpenAI response
* ``plain_outputs``: the output of a graph without messages, as text
* ``plan``: the plan that a graph keeps in its state
* ``provider_blocks``: blocks of the providers as standard ones, and what is beside the content
* ``refused_inputs``: attachments that a model refused, named as text in later requests
* ``result_content``: what a ``content_mapper`` gives, read as content
* ``server_tools``: calls of tools that the provider runs itself
* ``standard_blocks``: LangChain's standard content blocks, one by one, both ways
* ``tool_descriptions``: kind, title and files of calls
"""
