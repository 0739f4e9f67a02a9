"""An editor and an agent with the splice between them; a test plays both ends, line by line."""

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.hubs import WAIT, soon
from trunkline.agents.acp.agent import AcpAgent
from trunkline.agents.acp.splice.agent import SpliceAgent
from trunkline.agents.acp.splice.relay import Splice
from trunkline.agents.acp.splice.stdio import SETTINGS
from trunkline.cursor import Entry
from trunkline.events import AnyEvent
from trunkline.journal import Journal, open_journal
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.workspace import Policy
from trunkline.workspace.policy import read_policy

PUPPET = Path(__file__).parent.parent / "children/puppet_agent.py"
BRISK = msgspec.structs.replace(
    SETTINGS, suspend_after=0.02, detach_after=2.0, finish_grace=0.2, poll_busy=0.01, poll_idle=0.05
)
Json = dict[str, Any]
TARGET = "acp:puppet"


class End:
    """One end of the pair: what it says, and what it hears."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._partial = b""

    def hear(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self.lines.put_nowait(line)

    async def line(self) -> bytes:
        """The next line, as it came."""
        return await soon(self.lines.get())

    async def next(self) -> Json:
        """The next message."""
        return json.loads(await self.line())

    async def until(self, **fields: Any) -> Json:
        """The next message with these members; those before it are dropped."""
        while True:
            message = await self.next()
            if all(message.get(name) == value for name, value in fields.items()):
                return message

    @property
    def is_quiet(self) -> bool:
        return self.lines.empty()

    def write_line(self, data: bytes) -> None:
        raise NotImplementedError

    def send(self, **message: Any) -> bytes:
        """Say a message, and give it as it was written."""
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write_line(line + b"\n")
        return line


class EditorEnd(End):
    """The editor: also the transport that the splice writes to."""

    def __init__(self) -> None:
        super().__init__()
        self.splice: Splice | None = None
        self.free = asyncio.Event()
        self.free.set()
        self.paused = False

    def write_line(self, data: bytes) -> None:
        assert self.splice is not None
        self.splice.receive(data)

    # -- the transport --

    def write(self, data: bytes) -> None:
        self.hear(data)

    @property
    def congested(self) -> bool:
        return not self.free.is_set()

    async def drained(self) -> None:
        await self.free.wait()

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


class AgentEnd(End):
    """The agent: a process of which the test decides every byte."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.gone = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None
        self.connected_event = asyncio.Event()
        self._reading = asyncio.Event()
        self._reading.set()

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[None]:
        server = await asyncio.start_unix_server(self._take, self.path, limit=1 << 20)
        try:
            yield
        finally:
            if self._writer is not None:
                self._writer.close()
            server.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.connected_event.set()
        while data := await reader.read(1 << 16):
            self.hear(data)
            await self._reading.wait()
        self.gone.set()

    def stop_reading(self) -> None:
        self._reading.clear()

    def read_on(self) -> None:
        self._reading.set()

    async def connected(self) -> None:
        await soon(self.connected_event.wait())

    def write_line(self, data: bytes) -> None:
        assert self._writer is not None
        self._writer.write(data)

    def end(self) -> None:
        """End the process."""
        assert self._writer is not None
        self._writer.close()

    def update(self, session_id: str, kind: str, **fields: Any) -> bytes:
        params = {"sessionId": session_id, "update": {"sessionUpdate": kind, **fields}}
        return self.send(method="session/update", params=params)

    def say(self, session_id: str, text: str) -> bytes:
        return self.update(session_id, "agent_message_chunk", content={"type": "text", "text": text})


