"""A trace as a fake client: what an agent does now is compared with what it did."""

import sys
from pathlib import Path
from typing import Any

from tests.conformance.acp import flawed_agent
from trunkline.conformance.acp.stdio_client import StdioClient
from trunkline.traces.client_player import ClientPlayer, Step
from trunkline.traces.trace import TraceLine


def recorded(folder: Path) -> list[TraceLine]:
    """A turn of the plain agent that asks for a permission, and one that only talks."""
    trace: list[TraceLine] = []

    def note(by: Any, message: Any) -> None:
        trace.append(TraceLine(0.0, by, message))

    with StdioClient([sys.executable, "-S", flawed_agent.__file__], cwd=folder) as talk:
        session: Any = None
        requests: list[tuple[str, dict[str, Any]]] = [
            ("initialize", {"protocolVersion": 1}),
            ("session/new", {"cwd": str(folder), "mcpServers": []}),
            ("session/prompt", {"prompt": [{"type": "text", "text": "hello"}]}),
            ("session/prompt", {"prompt": [{"type": "text", "text": "/permission"}]}),
        ]
        for number, (method, params) in enumerate(requests, 100):
            params = {**params, "sessionId": session} if session else params
            start = len(talk.log)
            note("client->agent", {"id": number, "method": method, "params": params})
            reply = talk.request(method, params, number)
            for line in talk.log[start:]:
                note("agent->client", line.message)
                if (line.message or {}).get("method") == "session/request_permission":
                    outcome = {"outcome": {"outcome": "selected", "optionId": "yes"}}
                    note("client->agent", {"id": (line.message or {})["id"], "result": outcome})
            assert reply is not None
            session = session or reply["result"].get("sessionId")
    return trace


def played(trace: list[TraceLine], folder: Path, *arguments: str) -> list[Step]:
    with StdioClient([sys.executable, "-S", flawed_agent.__file__, *arguments], cwd=folder) as talk:
        return ClientPlayer(trace, talk).play()


def test_an_agent_that_does_the_same_has_no_difference(tmp_path: Path) -> None:
    steps = played(recorded(tmp_path), tmp_path)
    assert [step.method for step in steps] == [
        "initialize",
        "session/new",
        "session/prompt",
        "session/prompt",
    ]
    assert [step for step in steps if not step.same] == []
    assert "session/request_permission" in steps[3].now


def test_a_change_is_found_where_it_is(tmp_path: Path) -> None:
    steps = played(recorded(tmp_path), tmp_path, "--flaw", "TOOL-002")
    assert [step.same for step in steps] == [True, True, True, False]
    assert "tool_call_update completed" in steps[3].recorded
    assert "tool_call_update completed" not in steps[3].now


def test_a_cancel_comes_after_what_had_been_said_before_it(tmp_path: Path) -> None:
    def said(by: Any, **message: Any) -> TraceLine:
        return TraceLine(0.0, by, {"jsonrpc": "2.0", **message})

    session = {"sessionId": "s"}
    words = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "waiting"}}
    prompt = {**session, "prompt": [{"type": "text", "text": "/wait-for-cancel"}]}
    trace = [
        said("client->agent", id=1, method="session/new", params={"cwd": str(tmp_path), "mcpServers": []}),
        said("agent->client", id=1, result=session),
        said("client->agent", id=2, method="session/prompt", params=prompt),
        said("agent->client", method="session/update", params={**session, "update": words}),
        said("client->agent", method="session/cancel", params=session),
        said("agent->client", id=2, result={"stopReason": "cancelled"}),
    ]
    sent: list[int] = []
    with StdioClient([sys.executable, "-S", flawed_agent.__file__], cwd=tmp_path) as talk:
        notify = talk.notify
        talk.notify = lambda method, params: (sent.append(len(list(talk.updates()))), notify(method, params))[
            1
        ]
        steps = ClientPlayer(trace, talk).play()
    assert all(step.same for step in steps)
    assert sent == [1]


def test_messages_of_any_shape_are_compared_and_end_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [
        {"method": "session/update", "params": "x"},
        {"method": "session/update", "params": {"update": [1]}},
        {"method": "session/update", "params": {"update": {"content": {"text": 7}}}},
        {"id": 100, "error": "no"},
    ]
    trace = [TraceLine(0.0, "client->agent", {"id": 100, "method": "initialize", "params": {}})]
    trace += [TraceLine(0.0, "agent->client", message) for message in odd]
    [step] = played(trace, tmp_path)
    assert step.recorded == (*["session/update"] * 3, "error None")
    assert not step.same
