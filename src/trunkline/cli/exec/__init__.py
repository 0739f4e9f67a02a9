"""``trunkline exec``: one prompt, one answer.

* ``approvals``: ``--approve``: answers without a person
* ``command``: the command and its options
* ``output``: a turn as text, JSON or events
* ``person``: the person at the terminal, who answers what ``--approve`` leaves open
* ``run``: one prompt in one session, followed to its end
"""
