"""``trunkline new``: the files of a new agent.

* ``command``: the command itself
* ``project``: what stands in the files, and writing them without touching others
"""
