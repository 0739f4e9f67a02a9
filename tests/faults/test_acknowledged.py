"""Processes killed in the moment of an acknowledgement: whatever anybody was told is in the journal."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.faults.processes import Child, child
from trunkline import events as ev
from trunkline.journal import SessionKey, open_journal

DEATHS = int(os.environ.get("TRUNKLINE_DEATHS", "15"))
"""How often each is killed; ``make soak`` asks for more."""

JsonObject = dict[str, Any]
Check = Callable[[Sequence[ev.AnyEvent], JsonObject], bool]


def has_prompt(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    return any(
        isinstance(event, ev.TurnStarted)
        and (event.turn_id, event.prompt_id) == (data["turn_id"], data["prompt_id"])
        for event in events
    ) and any(isinstance(event, ev.UserMessage) and event.turn_id == data["turn_id"] for event in events)


def has_queued(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    return any(
        isinstance(event, ev.PromptQueued) and event.prompt_id == data["queued_id"] for event in events
    )


def has_end(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    ends = [event for event in events if isinstance(event, ev.TurnFinished)]
    return [event.stop_reason for event in ends] == [data["ended"]]


def has_config(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    return any(isinstance(event, ev.ConfigChanged) and event.options[0].value is True for event in events)


def has_question(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    return any(isinstance(event, ev.Asked) and event.question_id == data["asked"] for event in events)


def has_answer(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    return any(
        isinstance(event, ev.Answered)
        and (event.question_id, event.outcome, event.by) == (data["answered"], "accepted", "tester")
        for event in events
    )


def has_call(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    calls = [event for event in events if isinstance(event, ev.ToolCall)]
    return bool(calls) and (calls[0].call_id, calls[0].name) == (data["call_id"], "deploy")


def has_running_call(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    updates = [event for event in events if isinstance(event, ev.ToolUpdate)]
    runs = any(event.call_id == data["call_id"] and event.status == "in_progress" for event in updates)
    return has_call(events, data) and runs and any(event.input == {"where": "prod"} for event in updates)


def has_permission(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    return has_running_call(events, data) and any(
        isinstance(event, ev.Answered) and event.option_kind == "allow_once" for event in events
    )


def has_langchain_call(events: Sequence[ev.AnyEvent], data: JsonObject) -> bool:
    calls = [event for event in events if isinstance(event, ev.ToolCall)]
    updates = [event for event in events if isinstance(event, ev.ToolUpdate)]
    return [call.native_id for call in calls] == [data["native_id"]] and any(
        event.status == "in_progress" for event in updates
    )


KINDS: dict[str, Check] = {
    "prompt": has_prompt,
    "queued_prompt": has_queued,
    "cancel": has_end,
    "terminal": has_end,
    "config": has_config,
    "question": has_question,
    "answer": has_answer,
    "answer_as_the_agent_gets_it": has_answer,
    "tool": has_running_call,
    "tool_of_a_plain_function": has_running_call,
    "yielded_call": has_call,
    "permission": has_permission,
    "langchain_tool": has_langchain_call,
    "langchain_tool_of_a_plain_function": has_langchain_call,
    "acp_prompt": has_end,
    "agui_run": has_end,
}


async def die(dying: Child, scenario: str, path: Path) -> JsonObject:
    """Let a fork run a scenario to its death; give what it had been told."""
    before = len(dying.lines)
    did = await dying.do(scenario, path=str(path))
    output = [line for line in dying.lines[before:] if line.get("died")]
    assert did["killed"], f"{scenario} ended by itself"
    assert len(output) == 1
    return output[0]


async def stored(path: Path, session_id: str) -> list[ev.AnyEvent]:
    """Everything the journal has of a session."""
    journal = await open_journal(f"sqlite:{path}")
    records = await journal.read(SessionKey("local", session_id))
    await journal.close()
    return [record.event for record in records if record.event is not None]


@pytest.mark.slow
@pytest.mark.timeout(20 * DEATHS)
async def test_whatever_was_acknowledged_survives_a_kill_in_that_very_moment(tmp_path: Path) -> None:
    lost: list[str] = []
    async with child("acknowledging") as dying:
        for scenario, is_there in KINDS.items():
            for number in range(DEATHS):
                path = tmp_path / f"{scenario}-{number}.db"
                output = await die(dying, scenario, path)
                events = await stored(path, output.get("session_id", "s"))
                if not is_there(events, output):
                    lost.append(
                        f"{scenario} {number}: told {output}, stored {[type(e).__name__ for e in events]}"
                    )
    assert not lost
