"""The whole ACP table against an agent's command."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from trunkline.conformance.acp import (  # isort: skip
    # Each adds its requirements when it is imported: a plain turn comes first, bad input last.
    turn_requirements,
    tool_requirements,
    session_requirements,
    wire_requirements,
)
from trunkline.conformance.acp.kit import TABLE, AgentUnderTest, Kit
from trunkline.conformance.table import Requirement, Verdict

_FILL_THE_TABLE: Final = (turn_requirements, tool_requirements, session_requirements, wire_requirements)

_LAST_WORDS = 10

REQUIREMENTS: dict[str, Requirement[Kit]] = TABLE.rows


def judge(
    subject: AgentUnderTest, only: Collection[str] | None = None
) -> tuple[dict[str, Verdict], list[str]]:
    """Hold an agent against the table; also give what the schema has against any line it printed."""
    with Kit(subject) as kit:
        if kit.greeting is None and all(line.message is None for line in kit.agent.log):
            return _silent(kit, only), kit.faults()
        return TABLE.judge(kit, only), kit.faults()


def _silent(kit: Kit, only: Collection[str] | None) -> dict[str, Verdict]:
    """The verdicts on a program that does not answer initialize: the rest cannot be known."""
    transcript = tuple(kit.transcript_since([0])) + tuple(kit.agent.stderr.splitlines()[-_LAST_WORDS:])
    why = "initialize was not answered" + (f"; stderr: {transcript[-1]}" if kit.agent.stderr else "")
    return {
        name: Verdict("fail", why, transcript) if name == "ACP-INIT-001" else Verdict("skip", why)
        for name in REQUIREMENTS
        if only is None or name in only
    }
