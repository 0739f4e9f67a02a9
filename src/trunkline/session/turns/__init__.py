"""The turns of a session, from a prompt to its end.

* ``agent_events``: what an agent's events change in its session, and which ones it may not emit
* ``base_turn``: ``BaseTurn``: what every turn does, and how it ends
* ``out_of_turn``: events that concern a session and none of its turns
* ``prompt_queue``: the prompts that wait for the turn that is running
* ``recovery``: a turn that an earlier process left open waits for answers again, or has failed
* ``steering``: messages that join the turn that is running
* ``suspension``: when a turn that waits for answers counts as suspended
* ``turn``: ``Turn``: one prompt on its way through an agent
* ``usage``: adds up the tokens of a turn
"""
