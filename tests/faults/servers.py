"""``trunkline serve`` in a process of its own, and clients that speak to it byte by byte, within bounds."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.process_state import eventually

ROOT = Path(__file__).parents[2]
AGENTS = ROOT / "tests/faults/children/served.py"
SECRET = "a-secret-for-the-faults"
SECONDS = 30.0

JsonObject = dict[str, Any]


def run_input(text: str, thread: str = "t1", run: str = "r1", **fields: Any) -> JsonObject:
    """What a client sends to run an agent."""
    message = {"id": f"user-{run}", "role": "user", "content": text}
    return {"threadId": thread, "runId": run, "protocolVersion": "1.0", "messages": [message], **fields}


def text_of(events: Sequence[JsonObject]) -> str:
    """The text that a client shows."""
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")


class Connection:
    """A client's end of a connection, which reads no faster than it is told to."""

    def __init__(self, port: int, *, window: int | None = None) -> None:
        """Connect; a small ``window`` lets the server notice soon that nobody reads."""
        self.socket = socket.socket()
        self.socket.settimeout(SECONDS)
        if window is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.socket.connect(("127.0.0.1", port))
        self._response: http.client.HTTPResponse | None = None

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.socket.sendall(data)

    def request(self, method: str, path: str, body: bytes = b"", **headers: str | None) -> None:
        """Send a request that is in order but for what ``headers`` change; None leaves one out."""
        port = self.socket.getpeername()[1]
        chosen: dict[str, str | None] = {
            "host": f"127.0.0.1:{port}",
            "authorization": f"Bearer {SECRET}",
            "content-type": "application/json",
            "content-length": str(len(body)),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        lines = [f"{name}: {value}" for name, value in chosen.items() if value is not None]
        self.send("\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode() + body)

    def run(self, body: JsonObject, path: str = "/agui", **headers: str | None) -> None:
        """Ask for a run."""
        self.request("POST", path, json.dumps(body).encode(), **headers)

    @property
    def response(self) -> http.client.HTTPResponse:
        """The answer, from its head on."""
        if self._response is None:
            self._response = http.client.HTTPResponse(self.socket)
            self._response.begin()
        return self._response

    def events(self) -> Iterator[JsonObject]:
        """The events of a run, as they come."""
        assert self.response.status == 200, self.response.read()
        for line in self.response:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])

    def drain(self) -> None:
        """Read a run to its end as fast as it comes, and look at nothing."""
        tail = b""
        while b"RUN_FINISHED" not in tail:
            piece = self.socket.recv(1 << 20)
            assert piece, f"it ended without a word: {tail!r}"
            tail = tail[-100:] + piece

    def wait_closed(self) -> bytes:
        """Wait until the server hangs up; gives what it said before."""
        pieces: list[bytes] = []
        with suppress(ConnectionResetError):
            while piece := self.socket.recv(1 << 16):
                pieces.append(piece)
        return b"".join(pieces)

    def hang_up(self, *, abruptly: bool = False) -> None:
        """Leave; abruptly, as a machine does that is switched off."""
        if abruptly:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if self._response is not None:
            self._response.close()
        self.socket.close()


class Life:
    """What the agents of children/served.py note of themselves, each line with its time."""

    def __init__(self, path: Path) -> None:
        """Read it from a file."""
        self.path = path

    def notes(self, what: str) -> list[float]:
        """When something was noted."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return [float(at) for at, _, noted in (line.partition(" ") for line in lines) if noted == what]


class Server:
    """A server's process."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, given: Path, life: Path) -> None:
        """Made by ``serving``."""
        self.process = process
        self.port = port
        self.life = Life(life)
        self._stderr = given

    @property
    def stderr(self) -> str:
        """What it printed on stderr after it was ready."""
        return self._stderr.read_text(encoding="utf-8").partition("Ctrl-C stops.\n")[2]

    def connect(self, **options: Any) -> Connection:
        """Connect to it."""
        return Connection(self.port, **options)

    def run(self, body: JsonObject, path: str = "/agui") -> list[JsonObject]:
        """Run once, to the end."""
        with self.connect() as connection:
            connection.run(body, path)
            return list(connection.events())

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str | None) -> tuple[int, Any]:
        """Send a request; gives the status and what the body means."""
        with self.connect() as connection:
            connection.request(method, path, body, **headers)
            return connection.response.status, json.loads(connection.response.read() or b"null")

    def records(self, thread: str) -> list[JsonObject]:
        """The events that the journal holds of a thread."""
        found: list[JsonObject] = []
        after: int | None = 0
        while after is not None:
            status, page = self.ask("GET", f"/sessions/{thread}?after={after}")
            assert status == 200, page
            found += [record["event"] for record in page["records"] if record.get("event")]
            after = page.get("next")
        return found

    def peak_memory(self) -> int:
        """The most bytes that it ever held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) * 1024

    def open_sockets(self) -> int:
        """How many sockets it has open."""
        count = 0
        for file in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                count += os.readlink(file).startswith("socket:")
        return count

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal; gives the exit code."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


@contextmanager
def serving(
    folder: Path, target: str = f"{AGENTS}:agent", *options: str, command: Sequence[str] = (), **env: str
) -> Generator[Server]:
    """Serve in a child process; all servers of a folder share a journal, and each is gone in the end."""
    words = [sys.executable, "-m", "trunkline", "serve", target, "--port", "0", *options]
    own = {
        "LIFE": str(folder / "life"),
        "TRUNKLINE_TOKEN": SECRET,
        "TRUNKLINE_JOURNAL": f"sqlite:{folder / 'journal.db'}",
    }
    output = folder / f"stderr-{time.monotonic_ns()}"
    with (
        output.open("wb") as errors,
        subprocess.Popen(
            command or words, cwd=ROOT, env={**os.environ, **own, **env}, stderr=errors, stdout=errors
        ) as process,
    ):

        def port() -> int:
            text = output.read_text(encoding="utf-8")
            assert process.poll() is None, text
            found = re.search(r"http://127\.0\.0\.1:(\d+)/[^$]*Ctrl-C stops\.\n", text)
            return int(found[1]) if found else 0

        try:
            yield Server(process, eventually(port), output, folder / "life")
        finally:
            process.kill()
