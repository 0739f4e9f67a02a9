"""The tables of docs/aisdk.md: they are what the encoder does, and what each version takes.

TRUNKLINE_UPDATE_DOCS=1 writes them anew.
"""

import os
from pathlib import Path
from typing import Any, get_args

from tests.frontends.aisdk.responses import chunks_of, kinds

from trunkline import events as ev
from trunkline.content import ImageBlock, TerminalBlock, TextBlock
from trunkline.frontends.aisdk.losses import LOSSES, TRANSIENT
from trunkline.protocols.aisdk.wire import CHUNK_KEYS, VERSIONS
from trunkline.questions import ClientCall, Form, Permission

PAGE = Path(__file__).parents[3] / "docs/aisdk.md"
UPDATE = bool(os.environ.get("TRUNKLINE_UPDATE_DOCS"))

CALL = ev.ToolCall(call_id="c1", name="n")
ASKED = ev.Asked(question_id="q1", question=Permission(call_id="c1"))
SHOWN = ev.ToolUpdate(call_id="c1", status="in_progress", content=(TerminalBlock(terminal_id="x1"),))
STARTED = ev.TurnStarted(turn_id="t1")
SAID = ev.Text(message_id="m1", delta="a")
SUSPENDED = ev.TurnSuspended(question_ids=("q1",))

SAMPLES: list[tuple[str, tuple[ev.Event, ...], ev.Event]] = [
    ("TurnStarted", (), STARTED),
    ("UserMessage that joins the turn", (SAID,), ev.UserMessage(message_id="u2")),
    ("Text", (), SAID),
    ("Thought", (), ev.Thought(message_id="m1", delta="a")),
    ("Media", (), ev.Media(message_id="m1", content=ImageBlock(mime_type="image/png", data="AA=="))),
    ("Source with a url", (), ev.Source(message_id="m1", source_id="s", url="https://example.org")),
    ("Source with a document", (), ev.Source(message_id="m1", source_id="s", document="a.pdf")),
    ("ToolCall", (), CALL),
    ("ToolInput", (CALL,), ev.ToolInput(call_id="c1", delta="{}")),
    ("ToolUpdate in_progress", (CALL,), ev.ToolUpdate(call_id="c1", status="in_progress")),
    ("ToolUpdate with output", (CALL, SHOWN), ev.ToolUpdate(call_id="c1", output="line")),
    (
        "ToolUpdate in_progress with text",
        (CALL, SHOWN),
        ev.ToolUpdate(call_id="c1", content=(TextBlock(text="line"),)),
    ),
    ("ToolUpdate completed", (CALL, SHOWN), ev.ToolUpdate(call_id="c1", status="completed")),
    ("ToolUpdate failed, cancelled", (CALL, SHOWN), ev.ToolUpdate(call_id="c1", status="failed")),
    ("ToolUpdate denied by a rule", (CALL, SHOWN), ev.ToolUpdate(call_id="c1", status="denied")),
    ("ToolUpdate with a DiffBlock or TerminalBlock", (CALL,), SHOWN),
    ("TerminalOutput of a call", (CALL, SHOWN), ev.TerminalOutput(terminal_id="x1", data="a")),
    ("Asked: Permission", (CALL,), ASKED),
    ("Asked: Form or Link", (), ev.Asked(question_id="q1", question=Form(fields={}))),
    ("Asked: ClientCall", (CALL,), ev.Asked(question_id="q1", question=ClientCall(call_id="c1"))),
    ("Answered: Permission", (CALL, ASKED), ev.Answered(question_id="q1", outcome="accepted")),
    ("TurnSuspended", (CALL, ASKED), SUSPENDED),
    ("TurnResumed, after a form of a call that runs", (STARTED, CALL, SHOWN), ev.TurnResumed(turn_id="t1")),
    ("TurnResumed, else", (STARTED, SAID), ev.TurnResumed(turn_id="t1")),
    ("StepStarted", (STARTED, SAID), ev.StepStarted(step_id="s1", kind="model")),
    ("StepFinished with a name", (ev.StepStarted(step_id="s1", name="s"),), ev.StepFinished(step_id="s1")),
    ("Plan", (), ev.Plan()),
    ("SubagentStarted, and all that it says", (), ev.SubagentStarted(lane="a")),
    ("SubagentFinished", (ev.SubagentStarted(lane="a"),), ev.SubagentFinished(lane="a")),
    ("Activity", (), ev.Activity(activity_id="a", activity_type="t", content={})),
    ("Compaction", (), ev.Compaction(compaction_id="k", status="completed")),
    ("StateReplaced", (), ev.StateReplaced(state={})),
    ("StatePatched", (ev.StateReplaced(state={}),), ev.StatePatched(patch=())),
    ("ContextUsage", (), ev.ContextUsage(used=1, size=2)),
    ("ConfigChanged", (), ev.ConfigChanged()),
    ("CommandsChanged", (), ev.CommandsChanged()),
    ("InfoChanged", (), ev.InfoChanged(title="T")),
    ("Notice", (), ev.Notice(title="N")),
    ("Custom named weather", (), ev.Custom(name="weather")),
    ("Raw", (), ev.Raw(source="acp")),
    ("TurnFinished", (STARTED,), ev.TurnFinished()),
    ("TurnFinished cancelled", (STARTED,), ev.TurnFinished(stop_reason="cancelled")),
    ("TurnFailed", (STARTED,), ev.TurnFailed(code="c", message="m")),
]


