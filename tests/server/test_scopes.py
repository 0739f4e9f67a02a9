"""Scopes: what each combination of them opens and shows, on every road there is.

A road without a row fails here. Whatever a road answers, the words of a thread's past are in it only for a
token that may follow.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

import httpx
import pytest
from starlette.routing import Route, WebSocketRoute
from tests.hubs import make, soon
from tests.server.acp_clients import GREETING, Caller, Dial, bearer, over_http, over_websocket
from tests.server.running_server import SECRET, run_events, run_input, served
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

import trunkline
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.frontends.acp.endpoint import AcpEndpoint
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.server.security.tokens import PermissionScope, Token

SCOPES: tuple[str, ...] = get_args(PermissionScope)
COMBINATIONS = [
    frozenset(some) for size in range(1, 5) for some in itertools.combinations(SCOPES, size)
]  # A token has one at least.
PAST = "words-of-the-past"


async def talk(prompt: Prompt) -> AsyncIterator[Any]:
    if prompt.text == PAST:
        yield ev.StateReplaced(state={"kept": PAST})
    yield f"You said {prompt.text}."


def secret_of(scopes: Iterable[str]) -> str:
    return "-".join(["token-with", *sorted(scopes)])


TOKENS: list[Any] = [SECRET, *(Token(secret=secret_of(some), scopes=some) for some in COMBINATIONS)]


class Visit(NamedTuple):
    """A token on its way to a thread that somebody else spoke in."""

    client: httpx.AsyncClient
    scopes: frozenset[str]
    thread: str

    @property
    def headers(self) -> dict[str, str]:
        return bearer(secret_of(self.scopes))

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[bool, str]:
        """Give whether it was let through, and all that it got."""
        async with self.client.stream(method, path, json=body, headers={**self.headers, **headers}) as answer:
            if "event-stream" in answer.headers.get("content-type", "") and "sessions" in path:
                # It goes on for ever; all that is kept comes at once.
                got = ""
                async for piece in answer.aiter_text():
                    got += piece
                    if "turn_finished" in got:
                        break
            else:
                got = (await answer.aread()).decode()
        return answer.status_code != 403, got

    async def frame(self, path: str, body: Any) -> tuple[bool, str]:
        """Run over a WebSocket; give whether it ran, and all frames."""
        url = f"ws://{self.client.base_url.netloc.decode()}{path}"
        got = ""
        async with connect(url, additional_headers=self.headers) as socket:
            await socket.send(json.dumps(body))
            while "RUN_FINISHED" not in got and "RUN_ERROR" not in got:
                got += str(await soon(socket.recv()))
        return "with the scope" not in got or "started this run" in got, got

    async def chat_frame(self, path: str, **fields: Any) -> tuple[bool, str]:
        """Send a request of the AI SDK over a WebSocket; give whether it was answered, and all frames."""
        url = f"ws://{self.client.base_url.netloc.decode()}{path}"
        body: dict[str, Any] = {"requestId": "1", "id": self.thread, "headers": {}, "body": {}, **fields}
        got = ""
        async with connect(url, additional_headers=self.headers) as socket:
            await socket.send(json.dumps(body))
            while not any(f'"type":"{end}"' in got for end in ("end", "error", "no-active")):
                got += str(await soon(socket.recv()))
        return "with the scope" not in got or "started this run" in got, got

    async def unified(self) -> tuple[bool, str]:
        """Follow the thread from its first record, to the end of its turn."""
        url = f"ws://{self.client.base_url.netloc.decode()}/unified/{self.thread}?from=1"
        got = ""
        try:
            async with connect(url, additional_headers=self.headers) as socket:
                while '"type":"result"' not in got:
                    got += str(await soon(socket.recv()))
        except InvalidStatus as refused:
            return refused.response.status_code != 403, str(refused.response.body)
        return True, got

    def chat(self, text: str = "something new", message_id: str = "new", **fields: Any) -> dict[str, Any]:
        """A request of useChat."""
        message = {"id": message_id, "role": "user", "parts": [{"type": "text", "text": text}]}
        return {"id": self.thread, "messages": [message], "trigger": "submit-message", **fields}

    def new(self) -> dict[str, Any]:
        """A run with a message that the thread does not know."""
        return run_input("something new", thread=self.thread, run="r-new")

    def old(self) -> dict[str, Any]:
        """The very run that another client started."""
        return run_input(PAST, thread=self.thread, run="r-old")


Go = Callable[[Visit], Awaitable[tuple[bool, str]]]


@dataclass(frozen=True)
class Road:
    """A way to a thread: its route, how it is gone, the scopes it takes, whether it shows the past."""

    route: str
    go: Go
    takes: str = ""
    shows: bool = False


def words(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def single(method: str, **params: str) -> Go:
    async def go(visit: Visit) -> tuple[bool, str]:
        body = {"method": method, "params": {"threadId": visit.thread, **params}, "body": visit.new()}
        return await visit.send("POST", "/copilotkit", body)

    return go


RESUME: list[Any] = [{"interruptId": "question-of-nobody", "status": "resolved", "payload": {}}]
KIT = "/copilotkit/agent/{agent}"
SESSION = "/sessions/{session_id:path}"


def commanding(takes: str, command: dict[str, Any]) -> Road:
    return Road(
        f"POST {SESSION}/commands", lambda v: v.send("POST", f"/sessions/{v.thread}/commands", command), takes
    )


CHAT = "/api/chat/{chat:path}"
LATE: dict[str, Any] = {
    "messages": [
        {
            "id": "turn_of_nobody",
            "role": "assistant",
            "parts": [
                {
                    "type": "dynamic-tool",
                    "toolName": "x",
                    "toolCallId": "x",
                    "state": "approval-responded",
                    "input": {},
                    "approval": {"id": "question-of-nobody", "approved": True},
                }
            ],
        }
    ]
}
"""An approval of a question that is not open."""

ROADS: list[Road] = [
    Road("POST /api/chat", lambda v: v.send("POST", "/api/chat", v.chat()), "prompt"),
    Road("POST /api/chat", lambda v: v.send("POST", "/api/chat", v.chat(PAST, "user-r-old")), "prompt", True),
    Road("POST /api/chat", lambda v: v.send("POST", "/api/chat", v.chat(**LATE)), "answer"),
    Road("POST /api/chat/{agent}", lambda v: v.send("POST", "/api/chat/default", v.chat()), "prompt"),
    Road("GET /api/chat", lambda v: v.send("GET", f"/api/chat?v=6/{v.thread}/stream"), "follow"),
    Road(
        "GET /api/chat/{agent}", lambda v: v.send("GET", f"/api/chat/default?v=6/{v.thread}/stream"), "follow"
    ),
    Road(f"GET {CHAT}/stream", lambda v: v.send("GET", f"/api/chat/{v.thread}/stream"), "follow"),
    Road(f"GET {CHAT}/messages", lambda v: v.send("GET", f"/api/chat/{v.thread}/messages"), "follow", True),
    Road(f"POST {CHAT}/stop", lambda v: v.send("POST", f"/api/chat/{v.thread}/stop", {}), "prompt"),
    *(
        Road(
            f"POST {CHAT}/{kind}/{{question}}",
            lambda v, kind=kind: v.send("POST", f"/api/chat/{v.thread}/{kind}/x", {"approved": True}),
            "answer",
        )
        for kind in ("permissions", "questions")
    ),
    Road(
        "WS /api/chat/ws",
        lambda v: v.chat_frame("/api/chat/ws", **{**v.chat(), "type": "send"}),
        "prompt",
    ),
    Road("WS /api/chat/ws", lambda v: v.chat_frame("/api/chat/ws", type="resume"), "follow"),
    Road(
        "WS /api/chat/{agent}/ws",
        lambda v: v.chat_frame("/api/chat/default/ws", **{**v.chat(), "type": "send"}),
        "prompt",
    ),
    Road("WS /unified/{session_id:path}", lambda v: v.unified(), "follow", shows=True),
    Road("GET /healthz", lambda v: v.send("GET", "/healthz")),
    Road("GET /readyz", lambda v: v.send("GET", "/readyz")),
    Road("POST /agui", lambda v: v.send("POST", "/agui", v.new()), "prompt", shows=True),
    Road("POST /agui", lambda v: v.send("POST", "/agui", v.old()), "prompt", shows=True),
    Road("POST /agui", lambda v: v.send("POST", "/agui", {**v.new(), "resume": RESUME}), "answer"),
    Road("POST /agui/{agent}", lambda v: v.send("POST", "/agui/default", v.new()), "prompt", shows=True),
    Road("GET /agui/capabilities", lambda v: v.send("GET", "/agui/capabilities")),
    Road("GET /agui/{agent}/capabilities", lambda v: v.send("GET", "/agui/default/capabilities")),
    Road("POST /agui/connect", lambda v: v.send("POST", "/agui/connect", v.new()), "follow", shows=True),
    Road(
        "POST /agui/{agent}/connect",
        lambda v: v.send("POST", "/agui/default/connect", v.new()),
        "follow",
        shows=True,
    ),
    Road("WS /agui/ws", lambda v: v.frame("/agui/ws", v.new()), "prompt", shows=True),
    Road("WS /agui/ws", lambda v: v.frame("/agui/ws", v.old()), "prompt", shows=True),
    Road("WS /agui/{agent}/ws", lambda v: v.frame("/agui/default/ws", v.new()), "prompt", shows=True),
    Road("GET /copilotkit/info", lambda v: v.send("GET", "/copilotkit/info"), "follow"),
    Road("GET /copilotkit/threads", lambda v: v.send("GET", "/copilotkit/threads"), "follow", shows=True),
    Road(
        "POST /agui",
        lambda v: v.send("POST", "/agui", {**v.new(), "forwardedProps": {"command": {"resume": "x"}}}),
        "answer",
    ),
    Road(
        f"POST {KIT}/run",
        lambda v: v.send("POST", "/copilotkit/agent/default/run", v.new()),
        "prompt",
        shows=True,
    ),
    Road(
        f"POST {KIT}/connect",
        lambda v: v.send("POST", "/copilotkit/agent/default/connect", v.new()),
        "follow",
        shows=True,
    ),
    Road(
        f"POST {KIT}/stop/{{thread:path}}",
        lambda v: v.send("POST", f"/copilotkit/agent/default/stop/{v.thread}", {}),
        "prompt",
    ),
    Road("POST /copilotkit", single("info"), "follow"),
    Road("POST /copilotkit", single("agent/run"), "prompt", shows=True),
    Road("POST /copilotkit", single("agent/connect"), "follow", shows=True),
    Road("POST /copilotkit", single("agent/stop"), "prompt"),
    Road("GET /sessions", lambda v: v.send("GET", "/sessions"), "follow", shows=True),
    Road(f"GET {SESSION}", lambda v: v.send("GET", f"/sessions/{v.thread}"), "follow", shows=True),
    Road(
        f"GET {SESSION}",
        lambda v: v.send("GET", f"/sessions/{v.thread}", accept="text/event-stream"),
        "follow",
        shows=True,
    ),
    Road("GET /sessions", lambda v: v.send("GET", "/sessions?query=past"), "follow", shows=True),
    Road("POST /sessions", lambda v: v.send("POST", "/sessions", {}), "prompt"),
    Road(f"PATCH {SESSION}", lambda v: v.send("PATCH", f"/sessions/{v.thread}", {"title": "New"}), "prompt"),
    Road(f"POST {SESSION}/fork", lambda v: v.send("POST", f"/sessions/{v.thread}/fork", {}), "prompt"),
    *(
        Road(
            f"GET {SESSION}/export",
            lambda v, kind=kind: v.send("GET", f"/sessions/{v.thread}/export?format={kind}"),
            "follow",
            shows=True,
        )
        for kind in ("md", "json", "html")
    ),
    Road(
        f"GET {SESSION}/inspect",
        lambda v: v.send("GET", f"/sessions/{v.thread}/inspect"),
        "follow",
        shows=True,
    ),
    Road(
        f"GET {SESSION}/completions", lambda v: v.send("GET", f"/sessions/{v.thread}/completions"), "follow"
    ),
    Road(f"GET {SESSION}/wire", lambda v: v.send("GET", f"/sessions/{v.thread}/wire"), "admin"),
    Road("GET /", lambda v: v.send("GET", "/")),
    Road("GET /assets/{path:path}", lambda v: v.send("GET", "/assets/none.js")),
    Road("POST /login", lambda v: v.send("POST", "/login", {"code": "none"})),
    Road("POST /logout", lambda v: v.send("POST", "/logout")),
    Road("GET /page", lambda v: v.send("GET", "/page")),
    Road(f"DELETE {SESSION}", lambda v: v.send("DELETE", f"/sessions/{v.thread}"), "admin"),
    commanding("prompt", {"type": "prompt", **words("something new")}),
    commanding("prompt", {"type": "cancel"}),
    commanding("prompt", {"type": "rewind", "to_message_id": None}),
    commanding("prompt", {"type": "drop_prompt", "prompt_id": "none"}),
    commanding("prompt", {"type": "rename", "title": "New"}),
    commanding("answer", {"type": "answer", "question_id": "none"}),
    commanding("answer", {"type": "set_config", "option_id": "none", "value": "x"}),
]
ACP_ROUTES = {
    f"{method} /acp{name}" for method in ("WS", "POST", "GET", "DELETE") for name in ("", "/{agent}")
}
"""Carry what is in the table of ACP's methods below."""


