"""Two principals in every route and with every kind of agent: none reaches the session of the other.

Every route of the server has a case here, which tries whatever the route can do. A route without one fails
the first test.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState
from langgraph.types import interrupt
from starlette.routing import Route, WebSocketRoute
from tests.agents.langchain.untyped_langchain import StateGraph
from tests.hubs import BRISK, soon, until
from tests.server.acp_clients import GREETING, bearer, over_websocket
from tests.server.running_server import frames, listening, run_events, run_input, served
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

import trunkline
from trunkline.agents.agui import AguiAgent
from trunkline.commands import Prompt
from trunkline.journal import SessionKey
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.server.app import Server
from trunkline.server.security.tokens import Token
from trunkline.session.context import TurnContext

SECRET = "swordfish"
THREAD = "t1"
ALICE = bearer("the-secret-of-alice")
OTHERS = ("local", "bob", "alice/")
TOKENS = [
    Token(secret="the-secret-of-alice", principal="alice"),
    *(Token(secret=f"the-secret-of-{number}-", principal=one) for number, one in enumerate(OTHERS)),
]
ATTACKERS = [bearer(f"the-secret-of-{number}-") for number in range(len(OTHERS))]
IDS = (
    THREAD,
    f"alice/{THREAD}",
    f"alice%2F{THREAD}",
    f"../alice/{THREAD}",
    f"alice%252F{THREAD}",
    f"/{THREAD}",
    f"alice\u2215{THREAD}",
    f"\u0430lice/{THREAD}",
    f"alice/{THREAD}" + "%2F" * 160,
)


# -- agents that tell all they know ----------------------------------------------------------------


async def recite(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Say everything that was ever said in this session, and ask before going on."""
    history = await ctx.history()
    heard = [message.text for message in history.messages if message.role == "user"]
    yield " | ".join([*heard, prompt.text])
    if "wait" in prompt.text:
        await ctx.form("Go on?", {"answer": {"type": "string"}})
        yield " gone on"


def reciter() -> Any:
    """The same as a graph that remembers its threads."""

    async def node(state: MessagesState) -> dict[str, Any]:
        heard = [str(message.text) for message in state["messages"] if message.type == "human"]
        gone_on = "wait" in heard[-1] and interrupt("Go on?")
        return {"messages": [AIMessage(" | ".join(heard) + (" gone on" if gone_on else ""))]}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return builder.compile(checkpointer=InMemorySaver())


@asynccontextmanager
async def agent_of(kind: str) -> AsyncGenerator[Any]:
    """An agent that remembers, of any kind."""
    if kind == "function":
        yield recite
    elif kind == "langchain":
        yield reciter()
    else:
        far = trunkline.asgi(reciter(), tokens="the-secret-of-far", settings=BRISK)
        async with listening(far) as place:
            yield AguiAgent(f"http://{place}/agui", headers=bearer("the-secret-of-far"))


# -- the world: Alice has a thread with a secret, in which a question is open -----------------------


class World(NamedTuple):
    """What the cases need."""

    app: Server
    client: httpx.AsyncClient
    question_id: str
    connection_id: str

    async def records(self) -> list[Any]:
        journal = await self.app.agents.open()
        return list(await journal.read(SessionKey("alice", THREAD)))


@asynccontextmanager
async def hub_for(kind: str) -> AsyncGenerator[World]:
    async with agent_of(kind) as agent, served(agent, tokens=TOKENS) as (app, client):
        client.headers.update(ALICE)
        await run_events(client, run_input(SECRET, thread=THREAD))
        await run_events(client, run_input("please wait", thread=THREAD, run="r2"))
        session = await (await app.agents.hub()).session(THREAD, principal="alice")
        await until(lambda: bool(session.open_questions))
        greeted = await client.post("/acp", json=GREETING)
        connection = {"acp-connection-id": greeted.headers["acp-connection-id"]}
        try:
            yield World(app, client, next(iter(session.open_questions)), *connection.values())
        finally:
            await client.request("DELETE", "/acp", headers=connection)


# -- a case per route: what an attacker sees of it -------------------------------------------------

Seen = list[Any]
Case = Callable[[World, dict[str, str], str], Awaitable[Seen]]


def question_input(thread: str, **fields: Any) -> dict[str, Any]:
    return run_input("what do you know?", thread=thread, run=f"mine-{len(thread)}", **fields)


def resume(world: World, thread: str) -> dict[str, Any]:
    entry = {"interruptId": world.question_id, "status": "resolved", "payload": {"answer": "mine"}}
    return {**question_input(thread), "messages": [], "resume": [entry]}


