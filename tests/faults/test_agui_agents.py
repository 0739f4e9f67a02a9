"""Agents that fail or say too much, at a real server: the client ends up with something it can show."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator

import pytest

from tests.faults.children.served import LINE, MEGABYTES
from tests.faults.servers import Server, serving, text_of, told
from tests.frontends.agui.event_verifier import breaches

pytestmark = pytest.mark.slow

LARGEST_FRAME = 10 * 1024 * 1024
"""The official client gives up on a frame that is longer."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server


def test_a_result_of_twelve_megabytes_is_cut_for_the_client_and_whole_for_the_model(server: Server) -> None:
    whole = (LINE * (MEGABYTES * 1024)).encode()
    digest = hashlib.sha256(whole).hexdigest()
    with server.connect() as client:
        client.run(told("fetch", "large"))
        lines = list(client.response)
    assert max(map(len, lines)) < 60_000
    events = [json.loads(line[6:]) for line in lines if line.startswith(b"data: ")]
    (result,) = [event for event in events if event["type"] == "TOOL_CALL_RESULT"]
    assert result["content"].encode() == whole[:51_200]
    facts = result["metadata"]["trunkline"]
    assert (facts["truncated"], facts["bytes"], facts["sha256"]) == (True, len(whole), digest)
    assert text_of(events) == f"{len(whole)} {digest}", "the model saw all of it"
    assert breaches(events) == []

    again = server.run(told("and?", "large", "r2"))
    # The first one clears what the client has, so that the second stands in its own order.
    cleared, snapshot = [event for event in again if event["type"] == "MESSAGES_SNAPSHOT"]
    assert cleared["messages"] == []
    assert len(json.dumps(snapshot)) < LARGEST_FRAME / 100
    assert text_of(again) == "fetch | and?"


def test_a_model_that_raises_closes_everything_and_ends_in_one_error(server: Server) -> None:
    events = server.run(told("break", "broken"))
    assert breaches(events) == [], "what was opened is closed"
    kinds = [event["type"] for event in events]
    assert [kind for kind in kinds if kind in ("RUN_ERROR", "RUN_FINISHED")] == ["RUN_ERROR"]
    assert [kinds.count(kind) for kind in ("REASONING_END", "TEXT_MESSAGE_END", "TOOL_CALL_END")] == [1, 1, 1]
    assert text_of(events) == "Some words "
    # Over a network an exception is told by its type; its words are in the log.
    assert "RuntimeError" in events[-1]["message"]
    assert "Traceback" not in json.dumps(events)
    assert text_of(server.run(told("and?", "broken", "r2"))) == "break | and?"


def test_a_tool_that_raises_is_a_failed_call_and_the_model_goes_on(server: Server) -> None:
    events = server.run(told("misuse", "misused"))
    assert breaches(events) == []
    (result,) = [event for event in events if event["type"] == "TOOL_CALL_RESULT"]
    assert "the tool broke" in result["content"]
    assert result["metadata"]["trunkline"]["status"] == "failed"
    assert text_of(events) == "So be it."
    assert events[-1]["outcome"] == {"type": "success"}
