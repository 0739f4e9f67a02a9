"""The requirements on a client against AcpClient, and proof that each check can fail."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.conformance import request_requirements, wire_requirements
from tests.agents.acp.conformance.record import Failure, Run
from tests.agents.acp.conformance.subjects import SUBJECTS, command
from tests.agents.acp.conformance.table import REQUIREMENTS
from tests.hubs import soon
from trunkline.agents.acp import AcpClient, HandshakeFailed

assert [wire_requirements, request_requirements], "importing them fills the table"


@pytest.fixture(scope="module", params=SUBJECTS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """What a subject and the probing agent said to each other; made once for all requirements."""
    folder = tmp_path_factory.mktemp("conformance")
    (folder / "work").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        return asyncio.run(SUBJECTS[request.param](folder))


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_the_requirement_is_kept(name: str, run: Run) -> None:
    row = REQUIREMENTS[name]
    try:
        row.check(run)
    except Failure as failure:
        pytest.fail(f"{row.sentence} ({row.address}) {failure}")


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_the_check_finds_a_client_that_breaks_it(name: str, run: Run) -> None:
    broken = run.copy()
    REQUIREMENTS[name].flaw(broken)
    with pytest.raises(Failure):
        REQUIREMENTS[name].check(broken)


def test_every_requirement_has_its_place_in_a_specification() -> None:
    assert len(REQUIREMENTS) >= 40
    assert all(
        row.address.startswith("https://") and row.sentence.endswith(".") for row in REQUIREMENTS.values()
    )


def test_the_documentation_has_the_whole_table(root: Path) -> None:
    page = (root / "docs/acp-client.md").read_text(encoding="utf-8")
    for row in REQUIREMENTS.values():
        assert f"| [{row.id}]({row.address}) | {row.sentence} |\n" in page
    assert page.count("| [") == len(REQUIREMENTS)


async def test_another_version_of_the_protocol_ends_the_connection(tmp_path: Path) -> None:
    program, *args = command(tmp_path / "log", "--version", "2")
    client = AcpClient(program, args, cwd=tmp_path)
    with pytest.raises(HandshakeFailed, match="version 2"):
        await soon(client.connect())
    run = Run.read(tmp_path / "log", [], [])
    assert [message["method"] for message in run.client] == ["initialize"]


async def test_a_session_is_loaded_only_from_an_agent_that_offers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    seen: dict[str, list[Any]] = {}
    for kind in ("--load", "--bare"):
        log = tmp_path / f"log{kind}"
        program, *args = command(log, kind)
        for _ in range(2):
            async with AcpClient(program, args, cwd=tmp_path) as client:
                await soon(client.ensure_session())
        run = Run.read(log, [], [])
        seen[kind] = [
            m["method"] for m in run.client if m.get("method") not in ("initialize", "session/close")
        ]
    assert seen == {"--load": ["session/new", "session/load"], "--bare": ["session/new", "session/new"]}
