"""What a token of a LangChain agent costs on its way to an AG-UI client, in process and over HTTP.

In process: the same graph on the same model, streamed bare by ``agent.astream(stream_mode="messages")``, by
us through a session, a journal in memory and the endpoint to the bytes of server-sent events, by
ag-ui-langgraph with and without the events of LangGraph that it repeats, and by pydantic-ai's adapter,
which has a model of its own.

Over HTTP: the same behind uvicorn, ours as ``trunkline serve`` with its SQLite journal, and a reader that
looks at nothing. What counts is the processor time of the server's process. Every ratio is to the bare
stream of the same environment in the same round.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from bench.langchain import Case, Measurer, play_rounds, ratio_of
from bench.machine import CHILD_TIMEOUT, peer_python
from bench.report import Result, Row, spread

PROGRAM = Path(__file__).parent / "programs" / "agui_tokens.py"
PEERS = "agui-peers"
PROCESS, HTTP = "process", "HTTP"
BARE, BARE_TOO = "bare astream(messages)", "bare, where the peers live"
OURS, SERVED = "trunkline, to SSE bytes", "trunkline serve"
PEER_WAYS = {
    "langgraph": "ag-ui-langgraph 0.0.47, raw off",
    "langgraph-raw": "ag-ui-langgraph 0.0.47, default",
    "pydantic": "pydantic-ai 2.66",
}
BUDGET = 1.0
TOKEN = "a-token-for-the-bench"
PIECE = "token "

numbers = count()


class Listener:
    """A server's process, and a client that reads as fast as it can."""

    def __init__(self, command: Sequence[str], folder: str) -> None:
        """Start it, and wait until it says where it is."""
        own = {"TRUNKLINE_TOKEN": TOKEN, "TRUNKLINE_JOURNAL": f"sqlite:{folder}/bench.db"}
        self._child = subprocess.Popen(
            command, env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._child.stdout is not None
        heard = ""
        while (found := re.search(r"http://127\.0\.0\.1:(\d+)/", heard)) is None:
            line = self._child.stdout.readline()
            if not line:
                raise RuntimeError(f"the server did not start: {heard}")
            heard += line
        self._port = int(found[1])

    def measure(self, case: Case) -> float:
        """Seconds of the server's processor time for one run."""
        number = next(numbers)
        message = {"id": f"user-{number}", "role": "user", "content": str(case.times)}
        ids = {"threadId": f"thread-{number}", "runId": f"run-{number}", "protocolVersion": "1.0"}
        empty = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
        body = json.dumps({**ids, "messages": [message], **empty}).encode()
        head = (
            f"POST /agui HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\nauthorization: Bearer {TOKEN}\r\n"
            "content-type: application/json\r\naccept: text/event-stream\r\nconnection: close\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        before = self._cpu()
        with socket.create_connection(("127.0.0.1", self._port), timeout=CHILD_TIMEOUT) as client:
            client.sendall(head.encode() + body)
            with http.client.HTTPResponse(client) as response:
                response.begin()
                answer = response.read()
        spent = self._cpu() - before
        events = [json.loads(line[6:]) for line in answer.split(b"\n") if line.startswith(b"data: ")]
        if not events or events[-1]["type"] != "RUN_FINISHED":
            raise RuntimeError(f"the run did not finish: {answer[-500:]!r}")
        output = "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")
        assert output.count(PIECE) == case.times, "the reader lost something"
        return spent

    def _cpu(self) -> float:
        threads = Path(f"/proc/{self._child.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9

    def end(self) -> None:
        """Stop it and wait."""
        self._child.terminate()
        self._child.communicate(timeout=CHILD_TIMEOUT)


def cases(quick: bool) -> dict[str, Case]:
    """Everything that is measured in a round."""
    tokens = 200 if quick else 5_000
    chosen = {
        BARE: Case("ours", "bare", tokens, PROCESS, BARE),
        OURS: Case("ours", "ours", tokens, PROCESS, BARE),
        BARE_TOO: Case("peers", "bare", tokens, PROCESS, BARE_TOO),
    }
    for way, name in PEER_WAYS.items():
        chosen[name] = Case("peers", way, tokens, PROCESS, BARE_TOO)
    chosen[f"{SERVED}, HTTP"] = Case(SERVED, "ours", tokens, HTTP, BARE)
    for way, name in PEER_WAYS.items():
        chosen[f"{name}, HTTP"] = Case(way, way, tokens, HTTP, BARE_TOO)
    return chosen


def measure(chosen: dict[str, Case], rounds: int) -> dict[str, list[float]]:
    """Measure all cases in turn, round after round; give seconds per token."""
    peers = peer_python(PEERS)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        serve = [sys.executable, "-m", "trunkline", "serve", f"{PROGRAM}:agent", "--port", "0"]
        programs: dict[str, Measurer | Listener] = {
            "ours": Measurer(sys.executable, PROGRAM.name),
            "peers": Measurer(peers, PROGRAM.name),
            SERVED: Listener(serve, folder),
            **{way: Listener([peers, str(PROGRAM), way], folder) for way in PEER_WAYS},
        }
        for program in programs.values():
            stack.callback(program.end)
        return play_rounds(chosen, programs, rounds)


def run(quick: bool = False) -> Result:
    """Measure everything in one run."""
    chosen = cases(quick)
    samples = measure(chosen, 1 if quick else 15)
    rows: list[Row] = [
        {
            "case": name,
            "over": case.unit,
            "cpu us (min)": min(samples[name]) * 1e6,
            "min..max": spread(samples[name], 1e6, 1),
            "x of bare": ratio_of(samples[name], samples[case.base]),
        }
        for name, case in chosen.items()
    ]
    ratio = ratio_of(samples[OURS], samples[BARE])
    verdict = "kept" if ratio <= BUDGET else "MISSED"
    return Result(
        name="agui",
        about=f"processor time for each of {chosen[BARE].times:,} tokens on their way to an AG-UI client",
        rows=rows,
        samples={**samples},
        verdicts=[
            f"budget {verdict}: a token to AG-UI takes {ratio:.2f}x of the bare stream (at most {BUDGET}x)"
        ],
        quick=quick,
    )
