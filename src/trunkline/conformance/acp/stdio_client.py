"""Talking ACP with an agent's command over its stdin and stdout; every line it prints is kept.

It is plain and blocking on purpose: the order of what was sent and what came back is the order of
the log, and a broken agent can cost no more than ``patience``.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from trunkline.transports.process.piped_program import PipedProgram

Message = dict[str, Any]

_KEPT = 400
"""Lines of both sides that are kept for a transcript."""
_LONGEST = 4000
_WAITING = 100_000
"""Lines of an agent that may wait to be looked at before it has to wait too."""
_MOST_UNANSWERED = 3
"""Requests in a row that a process may leave without any line before it counts as gone."""
_LONGEST_LINE = 256 * 1024 * 1024


class TranscriptLine(NamedTuple):
    """A line of one of the two: when it was said (seconds after the start), by whom, and what."""

    at: float
    by: str
    line: str

    def __str__(self) -> str:
        """The line as a transcript shows it."""
        return f"{self.at:7.3f} {self.by} {self.line}"


class Line(NamedTuple):
    """One line of the agent's stdout: the bytes, what they mean, and the method they answer."""

    raw: bytes
    message: Message | None
    answers: str | None = None

    @property
    def update(self) -> Message | None:
        """The update that the line carries, if it is one."""
        if self.message is None or self.message.get("method") != "session/update":
            return None
        params: Any = self.message.get("params")
        update: Any = cast("Message", params).get("update") if isinstance(params, dict) else None
        return cast("Message", update) if isinstance(update, dict) else None


def text(words: str) -> list[Message]:
    """A prompt of plain text."""
    return [{"type": "text", "text": words}]


def allow(params: Message) -> Message:
    """Answer a permission with its first option that allows; with cancelled where none does."""
    for option in params["options"]:
        if option["kind"].startswith("allow"):
            return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
    return {"outcome": {"outcome": "cancelled"}}


