"""The page: its files for everybody, with headers that keep it safe, and what it learns with a token."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.hubs import echo, make, soon
from tests.server.asgi_requests import call, scope
from tests.server.running_server import SECRET, served

import trunkline
from trunkline import events as ev
from trunkline._version import __version__
from trunkline.agents.function import FunctionAgent
from trunkline.agents.interface import AgentCard, PromptCapabilities
from trunkline.options import Choice, ConfigOption
from trunkline.server.app import Server
from trunkline.server.limits import Limits
from trunkline.server.routes.page import PageFiles
from trunkline.server.security.hosts import Hosts
from trunkline.server.security.origins import Origins
from trunkline.server.security.tokens import TokenRing


@pytest.fixture
def app() -> Server:
    return trunkline.asgi(make(echo), tokens=SECRET)


def built(folder: Path) -> Server:
    """A server with a page of our own."""
    made = trunkline.asgi(make(echo), tokens=SECRET)
    return Server(
        made.agents,
        [PageFiles(folder)],
        authenticate=TokenRing.of(SECRET),
        hosts=Hosts(),
        origins=Origins(),
        open_paths=("/", "/assets/"),
        page_paths=("/",),
    )


@pytest.fixture
def page(tmp_path: Path) -> Server:
    (tmp_path / "assets" / "fonts").mkdir(parents=True)
    (tmp_path / "index.html").write_text("<p>page</p>")
    (tmp_path / "assets" / "app.js").write_text("go()")
    (tmp_path / "assets" / "fonts" / "a.woff2").write_bytes(b"font")
    (tmp_path / "assets" / "odd").write_bytes(b"odd")
    return built(tmp_path)


def asked(path: str = "/", method: str = "GET", **headers: str) -> dict[str, Any]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return scope(path, method, given, token=False)


async def test_the_page_opens_without_a_token_and_with_its_headers(app: Server) -> None:
    reply = await call(app, asked())
    assert reply.status == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    policy = reply.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"} < set(policy)
    assert {"frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} < set(policy)
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cross-origin-opener-policy"] == "same-origin"


async def test_the_page_of_the_package_loads_only_what_is_there_and_has_no_script_inside(app: Server) -> None:
    import re

    document = (await call(app, asked())).body.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", document)
    for name in re.findall(r'(?:src|href)="([^"]+)"', document):
        assert not re.match(r"https?:|//|/", name), "relative, so that it can be mounted anywhere"
        assert (await call(app, asked("/" + name.removeprefix("./")))).status == 200


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/", "text/html; charset=utf-8", b"<p>page</p>"),
        ("/assets/app.js", "text/javascript; charset=utf-8", b"go()"),
        ("/assets/fonts/a.woff2", "font/woff2", b"font"),
        ("/assets/odd", "application/octet-stream", b"odd"),
    ],
)
async def test_a_file_has_its_type_and_is_asked_for_again_only_when_it_changed(
    page: Server, path: str, kind: str, body: bytes
) -> None:
    reply = await call(page, asked(path))
    assert (reply.body, reply.headers["content-type"]) == (body, kind)
    head = await call(page, asked(path, "HEAD"))
    assert (head.status, head.headers["content-length"]) == (200, str(len(body)))
    etag = reply.headers["etag"]
    for known in (etag, f'"other", W/{etag}', "*"):
        same = await call(page, asked(path, if_none_match=known))
        assert (same.status, same.body, same.headers["etag"]) == (304, b"", etag)
    assert (await call(page, asked(path, if_none_match='"other"'))).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/assets/",
        "/assets/none.js",
        "/assets/../index.html",
        "/assets/../../app.py",
        "/assets//etc/passwd",
        "/assets/fonts",
        "/assets/app.js/",
        "/assets/app.js\x00",
    ],
)
async def test_no_other_file_can_be_named(page: Server, path: str) -> None:
    reply = await call(page, asked(path))
    assert (reply.status, reply.code) == (404, "not_found")


async def test_a_link_anywhere_opens_the_page_and_nothing_else(page: Server) -> None:
    link = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert (await call(page, asked(**link))).status == 200
    assert (await call(page, asked("/assets/app.js", **link))).status == 403
    assert (await call(page, asked(**{**link, "sec_fetch_dest": "iframe"}))).status == 403
    assert (await call(page, asked(**{**link, "sec_fetch_mode": "no-cors"}))).status == 403
    assert (await call(page, asked(method="POST", **link))).status == 403


async def test_without_its_build_the_page_says_what_to_do(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        reply = await call(built(folder), asked())
        assert reply.status == 503
        assert reply.headers["content-type"] == "text/html; charset=utf-8"
        assert b"scripts/build-page" in reply.body
        assert "default-src 'none'" in reply.headers["content-security-policy"]


async def test_the_page_can_be_mounted(app: Server) -> None:
    outer = Starlette(routes=[Mount("/trunk", app=app)])
    assert (await call(outer, asked("/trunk/"))).status == 200
    assert (await call(outer, asked("/trunk/assets/none"))).status == 404
    moved = await call(outer, asked("/trunk"))
    assert moved.headers["location"].endswith("/trunk/")


@pytest.mark.parametrize("path", ["/assets", "/assetsx", "//", "/index.html", "/page"])
async def test_what_is_not_open_takes_a_token(app: Server, path: str) -> None:
    assert (await call(app, asked(path))).status == 401


# -- who the page is and what is served ------------------------------------------------------------

CARD = AgentCard(
    name="writer",
    title="The writer",
    description="Writes.",
    commands=(ev.CommandInfo(name="draft", description="Writes a draft"),),
    options=(
        ConfigOption(option_id="tone", name="Tone", value="dry", choices=(Choice(value="dry", name="Dry"),)),
    ),
    prompt=PromptCapabilities(image=True, embedded_context=False),
)


class Slow(FunctionAgent):
    """An agent that says what it is when it is let."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__(echo, AgentCard(name="placeholder"))
        self.let = asyncio.Event()
        self.asked = 0
        self.failure = failure

    async def prepare(self) -> None:
        self.asked += 1
        await self.let.wait()
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        self.card = AgentCard(name="real", title="Real")


