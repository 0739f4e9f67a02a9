"""Owners: how a process names itself in a lease, so that others on its machine see when it died.

A lease runs out by itself, which is all another machine can wait for. On the same machine a process
that is gone can be seen to be gone, so no process has to wait for it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from trunkline.journal.lease_clock import boot_id
from trunkline.session.ids import new_id

__all__ = ["is_gone", "new_owner"]


def new_owner() -> str:
    """A name for this process, unique among all that share a journal."""
    return f"{_machine()}/{os.getpid()}/{new_id('hub')}"


def is_gone(owner: str) -> bool:
    """Whether an owner is a process of this very machine that does not exist any more."""
    machine, _, rest = owner.partition("/")
    pid = rest.partition("/")[0]
    if not pid.isdigit() or not machine or machine != _machine():
        return False
    try:
        # A zombie runs no turns either.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True
    except OSError:
        return False


def _machine() -> str:
    """Name this boot and this namespace of process ids; empty where they are unknown."""
    try:
        space = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return ""
    boot = boot_id()
    return hashlib.sha256(f"{boot}{space}".encode()).hexdigest()[:16] if boot else ""
