"""The whole AI SDK table against an address."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from typing import Final

from trunkline.conformance.aisdk import stream_requirements
from trunkline.conformance.aisdk.kit import TABLE, AisdkKit, Prompts
from trunkline.conformance.table import Requirement, Verdict

_FILLS_THE_TABLE: Final = stream_requirements
"""It adds its requirements when it is imported."""

REQUIREMENTS: dict[str, Requirement[AisdkKit]] = TABLE.rows


def judge(
    url: str,
    prompts: Prompts,
    *,
    version: int = 6,
    headers: Mapping[str, str] | None = None,
    token: str = "1",
    patience: float = 60.0,
    only: Collection[str] | None = None,
) -> dict[str, Verdict]:
    """Hold an endpoint against the table; ``token`` makes the ids of its chats new."""
    with closing(AisdkKit(url, headers or {}, patience)) as kit:
        kit.prompts, kit.token, kit.version = prompts, token, version
        unchecked = kit.hello.exchange.unchecked(TABLE.rows, "AISDK-HTTP-001", "AISDK-MESSAGE-001")
        return TABLE.judge(kit, only, unchecked=unchecked)