def said(before: tuple[ev.Event, ...], event: ev.Event, version: Any) -> str:
    earlier = len(chunks_of(*before, version=version))
    chunks = chunks_of(*before, event, version=version)[earlier:]
    marks = [f"`{kind}`" for kind in kinds(chunks)]
    for at, chunk in enumerate(chunks):
        if chunk.get("transient"):
            marks[at] += " (transient)"
        if chunk.get("preliminary"):
            marks[at] += " (preliminary)"
    return ", ".join(marks) or "-"


def event_table() -> list[str]:
    rows = ["| event | 7 | 6 | 5 |", "|---|---|---|---|"]
    for name, before, event in SAMPLES:
        newest, *older = (said(before, event, version) for version in (7, 6, 5))
        cells = [newest, *("same" if cell == newest else cell for cell in older)]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return rows


def loss_table() -> list[str]:
    return ["| event | where its meaning goes |", "|---|---|"] + [
        f"| {kind.__name__} | {reason} |" for kind, reason in LOSSES.items()
    ]


def chunk_table() -> list[str]:
    sent = {
        chunk["type"]
        for version in (5, 6, 7)
        for _, before, event in SAMPLES
        for chunk in chunks_of(*before, event, ev.Thought(message_id="m9", signature="s"), version=version)
    }
    sent |= {"start", "text-end", "tool-output-denied"}
    rows = ["| chunk | must have | 5 | 6 | 7 | sent |", "|---|---|---|---|---|---|"]
    for kind, keys in CHUNK_KEYS.items():
        marks = ["yes" if VERSIONS[number].knows(kind) else "no" for number in (5, 6, 7)]
        has = ", ".join(f"`{key}`" for key in keys) or "-"
        rows.append(f"| `{kind}` | {has} | {' | '.join(marks)} | {'yes' if kind in sent else 'no'} |")
    return [*rows, "| `data-NAME` | `data` | yes | yes | yes | yes |"]


def check_table(rows: list[str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if UPDATE:
        before, head, after = page.partition(rows[0] + "\n")
        rest = after.splitlines(keepends=True)
        while rest and rest[0].startswith("|"):
            rest.pop(0)
        page = before + "\n".join(rows) + "\n" + "".join(rest) if head else page
        PAGE.write_text(page, encoding="utf-8")
    assert "\n" + "\n".join(rows) + "\n\n" in page


def test_the_page_shows_what_each_event_becomes() -> None:
    check_table(event_table())


def test_the_page_shows_what_has_no_chunk() -> None:
    check_table(loss_table())


def test_the_page_shows_what_each_version_takes() -> None:
    check_table(chunk_table())


def test_every_event_is_in_one_of_the_tables() -> None:
    shown = {type(event) for _, before, event in SAMPLES for event in (*before, event)}
    assert shown | LOSSES.keys() == set(get_args(ev.AnyEvent))
    assert TRANSIENT.keys() <= shown
