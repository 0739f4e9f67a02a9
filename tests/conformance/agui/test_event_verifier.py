"""What the official client refuses in a stream."""

from typing import Any

import pytest

from trunkline.conformance.agui.event_verifier import breaches

START = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
END = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def text(kind: str, message_id: str = "m", **fields: Any) -> dict[str, Any]:
    return {"type": f"TEXT_MESSAGE_{kind}", "messageId": message_id, **fields}


def test_a_run_of_one_message_breaks_nothing() -> None:
    assert breaches([START, text("START"), text("CONTENT", delta="x"), text("END"), END]) == []


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([text("START"), text("END"), END], "outside of a run"),
        ([START, START, END], "a run in a run"),
        ([START, text("CONTENT", delta="x"), END], "not open"),
        ([START, text("START"), text("START"), text("END"), END], "opens what is open"),
        ([START, text("START"), END], "leaves open"),
        ([START, text("START"), text("END"), text("START"), text("END"), END], "opens again"),
        ([START, {"type": "STEP_FINISHED", "stepName": "s"}, END], "out of step"),
        ([START, {"type": "SUBAGENT_FINISHED", "subagentRunId": "a"}, END], "ends what is not there"),
        ([START], "the last run has no end"),
    ],
)
def test_a_breach_is_named(events: list[dict[str, Any]], why: str) -> None:
    assert any(why in breach for breach in breaches(events))
