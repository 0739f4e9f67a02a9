"""Every scenario as AG-UI: official, without a finding of the validator, and folded to what the agent holds.

The transcripts are in tests/transcripts/agui. TRUNKLINE_UPDATE_TRANSCRIPTS=1 writes them anew.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import Event
from ag_ui_validate.pytest_plugin import validate_agui
from pydantic import TypeAdapter
from tests.frontends.agui.client_runs import (
    NAMES,
    ScriptedAgent,
    client_of,
    comparable,
    held,
    normalized,
    play,
    run,
)

from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient

TRANSCRIPTS = Path(__file__).parents[2] / "transcripts" / "agui"
UPDATE = bool(os.environ.get("TRUNKLINE_UPDATE_TRANSCRIPTS"))
EVENT: TypeAdapter[Any] = TypeAdapter(Event)


def findings(events: list[JsonObject]) -> list[str]:
    """What the validator has against a stream: errors and warnings."""
    found = validate_agui(list(events)).diagnostics
    return [f"{one.rule}: {one.message}" for one in found if one.severity != "info"]


def check_transcript(name: str, events: list[JsonObject]) -> None:
    path = TRANSCRIPTS / f"{name}.jsonl"
    lines = normalized(events)
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", NAMES)
async def test_a_client_folds_a_scenario_to_what_the_agent_holds(name: str) -> None:
    client = ReferenceClient()

    events, messages, state = await play(name, client)

    for event in events:
        EVENT.validate_python(event)
    assert findings(events) == []
    assert comparable(client.messages) == comparable(messages)
    assert client.state == ({} if state is None else state)
    assert client.terminal["type"] == ("RUN_ERROR" if name in ("fails", "raises") else "RUN_FINISHED")
    check_transcript(name, events)


@pytest.mark.parametrize("name", NAMES)
async def test_an_older_client_folds_a_scenario_too(name: str) -> None:
    client = ReferenceClient(version=None)

    events, messages, state = await play(name, client)

    assert findings(events) == []
    assert comparable(client.messages) == comparable(messages)
    assert client.state == ({} if state is None else state)
    for event in events:
        assert not {"metadata", "subagentRunId", "protocolVersion", "usage"} & event.keys()
        assert not event["type"].startswith("SUBAGENT")


@pytest.mark.parametrize("name", NAMES)
async def test_with_activities_and_all_snapshots_a_scenario_is_legal_and_folds_the_same(name: str) -> None:
    client = ReferenceClient()

    events, messages, state = await play(
        name, client, emit_activities=True, emit_raw=True, emit_state_snapshots="all"
    )

    assert findings(events) == []
    spoken = [message for message in client.messages if message["role"] != "activity"]
    assert comparable(spoken) == comparable(messages)
    assert client.state == ({} if state is None else state)


@pytest.mark.parametrize(
    ("version", "expected"),
    [("1.0", {"outcome": {"type": "cancelled"}}), (None, {"result": {"stopReason": "cancelled"}})],
)
async def test_a_run_that_is_stopped_says_so_in_a_form_that_its_client_knows(
    version: str | None, expected: JsonObject
) -> None:
    async with client_of(ScriptedAgent(), version=version) as (endpoint, client):
        events = await run(
            endpoint, client, "/wait-for-cancel", on={"TOOL_CALL_END": lambda: endpoint.stop("t1")}
        )
        messages, _ = await held(endpoint, "t1", modern=version is not None)

    assert client.terminal["type"] == "RUN_FINISHED"
    assert {key: client.terminal[key] for key in ("outcome", "result") if key in client.terminal} == expected
    assert findings(events) == []
    assert comparable(client.messages) == comparable(messages)
