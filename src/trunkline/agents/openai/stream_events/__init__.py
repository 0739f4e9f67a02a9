"""From the events of the OpenAI Agents SDK to ours; pure.

* ``call_items``: output items that are calls: functions, custom and hosted tools
* ``calls``: the calls of a turn, each announced, described and ended once
* ``fields``: reads the SDK's values by the names of their fields
* ``hook_facts``: what only the SDK's hooks tell
* ``outputs``: outputs of tools as content
* ``responses``: the raw events of one agent's responses
* ``run_items``: the items that the SDK makes of a response: outputs, handoffs, approvals
* ``sources``: the pages and files that an answer cites
* ``stop_reasons``: how a run ended
* ``texts``: texts, refusals, reasoning and their sources
* ``translator``: ``StreamTranslator``: events of the stream and facts of the hooks to events
* ``usage``: how many tokens a response cost
"""
