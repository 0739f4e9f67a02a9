"""The lease that this process holds of a session: whether it is surely ours still, or in doubt.

From its deadline on another process may take it. What is emitted then waits until the lease is confirmed
(``session.lease_renewal``).
"""

from __future__ import annotations

from collections.abc import Callable

from trunkline.journal import Lease
from trunkline.journal.lease_clock import lease_clock


class HeldLease:
    """The right to write, as long as this process has it."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.lease: Lease | None = None
        self.in_doubt = False
        """Whether something waits to be shown or written until the lease is confirmed."""
        self.on_doubt: Callable[[], None] | None = None
        """Called when the lease may have run out; it must be extended or dropped then."""
        self._deadline = 0.0

    @property
    def is_current(self) -> bool:
        """Whether no other process can have taken the lease by now."""
        return self.lease is not None and lease_clock() < self._deadline

    def doubts(self) -> bool:
        """Whether the lease may have expired; the hub is asked to find out, once."""
        if self.in_doubt or self.lease is None or self.is_current:
            return self.in_doubt
        self.in_doubt = True
        if self.on_doubt is not None:
            self.on_doubt()
        return True

    def take(self, lease: Lease, deadline: float) -> None:
        """Hold a lease; from ``deadline`` (see ``lease_clock``) on, another process may take it."""
        self.lease = lease
        self._deadline = deadline

    def extend(self, deadline: float) -> bool:
        """Hold it until ``deadline``, as it is confirmed; whether it was in doubt."""
        self._deadline = deadline
        was_in_doubt, self.in_doubt = self.in_doubt, False
        return was_in_doubt

    def drop(self) -> None:
        """Hold nothing any more."""
        self.lease = None
        self.in_doubt = False
