"""Commands that look for what is wrong: with an agent, a server, a set-up or a session.

* ``bundle``: ``trunkline bundle``
* ``check``: ``trunkline check``
* ``doctor``: ``trunkline doctor``
* ``doctor_fixes``: what to do about a failure
* ``doctor_steps``: the steps from a TARGET to an agent that answers, each with its fix
* ``record``: ``trunkline record``
* ``redaction``: takes secrets and texts out of what is shared
* ``replay``: ``trunkline replay``
"""
