"""The gate, row by row: hosts, origins, tokens and bodies, on HTTP and on the upgrade of a WebSocket."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.hubs import echo, make, soon
from tests.server.asgi_requests import Headers, call, scope
from tests.server.running_server import SECRET

import trunkline
from trunkline.errors import JournalError, SessionBusy
from trunkline.server.app import Server
from trunkline.server.errors import HttpError
from trunkline.server.security.gate import Gate
from trunkline.server.security.hosts import Hosts
from trunkline.server.security.origins import Origins
from trunkline.server.security.tokens import Access, Token, TokenRing, access_of

SAME = "http://127.0.0.1:8000"
PAGE = "https://chat.example.org"


@pytest.fixture
async def app() -> AsyncGenerator[Server]:
    made = trunkline.asgi(
        make(echo),
        tokens=[SECRET, Token(secret="another-token-16", principal="alice")],
        allow_origins=[PAGE, "http://LOCALHOST:5173"],
        allow_hosts=["chat.example.org", "proxy.example.org:8443"],
    )
    yield made
    await made.aclose()


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("host", "fine"),
    [
        ("127.0.0.1:8000", True),
        ("127.0.0.1", True),
        ("127.8.8.8:1", True),
        ("localhost", True),
        ("LOCALHOST:99", True),
        ("localhost.:8000", True),
        ("[::1]:8000", True),
        ("[0:0:0:0:0:0:0:1]", True),
        ("192.168.1.5:8000", True),
        ("chat.example.org", True),
        ("chat.example.org:12", True),
        ("proxy.example.org:8443", True),
        ("proxy.example.org", False),
        ("proxy.example.org:8444", False),
        ("evil.example", False),
        ("evil.example:8000", False),
        ("localhost.evil.example", False),
        ("evil-chat.example.org", False),
        ("127.0.0.1.evil.example", False),
        ("127.0.0.1@evil.example", False),
        ("localhost:80, evil.example", False),
        ("0.0.0.0:8000", False),
        ("192.168.1.6:8000", False),
        ("[::]:8000", False),
        ("[::1", False),
        ("[127.0.0.1]", False),
        ("::1", False),
        ("127.1", False),
        ("2130706433", False),
        ("user@127.0.0.1", False),
        ("127.0.0.1:99999", False),
        ("127.0.0.1:8000:8000", False),
        ("127.0.0.1:", False),
        ("127.0.0.1/evil", False),
        ("localhost\xe9", False),
        ("", False),
        (None, False),
    ],
)
async def test_only_known_hosts(app: Server, kind: str, host: str | None, fine: bool) -> None:
    asked = scope("/agui/ws" if kind == "websocket" else "/sessions", kind=kind, host=host)
    asked["server"] = ("192.168.1.5", 8000)
    reply = await call(app, asked)
    assert (reply.status != 421) is fine
    if not fine:
        assert reply.code == "host"


async def test_two_hosts_are_none(app: Server) -> None:
    assert (await call(app, scope(headers=[("host", "127.0.0.1")]))).status == 421


async def test_a_name_that_a_server_was_bound_to_is_no_address(app: Server) -> None:
    asked = scope(host="evil.example", server=("evil.example", 80))
    assert (await call(app, asked)).status == 421
    assert (await call(app, scope(server=None))).status == 200


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("headers", "fine"),
    [
        ({}, True),
        ({"origin": SAME}, True),
        ({"origin": "HTTP://127.0.0.1:8000"}, True),
        ({"origin": PAGE}, True),
        ({"origin": f"{PAGE}:443"}, True),
        ({"origin": "http://localhost:5173"}, True),
        ({"origin": PAGE, "sec-fetch-site": "cross-site"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"origin": "http://127.0.0.1:9999"}, False),
        ({"origin": "http://localhost:8000"}, False),
        ({"origin": "https://127.0.0.1:8000"}, False),
        ({"origin": "http://chat.example.org"}, False),
        ({"origin": f"{PAGE}:8443"}, False),
        ({"origin": f"{PAGE}.evil.example"}, False),
        ({"origin": f"{PAGE}/"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
        ({"origin": "file://"}, False),
        ({"origin": "*"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "CROSS-SITE"}, False),
        ([("origin", PAGE), ("origin", SAME)], False),
    ],
)
async def test_only_known_pages(app: Server, kind: str, headers: Headers, fine: bool) -> None:
    path = "/agui/ws" if kind == "websocket" else "/sessions"
    reply = await call(app, scope(path, headers=headers, kind=kind))
    assert reply.status == ({"http": 200, "websocket": 101}[kind] if fine else 403)
    if not fine:
        assert reply.code == "origin"
        assert "access-control-allow-origin" not in reply.headers


@pytest.mark.parametrize(
    ("headers", "fine"),
    [
        ({"authorization": f"Bearer {SECRET}"}, True),
        ({"authorization": f"bearer  {SECRET}"}, True),
        ({"authorization": "Bearer another-token-16"}, True),
        ({}, False),
        ({"authorization": ""}, False),
        ({"authorization": "Bearer"}, False),
        ({"authorization": "Bearer "}, False),
        ({"authorization": f"Bearer {SECRET}x"}, False),
        ({"authorization": f"Bearer {SECRET[:-1]}"}, False),
        ({"authorization": SECRET}, False),
        ({"authorization": f"Basic {SECRET}"}, False),
        ({"authorization": "Bearer \xff"}, False),
        ([("authorization", f"Bearer {SECRET}"), ("authorization", f"Bearer {SECRET}")], False),
        ({"cookie": f"token={SECRET}"}, False),
        ({"sec-websocket-protocol": f"trunkline.bearer.{SECRET}"}, False),
    ],
)
async def test_only_known_tokens(app: Server, headers: Headers, fine: bool) -> None:
    reply = await call(app, scope(headers=headers, token=False))
    assert reply.status == (200 if fine else 401)
    if not fine:
        assert reply.code == "token"
        assert reply.headers["www-authenticate"] == "Bearer"
        assert SECRET not in str(reply.messages)


@pytest.mark.parametrize(
    "path",
    [
        "/page",
        "/agui",
        "/agui/capabilities",
        "/copilotkit/info",
        "/sessions",
        "/nothing",
        "/healthz/",
        "//healthz",
    ],
)
async def test_every_path_but_health_and_the_page_wants_a_token(app: Server, path: str) -> None:
    assert (await call(app, scope(path, token=False))).status == 401


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_health_is_open_and_says_nothing(app: Server, path: str) -> None:
    reply = await call(app, scope(path, token=False))
    assert (reply.status, reply.body) == (200, b'{"status":"ok"}')
    assert (await call(app, scope(path, token=False, host="evil.example"))).status == 421


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (["trunkline", f"trunkline.bearer.{SECRET}"], 101),
        ([f"trunkline.bearer.{SECRET}", "trunkline", "other"], 101),
        ([f"trunkline.bearer.{SECRET}"], 101),
        (["trunkline"], 401),
        (["trunkline", "trunkline.bearer."], 401),
        (["trunkline.bearer.wrong", f"trunkline.bearer.{SECRET}"], 401),
        ([SECRET], 401),
    ],
)
async def test_a_websocket_may_bring_its_token_as_a_subprotocol_which_is_never_echoed(
    app: Server, names: list[str], status: int
) -> None:
    reply = await call(app, scope("/agui/ws", kind="websocket", token=False, subprotocols=names))
    assert reply.status == status
    if status == 101:
        assert reply.messages[0]["subprotocol"] == ("trunkline" if "trunkline" in names else None)
    assert SECRET not in str(reply.messages)


async def test_a_server_that_cannot_answer_an_upgrade_closes_it(app: Server) -> None:
    reply = await call(app, scope("/agui/ws", kind="websocket", token=False, extensions={}))
    assert reply.messages == [{"type": "websocket.close", "code": 1008, "reason": "token"}]


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {"content-type": "application/json"}, 422),
        ("POST", {"content-type": "Application/JSON; charset=utf-8"}, 422),
        ("POST", {}, 415),
        ("POST", {"content-type": "text/plain"}, 415),
        ("POST", {"content-type": "application/x-www-form-urlencoded"}, 415),
        ("POST", {"content-type": "multipart/form-data"}, 415),
        ("POST", {"content-type": "text/plain; application/json"}, 415),
        ("PUT", {"content-type": "text/plain"}, 415),
        ("DELETE", {"content-length": "5"}, 415),
        ("DELETE", {"transfer-encoding": "chunked"}, 415),
        ("DELETE", {"content-length": "0"}, 405),
        ("DELETE", {}, 405),
        ("GET", {"content-type": "text/plain"}, 405),
        ("BREW", {"content-type": "application/json"}, 405),
    ],
)
async def test_bodies_are_json(app: Server, method: str, headers: Headers, status: int) -> None:
    assert (await call(app, scope("/agui", method, headers))).status == status


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/chat/c1/stop", {}, 404),
        ("/api/chat/default/c1/stop", {"content-length": "0"}, 404),
        ("/api/chat/c1/stop", {"content-length": "2"}, 415),
        ("/api/chat/c1/stop", {"transfer-encoding": "chunked"}, 415),
        ("/api/chat/c1/stop", {"content-type": "application/x-www-form-urlencoded"}, 415),
        ("/api/chat/c1/stop/more", {}, 415),
        ("/api/chat", {}, 415),
    ],
)
async def test_only_where_it_means_something_a_body_may_be_missing(
    app: Server, path: str, headers: Headers, status: int
) -> None:
    assert (await call(app, scope(path, "POST", headers))).status == status


async def test_a_page_on_the_list_may_ask_first_without_a_token(app: Server) -> None:
    headers = {
        "origin": PAGE,
        "access-control-request-method": "POST",
        "access-control-request-headers": "Authorization, content-type, X-Custom, acp-session-id, cookie",
    }
    reply = await call(app, scope("/agui", "OPTIONS", headers, token=False))
    assert reply.status == 204
    assert reply.headers["access-control-allow-origin"] == PAGE
    assert reply.headers["access-control-allow-headers"] == (
        "authorization, content-type, x-custom, acp-session-id"
    )
    assert reply.headers["access-control-allow-methods"] == "GET, POST, PATCH, DELETE, OPTIONS"
    assert "access-control-allow-credentials" not in reply.headers
    del headers["access-control-request-headers"]
    assert (
        "authorization"
        in (await call(app, scope("/agui", "OPTIONS", headers, token=False))).headers[
            "access-control-allow-headers"
        ]
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example", "access-control-request-method": "POST"}, 403),
        ({"origin": "null", "access-control-request-method": "POST"}, 403),
        ({"origin": PAGE}, 401),
        ({"access-control-request-method": "POST"}, 401),
    ],
)
async def test_what_is_no_question_of_a_known_page_gets_no_answer(
    app: Server, headers: Headers, status: int
) -> None:
    reply = await call(app, scope("/agui", "OPTIONS", headers, token=False))
    assert reply.status == status
    assert "access-control-allow-methods" not in reply.headers


async def test_answers_and_refusals_say_who_may_read_them_and_never_everybody(app: Server) -> None:
    for asked in (scope(headers={"origin": PAGE}), scope(headers={"origin": PAGE}, token=False)):
        reply = await call(app, asked)
        assert reply.headers["access-control-allow-origin"] == PAGE
        assert "*" not in str(reply.headers)
    for asked in (scope(), scope(token=False)):
        reply = await call(app, asked)
        assert "access-control-allow-origin" not in reply.headers
        assert reply.headers["vary"] == "Origin"
        assert reply.headers["x-content-type-options"] == "nosniff"


# -- what is raised behind it ----------------------------------------------------------------------


async def test_a_refused_origin_is_named_once_in_the_log(
    app: Server, caplog: pytest.LogCaptureFixture
) -> None:
    for port in (3000, 3000, *range(4000, 4050)):
        await call(app, scope("/sessions", headers={"origin": f"http://localhost:{port}"}))
    first, *others = [one.getMessage() for one in caplog.records]
    wanted = "a page of 'http://localhost:3000' was refused: if it is yours, allow it with --allow-origin"
    assert first == wanted
    assert len(others) == 15, "strangers do not fill the log"


async def test_a_refused_host_is_named_once_in_the_log_with_the_option_that_allows_it(
    app: Server, caplog: pytest.LogCaptureFixture
) -> None:
    for host in ("my.box", "my.box", *(f"{number}.box" for number in range(50))):
        await call(app, scope("/sessions", host=host))
    first, *others = [one.getMessage() for one in caplog.records]
    assert first == "a request for the host 'my.box' was refused: if it is ours, allow it with --allow-host"
    assert len(others) == 15


async def test_a_refused_token_is_reported_once_for_each_caller_and_never_shown(
    app: Server, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = {"authorization": "Bearer a-secret-of-somebody"}
    for headers in ({}, {}, wrong, wrong):
        await call(app, scope("/sessions", headers=headers, token=False))
    await call(app, scope("/page", headers={"sec-fetch-site": "same-origin"}, token=False))
    first, second = [one.getMessage() for one in caplog.records]
    assert first.startswith("a request of 127.0.0.1 with no token was refused: send the header Authorization")
    assert second.startswith("a request of 127.0.0.1 with a wrong token was refused")
    assert "--token-file" in first
    assert "somebody" not in caplog.text


def guarded(inner: Any) -> Gate:
    return Gate(inner, authenticate=lambda scope: Access(), hosts=Hosts(), origins=Origins())


@pytest.mark.parametrize(
    ("error", "status", "code", "expected"),
    [
        (HttpError(418, "tea", "no coffee"), 418, "tea", "no coffee"),
        (SessionBusy("a turn is running"), 409, "busy", "a turn is running"),
        (JournalError("the disk is full", path="/home/me"), 503, "journal", "the disk is full"),
        (ValueError("/home/me/secret"), 500, "internal", "its log says what"),
    ],
)
async def test_whatever_is_raised_is_json_without_traces_and_paths(
    error: Exception, status: int, code: str, expected: str
) -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        raise error

    reply = await call(guarded(inner), scope())
    assert (reply.status, reply.code) == (status, code)
    assert expected in reply.body.decode()
    assert "/home" not in reply.body.decode()
    assert "Traceback" not in reply.body.decode()
    assert reply.headers["content-type"] == "application/json"


async def test_a_response_that_began_cannot_be_taken_back() -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError("too late")

    with pytest.raises(ValueError, match="too late"):
        await call(guarded(inner), scope())


async def test_who_asks_may_be_found_out_by_somebody_else() -> None:
    async def authenticate(scope: Any) -> Access | None:
        return Access("bob", frozenset({"follow"})) if scope["path"] == "/bob" else None

    seen: list[Access] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        seen.append(access_of(scope))
        raise HttpError(404, "nothing", "nothing here")

    gate = Gate(inner, authenticate=authenticate, hosts=Hosts(), origins=Origins())
    assert (await call(gate, scope("/bob", token=False))).status == 404
    assert (await call(gate, scope("/eve", token=False))).status == 401
    assert seen == [Access("bob", frozenset({"follow"}))]


@pytest.mark.parametrize("kind", ["http", "websocket"])
async def test_a_principal_does_so_many_things_at_once_and_no_more(kind: str) -> None:
    inside, leave = asyncio.Event(), asyncio.Event()

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        inside.set()
        await leave.wait()
        raise HttpError(404, "nothing", "nothing here")

    ring = TokenRing([Token(secret=SECRET), Token(secret="another-token-16", principal="alice")])
    gate = Gate(inner, authenticate=ring, hosts=Hosts(), origins=Origins(), open_paths=["/healthz"], most=1)
    first = asyncio.create_task(call(gate, scope(kind=kind)))
    await soon(inside.wait())
    refused = await call(gate, scope(kind=kind))
    assert (refused.status, refused.code) == (429, "too_many")
    assert refused.headers["retry-after"] == "5"
    alice = {"authorization": "Bearer another-token-16"}
    others = [
        asyncio.create_task(call(gate, scope(headers=alice, token=False))),
        asyncio.create_task(call(gate, scope("/healthz", token=False))),
    ]
    leave.set()
    assert [(await soon(other)).status for other in (first, *others)] == [404, 404, 404]
    assert (await call(gate, scope(kind=kind))).status == 404, "there is room again"


async def test_an_app_below_another_one_keeps_its_own_ways(app: Server) -> None:
    async def theirs(request: Any, error: Exception) -> Any:
        raise AssertionError("not theirs to answer")

    outer = Starlette(routes=[Mount("/trunk", app=app)], exception_handlers={404: theirs, HttpError: theirs})
    assert (await call(outer, scope("/trunk/healthz", token=False))).status == 200
    assert (await call(outer, scope("/trunk/sessions", token=False))).status == 401
    assert (await call(outer, scope("/trunk/sessions"))).status == 200
    unknown = await call(outer, scope("/trunk/nothing"))
    assert (unknown.status, unknown.code) == (404, "not_found")
    nobody = await call(outer, scope("/trunk/agui/nobody/capabilities"))
    assert (nobody.status, nobody.code) == (404, "agent")


async def test_a_refusal_that_nobody_can_hear_any_more_is_no_error() -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        raise HttpError(404, "nothing", "nothing here")

    async def send(message: Any) -> None:
        raise RuntimeError("the connection was given up")

    async def receive() -> Any:
        raise AssertionError("nothing is read")

    await guarded(inner)(scope(), receive, send)


async def test_a_body_that_says_twice_where_it_ends_is_refused(app: Server) -> None:
    headers = {"content-type": "application/json", "content-length": "2", "transfer-encoding": "chunked"}
    reply = await call(app, scope("/agui", "POST", headers), b"{}")
    assert (reply.status, reply.code, reply.headers["connection"]) == (400, "framing", "close")
