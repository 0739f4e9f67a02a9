"""The login of ``demo-auth``: a program for a terminal, and the login that it keeps.

Run as ``python -m trunkline.demos.login``. It keeps a file in the user's state folder, as real agents do.
"""

from __future__ import annotations

import sys

from trunkline.state_files import StateFile

_LOGIN = StateFile("logins", "demo-auth")


def is_kept() -> bool:
    """Whether somebody has logged in and not out again."""
    return _LOGIN.load() is not None


def discard() -> None:
    """Log out."""
    _LOGIN.discard()


def main() -> int:
    """Ask for a name in the terminal and keep the login; give the exit code."""
    sys.stdout.write("Demo login. Your name (empty: no login): ")
    sys.stdout.flush()
    name = sys.stdin.readline().strip()
    if not name:
        return 1
    _LOGIN.store({"name": name})
    return 0


if __name__ == "__main__":
    sys.exit(main())
