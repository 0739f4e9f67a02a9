"""Completions: the files of a session's own folders."""

from pathlib import Path

import pytest
from tests.hubs import echo, make
from tests.server.running_server import served


async def test_the_files_of_the_session_are_offered(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("x")
    (tmp_path / "notes.md").write_text("x")
    async with served(make(echo), cwd=tmp_path) as (_, client):
        session_id = (await client.post("/sessions", json={})).json()["session_id"]
        place = f"/sessions/{session_id}/completions"
        whole = (await client.get(place)).json()
        some = (await client.get(place, params={"kind": "file", "query": "main"})).json()
    assert [item["value"] for item in whole["items"]] == ["notes.md", "src/", "src/main.py"]
    assert some == {"items": [{"value": "src/main.py", "title": "src/main.py"}]}


async def test_a_session_without_a_folder_has_no_files() -> None:
    async with served(make(echo)) as (_, client):
        session_id = (await client.post("/sessions", json={})).json()["session_id"]
        assert (await client.get(f"/sessions/{session_id}/completions")).json() == {"items": []}


@pytest.mark.parametrize(("params", "status"), [({"kind": "people"}, 422), ({"query": "x" * 501}, 422)])
async def test_what_is_not_offered_is_said(params: dict[str, str], status: int) -> None:
    async with served(make(echo)) as (_, client):
        session_id = (await client.post("/sessions", json={})).json()["session_id"]
        refused = await client.get(f"/sessions/{session_id}/completions", params=params)
        missing = await client.get("/sessions/none/completions")
    assert refused.status_code == status
    assert missing.status_code == 404
