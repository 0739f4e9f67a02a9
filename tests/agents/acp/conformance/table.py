"""The table of requirements on a client, each with its place in the specification, a check and a flaw.

A check reads what was said between a client and the probing agent. The flaw changes a good record so that
the check must fail: so a check that finds nothing cannot be among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.agents.acp.conformance.record import Check

SPEC = "https://agentclientprotocol.com/protocol/v1"
JSONRPC = "https://www.jsonrpc.org/specification"


class Requirement(NamedTuple):
    """One row of the table."""

    id: str
    address: str
    sentence: str
    check: Check
    flaw: Check
    """Makes a good record break it."""


REQUIREMENTS: dict[str, Requirement] = {}


def requirement(id: str, address: str, sentence: str, flaw: Check) -> Callable[[Check], Check]:
    """Add a row to the table."""

    def add(check: Check) -> Check:
        assert id not in REQUIREMENTS
        REQUIREMENTS[id] = Requirement(id, address, sentence, check, flaw)
        return check

    return add