async def ask(world: World, headers: dict[str, str], method: str, path: str, body: Any = None) -> Seen:
    """Send a request and read at most one frame of a stream that does not end."""
    accept = {"accept": "text/event-stream"} if method == "FOLLOW" else {}
    method = "GET" if method == "FOLLOW" else method
    # A connection of its own: one that is kept may be closed by the server just as it is used again.
    own = {**headers, **accept, "connection": "close"}
    async with world.client.stream(method, path, json=body, headers=own) as response:
        if accept and response.status_code == 200:
            return [response.status_code, await soon(anext(frames(response)))]
        return [response.status_code, (await response.aread()).decode(), dict(response.headers)]


def posts(path: str, *bodies: Callable[[World, str], Any]) -> Case:
    """A case that posts bodies."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        place = path.format(agent="default", thread=quote(thread, safe=""))
        return [await ask(world, headers, "POST", place, body(world, thread)) for body in bodies]

    return case


def gets(path: str) -> Case:
    """A case that reads something which belongs to nobody."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        return await ask(world, headers, "GET", path.format(agent="default"))

    return case


def runs(path: str) -> Case:
    return posts(path, lambda world, thread: question_input(thread), resume)


def connects(path: str) -> Case:
    return posts(path, lambda world, thread: {**question_input(thread), "messages": []})


def single(world: World, thread: str, method: str, body: Any = None) -> dict[str, Any]:
    params = {"agentId": "default", "threadId": thread}
    return {"method": method, "params": params, "body": body or question_input(thread)}


def commands(world: World, thread: str) -> list[dict[str, Any]]:
    answer = {"question_id": world.question_id, "outcome": "accepted", "content": {"answer": "mine"}}
    return [
        {"type": "answer", **answer},
        {"type": "cancel"},
        {"type": "rewind"},
        {"type": "prompt", "content": [{"type": "text", "text": "what do you know?"}]},
    ]


async def command(world: World, headers: dict[str, str], thread: str) -> Seen:
    place = f"/sessions/{quote(thread, safe='')}/commands"
    return [await ask(world, headers, "POST", place, one) for one in commands(world, thread)]


async def show(world: World, headers: dict[str, str], thread: str) -> Seen:
    place = f"/sessions/{quote(thread, safe='')}"
    return [await ask(world, headers, how, place) for how in ("GET", "FOLLOW")]


def changes(method: str, ending: str, body: Any) -> Case:
    """Name or fork a session."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        return await ask(world, headers, method, f"/sessions/{quote(thread, safe='')}{ending}", body)

    return case


async def delete(world: World, headers: dict[str, str], thread: str) -> Seen:
    return await ask(world, headers, "DELETE", f"/sessions/{quote(thread, safe='')}")


def socket(path: str) -> Case:
    """A case that runs and cancels over a WebSocket."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        url = f"ws://{world.client.base_url.netloc.decode()}{path.format(agent='default')}"
        seen: Seen = []
        async with connect(url, additional_headers=headers) as there:
            for body in (question_input(thread), resume(world, thread)):
                await there.send(json.dumps(body))
                while not seen or json.loads(seen[-1])["type"] not in ("RUN_FINISHED", "RUN_ERROR"):
                    seen.append(str(await soon(there.recv())))
                seen.append('{"type": "next"}')
            await there.send('{"type": "cancel"}')
        return seen

    return case


def acp_socket(path: str) -> Case:
    """A case that does what an editor can do with a session."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        place = path.format(agent="default")
        async with over_websocket(world.client, place, headers) as caller:
            seen: Seen = [await caller.call("session/list")]
            about: dict[str, Any] = {"sessionId": thread, "cwd": "/", "mcpServers": []}
            caller.connection.notify("session/cancel", {"sessionId": thread})
            for method in ("session/load", "session/resume", "session/fork", "session/close"):
                with suppress(RpcError):
                    seen.append(await caller.call(method, **about))
            with suppress(RpcError):
                seen.append(await caller.prompt(thread, "what do you know?"))
            with suppress(RpcError):
                seen.append(await caller.call("session/delete", sessionId=thread))
            return [*seen, caller.log, caller.agents_wire.messages]

    return case


def on_her_connection(method: str, path: str) -> Case:
    """A case that uses the connection of Alice."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        load: dict[str, Any] = {"sessionId": thread, "cwd": "/", "mcpServers": []}
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": "session/load", "params": load}
        hers = {**headers, "acp-connection-id": world.connection_id}
        place = path.format(agent="default")
        seen = await ask(world, hers, method, place, body if method == "POST" else None)
        assert seen[0] == 404, "a connection of somebody else does not exist"
        return seen

    return case


def chat_input(thread: str, **fields: Any) -> dict[str, Any]:
    """A request of useChat."""
    message = {"id": "mine", "role": "user", "parts": [{"type": "text", "text": "what do you know?"}]}
    return {"id": thread, "messages": [message], "trigger": "submit-message", **fields}


