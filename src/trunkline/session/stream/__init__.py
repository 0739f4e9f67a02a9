"""The events of a session on their way to the journal and to readers.

* ``coalesce``: joins neighbouring deltas, and gives events their positions
* ``event_stream``: ``EventStream``: makes each event legal, numbers it, shows it and has it written
* ``held_lease``: whether the lease is surely ours still, or in doubt
* ``reader``: follows a stream at its own pace
* ``unstored``: what readers see instead of an event that could not be stored
"""
