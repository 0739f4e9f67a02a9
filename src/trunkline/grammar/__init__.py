"""The grammar: which events may follow which, and the repair of a stream that breaks the rules.

* ``event_check``: checks the fields of an agent's events
* ``known_ids``: the newest ids of earlier turns, which a grammar still knows
* ``machine``: carries out the tables: makes any stream of events legal
* ``table``: the legal order of events as tables, and the theory behind them
"""

from trunkline.grammar.machine import Grammar, Violation
from trunkline.grammar.table import RULES, STATUS_TABLE, TURN_TABLE, Phase

__all__ = ["RULES", "STATUS_TABLE", "TURN_TABLE", "Grammar", "Phase", "Violation"]