async def page_of(client: Any) -> dict[str, Any]:
    return (await soon(client.get("/page"))).json()


async def test_the_page_learns_who_it_is_and_what_is_served() -> None:
    async with served({"writer": FunctionAgent(echo, CARD), "plain": make(echo)}) as (_, client):
        page = await page_of(client)
    writer, plain = page.pop("agents")
    assert page == {
        "version": __version__,
        "principal": "local",
        "scopes": ["admin", "answer", "follow", "prompt"],
        "login": True,
        "limits": {"body_bytes": 4 * 1024 * 1024, "keep_alive_seconds": 15.0},
    }
    assert writer == {
        "name": "writer",
        "title": "The writer",
        "description": "Writes.",
        "commands": [{"name": "draft", "description": "Writes a draft"}],
        "options": [
            {
                "option_id": "tone",
                "name": "Tone",
                "value": "dry",
                "choices": [{"value": "dry", "name": "Dry"}],
            }
        ],
        "prompt": {"image": True, "audio": False, "embedded": False},
        "ready": True,
        "error": None,
    }
    assert (plain["name"], plain["title"], plain["description"]) == ("plain", "plain", None)


async def test_agents_of_the_same_title_are_told_apart_by_their_names() -> None:
    agents = {name: Slow() for name in ("one", "two")}
    for agent in agents.values():
        agent.let.set()
    async with served(agents) as (_, client):
        page = await page_of(client)
    assert [agent["title"] for agent in page["agents"]] == ["Real (one)", "Real (two)"]


async def test_an_agent_that_starts_slowly_is_not_waited_for_and_is_asked_once() -> None:
    agent = Slow()
    async with served(agent, limits=Limits(open_seconds=0.05)) as (_, client):
        first, second = await page_of(client), await page_of(client)
        agent.let.set()
        third = await page_of(client)
    assert [page["agents"][0]["ready"] for page in (first, second, third)] == [False, False, True]
    assert first["agents"][0]["error"] is None, "it starts"
    assert third["agents"][0]["title"] == "Real"
    assert agent.asked == 1


async def test_an_agent_that_cannot_start_is_asked_again_and_its_words_stay_here() -> None:
    agent = Slow(RuntimeError("the file /home/ann/secret is missing"))
    agent.let.set()
    async with served(agent) as (_, client):
        first, second = await page_of(client), await page_of(client)
    assert first["agents"][0]["ready"] is False
    assert "secret" not in first["agents"][0]["error"]
    assert second["agents"][0]["ready"] is True


async def test_a_server_that_closes_does_not_wait_for_an_agent_that_starts() -> None:
    agent = Slow()
    async with served(agent, limits=Limits(open_seconds=0.05)) as (_, client):
        assert (await page_of(client))["agents"][0]["ready"] is False
