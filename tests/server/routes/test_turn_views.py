"""One turn on every wire: any prefix can be looked at, and questions are sent as they are asked."""

import json
from typing import Any

import pytest

from trunkline import events as ev
from trunkline.cursor import Entry
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.aisdk.options import AisdkOptions
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.questions import ClientCall, Form, Link, Option, Permission
from trunkline.server.routes.turn_views import TurnView, views_of
from trunkline.testing import ScriptedAgent, run_prompt

SCENARIOS = ["/text", "/tools", "/thoughts", "/plan", "/state", "/subagents", "/media", "/error"]


def views() -> dict[str, TurnView]:
    return views_of(
        "s", "t", folder="/", state=None, agui=AguiOptions(), aisdk=AisdkOptions(), unified=UnifiedOptions()
    )


def shown(events: list[ev.AnyEvent]) -> dict[str, list[Any]]:
    """What every view gives for the events of a turn."""
    found = {name: list[Any]() for name in views()}
    for name, view in views().items():
        for seq, event in enumerate(events, 1):
            found[name] += map(json.loads, view.feed(Entry(seq, 0, 1, float(seq), event)))
        found[name] += map(json.loads, view.close())
    return found


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_any_prefix_of_a_turn_can_be_looked_at(scenario: str) -> None:
    events = await run_prompt(ScriptedAgent(), scenario)
    whole = shown(events)
    for length in range(len(events)):
        part = shown(events[:length])
        assert part["events"] == whole["events"][:length]
        for name in ("agui", "aisdk", "unified"):
            assert part[name] == whole[name][: len(part[name])]


def asked(question: Any) -> list[ev.AnyEvent]:
    return [
        ev.TurnStarted(turn_id="t"),
        ev.ToolCall(turn_id="t", call_id="c", name="write", title="Write a file", message_id="m"),
        ev.ToolUpdate(turn_id="t", call_id="c", input={"path": "a"}),
        ev.Asked(turn_id="t", question_id="q", question=question),
        ev.TurnSuspended(turn_id="t", question_ids=("q",)),
    ]


YES = Option(option_id="yes", name="Yes", kind="allow_once")


@pytest.mark.parametrize(
    ("question", "method"),
    [
        (Permission(message="Write?", call_id="c", options=(YES,)), "session/request_permission"),
        (
            Form(message="Who?", fields={"type": "object", "properties": {"name": {"type": "string"}}}),
            "elicitation/create",
        ),
        (Link(message="Look", url="https://example.com"), "elicitation/create"),
    ],
)
async def test_a_question_is_the_request_that_an_editor_gets(question: Any, method: str) -> None:
    found = shown(asked(question))
    (request,) = [line for line in found["acp"] if "id" in line]
    assert (request["method"], request["params"]["sessionId"]) == (method, "s")
    assert found["agui"][-1]["type"] == "RUN_FINISHED"
    assert found["aisdk"][-1]["type"] == "finish"


def test_what_an_editor_cannot_be_asked_is_no_request() -> None:
    found = shown(asked(ClientCall(message="", call_id="c", name="pick")))
    assert [line for line in found["acp"] if "id" in line] == []


async def test_after_an_answer_a_new_run_begins_with_what_is_open() -> None:
    events: list[ev.AnyEvent] = [
        *asked(Permission(message="Write?", call_id="c", options=(YES,))),
        ev.RunClosed(turn_id="t", run_id="r", to_seq=5),
        ev.Answered(turn_id="t", question_id="q", outcome="selected", option_id="yes"),
        ev.TurnResumed(turn_id="t"),
        ev.ToolUpdate(turn_id="t", call_id="c", status="completed", output="done"),
        ev.TurnFinished(turn_id="t"),
    ]
    found = shown(events)
    kinds = [event["type"] for event in found["agui"]]
    assert [kind for kind in kinds if kind.startswith("RUN_")] == [
        "RUN_STARTED", "RUN_FINISHED", "RUN_STARTED", "RUN_FINISHED"
    ]  # fmt: skip
    assert [chunk["type"] for chunk in found["aisdk"]].count("start") == 2
    assert found["acp"][-1]["result"] == {"stopReason": "end_turn"}