def routes() -> set[str]:
    found: set[str] = set()
    for route in trunkline.asgi(make(talk), tokens=SECRET).routes:
        if isinstance(route, WebSocketRoute):
            found.add(f"WS {route.path}")
        else:
            assert isinstance(route, Route), "a route of a new kind needs a row of its own"
            found |= {f"{method} {route.path}" for method in (route.methods or {"GET"}) - {"HEAD"}}
    return found


def test_every_route_has_a_row() -> None:
    assert routes() == {road.route for road in ROADS} | ACP_ROUTES


def name_of(value: Any) -> str | None:
    return value.route.replace(" ", "-") if isinstance(value, Road) else None


@pytest.mark.parametrize("road", ROADS, ids=name_of)
async def test_a_road_opens_and_shows_what_the_scopes_say(road: Road) -> None:
    async with served(make(talk), tokens=TOKENS) as (_, client):

        async def visit(number: int, scopes: frozenset[str]) -> None:
            visit = Visit(client, scopes, f"t{number}")
            await run_events(client, visit.old())
            through, got = await road.go(visit)
            assert through is (not road.takes or road.takes in scopes), (sorted(scopes), got)
            shows = road.shows and through and "follow" in scopes
            assert (PAST in got) is shows, (sorted(scopes), got)

        await asyncio.gather(*itertools.starmap(visit, enumerate(COMBINATIONS)))