class StdioClient:
    """One process of an agent; use it as a context manager."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        patience: float = 20.0,
    ) -> None:
        """Start the command with ``environ`` (ours) and ``env``."""
        self.patience = patience
        self.log: list[Line] = []
        self.answer: dict[str, Callable[[Message], Message | None]] = {"session/request_permission": allow}
        """How requests of the agent are answered (None: not at all); what is not here is refused."""
        self.ended_after: float | None = None
        """How long the process took to end once its stdin was closed; None if it had to be killed."""
        self._folder = tempfile.TemporaryDirectory()
        self._stderr = Path(self._folder.name, "stderr")
        errors = os.open(self._stderr, os.O_WRONLY | os.O_CREAT)
        try:
            inherited = os.environ if environ is None else environ
            variables = {**inherited, **(env or {})}
            self.process = PipedProgram(command, cwd=cwd, env=variables, stderr=errors)
        except BaseException:
            self._folder.cleanup()
            raise
        finally:
            os.close(errors)
        self._reads = True
        """Whether it took all that was sent: a line that it left half read cannot be gone on from."""
        self._unanswered = 0
        """Requests in a row without an answer and without any other line."""
        self.line_count = 0
        """How many lines were said by both so far."""
        self._transcript: deque[TranscriptLine] = deque(maxlen=_KEPT)
        self._began = time.monotonic()
        self._lines: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._reading = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._asked: dict[str, str] = {}
        self._count = 0
        self._over = False
        try:
            self.stdin = self.process.stdin
            os.set_blocking(self.stdin.fileno(), False)
            self._reader.start()
            self.listen()
        except BaseException:  # A signal ends us.
            self.process.close()
            self._folder.cleanup()
            raise

    # -- reading -----------------------------------------------------------------------------------

    def listen(self, listening: bool = True) -> None:
        """Read the agent's output, or leave it in the pipe after the next line."""
        if listening:
            self._reading.set()
        else:
            self._reading.clear()

    def _read(self) -> None:
        with self.process.stdout as stdout:
            while line := stdout.readline(_LONGEST_LINE):
                self._note("agent ", line)
                self._lines.put(line)
                self._reading.wait()
        self._lines.put(None)

    def next(self, within: float | None = None) -> Line | None:
        """Give the next line, after answering it if it is a request; None at the end or in silence."""
        if self._over:
            return None
        try:
            raw = self._lines.get(timeout=self.patience if within is None else within)
        except queue.Empty:
            return None
        if raw is None:
            self._over = True
            return None
        line = self._understand(raw)
        self.log.append(line)
        self._respond(line.message or {})
        return line

    def _understand(self, raw: bytes) -> Line:
        try:
            message = json.loads(raw)
        except (ValueError, RecursionError):
            return Line(raw, None)
        if not isinstance(message, dict):
            return Line(raw, None)
        fields = cast("Message", message)
        answers = self._asked.get(json.dumps(fields.get("id"))) if "method" not in fields else None
        return Line(raw, fields, answers)

    def _respond(self, message: Message) -> None:
        if "method" not in message or "id" not in message:
            return
        respond = self.answer.get(str(message["method"]))
        reply: Message = {"jsonrpc": "2.0", "id": message["id"]}
        if respond is None:
            self.send({**reply, "error": {"code": -32601, "message": "this client does not do that"}})
            return
        try:
            result = respond(message["params"])
        except (KeyError, TypeError, AttributeError):
            self.send({**reply, "error": {"code": -32602, "message": "the params are not understood"}})
            return
        if result is not None:
            self.send({**reply, "result": result})

    def until(self, condition: Callable[[Line], Any], within: float | None = None) -> Line | None:
        """Read on until a line is what is looked for; None when it does not come in time."""
        end = time.monotonic() + (self.patience if within is None else within)
        while (left := end - time.monotonic()) > 0 and (line := self.next(left)) is not None:
            if condition(line):
                return line
        return None

    # -- sending -----------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes; nobody may be there to read them, or somebody who does not."""
        for line in data.splitlines():
            self._note("client", line)
        if self.stdin.closed:
            return
        pipe, left, end = self.stdin.fileno(), memoryview(data), time.monotonic() + self.patience
        with contextlib.suppress(BrokenPipeError):
            while left and self._reads:
                self._reads = bool(select.select([], [pipe], [], max(0.0, end - time.monotonic()))[1])
                with contextlib.suppress(BlockingIOError):
                    left = left[os.write(pipe, left) :]

    def send(self, *messages: Any) -> None:
        """Send messages in one write."""
        self.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def notify(self, method: str, params: Any) -> None:
        """Tell the agent something."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def form(self, method: str, params: Any, request_id: Any = None) -> Message:
        """Make a request without sending it; what answers it will be known."""
        if request_id is None:
            self._count += 1
            request_id = self._count
        self._asked[json.dumps(request_id)] = method
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        return message if params is None else {**message, "params": params}

    def start(self, method: str, params: Any, request_id: Any = None) -> Any:
        """Send a request and give its id."""
        message = self.form(method, params, request_id)
        self.send(message)
        return message["id"]

    def wait(self, request_id: Any, within: float | None = None) -> Message | None:
        """Wait for the answer to a request; None when it does not come."""

        def answers(line: Line) -> bool:
            got = line.message
            return got is not None and "method" not in got and same(got.get("id"), request_id)

        if not self._reads or self._unanswered >= _MOST_UNANSWERED:
            return None
        came = len(self.log)
        line = self.until(answers, within)
        silent = line is None and within is None and len(self.log) == came
        self._unanswered = self._unanswered + 1 if silent else 0
        return None if line is None else line.message

    def request(self, method: str, params: Any, request_id: Any = None) -> Message | None:
        """Send a request and wait for its answer."""
        return self.wait(self.start(method, params, request_id))

    # -- the usual steps ---------------------------------------------------------------------------

    def result(self, method: str, params: Any) -> Message:
        """Ask for something that must succeed."""
        reply = self.request(method, params)
        assert reply is not None, f"{method} was not answered; stderr: {self.stderr[-2000:]}"
        assert "result" in reply, reply
        return reply["result"]

    def error(self, method: str, params: Any) -> Message:
        """Ask for something that must fail."""
        reply = self.request(method, params)
        assert reply is not None, f"{method} was not answered; stderr: {self.stderr[-2000:]}"
        assert "error" in reply, reply
        return reply["error"]

    def initialize(self, capabilities: Message | None = None, version: int = 1) -> Message:
        """Initialize."""
        params = {"protocolVersion": version, "clientCapabilities": capabilities or {}}
        return self.result("initialize", params)

    def open(self, cwd: str | os.PathLike[str] = "/") -> str:
        """Begin a session."""
        return self.result("session/new", {"cwd": os.fspath(cwd), "mcpServers": []})["sessionId"]

    def prompt(self, session_id: str, words: str) -> Message:
        """Say something and wait for the end of the turn."""
        return self.result("session/prompt", {"sessionId": session_id, "prompt": text(words)})

    # -- what was said -----------------------------------------------------------------------------

    def _note(self, by: str, line: bytes) -> None:
        """Keep a line for the transcript."""
        shown = line[:_LONGEST].decode(errors="replace").rstrip("\r\n")
        self._transcript.append(TranscriptLine(time.monotonic() - self._began, by, shown))
        self.line_count += 1

    def transcript(self, since: int = 0) -> list[TranscriptLine]:
        """What both said, from a number of lines on; of a long talk the last lines."""
        kept = list(self._transcript)
        return kept[max(0, len(kept) - (self.line_count - since)) :]

    @property
    def stderr(self) -> str:
        """What the process wrote to stderr."""
        return self._stderr.read_text(encoding="utf-8", errors="replace")

    @property
    def stderr_size(self) -> int:
        """How many bytes the process wrote to stderr."""
        return self._stderr.stat().st_size

    def updates(self, session_id: str | None = None, start: int = 0) -> Iterator[Message]:
        """The updates so far, from a line of the log on."""
        for line in self.log[start:]:
            params = (line.message or {}).get("params", {})
            if line.update is not None and session_id in (None, params.get("sessionId")):
                yield line.update

    def message_text(
        self, session_id: str | None = None, start: int = 0, kind: str = "agent_message_chunk"
    ) -> str:
        """The text of the chunks of one kind so far."""
        chunks = (u["content"] for u in self.updates(session_id, start) if u["sessionUpdate"] == kind)
        return "".join(chunk["text"] for chunk in chunks if chunk["type"] == "text")

    def faults(self) -> list[str]:
        """What the schema has against any line so far."""
        # It needs a package that only checks need.
        from trunkline.conformance.acp.schema import find_fault

        found: list[str] = []
        for line in self.log:
            fault = "no JSON object" if line.message is None else find_fault(line.message, line.answers)
            if fault is not None:
                found.append(f"{fault}: {line.raw[:400]!r}")
        return found

    # -- the end -----------------------------------------------------------------------------------

    def finish(self, within: float | None = None) -> int | None:
        """Close stdin, read to the end and give the exit code; None if the process had to be killed."""
        patience = self.patience if within is None else within
        began = time.monotonic()
        with contextlib.suppress(OSError):
            self.stdin.close()
        while not self._over and time.monotonic() - began < patience:
            self.next(max(0.0, patience - (time.monotonic() - began)))
        code = self.process.wait(max(0.01, patience - (time.monotonic() - began)))
        if code is not None:
            if self.ended_after is None:
                self.ended_after = time.monotonic() - began
            return code
        self.kill()
        return None

    def kill(self) -> None:
        """Kill the process and whatever it started."""
        self.process.kill(self.patience)

    def __enter__(self) -> StdioClient:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""
        self.kill()
        with contextlib.suppress(OSError):
            self.stdin.close()
        self.listen()
        end = time.monotonic() + self.patience
        while self._reader.is_alive() and time.monotonic() < end:
            # It may wait for room.
            with contextlib.suppress(queue.Empty):
                self._lines.get(timeout=0.01)
        self._folder.cleanup()


def same(one: Any, other: Any) -> bool:
    """Whether two ids are the same JSON value: 1 is neither 1.0, true nor "1"."""
    return type(one) is type(other) and one == other
