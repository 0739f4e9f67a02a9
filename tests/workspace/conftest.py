"""A folder, and terminals in it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from trunkline.workspace.terminals import Terminals


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "proj"
    (folder / "src").mkdir(parents=True)
    (tmp_path / "proj-evil").mkdir()
    return folder


@pytest.fixture
async def terminals(root: Path) -> AsyncIterator[Terminals]:
    async with asyncio.timeout(30), Terminals([root]) as opened:
        yield opened