async def test_a_token_that_may_only_prompt_sees_what_its_own_prompt_leads_to() -> None:
    async with served(make(talk), tokens=TOKENS) as (_, client):
        visit = Visit(client, frozenset({"prompt"}), "t1")
        await run_events(client, visit.old())
        for _ in range(2):  # It may come back to its own run, too.
            _, got = await visit.send("POST", "/agui", visit.new())
            assert "RUN_FINISHED" in got
            assert "".join(
                json.loads(line[6:]).get("delta", "") for line in got.split("\n") if line[:6] == "data: "
            ) == ("You said something new.")
        other = Visit(client, frozenset({"prompt", "answer"}), "t1")
        _, got = await other.send("POST", "/agui", visit.new())
        assert "another client started this run" in got


async def test_who_answers_without_following_does_not_see_what_comes_of_it() -> None:
    async with served(tokens=TOKENS) as (app, client):
        asked = (await run_events(client, run_input("/permission")))[-1]["outcome"]["interrupts"]
        entries = [
            {"interruptId": one["id"], "status": "resolved", "payload": {"approved": True}} for one in asked
        ]
        visit = Visit(client, frozenset({"answer"}), "t1")
        _, got = await visit.send("POST", "/agui", {**run_input(run="r2", resume=entries), "messages": []})
        events = [json.loads(line[6:]) for line in got.split("\n") if line.startswith("data: ")]
        assert [event["type"] for event in events] == ["RUN_STARTED", "RUN_FINISHED"]
        assert events[-1]["result"] == {"stopReason": "not_followed"}
        session = await (await app.agents.hub()).session("t1")
        await soon(session.wait_for_ending_turn())
        assert not session.open_questions


