"""Tests of sending from any thread: order, bounds, and transports that fail."""

import asyncio
import threading
from typing import Any

import pytest

from trunkline.transports import sender as module
from trunkline.transports.sender import Sender


class Recorder:
    """Keeps what it is sent, and the threads that sent it."""

    def __init__(self, broken: str = "", error: Exception | None = None) -> None:
        self.sent: list[Any] = []
        self.threads: set[int] = set()
        self._broken = broken
        self._error = error or ConnectionError("gone")

    def emit(self, message: str) -> None:
        self.threads.add(threading.get_ident())
        if message == self._broken:
            raise self._error
        self.sent.append(message)


def sender_for(transport: Any, **options: Any) -> Sender:
    sender = Sender(transport, "s1", **options)
    sender.locate()
    return sender


def in_thread(sender: Sender, count: int) -> None:
    thread = threading.Thread(target=lambda: [sender.send(str(number)) for number in range(count)])
    thread.start()
    thread.join(5)


def test_without_a_loop_a_message_is_sent_at_once() -> None:
    transport = Recorder()
    sender_for(transport).send("a")
    assert transport.sent == ["a"]


async def test_a_thread_sends_in_the_loop_of_the_transport() -> None:
    transport = Recorder()
    in_thread(sender_for(transport), 3)
    assert transport.sent == []
    await asyncio.sleep(0)
    assert transport.sent == ["0", "1", "2"]
    assert transport.threads == {threading.get_ident()}


async def test_unsent_messages_have_a_bound(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_MOST_UNSENT", 3)
    transport = Recorder()
    sender = sender_for(transport)
    in_thread(sender, 10)
    await asyncio.sleep(0)
    assert transport.sent == ["0", "1", "2"]
    assert [one.message for one in caplog.records] == [
        "the client of session s1 cannot be told: it is too far behind"
    ]
    sender.send("again")
    assert transport.sent[-1] == "again"


@pytest.mark.parametrize(("stops", "sent"), [(False, ["a", "c"]), (True, ["a"])])
def test_a_transport_that_raises_is_logged_once(
    stops: bool, sent: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    transport = Recorder(broken="b")
    sender = sender_for(transport, stops_on_error=stops)
    for message in ("a", "b", "b", "c"):
        sender.send(message)
    assert transport.sent == sent
    assert [one.message for one in caplog.records] == [
        "the client of session s1 cannot be told: ConnectionError: gone"
    ]


def test_a_message_that_cannot_be_encoded_does_not_stop_the_others() -> None:
    transport = Recorder(broken="b", error=TypeError("not JSON"))
    sender = sender_for(transport, stops_on_error=True)
    for message in ("a", "b", "c"):
        sender.send(message)
    assert transport.sent == ["a", "c"]