class Pair:
    """Both ends, what is between them, and the journal."""

    def __init__(self, splice: Splice, editor: EditorEnd, agent: AgentEnd, journal: Journal) -> None:
        self.splice = splice
        self.editor = editor
        self.agent = agent
        self.journal = journal
        self._next = 100

    async def call(self, method: str, params: Json, result: Any, *, error: Json | None = None) -> Json:
        """Let the editor ask and the agent answer."""
        self._next += 1
        self.editor.send(id=self._next, method=method, params=params)
        heard = await self.agent.until(method=method)
        if error is not None:
            self.agent.send(id=heard["id"], error=error)
        else:
            self.agent.send(id=heard["id"], result=result)
        return await self.editor.until(id=self._next)

    async def handshake(self, **result: Any) -> None:
        """Introduce the two."""
        params: Json = {"protocolVersion": 1, "clientInfo": {"name": "Ed", "version": "7"}}
        info = {"name": "puppet", "version": "1"}
        offers: Json = {"loadSession": True, "sessionCapabilities": {"resume": {}, "fork": {}, "close": {}}}
        answer = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": offers, **result}
        await self.call("initialize", params, answer)

    async def new(self, session_id: str = "native-1", **result: Any) -> Session:
        """Open a session, and give it as the journal has it."""
        params: Json = {"cwd": "/", "mcpServers": []}
        await self.call("session/new", params, {"sessionId": session_id, **result})
        return await self.session(session_id)

    async def session(self, session_id: str = "native-1") -> Session:
        """The session in the journal, once it is open there."""
        journal = self.splice.journal_of(session_id)
        assert journal is not None
        await journal.drained(WAIT)
        assert journal.session is not None, journal.failure
        return journal.session

    async def prompt(self, text: str, session_id: str = "native-1") -> tuple[int, Json]:
        """Let the editor send a prompt; gives its id, and what the agent got."""
        self._next += 1
        params = {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
        self.editor.send(id=self._next, method="session/prompt", params=params)
        return self._next, await self.agent.until(method="session/prompt")

    async def events(self, session_id: str = "native-1") -> list[AnyEvent]:
        """Everything that the journal has of a session."""
        session = await self.session(session_id)
        await session.durable()
        entries: list[Entry] = [entry async for entry in session.replay()]
        return [entry.event for entry in entries]


def target_of(socket: Path) -> str:
    """The TARGET of a puppet."""
    return f"acp:{shlex.join([sys.executable, '-I', '-S', str(PUPPET), str(socket)])}"


@asynccontextmanager
async def paired(
    folder: Path,
    *,
    journal: Journal | None = None,
    policy: Policy | None = None,
    settings: Mapping[str, Any] | None = None,
    agent_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> AsyncGenerator[Pair]:
    """An editor and a puppet with the splice between them, in this process."""
    own = journal is None
    journal = journal or await open_journal("memory:")
    used = journal
    editor, agent = EditorEnd(), AgentEnd(folder / "puppet")

    async def open_hub(source: SpliceAgent) -> Hub:
        chosen = msgspec.structs.replace(BRISK, **(settings or {}))
        return await Hub(source, used, target=TARGET, policy=policy, settings=chosen).__aenter__()

    source = AcpAgent(sys.executable, ["-I", "-S", str(PUPPET), str(agent.path)], **(agent_options or {}))
    splice = Splice(source, editor, open_hub, has_policy=policy is not None, **options)
    editor.splice = splice
    async with agent.listening():
        await soon(splice.start())
        await agent.connected()
        try:
            yield Pair(splice, editor, agent, journal)
        finally:
            await soon(splice.close())
            if own:
                await journal.close()


def rules(text: str) -> Policy:
    policy = read_policy(text)
    assert policy is not None
    return policy


async def begin(pair: Pair) -> tuple[Session, int, Any]:
    """A turn of the editor's that runs."""
    await pair.handshake()
    session = await pair.new()
    editor_id, heard = await pair.prompt("Work")
    return session, editor_id, heard["id"]


async def finish(pair: Pair, editor_id: int, agent_id: Any) -> list[Any]:
    pair.agent.send(id=agent_id, result={"stopReason": "end_turn"})
    await pair.editor.until(id=editor_id)
    return await pair.events()


def selected(option_id: str) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}