def chat_answer(world: World, thread: str) -> dict[str, Any]:
    """Answers to what she was asked."""
    return chat_input(thread, messages=[], answers={world.question_id: {"content": "mine"}})


def reads_chat(path: str) -> Case:
    """A case that reads a chat."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        place = f"/api/chat/{quote(thread, safe='')}/{path}"
        return [await ask(world, headers, "GET", place), await ask(world, headers, "GET", f"{place}?v=5")]

    return case


def streams_after_query(place: str) -> Case:
    """A case that resumes a chat by a path behind the query."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        address = f"{place.format(agent='default')}?v=6/{quote(thread, safe='')}/stream"
        return [await ask(world, headers, "GET", address)]

    return case


def answers_beside(kind: str) -> Case:
    """A case that answers her question beside a stream."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        place = f"/api/chat/{quote(thread, safe='')}/{kind}/{quote(world.question_id, safe='')}"
        return [
            await ask(world, headers, "POST", place, body)
            for body in ({"approved": True}, {"content": {"answer": "mine"}})
        ]

    return case


def chat_socket(path: str) -> Case:
    """A case that sends and resumes with the AI SDK's transport."""

    async def case(world: World, headers: dict[str, str], thread: str) -> Seen:
        url = f"ws://{world.client.base_url.netloc.decode()}{path.format(agent='default')}"
        frames: list[dict[str, Any]] = [
            {"type": "resume"},
            {"type": "resume", "lastSequence": 0},
            {**chat_answer(world, thread), "type": "send"},
            {**chat_input(thread), "type": "send"},
        ]
        seen: Seen = []
        async with connect(url, additional_headers=headers) as there:
            for number, frame in enumerate(frames):
                about: dict[str, Any] = {"requestId": str(number), "id": thread, "headers": {}, "body": {}}
                await there.send(json.dumps({**about, **frame}))
                while not seen or json.loads(seen[-1])["type"] not in ("end", "error", "no-active"):
                    seen.append(str(await soon(there.recv())))
                seen.append('{"type": "next"}')
        return seen

    return case


async def unified_socket(world: World, headers: dict[str, str], thread: str) -> Seen:
    """Follow a session, answer, interrupt and prompt; then the same in one that is made."""
    url = f"ws://{world.client.base_url.netloc.decode()}/unified/{quote(thread, safe='')}?from=1"
    answer = {"type": "permission_response", "request_id": world.question_id, "behavior": "allow"}
    sent: list[dict[str, Any]] = [
        {**answer, "content": {"answer": "mine"}},
        {"type": "interrupt"},
        {"type": "user_message", "content": "what do you know?", "id": "mine"},
    ]
    seen: Seen = []
    for place in (url, f"{url}&create=1"):
        try:
            async with connect(place, additional_headers=headers) as there:
                for frame in sent:
                    await there.send(json.dumps(frame))
                ended: set[str] = set()
                turn_id = None
                while turn_id is None or turn_id not in ended:
                    seen.append(str(await soon(there.recv())))
                    message = json.loads(seen[-1])
                    metadata = message["metadata"]
                    if message["type"] == "result":
                        ended.add(metadata["turn_id"])
                    if metadata.get("request_id") == "mine":
                        assert metadata["subtype"] == "success", metadata
                        turn_id = metadata["turn_id"]
        except InvalidStatus as refused:
            seen.append(str(refused.response.body))
    return seen


