"""Which session something of the agent belongs to."""

from collections.abc import Awaitable
from typing import Any

import pytest

from tests.agents.acp.scripted import RefusesAll
from trunkline.agents.acp import session_routes as module
from trunkline.agents.acp.session_routes import SessionRoutes
from trunkline.protocols.jsonrpc.messages import RpcError


def update(session_id: Any, number: int = 0) -> Any:
    return {"sessionId": session_id, "update": {"sessionUpdate": "x", "number": number}}


def routes(waits: list[Awaitable[Any]] | None = None) -> SessionRoutes:
    return SessionRoutes((waits if waits is not None else []).append)


def test_updates_of_two_sessions_do_not_mix_and_a_detached_one_gets_none() -> None:
    known, a, b = routes(), list[Any](), list[Any]()
    known.attach("a", a.append, RefusesAll())
    known.attach("b", b.append, RefusesAll())
    for session_id, number in (("a", 1), ("b", 2), ("a", 3)):
        known.take_notification("session/update", update(session_id, number))
    known.detach("a")
    known.take_notification("session/update", update("a", 4))
    assert [one["number"] for one in a] == [1, 3]
    assert [one["number"] for one in b] == [2]
    assert known.sessions == ["b"]
    known.attach("a", a.append, RefusesAll())
    assert len(a) == 2, "what was said of a session that was given up is gone"


def test_what_is_kept_for_unknown_sessions_is_bounded() -> None:
    known, got = routes(), list[Any]()
    for number in range(module.EARLY_UPDATES + 10):
        known.take_notification("session/update", update("new", number))
    known.attach("new", got.append, RefusesAll())
    assert len(got) == module.EARLY_UPDATES
    assert got[-1]["number"] == module.EARLY_UPDATES + 9
    for number in range(module.EARLY_SESSIONS + 1):
        known.take_notification("session/update", update(f"s{number}"))
    known.attach("s0", got.append, RefusesAll())
    known.attach("s1", got.append, RefusesAll())
    assert len(got) == module.EARLY_UPDATES + 1


def test_long_updates_of_unknown_sessions_are_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EARLY_CHARACTERS", 300)
    known, got = routes(), list[Any]()
    for session_id in ("first", "second", "third"):
        long = {"sessionId": session_id, "update": {"sessionUpdate": session_id, "text": "x" * 100}}
        known.take_notification("session/update", long)
    for session_id in ("first", "second", "third"):
        known.attach(session_id, got.append, RefusesAll())
        known.detach(session_id)
    assert [one["sessionUpdate"] for one in got] == ["second", "third"]
    huge = {"sessionId": "fourth", "update": {"sessionUpdate": "x" * 1000}}
    known.take_notification("session/update", huge)
    known.attach("fourth", got.append, RefusesAll())
    assert len(got) == 2


def test_odd_updates_and_notifications_harm_nothing() -> None:
    known, got = routes(), list[Any]()
    known.attach("a", got.append, RefusesAll())
    odd: list[Any] = [None, [], {}, {"sessionId": 1, "update": {}}, {"sessionId": "a", "update": []}]
    for params in odd:
        known.take_notification("session/update", params)
    known.take_notification("_other", {"sessionId": "a"})
    known.take_notification("_other", {"sessionId": "unknown"})
    assert got == []


def test_an_update_that_names_no_session_or_is_flat_is_that_of_the_one_session() -> None:
    known, a, b = routes(), list[Any](), list[Any]()
    known.attach("a", a.append, RefusesAll())
    known.take_notification("session/update", {"update": {"sessionUpdate": "x"}})
    known.take_notification("session/update", {"sessionId": "a", "sessionUpdate": "y", "n": 1})
    assert a == [{"sessionUpdate": "x"}, {"sessionUpdate": "y", "n": 1}]
    known.attach("b", b.append, RefusesAll())
    known.take_notification("session/update", {"update": {"sessionUpdate": "x"}})
    assert (len(a), b) == (2, []), "of two sessions nobody knows which is meant"


def test_a_notification_without_a_session_goes_to_all_or_waits_for_the_first() -> None:
    known, a, b = routes(), list[str](), list[str]()
    known.take_notification("_auth/status", {"ok": True})
    known.attach("a", lambda _: None, RefusesAll(), lambda method, _: a.append(method))
    known.attach("b", lambda _: None, RefusesAll(), lambda method, _: b.append(method))
    known.take_notification("_news", None)
    known.take_notification("_own", {"sessionId": "b"})
    assert a == ["_auth/status", "_news"]
    assert b == ["_news", "_own"]


async def test_what_a_handler_gives_back_is_waited_for() -> None:
    async def nothing() -> None: ...

    waits: list[Awaitable[Any]] = []
    known = routes(waits)
    known.take_notification("session/update", update("a"))
    known.take_notification("_general", {})
    known.attach("a", lambda _: nothing(), RefusesAll(), lambda _, __: nothing())
    known.take_notification("session/update", update("a"))
    assert len(waits) == 3
    for wait in waits:
        await wait


def test_requests_find_their_session_also_while_it_is_being_made() -> None:
    known, first, second, made = routes(), RefusesAll(), RefusesAll(), RefusesAll()
    with pytest.raises(RpcError) as refused:
        known.handler_of("_own/method", {"sessionId": "a"})
    assert refused.value.rpc_code == -32601
    known.attach("a", lambda _: None, first)
    assert known.handler_of("fs/read_text_file", {"sessionId": "a"}) is first
    assert known.handler_of("elicitation/create", {"requestId": 1}) is first
    known.attach("b", lambda _: None, second)
    with pytest.raises(RpcError) as refused:
        known.handler_of("elicitation/create", {"requestId": 1})
    assert refused.value.rpc_code == -32602
    with known.opening(made):
        assert known.handler_of("elicitation/create", {"sessionId": "soon"}) is made
        with known.opening(second), pytest.raises(RpcError):
            known.handler_of("elicitation/create", {"sessionId": "soon"})
