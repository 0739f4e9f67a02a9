"""An agent on the trunk whose other half is a script at the far end of a JSON-RPC connection.

The connection, the decoder, the session and the requests are the real ones; only the agent's process is a
function, so that a test says what the agent asks and sees what it gets.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.hubs import WAIT, collect, events_of, hub_for, only, soon
from trunkline import events as ev
from trunkline.agents.acp.requests.permission_requests import Permission
from trunkline.agents.acp.requests.session_requests import AgentRequests
from trunkline.agents.interface import AgentCard
from trunkline.commands import Answer, Prompt
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.acp.profiles import STANDARD, Profile
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.session.context import TurnContext
from trunkline.session.session import Session
from trunkline.session.view import SessionView
from trunkline.transports.memory import MemoryTransport
from trunkline.workspace import Policy

SESSION = "native-1"


class Far:
    """The agent's end: it asks its client and sends updates."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.cancelled = asyncio.Event()

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a request with the session's id in it and give the result."""
        return await soon(self.connection.request(method, {"sessionId": SESSION, **params}))

    def update(self, kind: str, /, **fields: Any) -> None:
        """Send a session/update."""
        update = {"sessionUpdate": kind, **fields}
        self.connection.notify("session/update", {"sessionId": SESSION, "update": update})

    def say(self, text: str) -> None:
        """Send some text of the answer."""
        self.update("agent_message_chunk", content={"type": "text", "text": text})

    async def permission(self, *, options: Any = None, **call: Any) -> Any:
        """Ask for a permission and give the outcome."""
        given = OPTIONS if options is None else options
        answer = await self.ask("session/request_permission", toolCall=call, options=given)
        return answer["outcome"]


OPTIONS = [
    {"optionId": "proceed_always", "name": "Always", "kind": "allow_always"},
    {"optionId": "proceed", "name": "Allow", "kind": "allow_once"},
    {"optionId": "abort", "name": "Reject", "kind": "reject_once"},
]

Script = Callable[[Far, Prompt], Awaitable[None]]


class _NearHandler:
    def __init__(self, requests: AgentRequests, decoder: AcpDecoder) -> None:
        self.requests = requests
        self.decoder = decoder

    async def handle(self, method: str, params: Any) -> Any:
        return await self.requests.handle(method, params)

    def handle_notification(self, method: str, params: Any) -> None:
        if method == "session/update":
            turn = self.requests.turn
            for event in self.decoder.feed(params["update"]):
                if turn is not None:
                    turn.emit(event)
            self.requests.take_update(params["update"])
        else:
            self.requests.handle_notification(method, params)

    def withdraw(self, method: str, params: Any) -> bool:
        return False


class _FarHandler:
    async def handle(self, method: str, params: Any) -> Any:
        raise RpcError(-32601, method)

    def handle_notification(self, method: str, params: Any) -> None: ...

    def withdraw(self, method: str, params: Any) -> bool:
        return False


class ScriptedAgent:
    """An agent whose turns are a script; the connection lives as long as the session."""

    def __init__(
        self, script: Script, *, permission: Permission = "ask", profile: Profile = STANDARD
    ) -> None:
        self.card = AgentCard(name="scripted", foreign_words=True)
        self.script = script
        self.permission: Permission = permission
        self.profile = profile
        self.far: Far | None = None
        self.requests: AgentRequests | None = None

    async def open_session(self, session: SessionView) -> None:
        decoder = AcpDecoder(self.profile)
        self.requests = AgentRequests(session, decoder, permission=self.permission)
        to_far, to_near = MemoryTransport(), MemoryTransport()
        near, far = Connection(to_far), Connection(to_near)
        near.handler, far.handler = _NearHandler(self.requests, decoder), _FarHandler()
        to_far.deliver_to(far.receive)
        to_near.deliver_to(near.receive)
        self.far = Far(far)
        session.memory["side"] = (self.requests, decoder, near, self.far)

    async def close_session(self, session: SessionView) -> None:
        requests, _, near, far = session.memory["side"]
        await requests.close()
        await near.close("done")
        await far.connection.close("done")

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[ev.AnyEvent]:
        requests, decoder, _, far = ctx.session.memory["side"]
        decoder.begin_turn(ctx.turn_id)
        requests.turn, far.cancelled = ctx, asyncio.Event()
        working = asyncio.ensure_future(self.script(far, prompt))
        try:
            await asyncio.wait({working})
        except asyncio.CancelledError:
            requests.cancel_turn()
            far.cancelled.set()
            await asyncio.wait({working}, timeout=WAIT)
            raise
        finally:
            requests.turn = None
            working.cancel()
        working.result()
        for event in decoder.close():
            yield event


@contextmanager
def refused(code: int, match: str) -> Generator[None]:
    """Expect an error of JSON-RPC."""
    with pytest.raises(RpcError, match=match) as caught:
        yield
    assert caught.value.rpc_code == code


def choose(session: Session, option_id: str, by: str = "person") -> Callable[[ev.Asked], Awaitable[Any]]:
    """Answer every question with an option."""

    async def answer(asked: ev.Asked) -> None:
        await session.answer(Answer(question_id=asked.question_id, option_id=option_id, by=by))

    return answer


async def run(
    folder: Path, script: Any, *, policy: Policy | None = None, answer: str = "allow_once"
) -> list[ev.AnyEvent]:
    """Run one turn of a script in a folder."""
    async with hub_for(ScriptedAgent(script), policy=policy) as hub:
        session = await hub.create(cwd=str(folder))
        shown = await collect(session, "go", {ev.Asked: choose(session, answer)})
        assert [event.message for event in only(shown, ev.TurnFailed)] == []
        return await events_of(session)
