"""``trunkline chat --page``: one conversation in a terminal and in a browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.child_programs import SECONDS, run
from tests.cli.terminal_window import Window

pytestmark = pytest.mark.slow
_LINK = re.compile(r"Open  (http://127\.0\.0\.1:\d+)/#code=([\w-]+)&session=(sess_\w+)")


def events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Give the events of a stream as they come."""
    for line in lines:
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))["event"]


def test_a_conversation_is_live_in_the_terminal_and_on_the_page_and_either_answers(tmp_path: Path) -> None:
    with Window("chat", "demo", "--page", "--journal", "memory:", cwd=tmp_path, columns=200) as window:
        window.see_end("\n\n>")
        (url, code, session_id), *_ = _LINK.findall(window.text)
        with httpx.Client(base_url=url, headers={"origin": url}, timeout=SECONDS) as browser:
            assert browser.get("/sessions").status_code == 401
            assert browser.post("/login", json={"code": code}).status_code == 204
            assert browser.get("/").headers["content-type"].startswith("text/html")
            assert [one["name"] for one in browser.get("/page").json()["agents"]] == ["demo"]

            address, wanted = f"/sessions/{session_id}", {"accept": "text/event-stream"}
            with browser.stream("GET", address, headers=wanted) as stream:
                live = events(stream.iter_lines())
                window.enter("/permission")
                said = next(event for event in live if event["type"] == "user_message")
                assert said["content"] == [{"type": "text", "text": "/permission"}]
                asked = next(event for event in live if event["type"] == "asked")
                window.see("Write hello.txt?", "a/A/r/R >")
                answer = {"type": "answer", "question_id": asked["question_id"], "option_id": "allow_once"}
                assert browser.post(f"{address}/commands", json=answer).status_code < 300
                window.see("✓ Write hello.txt", "hello.txt is written.")
                assert next(event for event in live if event["type"] == "turn_finished")
            assert (tmp_path / "hello.txt").exists()

            prompt = {"type": "prompt", "content": [{"type": "text", "text": "said on the page"}]}
            assert browser.post(f"{address}/commands", json=prompt).status_code < 300
            window.see("said on the page")
            window.see_end("\n\n>")

            # A link works once; the chat prints another one.
            assert browser.post("/login", json={"code": code}).status_code == 401
            window.enter("/page")
            window.see("/page", "Open  http://", "&session=")
            assert [found[0] for found in _LINK.findall(window.text)] == [url, url]
            second = _LINK.findall(window.text)[1][1]
            assert browser.post("/login", json={"code": second}).status_code == 204

            # Whoever leaves the terminal ends the page too, also while a page follows.
            with browser.stream("GET", address, headers=wanted) as stream:
                window.enter("/quit")
                for _ in stream.iter_lines():
                    pass
            assert window.wait() == 0
            with pytest.raises(httpx.ConnectError):
                browser.get("/")


def test_without_the_server_s_packages_the_error_names_the_line_that_installs_them(tmp_path: Path) -> None:
    (tmp_path / "starlette.py").write_text("raise ModuleNotFoundError(name='starlette')\n")
    refused = run("chat", "demo", "--page", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert refused.code == 2
    assert "pip install 'trunkline[server]'" in refused.err


def test_a_chat_without_a_page_says_how_to_get_one(tmp_path: Path) -> None:
    done = run("chat", "demo", "--journal", "memory:", stdin="/page\n", cwd=tmp_path)
    assert "no page is served: start the chat with --page" in done.out