# -- ACP -------------------------------------------------------------------------------------------


class Method(NamedTuple):
    """A method of ACP: the scope it takes besides `prompt`, which opens a connection, and its params."""

    takes: str = "prompt"
    params: Mapping[str, Any] = MappingProxyType({})
    shows: bool = False


PLACE: dict[str, Any] = {"cwd": "/", "mcpServers": []}
FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}
METHODS = {
    "authenticate": Method("admin", {"methodId": "none"}),
    "logout": Method("admin"),
    "session/new": Method(params=PLACE),
    "session/load": Method("follow", PLACE, shows=True),
    "session/resume": Method(params=PLACE),
    "session/fork": Method("follow", PLACE),
    "session/list": Method("follow", shows=True),
    "session/delete": Method("admin"),
    "session/close": Method(),
    "session/set_mode": Method("answer", {"modeId": "none"}),
    "session/set_config_option": Method("answer", {"configId": "none", "value": "none"}),
    "session/prompt": Method(params={"prompt": words("something new")["content"]}),
    "_session/steering": Method(params={"prompt": words("something new")["content"]}),
}


def test_every_method_has_a_row() -> None:
    assert METHODS.keys() == AcpEndpoint._methods.keys()  # pyright: ignore[reportPrivateUsage]


async def attempt(caller: Caller, name: str, params: dict[str, Any]) -> str:
    """Call a method; give the code of the refusal, or nothing."""
    try:
        await soon(caller.call(name, **params))
    except RpcError as error:
        return "scope" if "it takes one with the scope" in error.message else "other"
    return ""


