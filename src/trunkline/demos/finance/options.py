"""The options of the finance agent: its modes.

``ask`` asks about every change of the ledger, about SQL and about files. ``manage`` lets the agent change
categories, tags and budgets without asking; it still asks before it runs SQL, imports a file or writes one.
The operator's policy counts in both.
"""

from __future__ import annotations

from trunkline.options import Choice, ConfigOption

__all__ = ["MODE"]

MODE = ConfigOption(
    option_id="mode",
    name="Mode",
    description="What the agent may change by itself",
    category="mode",
    value="ask",
    choices=(
        Choice(value="ask", name="Ask", description="Ask before every change, every query and every file"),
        Choice(
            value="manage",
            name="Manage",
            description="Change categories, tags and budgets without asking; ask about queries and files",
        ),
    ),
)
