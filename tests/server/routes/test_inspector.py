"""The inspector: a turn as each front end sends it, with times; and the lines of a spawned agent."""

import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.hubs import echo, make
from tests.server.routes.test_session_changes import say
from tests.server.running_server import run_events, run_input, served

from trunkline.agents.acp.agent import AcpAgent
from trunkline.server.routes import inspector

NAMES = ("events", "acp", "agui", "aisdk", "unified")


async def inspected(client: httpx.AsyncClient, session_id: str, **params: str) -> dict[str, Any]:
    answer = await client.get(f"/sessions/{session_id}/inspect", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def data_of(found: dict[str, Any], name: str) -> list[Any]:
    return [one["data"] for one in found["protocols"][name]]


async def test_a_turn_is_shown_on_every_wire_with_the_times_of_its_records() -> None:
    async with served() as (_, client):
        await run_events(client, run_input("/text"))
        await run_events(client, run_input("/tools", run="r2"))
        last = await inspected(client, "t1")
        records = (await client.get("/sessions/t1")).json()["records"]
        turns = [one["event"]["turn_id"] for one in records if one["event"]["type"] == "turn_started"]
        first = await inspected(client, "t1", turn=turns[0])
    assert (first["turn_id"], last["turn_id"]) == (turns[0], turns[1])
    assert tuple(last["protocols"]) == NAMES
    assert last["truncated"] is False
    times = {one["at"] for one in records}
    for name in NAMES:
        shown = last["protocols"][name]
        assert shown, name
        assert {one["at"] for one in shown} <= times
        assert [one["at"] for one in shown] == sorted(one["at"] for one in shown)
    mine = [one["event"] for one in records if one["event"].get("turn_id") in (turns[1], None)]
    assert data_of(last, "events") == [event for event in mine if event in data_of(last, "events")]
    agui = [event["type"] for event in data_of(last, "agui")]
    assert (agui[0], agui[-1]) == ("RUN_STARTED", "RUN_FINISHED")
    assert "TOOL_CALL_RESULT" in agui
    acp = data_of(last, "acp")
    assert {line.get("method", "session/update") for line in acp} == {"session/update"}
    assert (acp[-1]["id"], acp[-1]["result"]["stopReason"]) == ("prompt", "end_turn")
    aisdk = [chunk["type"] for chunk in data_of(last, "aisdk")]
    assert (aisdk[0], aisdk[-1]) == ("start", "finish")
    assert data_of(last, "unified")[-1]["type"] in ("result", "status_change")


async def test_a_turn_that_asks_ends_its_runs_where_it_waits_and_begins_them_again() -> None:
    async with served() as (_, client):
        session_id = (await client.post("/sessions", json={})).json()["session_id"]
        prompt = {"type": "prompt", "content": [{"type": "text", "text": "/permission"}]}
        await client.post(f"/sessions/{session_id}/commands", json=prompt)
        asked: list[Any] = []
        while not asked:
            page = (await client.get(f"/sessions/{session_id}", params={"wait": 5})).json()
            asked = [one["event"] for one in page["records"] if one.get("event", {}).get("type") == "asked"]
        waiting = await inspected(client, session_id)
        request = next(line for line in data_of(waiting, "acp") if "id" in line)
        assert request["method"] == "session/request_permission"
        assert request["params"]["options"]
        option = next(one for one in asked[0]["question"]["options"] if one["kind"] == "allow_once")
        answer = {"type": "answer", "question_id": asked[0]["question_id"], "option_id": option["option_id"]}
        assert (await client.post(f"/sessions/{session_id}/commands", json=answer)).status_code == 200
        await say(client, session_id, "/text", "k2")
        whole = await inspected(client, session_id, turn=waiting["turn_id"])
    kinds = [event["type"] for event in data_of(whole, "agui")]
    assert kinds.count("RUN_STARTED") == kinds.count("RUN_FINISHED")
    assert data_of(whole, "acp")[-1]["result"]["stopReason"] == "end_turn"


async def test_a_turn_that_failed_has_its_error_without_the_words_of_exceptions() -> None:
    async def failing() -> Any:
        yield "before"
        raise RuntimeError("the key sk-secret is wrong")

    async with served(make(failing)) as (_, client):
        await run_events(client, run_input("hi"))
        found = await inspected(client, "t1")
    assert "sk-secret" not in json.dumps(found)
    assert data_of(found, "acp")[-1]["error"]["code"] == -32603
    assert data_of(found, "agui")[-1]["type"] == "RUN_ERROR"


async def test_a_turn_that_no_process_remembers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served() as (app, client):
        await run_events(client, run_input("/text"))
        session = await (await app.agents.hub()).session("t1")
        turn_id = session.last_turn_id or ""
        session.receipts.turn_starts.clear()
        assert (await inspected(client, "t1", turn=turn_id))["turn_id"] == turn_id


async def test_a_very_long_turn_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector, "_MOST_BYTES", 100)
    async with served() as (_, client):
        await run_events(client, run_input("/tools"))
        found = await inspected(client, "t1")
    assert found["truncated"] is True
    assert len(found["protocols"]["events"]) < 5


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/sessions/none/inspect", "session_not_found"),
        ("/sessions/t1/inspect?turn=none", "turn"),
        ("/sessions/t2/inspect", "turn"),
        ("/sessions/none/wire", "session_not_found"),
        ("/sessions/t1/wire", "wire"),
    ],
)
async def test_what_is_not_there_is_said(path: str, code: str) -> None:
    async with served(make(echo)) as (app, client):
        await run_events(client, run_input())
        await (await app.agents.hub()).create("t2")
        refused = await client.get(path)
    assert refused.status_code == 404
    assert refused.json()["error"]["code"] == code


# -- the wire --------------------------------------------------------------------------------------


async def test_the_lines_of_a_spawned_agent_are_read_both_ways(tmp_path: Path) -> None:
    agent = AcpAgent(
        sys.executable, ["-m", "trunkline", "acp", "demo", "--journal", "memory:"], cwd=str(tmp_path)
    )
    async with served(agent, cwd=tmp_path) as (_, client):
        session_id = (await client.post("/sessions", json={})).json()["session_id"]
        await say(client, session_id, "/text", "k1")
        wire = (await client.get(f"/sessions/{session_id}/wire")).json()
        export = await inspected(client, session_id)
    assert wire["dropped"] == 0
    messages = [(line["direction"], json.loads(line["data"])) for line in wire["lines"]]
    assert next((way, message.get("method")) for way, message in messages) == ("out", "initialize")
    assert ("out", "session/prompt") in [(way, message.get("method")) for way, message in messages]
    updates = [
        message for way, message in messages if way == "in" and message.get("method") == "session/update"
    ]
    assert updates
    assert [line["at"] for line in wire["lines"]] == sorted(line["at"] for line in wire["lines"])
    assert data_of(export, "acp")[-1]["result"]["stopReason"] == "end_turn"


async def test_a_process_that_sessions_share_shows_nobody_the_lines_of_others(tmp_path: Path) -> None:
    command = ["-m", "trunkline", "acp", "demo", "--journal", "memory:"]
    agent = AcpAgent(sys.executable, command, cwd=str(tmp_path), shared=True)
    async with served(agent, cwd=tmp_path) as (_, client):
        session_id = (await client.post("/sessions", json={})).json()["session_id"]
        await say(client, session_id, "/text", "k1")
        assert (await client.get(f"/sessions/{session_id}/wire")).json()["error"]["code"] == "wire"
