"""Each check about tool calls and permissions finds the agent that breaks its requirement."""

from pathlib import Path

import pytest

from tests.conformance.acp.flaws import check_found, flaws_of
from trunkline.conformance.acp import tool_requirements


@pytest.mark.parametrize("flaw", flaws_of(tool_requirements))
def test_a_flaw_is_found(flaw: str, tmp_path: Path) -> None:
    check_found(flaw, tmp_path)
