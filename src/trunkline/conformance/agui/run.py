"""The whole AG-UI table against an address."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from typing import Final

from trunkline.conformance.agui import run_requirements
from trunkline.conformance.agui.kit import TABLE, AguiKit, Prompts
from trunkline.conformance.table import Requirement, Verdict

_FILLS_THE_TABLE: Final = run_requirements
"""It adds its requirements when it is imported."""

REQUIREMENTS: dict[str, Requirement[AguiKit]] = TABLE.rows


def judge(
    url: str,
    prompts: Prompts,
    *,
    headers: Mapping[str, str] | None = None,
    token: str = "1",
    patience: float = 60.0,
    only: Collection[str] | None = None,
) -> dict[str, Verdict]:
    """Hold a server against the table; ``token`` makes the ids of its threads new."""
    with closing(AguiKit(url, headers or {}, patience)) as kit:
        kit.prompts, kit.token = prompts, token
        unchecked = kit.hello.exchange.unchecked(TABLE.rows, "AGUI-HTTP-001", "AGUI-RUN-001")
        return TABLE.judge(kit, only, unchecked=unchecked)
