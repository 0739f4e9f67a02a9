"""The grammar: which events may follow which, and the repair of a stream that breaks the rules.

* ``event_check``: checks the fields of an agent's events
* ``known_ids``: the newest ids of earlier turns, which a grammar still knows
* ``machine``: carries the tables out: keeps and closes what is open, repairs and reports what breaks a rule
* ``table``: what may follow what, as tables: events by phase, statuses of a call (a final one stays), rules
"""

from trunkline.grammar.machine import Grammar, Violation
from trunkline.grammar.table import RULES, STATUS_TABLE, TURN_TABLE, Phase

__all__ = ["RULES", "STATUS_TABLE", "TURN_TABLE", "Grammar", "Phase", "Violation"]
