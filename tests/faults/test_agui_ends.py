"""Servers that end while somebody listens, and those that are started again where others ended."""

import contextlib
import json
import resource
import signal
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.faults.servers import AGENTS, SECONDS, SECRET, JsonObject, run_input, serving, text_of
from tests.process_state import eventually
from trunkline.conformance.agui.event_verifier import breaches

pytestmark = pytest.mark.slow

ROOM = 200_000


def test_every_client_gets_its_last_event_when_the_server_is_told_to_stop(tmp_path: Path) -> None:
    with serving(tmp_path) as server, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(4)]
        for number, client in enumerate(clients):
            client.run(run_input("talk" if number % 2 else "work", f"t{number}"))
        asleep = stack.enter_context(server.connect(window=4096))
        asleep.run(run_input("talk", "asleep"))
        headers = {"authorization": f"Bearer {SECRET}"}
        url = f"ws://127.0.0.1:{server.port}/agui/ws"
        socket = stack.enter_context(connect(url, additional_headers=headers))
        socket.send(json.dumps(run_input("talk", "socket")))
        streams = [client.events() for client in clients]
        told_so_far: list[list[JsonObject]] = [[next(stream)] for stream in streams]
        over_socket: list[JsonObject] = [json.loads(socket.recv(timeout=SECONDS))]
        eventually(lambda: server.life.notes("tool"))
        server.process.send_signal(signal.SIGTERM)
        for seen, stream in zip(told_so_far, streams, strict=True):
            seen += stream
        while over_socket[-1]["type"] != "RUN_FINISHED":
            over_socket.append(json.loads(socket.recv(timeout=SECONDS)))
        assert server.process.wait(SECONDS) == 0
        for seen in (*told_so_far, over_socket):
            assert breaches(seen) == []
            assert seen[-1]["outcome"] == {"type": "cancelled"}
        assert "Traceback" not in server.stderr
    with serving(tmp_path) as server:
        for number in range(4):
            *_, terminal = [event for event in server.records(f"t{number}") if event["type"] != "run_closed"]
            assert (terminal["type"], terminal["stop_reason"]) == ("turn_finished", "cancelled")


def test_a_thread_goes_on_after_its_server_was_killed_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.connect() as client:
        client.run(run_input("talk"))
        seen: list[JsonObject] = []
        for event in client.events():
            seen.append(event)
            if len(seen) > 100:
                break
        server.end(signal.SIGKILL)
    heard = text_of(seen)
    with serving(tmp_path) as server:
        events = server.run(run_input("and?", run="r2"))
        assert breaches(events) == []
        assert text_of(events) == "talk | and?"
        assert events[-1]["outcome"] == {"type": "success"}
        *_, snapshot = [event for event in events if event["type"] == "MESSAGES_SNAPSHOT"]
        (output,) = [one["content"] for one in snapshot["messages"] if one["role"] == "assistant"]
        assert output.startswith(heard[: len(heard) * 3 // 4]), "what was seen a moment before is kept"
        failed = [event for event in server.records("t1") if event["type"] == "turn_failed"]
        assert [event["code"] for event in failed] == ["interrupted"]


def test_a_question_outlives_the_server_that_asked_it(tmp_path: Path) -> None:
    """The graph keeps its checkpoints in a file; the answer is given to the next process."""
    with serving(tmp_path, f"{AGENTS}:asker", CHECKPOINTS=str(tmp_path / "checkpoints.db")) as server:
        asked = server.run(run_input("sell"))
        (interrupt,) = asked[-1]["outcome"]["interrupts"]
        server.end(signal.SIGKILL)
    resume = [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}]
    with serving(tmp_path, f"{AGENTS}:asker", CHECKPOINTS=str(tmp_path / "checkpoints.db")) as server:
        events = server.run({**run_input("sell"), "runId": "r2", "resume": resume})
        assert breaches(events) == []
        assert [event["content"] for event in events if event["type"] == "TOOL_CALL_RESULT"] == ["sold"]
        assert text_of(events) == "Done."
        assert events[-1]["outcome"] == {"type": "success"}


def test_an_answer_to_a_question_that_died_with_its_server_frees_the_thread(tmp_path: Path) -> None:
    with serving(tmp_path, "demo") as server:
        asked = server.run(run_input("/permission"))
        (interrupt,) = asked[-1]["outcome"]["interrupts"]
        server.end(signal.SIGKILL)
    resume = [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}]
    with serving(tmp_path, "demo") as server:
        late = server.run({**run_input("/permission"), "runId": "r2", "resume": resume})
        assert breaches(late) == []
        assert late[-1]["type"] == "RUN_FINISHED"
        assert late[-1]["outcome"] == {"type": "success"}
        assert server.run(run_input("/text", run="r3"))[-1]["type"] == "RUN_FINISHED"


def test_a_journal_that_cannot_grow_ends_the_run_with_its_cause_and_the_server_goes_on(
    tmp_path: Path,
) -> None:
    unlimited = resource.RLIM_INFINITY
    with serving(tmp_path, f"{AGENTS}:flood") as server, server.connect() as client:
        client.run(run_input("much"))
        stream = client.events()
        seen = [next(stream) for _ in range(10)]
        size = max(file.stat().st_size for file in tmp_path.glob("journal.db*"))
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size + ROOM, unlimited))
        seen += stream
        assert breaches(seen) == []
        assert seen[-1]["type"] == "RUN_ERROR"
        assert "space" in seen[-1]["message"]
        assert server.ask("GET", "/healthz")[0] == 200
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
        assert text_of(server.run(run_input("little", run="r2"))) == "little"
        assert "Traceback" not in server.stderr
