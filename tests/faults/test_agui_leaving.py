"""Clients that leave in the middle of a run: the model and its tools stop, whoever serves them.

ag-ui-langgraph goes on to the end (research D14): a cancel scope cancels LangGraph's clean-up as well.
"""

import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.faults.children.served import TICK
from tests.faults.servers import AGENTS, Server, run_input, serving, text_of
from tests.process_state import eventually

pytestmark = pytest.mark.slow

MOUNTED = (sys.executable, "-m", "tests.faults.children.mounted")
A_SECOND = round(1 / TICK)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Server, str]]:
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server, "/agui"


@pytest.fixture(scope="module")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Server, str]]:
    with serving(tmp_path_factory.mktemp("mounted"), command=MOUNTED) as server:
        yield server, "/agents/agui"


@pytest.mark.parametrize("abruptly", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize(("prompt", "who"), [("talk", "model"), ("work", "tool")])
@pytest.mark.parametrize("place", ["served", "mounted"])
def test_what_runs_stops_within_a_second_when_its_client_is_gone(
    place: str, prompt: str, who: str, abruptly: bool, request: pytest.FixtureRequest
) -> None:
    server, path = request.getfixturevalue(place)
    before, ended = len(server.life.notes(who)), len(server.life.notes(f"{who} stopped"))
    thread = f"{prompt}-{abruptly}"
    with server.connect() as client:
        client.run(run_input(prompt, thread), path)
        events = client.events()
        assert next(events)["type"] == "RUN_STARTED"
        eventually(lambda: len(server.life.notes(who)) > before + 5)
        left_at = time.time()
        client.hang_up(abruptly=abruptly)
    eventually(lambda: len(server.life.notes(f"{who} stopped")) > ended)
    stopped_at = server.life.notes(f"{who} stopped")[-1]
    assert text_of(server.run(run_input("go on", thread, "r2"), path)) == f"{prompt} | go on"
    # Counted in ticks, because a machine that is busy with other things is slow to stop and slow to tick.
    after = [at for at in server.life.notes(who) if at > left_at]
    assert len(after) <= A_SECOND, "it went on after its client was gone"
    assert all(at <= stopped_at for at in after), "it went on after it was stopped"


def test_a_client_that_comes_back_while_its_last_run_still_stops_is_let_in(tmp_path: Path) -> None:
    with serving(tmp_path, f"{AGENTS}:reluctant") as server:
        with server.connect() as client:
            client.run(run_input("talk"))
            assert next(client.events())["type"] == "RUN_STARTED"
        eventually(lambda: server.life.notes("stopping"))
        again = server.run(run_input("again", run="r2"))
        assert text_of(again) == "Well. "
        assert again[-1]["outcome"] == {"type": "success"}


def test_a_client_that_leaves_before_its_body_is_there_starts_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, "demo") as server:
        for sent in (b"", b"{", b'{"threadId": "t1", "runId": "r1"'):
            with server.connect() as client:
                client.request("POST", "/agui", sent, content_length="500")
                client.hang_up()
        eventually(lambda: server.ask("GET", "/healthz")[0] == 200)
        assert server.ask("GET", "/sessions") == (200, {"sessions": []})
        assert server.end() == 0
        assert server.stderr == ""
