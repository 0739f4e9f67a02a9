"""Each check about bad input, order and ends finds the agent that breaks its requirement."""

from pathlib import Path

import pytest

from tests.conformance.acp.flaws import check_found, flaws_of
from trunkline.conformance.acp import robust_requirements


@pytest.mark.parametrize("flaw", flaws_of(robust_requirements))
def test_a_flaw_is_found(flaw: str, tmp_path: Path) -> None:
    check_found(flaw, tmp_path)