CASES: dict[str, Case] = {
    "WS /unified/{session_id:path}": unified_socket,
    "POST /api/chat": posts("/api/chat", lambda world, thread: chat_input(thread), chat_answer),
    "POST /api/chat/{agent}": posts("/api/chat/{agent}", lambda _, thread: chat_input(thread), chat_answer),
    "GET /api/chat": streams_after_query("/api/chat"),
    "GET /api/chat/{agent}": streams_after_query("/api/chat/{agent}"),
    "GET /api/chat/{chat:path}/stream": reads_chat("stream"),
    "GET /api/chat/{chat:path}/messages": reads_chat("messages"),
    "POST /api/chat/{chat:path}/stop": posts("/api/chat/{thread}/stop", lambda world, thread: {}),
    "POST /api/chat/{chat:path}/permissions/{question}": answers_beside("permissions"),
    "POST /api/chat/{chat:path}/questions/{question}": answers_beside("questions"),
    "WS /api/chat/ws": chat_socket("/api/chat/ws"),
    "WS /api/chat/{agent}/ws": chat_socket("/api/chat/{agent}/ws"),
    "GET /healthz": gets("/healthz"),
    "GET /readyz": gets("/readyz"),
    "POST /agui": runs("/agui"),
    "GET /agui/capabilities": gets("/agui/capabilities"),
    "POST /agui/connect": connects("/agui/connect"),
    "POST /agui/{agent}": runs("/agui/{agent}"),
    "GET /agui/{agent}/capabilities": gets("/agui/{agent}/capabilities"),
    "POST /agui/{agent}/connect": connects("/agui/{agent}/connect"),
    "WS /agui/ws": socket("/agui/ws"),
    "WS /agui/{agent}/ws": socket("/agui/{agent}/ws"),
    "GET /copilotkit/info": gets("/copilotkit/info"),
    "GET /copilotkit/threads": gets("/copilotkit/threads?agentId={agent}"),
    "POST /copilotkit": posts(
        "/copilotkit",
        lambda world, thread: single(world, thread, "info"),
        lambda world, thread: single(world, thread, "agent/connect"),
        lambda world, thread: single(world, thread, "agent/run"),
        lambda world, thread: single(world, thread, "agent/run", resume(world, thread)),
        lambda world, thread: single(world, thread, "agent/stop"),
    ),
    "POST /copilotkit/agent/{agent}/run": runs("/copilotkit/agent/{agent}/run"),
    "POST /copilotkit/agent/{agent}/connect": connects("/copilotkit/agent/{agent}/connect"),
    "POST /copilotkit/agent/{agent}/stop/{thread:path}": posts(
        "/copilotkit/agent/{agent}/stop/{thread}", lambda world, thread: {}
    ),
    "GET /sessions": gets("/sessions"),
    "POST /sessions": posts("/sessions", lambda world, thread: {}),
    "PATCH /sessions/{session_id:path}": changes("PATCH", "", {"title": "mine"}),
    "POST /sessions/{session_id:path}/fork": changes("POST", "/fork", {}),
    **{
        f"GET /sessions/{{session_id:path}}/{name}": changes("GET", f"/{name}", None)
        for name in ("completions", "export", "inspect", "wire")
    },
    "GET /": gets("/"),
    "GET /assets/{path:path}": gets("/assets/none.js"),
    "POST /login": posts("/login", lambda world, thread: {"code": thread}),
    "POST /logout": posts("/logout", lambda world, thread: {}),
    "GET /page": gets("/page"),
    "GET /sessions/{session_id:path}": show,
    "POST /sessions/{session_id:path}/commands": command,
    "DELETE /sessions/{session_id:path}": delete,
    "WS /acp": acp_socket("/acp"),
    "POST /acp": on_her_connection("POST", "/acp"),
    "GET /acp": on_her_connection("FOLLOW", "/acp"),
    "DELETE /acp": on_her_connection("DELETE", "/acp"),
    "WS /acp/{agent}": acp_socket("/acp/{agent}"),
    "POST /acp/{agent}": on_her_connection("POST", "/acp/{agent}"),
    "GET /acp/{agent}": on_her_connection("FOLLOW", "/acp/{agent}"),
    "DELETE /acp/{agent}": on_her_connection("DELETE", "/acp/{agent}"),
}


def test_every_route_has_a_case() -> None:
    app = trunkline.asgi(recite, tokens=TOKENS)
    found: list[str] = []
    for route in app.routes:
        if isinstance(route, WebSocketRoute):
            found.append(f"WS {route.path}")
            continue
        assert isinstance(route, Route), f"{route} is of a kind that no case here can try"
        found += [f"{method} {route.path}" for method in sorted(route.methods or {"GET"}) if method != "HEAD"]
    assert sorted(found) == sorted(CASES), "write a case for every route: what a stranger can do with it"


@pytest.mark.parametrize("kind", ["function", "langchain", "agui"])
async def test_nobody_reads_continues_stops_answers_or_deletes_the_session_of_another(kind: str) -> None:
    async with hub_for(kind) as here:
        before = await here.records()

        async def attack(route: str, headers: dict[str, str], thread: str) -> None:
            seen = await CASES[route](here, headers, thread)
            assert SECRET not in json.dumps(seen, default=str), f"{route} as {headers} with {thread!r}"
            now = await here.records()
            assert now == before, f"{route} as {headers} with {thread!r} changed the session of Alice"

        for route in CASES:
            await asyncio.gather(*(attack(route, who, thread) for who in ATTACKERS for thread in IDS))
        gone_on = await run_events(here.client, resume(here, THREAD))
        assert "gone on" in "".join(event.get("delta", "") for event in gone_on), "it is hers to answer"
        last = await run_events(here.client, run_input("tell", thread=THREAD, run="last"))
        heard = "".join(event.get("delta", "") for event in last)
        assert heard == f"{SECRET} | please wait | tell", "and nobody else spoke in it"
