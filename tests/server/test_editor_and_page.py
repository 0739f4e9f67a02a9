"""An editor and the page on one journal, in two processes: one session, seen and answered in both."""

import contextlib
import json
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.test_serve import Child, serving

from trunkline.conformance.acp.stdio_client import Line, StdioClient, allow, text

ASKS = "session/request_permission"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        "TRUNKLINE_JOURNAL": f"sqlite:{tmp_path / 'journal.db'}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


@pytest.fixture
def editor(tmp_path: Path, env: dict[str, str]) -> Iterator[StdioClient]:
    """An editor that answers no permission by itself."""
    command = [sys.executable, "-m", "trunkline", "acp", "demo"]
    with StdioClient(command, cwd=tmp_path, env=env) as talk:
        talk.answer[ASKS] = lambda params: None
        talk.initialize()
        yield talk
        assert talk.faults() == []


@contextlib.contextmanager
def logged_in(child: Child) -> Generator[httpx.Client]:
    """A browser that opened the link."""
    with httpx.Client(base_url=child.url, headers={"origin": child.url}, timeout=30) as page:
        assert page.post("/login", json={"code": child.link.partition("#code=")[2]}).status_code == 204
        yield page


def asks(line: Line) -> bool:
    return (line.message or {}).get("method") == ASKS


@contextlib.contextmanager
def following(page: httpx.Client, session_id: str) -> Generator[Callable[..., dict[str, Any]]]:
    """Follow a session live; gives a function that waits for the next event of a type."""
    with page.stream("GET", f"/sessions/{session_id}", headers={"accept": "text/event-stream"}) as response:
        lines = response.iter_lines()

        def wait_for(kind: str, **fields: Any) -> dict[str, Any]:
            for line in lines:
                if line.startswith("data: "):
                    event = json.loads(line[6:])["event"]
                    if event["type"] == kind and fields.items() <= event.items():
                        return event
            raise AssertionError(f"the stream ended before {kind}")

        yield wait_for


def test_a_session_of_an_editor_is_listed_followed_renamed_and_answered_in_the_page(
    editor: StdioClient, tmp_path: Path
) -> None:
    session_id = editor.open(tmp_path)
    assert editor.prompt(session_id, "/text")["stopReason"] == "end_turn"
    with serving("demo", cwd=tmp_path) as child, logged_in(child) as page:
        (row,) = page.get("/sessions").json()["sessions"]
        assert (row["session_id"], row["agent"], row["title"]) == (session_id, "demo", "Demo: text")
        with following(page, session_id) as wait_for:
            # Answered in the page: the editor's request is withdrawn.
            prompt = editor.start("session/prompt", {"sessionId": session_id, "prompt": text("/permission")})
            request = editor.until(asks)
            assert request is not None
            assert request.message is not None
            asked = wait_for("asked")
            option = next(one for one in asked["question"]["options"] if one["kind"] == "allow_once")
            answer = {
                "type": "answer", "question_id": asked["question_id"], "option_id": option["option_id"]
            }  # fmt: skip
            assert page.post(f"/sessions/{session_id}/commands", json=answer).status_code == 200
            assert wait_for("answered")["by"] == "http:local"
            reply = editor.wait(prompt)
            assert reply is not None
            assert reply["result"]["stopReason"] == "end_turn"
            assert (tmp_path / "hello.txt").exists()
            withdrawn = [
                line.message
                for line in editor.log
                if (line.message or {}).get("method") == "$/cancel_request"
            ]
            assert [one and one["params"]["requestId"] for one in withdrawn] == [request.message["id"]]

            # Answered in the editor: the page sees it, and a late answer of the page learns who was first.
            editor.answer[ASKS] = allow
            assert editor.prompt(session_id, "/permission")["stopReason"] == "end_turn"
            late = wait_for("asked")
            assert wait_for("answered")["by"] == "acp"
            refused = page.post(
                f"/sessions/{session_id}/commands",
                json={**answer, "question_id": late["question_id"]},
            )
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "already_answered")

            # Renamed in the page, by the process that owns it: the editor's.
            renamed = page.patch(f"/sessions/{session_id}", json={"title": "From the page"})
            assert renamed.status_code == 200
            wait_for("info_changed", title="From the page", by="http:local")
        assert [one["title"] for one in page.get("/sessions").json()["sessions"]] == ["From the page"]
        found = page.get("/sessions", params={"query": "from page"}).json()["sessions"]
        assert [one["session_id"] for one in found] == [session_id]
        assert "# From the page" in page.get(f"/sessions/{session_id}/export").text
        shown = page.get(f"/sessions/{session_id}/inspect").json()["protocols"]
        assert any(message["data"].get("method") == ASKS for message in shown["acp"])
        assert page.get(f"/sessions/{session_id}/wire").status_code == 404, "another process runs it"
        listed = editor.result("session/list", {})["sessions"]
        assert [one["title"] for one in listed] == ["From the page"]


def test_a_prompt_from_the_page_runs_in_the_editors_process(editor: StdioClient, tmp_path: Path) -> None:
    session_id = editor.open(tmp_path)
    editor.prompt(session_id, "/text")
    with serving("demo", cwd=tmp_path) as child, logged_in(child) as page:
        with following(page, session_id) as wait_for:
            wait_for("turn_finished")
            body = {"type": "prompt", "content": text("/permission"), "message_id": "from-page"}
            sent = page.post(f"/sessions/{session_id}/commands", json=body)
            assert sent.status_code == 200
            asked = wait_for("asked")
            option = next(one for one in asked["question"]["options"] if one["kind"] == "reject_once")
            answer = {"type": "answer", "question_id": asked["question_id"], "option_id": option["option_id"]}
            assert page.post(f"/sessions/{session_id}/commands", json=answer).status_code == 200
            assert wait_for("turn_finished")["turn_id"] == sent.json()["result"]["turn_id"]
        fork = page.post(f"/sessions/{session_id}/fork", json={}).json()["session_id"]
        texts = page.get(f"/sessions/{fork}/export").text
        assert "/permission" in texts
        assert page.delete(f"/sessions/{session_id}").json()["error"]["code"] == "busy"
        assert page.delete(f"/sessions/{fork}").status_code == 204
    assert not (tmp_path / "hello.txt").exists()
