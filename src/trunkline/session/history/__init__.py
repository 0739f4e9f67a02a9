"""What a session knows of its past, without reading all of its records each time.

* ``earlier_turns``: the turns before the last one
* ``open_state``: what opening a session learns from its records
* ``snapshots``: writes and reads snapshots of a session
"""
