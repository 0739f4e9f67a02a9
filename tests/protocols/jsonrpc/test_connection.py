"""A JSON-RPC connection in a loop: order, one write per tick, honest errors, bounded waits."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from tests.frontends.acp.memory_editor import Wire, join
from tests.hubs import forever, soon, until

from trunkline.errors import AuthenticationRequired, SessionNotFound
from trunkline.protocols.jsonrpc.connection import Connection, Reply
from trunkline.protocols.jsonrpc.messages import Params, RpcError


class OpenQuestions:
    """A handler whose methods are set by the test; it notes what it takes, in order."""

    def __init__(self, **methods: Callable[[Any], Any]) -> None:
        self.methods = methods
        self.took: list[str] = []
        self.keeps = False

    async def handle(self, method: str, params: Params) -> Any:
        self.took.append(method)
        result = self.methods[method](params)
        return await result if asyncio.iscoroutine(result) or asyncio.isfuture(result) else result

    def handle_notification(self, method: str, params: Params) -> None:
        self.took.append(f"({method})")
        if method in self.methods:
            self.methods[method](params)

    def withdraw(self, method: str, params: Params) -> bool:
        self.took.append(f"-{method}")
        return self.keeps


@asynccontextmanager
async def connected(
    **methods: Callable[[Any], Any],
) -> AsyncGenerator[tuple[Connection, Wire, OpenQuestions]]:
    """A connection to nobody: bytes are given by hand, and what it writes is kept."""
    wire, desk = Wire(), OpenQuestions(**methods)
    connection = Connection(wire)
    connection.handler = desk
    yield connection, wire, desk
    await soon(connection.close("over"))


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def raising(error: BaseException) -> Callable[[Any], Any]:
    def fail(params: Any) -> Any:
        raise error

    return fail


# -- receiving -------------------------------------------------------------------------------------


async def test_a_request_is_carried_out_and_answered() -> None:
    async with connected(double=lambda params: params["n"] * 2) as (connection, wire, _):
        connection.receive(line(id="a", method="double", params={"n": 4}))
        await until(lambda: bool(wire.chunks))
        assert wire.messages == [{"jsonrpc": "2.0", "id": "a", "result": 8}]


async def test_what_came_together_is_taken_in_order_and_a_long_request_holds_up_nothing() -> None:
    async with connected(wait=lambda params: forever(), go=lambda params: 1) as (connection, wire, desk):
        connection.receive(
            line(method="first")
            + line(id=1, method="wait")
            + line(method="second")
            + line(id=2, method="go")
            + line(method="$/cancel_request", params={"requestId": 2})
            + line(method="third")
        )
        await until(lambda: len(desk.took) == 5)
        assert desk.took == ["(first)", "wait", "(second)", "go", "(third)"], (
            "a request begins before what follows it"
        )
        await until(lambda: bool(wire.chunks))
        assert wire.messages == [{"jsonrpc": "2.0", "id": 2, "result": 1}]


async def test_what_is_answered_within_a_tick_is_written_in_one_piece() -> None:
    async with connected(go=lambda params: params) as (connection, wire, _):
        connection.receive(b"".join(line(id=n, method="go", params=[n]) for n in range(50)))
        await until(lambda: bool(wire.chunks))
        assert len(wire.chunks) == 1
        assert [message["result"] for message in wire.messages] == [[n] for n in range(50)]


async def test_a_last_line_needs_no_newline() -> None:
    async with connected(go=lambda params: 1) as (connection, wire, _):
        connection.receive(line(id=1, method="go").rstrip())
        connection.receive_eof()
        await until(lambda: bool(wire.chunks))


async def test_a_reply_is_sent_before_what_follows_it() -> None:
    async with connected() as (connection, wire, desk):
        desk.methods["go"] = lambda params: Reply({"done": True}, lambda: connection.notify("then", {}))
        connection.receive(line(id=1, method="go"))
        await until(lambda: bool(wire.chunks))
        assert [message.get("method", "answer") for message in wire.messages] == ["answer", "then"]


async def test_a_reply_that_cannot_be_sent_is_followed_by_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with connected() as (connection, wire, desk):
        desk.methods["go"] = lambda params: Reply(object(), lambda: connection.notify("then", {}))
        connection.receive(line(id=1, method="go"))
        await until(lambda: bool(wire.chunks))
        assert [message.get("method", "answer") for message in wire.messages] == ["answer"]
        assert wire.messages[0]["error"]["code"] == -32603
        assert "go failed" in caplog.text


async def test_a_notification_that_cannot_be_handled_is_logged_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with connected(bad=raising(ValueError("no")), go=lambda params: 1) as (connection, wire, _):
        connection.receive(line(method="bad") + line(id=1, method="go"))
        await until(lambda: bool(wire.chunks))
        assert wire.messages == [{"jsonrpc": "2.0", "id": 1, "result": 1}]
        assert "the notification bad could not be handled" in caplog.text


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "message", "data"),
    [
        (RpcError(-32042, "as it is", {"x": 1}), -32042, "as it is", {"x": 1}),
        (RpcError(-32042, "two\nlines"), -32042, "two lines", None),
        (RpcError(-32042, " "), -32042, "unknown error", None),
        (
            msgspec.ValidationError("no cwd"),
            -32602,
            "invalid params: no cwd",
            {"details": "invalid params: no cwd"},
        ),
        (SessionNotFound("no such\nsession"), -32002, "no such session", {"details": "no such\nsession"}),
        (AuthenticationRequired("log in"), -32000, "log in", {"details": "log in"}),
        (
            ZeroDivisionError("oops"),
            -32603,
            "internal error: ZeroDivisionError: oops",
            {"details": "internal error: ZeroDivisionError: oops"},
        ),
    ],
)
async def test_an_error_says_its_cause_in_one_line_and_in_details_alone(
    error: Exception, code: int, message: str, data: Any
) -> None:
    async with connected(go=raising(error)) as (connection, wire, _):
        connection.receive(line(id=1, method="go"))
        await until(lambda: bool(wire.chunks))
        (answer,) = wire.messages
        wanted = {"code": code, "message": message}
        assert answer["error"] == (wanted if data is None else {**wanted, "data": data})


async def test_what_is_malformed_is_answered_without_the_handler() -> None:
    async with connected() as (connection, wire, desk):
        connection.receive(b"garbage\n[1]\n")
        await until(lambda: bool(wire.chunks))
        assert [message["error"]["code"] for message in wire.messages] == [-32700, -32600]
        assert desk.took == []


# -- cancelling ------------------------------------------------------------------------------------


async def test_a_request_that_is_taken_back_is_cancelled_and_still_answered() -> None:
    cleaned: list[bool] = []

    async def wait(params: Any) -> None:
        try:
            await forever()
        finally:
            cleaned.append(True)

    async with connected(wait=wait) as (connection, wire, desk):
        connection.receive(line(id=1, method="wait"))
        await until(lambda: desk.took == ["wait"])
        connection.receive(line(method="$/cancel_request", params={"requestId": 1}))
        await until(lambda: bool(wire.chunks))
        assert wire.messages[0]["error"]["code"] == -32800
        assert cleaned == [True]
        assert desk.took == ["wait", "-wait"]


async def test_a_handler_may_end_a_request_in_its_own_way() -> None:
    done = asyncio.Event()
    async with connected(wait=lambda params: done.wait()) as (connection, wire, desk):
        desk.keeps = True
        connection.receive(
            line(id=1, method="wait") + line(method="$/cancel_request", params={"requestId": 1})
        )
        await until(lambda: "-wait" in desk.took)
        assert wire.chunks == []
        done.set()
        await until(lambda: bool(wire.chunks))
        assert wire.messages == [{"jsonrpc": "2.0", "id": 1, "result": True}]


async def test_taking_back_what_is_answered_already_does_nothing() -> None:
    async with connected(go=lambda params: 1) as (connection, wire, desk):
        connection.receive(line(id=1, method="go"))
        await until(lambda: bool(wire.chunks))
        connection.receive(line(method="$/cancel_request", params={"requestId": 1}))
        assert desk.took == ["go"]


# -- sending ---------------------------------------------------------------------------------------


@asynccontextmanager
async def joined(**methods: Callable[[Any], Any]) -> AsyncGenerator[tuple[Connection, OpenQuestions]]:
    """Two connections that hear each other; the far one has these methods."""
    near, far = Wire(), Wire()
    one, other = Connection(near), Connection(far)
    one.handler, other.handler = OpenQuestions(), OpenQuestions(**methods)
    join(one, near, other, far)
    yield one, other.handler
    await soon(one.close("over"))
    await soon(other.close("over"))


async def test_a_request_of_ours_gets_its_answer_or_its_error() -> None:
    async with joined(double=lambda params: params["n"] * 2, fail=raising(RpcError(-1, "no", "why"))) as (
        one,
        _,
    ):
        assert await soon(one.request("double", {"n": 3})) == 6
        with pytest.raises(RpcError, match="no: why"):
            await soon(one.request("fail", {}))


async def test_an_answer_that_does_not_come_in_time_is_taken_back() -> None:
    async with joined(wait=lambda params: forever()) as (one, desk):
        with pytest.raises(TimeoutError):
            await soon(one.request("wait", {}, timeout=0.01))
        await until(lambda: desk.took == ["wait", "-wait"])


async def test_a_request_whose_asker_is_cancelled_is_taken_back() -> None:
    async with joined(wait=lambda params: forever()) as (one, desk):
        asking = asyncio.create_task(one.request("wait", {}))
        await until(lambda: desk.took == ["wait"])
        asking.cancel()
        await until(lambda: desk.took == ["wait", "-wait"])
        assert asking.cancelled()


async def test_an_answer_without_a_request_is_ignored() -> None:
    async with connected(go=lambda params: 1) as (connection, wire, _):
        request_id, future = connection.ask("anything", {})
        future.cancel()
        connection.receive(
            line(id=request_id, result=1) + line(id=request_id, result=2) + line(id="x", result=3)
        )
        connection.receive(line(id=1, method="go"))
        await until(lambda: len(wire.messages) == 2)


async def test_notifications_and_lines_go_out_in_order_and_in_one_piece() -> None:
    async with connected() as (connection, wire, _):
        connection.notify("one", None)
        connection.send_lines([b'{"two":2}', b'{"three":3}'])
        connection.notify("four", {})
        await until(lambda: bool(wire.chunks))
        assert [list(message)[-1] for message in wire.messages] == ["method", "two", "three", "params"]
        assert len(wire.chunks) == 1


async def test_a_slow_reader_shows() -> None:
    async with connected() as (connection, wire, _):
        assert not connection.congested
        wire.free.clear()
        assert connection.congested
        waiting = asyncio.create_task(connection.drained())
        wire.free.set()
        await soon(waiting)


# -- the end ---------------------------------------------------------------------------------------


async def test_idle_waits_for_the_answers_that_are_due_but_not_for_ever() -> None:
    done = asyncio.Event()
    async with connected(wait=lambda params: done.wait()) as (connection, _, desk):
        await soon(connection.idle())
        connection.receive(line(id=1, method="wait"))
        await soon(connection.idle(grace=0.01))
        idle = asyncio.create_task(connection.idle(grace=60.0))
        await until(lambda: desk.took == ["wait"])
        done.set()
        await soon(idle)


async def test_closing_fails_what_waits_cancels_what_runs_and_writes_what_is_left() -> None:
    async with connected(wait=lambda params: forever()) as (connection, wire, desk):
        connection.receive(line(id=1, method="wait"))
        asking = asyncio.create_task(connection.request("anything", {}))
        await until(lambda: desk.took == ["wait"])
        connection.notify("last words", {})
        await soon(connection.close("the editor left"))
        with pytest.raises(RpcError, match="anything got no answer: the editor left"):
            await soon(asking)
        assert wire.messages[-1]["method"] == "last words"
        output = len(wire.chunks)
        connection.notify("too late", {})
        with pytest.raises(RpcError, match="the editor left"):
            connection.ask("too late", {})
        await soon(connection.close("again"))
        await asyncio.sleep(0)
        assert len(wire.chunks) == output
        assert connection.closed


async def test_closing_does_not_wait_for_a_task_that_will_not_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    let_go = asyncio.Event()

    async def stubborn(params: Any) -> None:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    wire, desk = Wire(), OpenQuestions(wait=stubborn)
    connection = Connection(wire)
    connection.handler = desk
    connection.receive(line(id=1, method="wait"))
    await until(lambda: desk.took == ["wait"])
    await soon(connection.close("over", grace=0.01))
    let_go.set()
    await soon(connection.idle())


# -- messages that come one by one -----------------------------------------------------------------


async def test_what_comes_in_a_frame_of_its_own_waits_for_the_request_before_it_too() -> None:
    async with connected(go=lambda params: 1) as (connection, wire, desk):
        # As over a WebSocket, where every message is given by itself.
        for message in (
            line(id=1, method="go"),
            line(method="told"),
            line(id=2, method="go"),
            line(method="$/cancel_request", params={"requestId": 2}),
        ):
            connection.receive(message)
        await until(lambda: len(wire.messages) == 2)
        assert desk.took == ["go", "go", "(told)"] or desk.took == ["go", "(told)", "go"]
        assert [message["id"] for message in wire.messages] == [1, 2], "every request is answered"


async def test_a_handler_that_cannot_withdraw_a_request_stops_it_and_the_connection_lives() -> None:
    class Clumsy(OpenQuestions):
        def withdraw(self, method: str, params: Params) -> bool:
            raise ValueError("what is this?")

    async with connected() as (connection, wire, _):
        connection.handler = Clumsy(wait=lambda params: forever(), go=lambda params: 1)
        connection.receive(line(id=1, method="wait"))
        await asyncio.sleep(0)
        connection.receive(line(method="$/cancel_request", params={"requestId": 1}))
        connection.receive(line(id=2, method="go"))
        await until(lambda: len(wire.messages) == 2)
        assert {message["id"]: message.get("error", {}).get("code") for message in wire.messages} == {
            1: -32800, 2: None,
        }  # fmt: skip
