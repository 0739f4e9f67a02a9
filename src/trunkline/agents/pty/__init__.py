"""Programs that speak no protocol, in a pseudo-terminal (``pty:COMMAND``): the last resort.

* ``agent``: ``PtyAgent``: a program as an agent, one process a session
* ``escapes``: reads control characters and escape sequences; pure
* ``program``: one running program: its screen, its keys, its quiet and its end
* ``screen``: the screen of a terminal; pure
* ``transcript``: makes text of a screen, each line once; pure
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.agents.pty.agent import PtyAgent

__all__ = ["PtyAgent"]

__getattr__, __dir__ = lazy_names(__name__, {"PtyAgent": "trunkline.agents.pty.agent"})
