"""The access log: one line for each request, without anything that may be secret."""

import logging

import pytest
from tests.hubs import echo, make
from tests.server.asgi_requests import call, scope
from tests.server.running_server import SECRET

import trunkline


async def test_each_request_has_a_line_with_its_status_and_no_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "trunkline.access")
    app = trunkline.asgi(make(echo), tokens=SECRET)
    await call(app, scope("/sessions", query_string=b"query=private"))
    await call(app, scope("/sessions", token=False))
    await call(app, scope("/agui/ws", kind="websocket"))
    await call(app, scope("/agui/ws", kind="websocket", token=False))
    await call(app, scope("/agui/ws", kind="websocket", token=False, extensions={}))
    lines = [one.getMessage() for one in caplog.records if one.name == "trunkline.access"]
    assert [line.rsplit(" ", 2)[0] for line in lines] == [
        "127.0.0.1 GET /sessions 200",
        "127.0.0.1 GET /sessions 401",
        "127.0.0.1 WEBSOCKET /agui/ws 101",
        "127.0.0.1 WEBSOCKET /agui/ws 401",
        "127.0.0.1 WEBSOCKET /agui/ws 403",
    ]
    assert all(line.endswith(" ms") for line in lines)
    assert "private" not in caplog.text
    assert SECRET not in caplog.text
    await app.aclose()


async def test_nothing_is_logged_unless_it_is_wanted(caplog: pytest.LogCaptureFixture) -> None:
    app = trunkline.asgi(make(echo), tokens=SECRET)
    await call(app, scope("/sessions"))
    assert [one for one in caplog.records if one.name == "trunkline.access"] == []
    await app.aclose()


async def test_a_path_cannot_write_a_line_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "trunkline.access")
    app = trunkline.asgi(make(echo), tokens=SECRET)
    await call(app, scope("/x\n10:00:00 127.0.0.1 GET /sessions 200 1 ms\x1b[2J", token=False))
    (line,) = [one.getMessage() for one in caplog.records if one.name == "trunkline.access"]
    assert line.isprintable()
    assert line.startswith("127.0.0.1 GET /x 10:00:00 ")
    await app.aclose()
