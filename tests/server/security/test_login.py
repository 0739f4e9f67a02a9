"""Logins: one-use codes, cookies of our own page alone, and how long and how many."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.hubs import echo, make
from tests.server.asgi_requests import Headers, Reply, call, scope
from tests.server.running_server import SECRET

import trunkline
from trunkline.server.app import Server
from trunkline.server.errors import HttpError
from trunkline.server.security import login
from trunkline.server.security.login import CODE_SECONDS, LOGIN_SECONDS, Logins
from trunkline.server.security.tokens import Access, Token

OWN = {"origin": "http://127.0.0.1:8000"}
JSON = {"content-type": "application/json"}
READER = Token(secret="the-secret-of-ann", principal="ann", scopes=frozenset({"follow"}))


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(now=1000.0)


@pytest.fixture
def logins(clock: SimpleNamespace) -> Logins:
    return Logins(lambda: clock.now)


def app_of(**options: Any) -> Server:
    chosen: dict[str, Any] = {"tokens": [SECRET, READER], **options}
    return trunkline.asgi(make(echo), **chosen)


async def log_in(app: Any, body: dict[str, Any], headers: Headers = (), **more: Any) -> Reply:
    given = [*OWN.items(), *JSON.items(), *dict(headers).items()]
    path = f"{more.get('root_path', '')}/login"
    return await call(app, scope(path, "POST", given, token=False, **more), json.dumps(body).encode())


def cookie_of(reply: Reply) -> dict[str, str]:
    assert reply.status == 204, reply.body
    return {"cookie": reply.headers["set-cookie"].partition(";")[0]}


async def read(app: Any, headers: Headers, path: str = "/page") -> Reply:
    return await call(app, scope(path, headers=headers, token=False))


# -- codes -----------------------------------------------------------------------------------------


async def test_a_code_logs_one_browser_in_once() -> None:
    app = app_of()
    code = app.new_login_code()
    first = await log_in(app, {"code": code})
    again = await log_in(app, {"code": code})
    page = await read(app, cookie_of(first))
    assert (again.status, again.code) == (401, "login")
    why = json.loads(again.body)["message"]
    assert ("log in with a token" in why, "/page in `trunkline chat --page`" in why) == (True, True)
    assert json.loads(page.body)["principal"] == "local"
    assert SECRET not in str(first.headers)
    assert code is not None
    assert code not in str(first.headers)
    await app.aclose()


async def test_a_token_logs_in_with_what_it_allows_and_no_more() -> None:
    app = app_of()
    cookie = cookie_of(await log_in(app, {"token": READER.secret}))
    page = json.loads((await read(app, cookie)).body)
    assert (page["principal"], page["scopes"]) == ("ann", ["follow"])
    asked = scope("/sessions", "POST", [*cookie.items(), *OWN.items(), *JSON.items()], token=False)
    assert (await call(app, asked, b"{}")).code == "scope"
    await app.aclose()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"code": "wrong"}, 401),
        ({"code": ""}, 401),
        ({"token": "wrong"}, 401),
        ({"token": "\ud800"}, 422),
        ({"code": "a", "token": "b"}, 422),
        ({"code": 7}, 422),
        ({"password": "x"}, 422),
        ({}, 422),
        ([], 422),
    ],
)
async def test_what_is_no_login_is_refused_with_the_next_step(body: Any, status: int) -> None:
    app = app_of()
    reply = await log_in(app, body)
    assert reply.status == status
    assert "set-cookie" not in reply.headers


async def test_a_login_is_short_json_of_our_own_page() -> None:
    app = app_of()
    code = app.new_login_code()
    body = json.dumps({"code": code}).encode()
    form = scope("/login", "POST", {**OWN, "content-type": "text/plain"}, token=False)
    foreign = scope("/login", "POST", {"origin": "http://evil.example", **JSON}, token=False)
    other_port = scope("/login", "POST", {"origin": "http://127.0.0.1:9000", **JSON}, token=False)
    assert (await call(app, form, body)).status == 415
    assert (await call(app, foreign, body)).status == 403
    assert (await call(app, other_port, body)).status == 403
    assert (await log_in(app, {"code": "x" * 5000})).status == 413
    assert (await log_in(app, {"code": code})).status == 204, "none of these used it"


def test_a_code_is_forgotten_after_ten_minutes(logins: Logins, clock: SimpleNamespace) -> None:
    code = logins.new_code(Access())
    clock.now += CODE_SECONDS
    assert logins.use_code(code) is None


def test_of_many_codes_the_newest_work(logins: Logins) -> None:
    codes = [logins.new_code(Access(str(number))) for number in range(40)]
    assert len(set(codes)) == 40
    assert all(len(code) >= 43 for code in codes), "256 bits"
    used = [logins.use_code(code) for code in codes]
    assert [found and found.principal for found in used[24:]] == [str(number) for number in range(24, 40)]
    assert used[:24] == [None] * 24


def test_wrong_codes_of_one_address_are_few_in_a_minute_and_a_right_one_works(
    logins: Logins, clock: SimpleNamespace
) -> None:
    code = logins.new_code(Access())
    for _ in range(10):
        logins.check_wrong("10.0.0.1")
    with pytest.raises(HttpError) as refused:
        logins.check_wrong("10.0.0.1")
    assert (refused.value.status, refused.value.headers["retry-after"]) == (429, "60")
    logins.check_wrong("10.0.0.2")
    assert logins.use_code(code) == Access()
    clock.now += 61
    logins.check_wrong("10.0.0.1")


async def test_an_address_that_tries_codes_is_told_to_wait() -> None:
    app = app_of()
    replies = [await log_in(app, {"code": "wrong"}) for _ in range(12)]
    assert [reply.status for reply in replies] == [401] * 10 + [429] * 2
    assert (await log_in(app, {"code": app.new_login_code()})).status == 204


def test_so_many_addresses_are_counted(logins: Logins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "_ADDRESSES", 3)
    for number in range(20):
        logins.check_wrong(f"10.0.0.{number}")
    assert len(logins._wrong) == 3  # pyright: ignore[reportPrivateUsage]


# -- cookies ---------------------------------------------------------------------------------------


async def test_the_cookie_is_for_this_server_alone_and_for_no_script() -> None:
    app = app_of()
    header = (await log_in(app, {"token": SECRET})).headers["set-cookie"]
    name, *attributes = header.split("; ")
    assert name.startswith("trunkline-8000=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} < set(attributes)
    assert "Secure" not in attributes
    secure = (
        await log_in(app, {"token": SECRET}, {"origin": "https://127.0.0.1:8000"}, scheme="https")
    ).status
    assert secure == 403, "two origins are none"
    asked = scope("/login", "POST", {"origin": "https://127.0.0.1:8000", **JSON}, token=False, scheme="https")
    reply = await call(app, asked, json.dumps({"token": SECRET}).encode())
    assert "Secure" in reply.headers["set-cookie"].split("; ")


async def test_behind_a_proxy_with_https_the_cookie_is_secure_and_works() -> None:
    page = "https://chat.example.org"
    app = app_of(allow_hosts=["chat.example.org"], allow_origins=[page])
    asked = scope("/login", "POST", {"origin": page, **JSON}, token=False, host="chat.example.org")
    reply = await call(app, asked, json.dumps({"token": SECRET}).encode())
    assert "Secure" in reply.headers["set-cookie"].split("; ")
    assert reply.headers["set-cookie"].startswith("trunkline=")
    again = scope("/page", headers={**cookie_of(reply), "origin": page}, token=False, host="chat.example.org")
    assert (await call(app, again)).status == 200
    await app.aclose()


async def test_a_mounted_app_has_a_cookie_of_its_own_path() -> None:
    app = app_of()
    outer = Starlette(routes=[Mount("/trunk", app=app)])
    reply = await log_in(outer, {"token": SECRET}, root_path="")
    assert reply.status == 404
    asked = scope("/trunk/login", "POST", {**OWN, **JSON}, token=False)
    reply = await call(outer, asked, json.dumps({"token": SECRET}).encode())
    assert "Path=/trunk/" in reply.headers["set-cookie"].split("; ")
    assert (await read(outer, cookie_of(reply), "/trunk/page")).status == 200
    await app.aclose()


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("headers", "reads", "changes"),
    [
        ({"origin": "http://127.0.0.1:8000"}, True, True),
        ({}, True, False),
        ({"sec-fetch-site": "same-origin"}, True, False),
        ({"origin": "http://localhost:5173"}, False, False),
        ({"origin": "http://127.0.0.1:9000"}, False, False),
        ({"origin": "http://evil.example"}, False, False),
        ({"origin": "null"}, False, False),
        ({"sec-fetch-site": "same-site"}, False, False),
        (
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
            False,
            False,
        ),
        ({"authorization": "Bearer wrong"}, False, False),
        ({"authorization": "Basic eDp5"}, False, False),
    ],
)
async def test_the_cookie_works_for_our_own_page_alone(
    kind: str, headers: dict[str, str], reads: bool, changes: bool
) -> None:
    app = app_of(allow_origins=["http://localhost:5173"])
    given = {**cookie_of(await log_in(app, {"token": SECRET})), **headers}
    if kind == "websocket":
        reply = await call(app, scope("/agui/ws", headers=given, token=False, kind=kind))
        assert (reply.status == 101) is changes
    else:
        assert ((await read(app, given, "/sessions")).status == 200) is reads
        asked = scope("/sessions", "POST", {**given, **JSON}, token=False)
        assert ((await call(app, asked, b"{}")).status == 201) is changes
        assert (
            (await call(app, scope("/sessions/x", "DELETE", given, token=False))).status == 404
        ) is changes
    await app.aclose()


async def test_a_wrong_token_in_a_subprotocol_is_not_saved_by_a_cookie() -> None:
    app = app_of()
    given = {**cookie_of(await log_in(app, {"token": SECRET})), **OWN}
    names = ["trunkline", "trunkline.bearer.wrong"]
    asked = scope("/agui/ws", headers=given, token=False, kind="websocket", subprotocols=names)
    assert (await call(app, asked)).status == 401
    await app.aclose()


async def test_servers_on_other_ports_of_the_host_have_cookies_of_their_own() -> None:
    app = app_of()
    cookie = cookie_of(await log_in(app, {"token": SECRET}))
    other = scope("/page", headers=cookie, token=False, host="127.0.0.1:8001")
    assert (await call(app, other)).status == 401
    both = {"cookie": f"a=b; trunkline-8000=set-by-another-port; {cookie['cookie']}; c"}
    assert (await read(app, both)).status == 200
    await app.aclose()


async def test_logging_out_ends_the_login_and_removes_the_cookie() -> None:
    app = app_of()
    cookie = cookie_of(await log_in(app, {"token": SECRET}))
    out = await call(app, scope("/logout", "POST", {**cookie, **OWN}, token=False))
    assert out.status == 204
    assert "Max-Age=0" in out.headers["set-cookie"].split("; ")
    assert (await read(app, cookie)).status == 401
    assert (await call(app, scope("/logout", "POST", {**cookie, **OWN}, token=False))).status == 204
    await app.aclose()


async def test_logging_in_again_ends_the_earlier_login_of_the_browser() -> None:
    app = app_of()
    first = cookie_of(await log_in(app, {"token": SECRET}))
    second = cookie_of(await log_in(app, {"token": READER.secret}, first))
    assert (await read(app, first)).status == 401
    assert (await read(app, second)).status == 200
    await app.aclose()


def with_cookie(header: str) -> dict[str, Any]:
    return scope(headers={"cookie": header.partition(";")[0]}, token=False)


def test_what_another_tab_has_just_asked_with_the_cookie_before_is_still_answered(
    logins: Logins, clock: SimpleNamespace
) -> None:
    before = with_cookie(logins.log_in(scope(), Access()))
    after = with_cookie(logins.log_in(before, Access()))
    assert logins.access_of(before) == logins.access_of(after) == Access()
    clock.now += 10
    assert logins.access_of(before) is None
    assert logins.access_of(after) == Access()


def test_a_login_ends_after_a_week(logins: Logins, clock: SimpleNamespace) -> None:
    asked = with_cookie(logins.log_in(scope(), Access()))
    clock.now += LOGIN_SECONDS - 1
    assert logins.access_of(asked) == Access()
    clock.now += 1
    assert logins.access_of(asked) is None
    assert len(logins) == 0


def test_another_process_goes_on_with_the_logins_of_tokens_that_still_count(
    logins: Logins, clock: SimpleNamespace
) -> None:
    ada, bob = Access("ada", token="a"), Access("bob", token="b")
    asked = [with_cookie(logins.log_in(scope(), access)) for access in (ada, bob)]
    code = logins.new_code(ada)
    state = json.loads(json.dumps(logins.state()))
    assert code not in json.dumps(state)

    after = Logins(lambda: clock.now)
    after.restore(state, [ada])
    assert [after.access_of(one) for one in asked] == [ada, None]
    assert after.use_code(code) == ada
    assert after.use_code(code) is None


def test_of_many_logins_the_ones_that_are_used_stay(logins: Logins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "_LOGINS", 4)
    used = with_cookie(logins.log_in(scope(), Access("used")))
    idle = with_cookie(logins.log_in(scope(), Access("idle")))
    for _ in range(3):
        assert logins.access_of(used) == Access("used")
        logins.log_in(scope(), Access())
    assert len(logins) == 4
    assert logins.access_of(used) == Access("used")
    assert logins.access_of(idle) is None


def test_a_request_with_many_cookies_costs_little(logins: Logins) -> None:
    header = logins.log_in(scope(), Access()).partition(";")[0]
    many = "; ".join(["trunkline-8000=x"] * 20)
    assert logins.access_of(scope(headers={"cookie": f"{many}; {header}"}, token=False)) is None


# -- another login ---------------------------------------------------------------------------------


async def test_where_another_login_counts_there_are_no_cookies_of_ours() -> None:
    app = trunkline.asgi(make(echo), authenticate=lambda _: Access("ann"))
    assert app.new_login_code() is None
    assert (await log_in(app, {"token": SECRET})).code == "login"
    assert (await call(app, scope("/logout", "POST", OWN, token=False))).code == "login"
    assert json.loads((await read(app, {})).body)["principal"] == "ann"
    assert json.loads((await read(app, {})).body)["login"] is False
    await app.aclose()


async def test_the_holder_of_one_token_cannot_log_others_out() -> None:
    app = app_of()
    cookie = cookie_of(await log_in(app, {"token": SECRET}))
    own = [cookie_of(await log_in(app, {"token": READER.secret})) for _ in range(1100)]
    assert (await read(app, cookie)).status == 200
    assert [(await read(app, own[-place])).status for place in (1, 64, 65)] == [200, 200, 401]
    await app.aclose()
