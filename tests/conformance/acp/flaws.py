"""Every flaw of the flawed agent, and the check that must find it."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.acp import flawed_agent
from trunkline.conformance.acp.kit import AgentUnderTest
from trunkline.conformance.acp.run import REQUIREMENTS, judge

HANGING = frozenset({"JSONRPC-001", "JSONRPC-005", "EXT-001", "PROMPT-007", "SHUTDOWN-001", "SHUTDOWN-002"})
"""Flaws whose sign is that nothing comes, so only waiting can show them."""


def flaws_of(module: object) -> list[str]:
    """The flaws that the checks of a module look for."""
    name = getattr(module, "__name__", "")
    return [flaw for flaw in flawed_agent.FLAWS if REQUIREMENTS[required(flaw)].check.__module__ == name]


def required(flaw: str) -> str:
    """The id of the requirement that a flaw breaks."""
    return f"ACP-{flaw.partition(':')[0]}"


def plain(folder: Path, *arguments: str, patience: float = 20.0) -> AgentUnderTest:
    """The plain agent, with a flaw if the arguments say so."""
    command: Sequence[str] = [sys.executable, "-S", flawed_agent.__file__, *arguments]
    return AgentUnderTest(command, folder, [*command, "--login"], patience=patience)


def check_found(flaw: str, folder: Path) -> None:
    """The check of the requirement fails, and shows what was said."""
    name = required(flaw)
    subject = plain(folder, "--flaw", flaw, patience=1.0 if name[4:] in HANGING else 20.0)
    verdict = judge(subject, only={name})[0][name]
    assert verdict.outcome == "fail", "the check cannot fail"
    assert verdict.transcript
