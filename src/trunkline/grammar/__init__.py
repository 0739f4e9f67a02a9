"""The grammar: which events may follow which, and the repair of a stream that breaks the rules."""

from trunkline.grammar.machine import Grammar, Violation
from trunkline.grammar.table import RULES, STATUS_TABLE, TURN_TABLE, Phase

__all__ = ["RULES", "STATUS_TABLE", "TURN_TABLE", "Grammar", "Phase", "Violation"]
