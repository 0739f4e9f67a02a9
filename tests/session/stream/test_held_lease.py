"""The lease that is held: in doubt from its deadline on, until it is confirmed or gone."""

from trunkline.journal import Lease, SessionKey
from trunkline.journal.lease_clock import lease_clock
from trunkline.session.stream.held_lease import HeldLease

LEASE = Lease(SessionKey("ada", "one"), "A", 1, 0)


def test_the_hub_is_asked_once_about_a_lease_that_may_have_expired() -> None:
    asked: list[str] = []
    held = HeldLease()
    held.on_doubt = lambda: asked.append("is it ours?")
    assert not held.doubts()
    held.take(LEASE, lease_clock() + 60.0)
    assert held.is_current
    assert not held.doubts()
    assert not held.extend(0.0)
    assert [held.doubts(), held.doubts(), held.in_doubt, held.is_current] == [True, True, True, False]
    assert held.extend(lease_clock() + 60.0)
    assert [held.doubts(), held.is_current, len(asked)] == [False, True, 1]


def test_a_lease_that_is_gone_is_not_in_doubt() -> None:
    held = HeldLease()
    held.take(LEASE, 0.0)
    assert held.doubts()
    held.drop()
    assert [held.doubts(), held.in_doubt, held.is_current, held.lease] == [False, False, False, None]
