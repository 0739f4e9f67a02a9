"""Exports over HTTP: the formats of the command line, as files that are safe to keep and to open."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.hubs import echo, make
from tests.server.running_server import run_events, run_input, served


@pytest.mark.parametrize(
    ("kind", "media_type", "has"),
    [
        ("md", "text/markdown; charset=utf-8", "# hello there\n"),
        ("html", "text/html; charset=utf-8", "<h1>hello there</h1>"),
        ("json", "application/json", '"type":"turn_started"'),
    ],
)
async def test_a_session_is_a_file_in_each_format(kind: str, media_type: str, has: str) -> None:
    async with served(make(echo)) as (_, client):
        await run_events(client, run_input("hello there"))
        file = await client.get("/sessions/t1/export", params={"format": kind})
    assert file.status_code == 200
    assert file.headers["content-type"] == media_type
    assert f'attachment; filename="hello-there.{kind}"' in file.headers["content-disposition"]
    assert "sandbox" in file.headers["content-security-policy"]
    assert has in file.text


async def test_json_is_one_document_that_names_no_process() -> None:
    async with served(make(echo)) as (_, client):
        await run_events(client, run_input("hello"))
        document = json.loads((await client.get("/sessions/t1/export?format=json")).content)
    assert document["session"]["session_id"] == "t1"
    assert document["session"]["owner"] is None
    assert [record["seq"] for record in document["records"]] == list(range(1, len(document["records"]) + 1))


async def test_a_title_in_any_writing_names_the_file() -> None:
    async with served(make(echo)) as (_, client):
        await run_events(client, run_input("hi"))
        for title, plain in (('Größe: 1/2\r\n"x"', "Gr-e-1-2-x"), ("日本", "session"), ("..", "session")):
            await client.patch("/sessions/t1", json={"title": title})
            disposition = (await client.get("/sessions/t1/export")).headers["content-disposition"]
            assert f'filename="{plain}.md"' in disposition
            assert disposition.isascii()
            assert "/" not in disposition
        assert quote("日本") not in disposition


async def test_the_texts_of_exceptions_stay_here() -> None:
    async def failing() -> AsyncIterator[str]:
        yield "before"
        raise RuntimeError("the key sk-secret is wrong")

    async with served(make(failing)) as (_, client):
        await run_events(client, run_input("hi"))
        for kind in ("md", "html", "json"):
            assert "sk-secret" not in (await client.get(f"/sessions/t1/export?format={kind}")).text


async def test_a_long_session_is_exported_whole(tmp_path: Path) -> None:
    async with served(make(echo), journal=tmp_path / "j.db") as (_, client):
        for number in range(3):
            await run_events(client, run_input("word " * 3000, run=f"r{number}"))
        text = (await client.get("/sessions/t1/export")).text
    assert text.count("word") == 3 * 2 * 3000 + 16


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/sessions/none/export", 404),
        ("/sessions/t1/export?format=pdf", 422),
        ("/sessions/t1/export?format=", 422),
    ],
)
async def test_what_cannot_be_exported_is_said(path: str, status: int) -> None:
    async with served(make(echo)) as (_, client):
        await run_events(client, run_input())
        refused = await client.get(path)
    assert refused.status_code == status
    assert refused.json()["message"]