@pytest.mark.parametrize("dial", [over_websocket, over_http])
@pytest.mark.parametrize("name", METHODS)
async def test_a_method_opens_and_shows_what_the_scopes_say(name: str, dial: Dial) -> None:
    method = METHODS[name]
    async with served(make(talk), tokens=TOKENS) as (_, client):

        async def visit(number: int, scopes: frozenset[str]) -> None:
            thread = f"t{number}"
            await run_events(client, run_input(PAST, thread=thread, run="r-old"))
            async with dial(client, headers=bearer(secret_of(scopes)), able=FILES) as caller:
                if name == "session/prompt":
                    assert await attempt(caller, "session/resume", {"sessionId": thread, **PLACE}) == ""
                code = await attempt(caller, name, {"sessionId": thread, **method.params})
                assert (code == "scope") is (method.takes not in scopes), sorted(scopes)
                heard = json.dumps(caller.agents_wire.messages)
                assert (PAST in heard) is (method.shows and "follow" in scopes), sorted(scopes)
                assert ("You said something new." in heard) is (name == "session/prompt")

        able = [some for some in COMBINATIONS if "prompt" in some]
        await asyncio.gather(*itertools.starmap(visit, enumerate(able)))


async def test_a_connection_takes_the_scope_prompt() -> None:
    async with served(make(talk), tokens=TOKENS) as (_, client):
        for scopes in COMBINATIONS:
            answer = await client.post("/acp", json=GREETING, headers=bearer(secret_of(scopes)))
            assert answer.status_code == (200 if "prompt" in scopes else 403)
