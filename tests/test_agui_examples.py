"""The AG-UI examples: each runs as its page says, in its own process, with a real client at the other end."""

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.cli.child_programs import run_program
from trunkline.conformance.agui.event_verifier import breaches
from trunkline.conformance.agui.reference_client import ReferenceClient

EXAMPLES = {"debug", "minimal", "two_clients", "websocket"}


def lines_of(root: Path, tmp_path: Path, example: str, *arguments: str) -> list[str]:
    """What an example prints; it says nothing on stderr."""
    done = run_program(root / f"examples/agui/{example}.py", *arguments, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()


def test_every_agui_example_is_run(root: Path) -> None:
    assert {path.stem for path in (root / "examples/agui").glob("*.py")} == EXAMPLES


# -- debug -----------------------------------------------------------------------------------------


def test_debug_prints_every_event(root: Path, tmp_path: Path) -> None:
    pairs = [line.split(maxsplit=1) for line in lines_of(root, tmp_path, "debug")]
    events = [{"type": kind, **json.loads(rest)} for kind, rest in pairs]
    assert breaches(events) == []
    client = ReferenceClient("debug")
    client.take(events)
    assert [one["role"] for one in client.messages] == ["reasoning", "assistant", "tool", "assistant"]
    assert client.messages[-1]["content"] == "It is 22 degrees and sunny in Lisbon."


def test_debug_in_brief_is_a_conversation(root: Path, tmp_path: Path) -> None:
    assert lines_of(root, tmp_path, "debug", "brief")[1:] == [
        "(thinking) I can look that up.",
        '> get_weather {"city": "Lisbon"}',
        "< 22 degrees and sunny in Lisbon",
        "It is 22 degrees and sunny in Lisbon.",
        "-- done",
    ]


# -- two clients -------------------------------------------------------------------------------------


def test_of_two_clients_one_runs_and_the_other_follows(root: Path, tmp_path: Path) -> None:
    assert lines_of(root, tmp_path, "two_clients") == [
        "the one that runs heard: Once upon a time there were two readers.",
        "the one that follows heard: Once upon a time there were two readers.",
    ]


# -- minimal -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def serving(root: Path, tmp_path: Path, example: str) -> Generator[str]:
    """Run the app of an example behind uvicorn; gives its address."""
    folder = f"{root}/examples/agui"
    command = [sys.executable, "-m", "uvicorn", "--app-dir", folder, f"{example}:app", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            yield next(found[0] for line in server.stderr if (found := re.search(r"http://\S+:\d+", line)))
        finally:
            server.terminate()
            server.stderr.read()


@pytest.fixture
def minimal(root: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of the minimal app."""
    with serving(root, tmp_path, "minimal") as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


def run(http: httpx.Client, page: ReferenceClient, **fields: Any) -> list[dict[str, Any]]:
    response = http.post("/agent", json=page.body(**fields))
    assert response.headers["content-type"].startswith("text/event-stream"), response.text
    frames = response.content.split(b"\n\n")
    events = [json.loads(frame.removeprefix(b"data: ")) for frame in frames if frame.startswith(b"data: ")]
    assert breaches(events) == []
    page.take(events)
    return events


def test_minimal_asks_before_it_books_and_goes_on_with_the_answer(minimal: httpx.Client) -> None:
    page = ReferenceClient("dinner")
    page.say("A table for four, please")
    run(minimal, page)
    (asked,) = page.interrupts
    assert asked["message"] == "Run book_table?"
    run(minimal, page, resume=page.resume(every={"approved": True}))
    assert [one["role"] for one in page.messages] == ["user", "assistant", "tool", "assistant"]
    assert page.messages[2]["content"] == "Table 7 is booked for 4"
    assert page.messages[3]["content"] == "See you tonight!"
    page.say("Another one")
    run(minimal, page)
    run(minimal, page, resume=page.resume(every={"approved": False, "reason": "too late"}))
    assert page.messages[-2]["content"] == "too late"


def test_minimal_refuses_what_is_no_request(minimal: httpx.Client) -> None:
    response = minimal.post("/agent", json={"threadId": "t"})
    assert response.status_code == 422
    assert "no RunAgentInput" in response.text


# -- a WebSocket -----------------------------------------------------------------------------------


def test_websocket_goes_on_without_its_page_and_tells_it_what_it_missed(root: Path, tmp_path: Path) -> None:
    page = ReferenceClient("cake")
    page.say("A cake, please")
    events: list[dict[str, Any]] = []

    def read(socket: Connection, until: str) -> None:
        while not events or events[-1]["type"] != until:
            events.append(json.loads(socket.recv(timeout=30)))

    with serving(root, tmp_path, "websocket") as address:
        url = f"{address.replace('http', 'ws')}/agent/mine"
        with connect(url) as socket:
            socket.send(json.dumps(page.body()))
            read(socket, "STEP_FINISHED")  # Next is the result, after a second.
        with connect(url) as socket:
            read(socket, "RUN_FINISHED")
            page.take(events)
            assert breaches(events) == []
            assert [one["content"] for one in page.messages[1:]] == [
                "Into the oven. ", "one cake", "Your cake is ready.",
            ]  # fmt: skip
            page.say("Another one")
            socket.send(json.dumps(page.body()))
            events.clear()
            read(socket, "RUN_FINISHED")
    assert breaches(events) == []
