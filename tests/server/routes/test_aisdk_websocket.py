"""The frames of WebSocketChatTransport: responses side by side, resuming after a chunk, refusals."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.frontends.aisdk.chats import user
from tests.hubs import make, soon, until
from tests.server.running_server import BEARER, served
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.frontends.aisdk.message_reducer import MessageReducer
from trunkline.protocols.aisdk.wire import version_of
from trunkline.server.app import Server
from trunkline.server.limits import Limits
from trunkline.session.context import SessionView, TurnContext

ENDS = ("end", "error", "no-active")


@asynccontextmanager
async def dialled(
    agent: Any = None, path: str = "/api/chat/ws", **options: Any
) -> AsyncGenerator[tuple[Server, ClientConnection, str]]:
    """A socket on a server, and its address."""
    async with served(agent, **options) as (app, client):
        url = f"ws://{client.base_url.netloc.decode()}{path}"
        async with connect(url, additional_headers=BEARER, max_size=None) as socket:
            yield app, socket, url


def send(text: str, *, request: str = "r1", chat: str = "c1", message: str = "u1", **fields: Any) -> str:
    about: dict[str, Any] = {
        "requestId": request,
        "id": chat,
        "headers": {},
        "body": {},
        "trigger": "submit-message",
    }
    return json.dumps({"type": "send", **about, "messages": [user(text, message)], **fields})


def resume(request: str = "r2", chat: str = "c1", **fields: Any) -> str:
    about: dict[str, Any] = {"requestId": request, "id": chat, "headers": {}, "body": {}}
    return json.dumps({"type": "resume", **about, **fields})


async def frames(socket: ClientConnection, request: str, count: int | None = None) -> list[Any]:
    """The frames of one request, to its end or so many of them."""
    found: list[Any] = []
    while len(found) != count and (not found or found[-1]["type"] not in ENDS):
        frame = json.loads(await soon(socket.recv()))
        if frame["requestId"] == request:
            found.append(frame)
    return found


def chunks(found: list[Any]) -> list[Any]:
    return [one["chunk"] for one in found if one["type"] == "chunk"]


async def counts(prompt: Prompt) -> AsyncIterator[str]:
    """Count slowly enough that each number is a batch."""
    for number in range(60):
        yield f"{number} "
        await asyncio.sleep(0.005)


async def test_a_response_is_numbered_frames_from_start_to_end() -> None:
    async with dialled() as (_, socket, _url):
        await socket.send(send("/tools"))
        found = await frames(socket, "r1")
        assert [found[0]["type"], found[-1]["type"]] == ["start", "end"]
        numbers = [one["sequence"] for one in found if one["type"] == "chunk"]
        assert numbers == list(range(len(numbers)))
        assert chunks(found)[-1]["type"] == "finish"


async def test_several_chats_are_answered_side_by_side() -> None:
    async with dialled() as (_, socket, _url):
        await socket.send(send("/wait-for-cancel", request="a", chat="one"))
        await socket.send(send("/text", request="b", chat="two"))
        assert (await frames(socket, "b"))[-1]["type"] == "end"


async def test_to_abort_is_to_leave_and_the_turn_is_resumed_from_its_start() -> None:
    async with dialled(make(counts)) as (_, socket, _url):
        await socket.send(send("go"))
        seen = await frames(socket, "r1", 6)
        await socket.send(json.dumps({"type": "abort", "requestId": "r1"}))
        await socket.send(resume())
        found = await frames(socket, "r2")
        assert found[0]["type"] == "start"
        assert chunks(found)[0] == seen[1]["chunk"]
        assert "".join(one.get("delta", "") for one in chunks(found)) == "".join(f"{n} " for n in range(60))
        await socket.send(resume("r3", "nowhere"))
        assert (await frames(socket, "r3"))[-1]["type"] == "no-active"


async def test_a_turn_that_is_over_is_shown_to_who_lacks_its_end_and_to_nobody_else() -> None:
    go = asyncio.Event()

    async def waits() -> AsyncIterator[str]:
        yield "before "
        await go.wait()
        yield "after"

    async with dialled(make(waits)) as (app, socket, url):
        await socket.send(send("go"))
        turn_id = (await frames(socket, "r1", 2))[-1]["chunk"]["messageId"]
        await socket.close()
        session = await (await app.agents.hub()).session("c1")
        await until(lambda: not session.followers)
        go.set()
        await soon(session.wait_until_idle())
        async with connect(url, additional_headers=BEARER, max_size=None) as again:
            await again.send(resume("r2"))
            found = chunks(await frames(again, "r2"))
            assert "".join(one.get("delta", "") for one in found) == "before after"
            await again.send(resume("r3"))
            assert [one["type"] for one in await frames(again, "r3")] == ["no-active"]
            for request, lacks, types in (("r4", turn_id, ["start", "end"]), ("r5", "x", ["no-active"] * 2)):
                await again.send(resume(request, body={"turnId": lacks}))
                seen = await frames(again, request)
                assert [seen[0]["type"], seen[-1]["type"]] == types
            await again.send(resume("r6", body={"turnId": 1}))
            assert "turnId must be a text" in (await frames(again, "r6"))[0]["errorText"]


class SlowToOpen:
    """An agent that takes its time to start, as one that is installed first."""

    card = AgentCard(name="slow")

    def __init__(self) -> None:
        self.starting = asyncio.Event()
        self.ready = asyncio.Event()

    async def open_session(self, session: SessionView) -> None:
        self.starting.set()
        await self.ready.wait()

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield f"You said {prompt.text}"


async def test_a_client_that_leaves_before_the_agent_has_started_only_leaves() -> None:
    agent = SlowToOpen()
    async with dialled(agent) as (app, socket, url):
        await socket.send(send("go"))
        await soon(agent.starting.wait())
        await socket.close()
        agent.ready.set()
        session = await (await app.agents.hub()).session("c1")
        await until(lambda: session.last_turn_id is not None and not session.busy)
        async with connect(url, additional_headers=BEARER, max_size=None) as again:
            await again.send(resume("r2"))
            found = chunks(await frames(again, "r2"))
            assert "".join(one.get("delta", "") for one in found) == "You said go"
            await again.send(resume("r3"))
            assert [one["type"] for one in await frames(again, "r3")] == ["no-active"]


@pytest.mark.parametrize("lost", [0, 1, 3])
async def test_a_client_that_comes_back_goes_on_after_its_last_chunk(lost: int) -> None:
    async with dialled(make(counts)) as (_, socket, url):
        await socket.send(send("go"))
        seen = await frames(socket, "r1", 12)
        await socket.close()
        has = chunks(seen)[: len(chunks(seen)) - lost]
        async with connect(url, additional_headers=BEARER, max_size=None) as again:
            await again.send(resume(lastSequence=len(has) - 1))
            found = await frames(again, "r2")
        assert [found[0]["type"], found[-1]["type"]] == ["start", "end"]
        numbers = [one["sequence"] for one in found if one["type"] == "chunk"]
        assert numbers == list(range(len(has), len(has) + len(numbers)))
        reducer = MessageReducer("x", version_of(7))
        reducer.feed_all([*has, *chunks(found)])
        assert reducer.message["parts"][-1]["text"] == "".join(f"{n} " for n in range(60))


@pytest.mark.parametrize("last", [4000, -1])
async def test_a_place_that_is_not_known_is_refused_with_the_next_step(last: int) -> None:
    async with dialled() as (_, socket, _url):
        await socket.send(send("/text"))
        await frames(socket, "r1")
        await socket.send(resume(lastSequence=last))
        (found,) = await frames(socket, "r2")
        assert found == {
            "type": "error",
            "requestId": "r2",
            "errorText": f"what followed chunk {last} is not known any more: leave lastSequence out",
        }


async def test_what_is_refused_is_an_error_of_its_request_alone() -> None:
    async with dialled() as (_, socket, _url):
        await socket.send(send("", request="bad"))
        (found,) = await frames(socket, "bad")
        assert (found["type"], found["errorText"][:21]) == ("error", "message 'u1' is empty")
        await socket.send(send("/text", request="good"))
        assert (await frames(socket, "good"))[-1]["type"] == "end"


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\x00", 1003),
        ("{", 1007),
        ('{"type": "dance", "requestId": "1"}', 1007),
        ('{"type": "send", "requestId": ""}', 1007),
        (json.dumps({"type": "ä" * 200}, ensure_ascii=False), 1007),
        ("x" * 3000, 1009),
    ],
)
async def test_what_is_no_frame_closes_the_connection(frame: Any, code: int) -> None:
    async with dialled(limits=Limits(body_bytes=2000)) as (_, socket, _url):
        await socket.send(frame)
        with pytest.raises(ConnectionClosed) as closed:
            await soon(socket.recv())
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == code


async def test_a_connection_carries_a_limited_number_of_requests_each_with_its_own_id() -> None:
    async with dialled(limits=Limits(waiting_frames=1)) as (app, socket, _url):
        await socket.send(send("/wait-for-cancel", request="a", chat="one"))
        await frames(socket, "a", 1)
        await socket.send(send("/text", request="b", chat="two"))
        (found,) = await frames(socket, "b")
        assert found["errorText"] == "too many requests are under way"
        await socket.send(send("/text", request="a", chat="two"))
        await soon(socket.wait_closed())
        assert socket.close_code == 1007
        session = await (await app.agents.hub()).session("one")
        await until(lambda: not session.followers)
        assert session.busy, "a lost connection does not end a turn"


async def test_a_client_that_comes_back_twice_loses_nothing() -> None:
    """The chunks of the second connection have other borders than those of the first had."""
    async with dialled(make(counts)) as (_, socket, url):
        await socket.send(send("go"))
        has = chunks(await frames(socket, "r1", 30))[:8]
        await socket.close()
        for request, count in (("r2", 6), ("r3", None)):
            async with connect(url, additional_headers=BEARER, max_size=None) as again:
                await again.send(resume(request, lastSequence=len(has) - 1))
                found = await frames(again, request, count)
                assert found[0]["type"] == "start", found
                has += chunks(found)
        reducer = MessageReducer("x", version_of(7))
        reducer.feed_all(has)
        assert reducer.message["parts"][-1]["text"] == "".join(f"{n} " for n in range(60))


async def test_a_number_that_two_responses_of_a_turn_have_is_refused() -> None:
    async with dialled(make(counts)) as (_, socket, url):
        await socket.send(send("go"))
        await frames(socket, "r1", 10)
        async with connect(url, additional_headers=BEARER, max_size=None) as other:
            await other.send(resume("r2"))
            await frames(other, "r2", 5)
            await other.send(resume("r3", lastSequence=3))
            (found,) = await frames(other, "r3")
        assert found["errorText"] == "what followed chunk 3 is not known any more: leave lastSequence out"


async def test_a_client_that_takes_nothing_is_dropped_and_its_turn_goes_on() -> None:
    async def floods(prompt: Prompt) -> AsyncIterator[str]:
        for _ in range(1000):
            yield "x" * 20_000

    async with served(make(floods), limits=Limits(stall_seconds=0.2)) as (app, client):
        place = client.base_url.netloc.decode()
        small = socket.socket()
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        small.connect(("127.0.0.1", int(place.partition(":")[2])))
        url = f"ws://{place}/api/chat/ws"
        about: dict[str, Any] = {"additional_headers": BEARER, "max_size": None, "compression": None}
        async with connect(url, sock=small, **about) as stalled:
            await stalled.send(send("go"))
            await frames(stalled, "r1", 1)
            session = await (await app.agents.hub()).session("c1")
            await until(lambda: session.last_turn_id is not None and not session.busy)
            await until(lambda: not session.followers)
            # What waits in the buffers is never read: no handshake can end this.
            stalled.transport.abort()
