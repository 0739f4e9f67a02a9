"""Requirements on what a client answers: permissions, files, terminals and forms; and on the end."""

from __future__ import annotations

from tests.agents.acp.conformance.record import (
    Run,
    fields,
    is_of,
    need,
    with_code,
    with_result,
)
from tests.agents.acp.conformance.table import SPEC, requirement

OFFERED_IDS = {"for-ever", "no-way", "just-once"}


# -- permissions and cancelling --------------------------------------------------------------------


@requirement(
    "PERMISSION-001",
    f"{SPEC}/tool-calls#requesting-permission",
    "The answer is one of the agent's options.",
    with_result(0, outcome={"outcome": "selected", "optionId": "allow_once"}),
)
def selects_an_option(run: Run) -> None:
    for id in (0, "a string", 4294967296, "parallel"):
        outcome = run.result(id)["outcome"]
        need(outcome["outcome"] == "selected" and outcome["optionId"] in OFFERED_IDS, outcome)


@requirement(
    "PERMISSION-002",
    f"{SPEC}/tool-calls#permission-options",
    "An option is chosen by its kind.",
    with_result("parallel", outcome={"outcome": "selected", "optionId": "for-ever"}),
)
def selects_by_kind(run: Run) -> None:
    for id in (0, "a string", 4294967296, "parallel"):
        need(run.result(id)["outcome"]["optionId"] == "just-once", run.result(id))


@requirement(
    "CANCEL-001",
    f"{SPEC}/prompt-turn#cancellation",
    "A permission that is open is answered with cancelled.",
    with_result("held", outcome={"outcome": "selected", "optionId": "no-way"}),
)
def cancels_open_permissions(run: Run) -> None:
    need(run.result("held") == {"outcome": {"outcome": "cancelled"}}, run.answer("held"))


@requirement(
    "CANCEL-002",
    f"{SPEC}/prompt-turn#cancellation",
    "A permission after a cancel is answered with cancelled.",
    with_result("late", outcome={"outcome": "selected", "optionId": "just-once"}),
)
def cancels_late_permissions(run: Run) -> None:
    need(run.result("late") == {"outcome": {"outcome": "cancelled"}}, run.answer("late"))


@requirement(
    "CANCEL-003",
    f"{SPEC}/prompt-turn#cancellation",
    "A cancel is a notification, while a prompt runs.",
    lambda run: run.said.append(("client", {**run.sent("session/cancel")[0]})),
)
def cancels_what_runs(run: Run) -> None:
    need(len(run.sent("session/cancel")) == 1, f"it was sent {len(run.sent('session/cancel'))} times")
    need("id" not in run.sent("session/cancel")[0], "it has an id")
    place = run.place("client", is_of("session/cancel"))
    ends = [
        at
        for at, (who, m) in enumerate(run.said)
        if who == "agent" and fields(fields(m).get("result")).get("stopReason") == "cancelled"
    ]
    need(ends and place < ends[0], "no prompt ran any more")


# -- files -----------------------------------------------------------------------------------------


@requirement(
    "FILES-001",
    f"{SPEC}/file-system#checking-support",
    "Files are served if they were offered, else not.",
    with_code("write", -32601),
)
def serves_files(run: Run) -> None:
    fs = fields(run.offers.get("fs"))
    if fs.get("writeTextFile"):
        need(run.result("write") in ({}, None), run.answer("write"))
    else:
        need(run.code("write") == -32601, run.answer("write"))
    if fs.get("readTextFile"):
        need(run.result("read") == {"content": "one\ntwo\nthree\n"}, run.answer("read"))
    else:
        need(run.code("read") == -32601, run.answer("read"))


@requirement(
    "FILES-002",
    f"{SPEC}/file-system#reading-files",
    "line and limit give some lines, counted from 1.",
    with_result("read-part", content="one\n"),
)
def reads_some_lines(run: Run) -> None:
    if fields(run.offers.get("fs")).get("readTextFile"):
        need(run.result("read-part")["content"].rstrip("\n") == "two", run.answer("read-part"))


@requirement(
    "FILES-003",
    f"{SPEC}/overview#argument-requirements",
    "A path that is not absolute is refused.",
    with_result("read-relative", content="one"),
)
def refuses_relative_paths(run: Run) -> None:
    need(run.code("read-relative") == -32602, run.answer("read-relative"))


@requirement(
    "FILES-004",
    f"{SPEC}/schema#errorcode",
    "A file that is not there is answered with -32002.",
    with_result("read-missing", content="Error reading file"),
)
def tells_of_missing_files(run: Run) -> None:
    need(run.code("read-missing") == -32002, run.answer("read-missing"))


# -- terminals -------------------------------------------------------------------------------------


@requirement(
    "TERMINAL-001",
    f"{SPEC}/terminals#executing-commands",
    "A terminal is created at once and has an id.",
    with_result("create", terminalId=""),
)
def creates_terminals(run: Run) -> None:
    need(run.offers.get("terminal") is True, "terminals are not offered")
    ids = [run.result(id)["terminalId"] for id in ("create", "create-limited", "create-long")]
    need(all(ids) and len(set(ids)) == 3, f"ids: {ids}")


@requirement(
    "TERMINAL-002",
    f"{SPEC}/terminals#waiting-for-exit",
    "The exit code and the output are those of the command.",
    with_result("wait", exitCode=0),
)
def reports_exits(run: Run) -> None:
    need(run.result("wait").get("exitCode") == 3, run.answer("wait"))
    output = run.result("output")
    need(output["output"] == "one\n" and output["truncated"] is False, output)
    need(fields(output.get("exitStatus")).get("exitCode") == 3, output)


@requirement(
    "TERMINAL-003",
    f"{SPEC}/terminals#getting-output",
    "A command that runs has no exit status.",
    with_result("output-running", exitStatus={"exitCode": 0}),
)
def tells_what_still_runs(run: Run) -> None:
    need(run.result("output-running").get("exitStatus") is None, run.answer("output-running"))


@requirement(
    "TERMINAL-004",
    f"{SPEC}/terminals#param-output-byte-limit",
    "The output is cut at its beginning, by characters.",
    with_result("output-limited", output="\udcc3", truncated=False),
)
def cuts_output(run: Run) -> None:
    cut = run.result("output-limited")
    need(cut["truncated"] is True, cut)
    need(
        len(cut["output"].encode("utf-8", "surrogateescape")) <= 9,
        f"{len(cut['output'].encode())} bytes: {cut}",
    )
    need(set(cut["output"]) <= {"ä", "\n"} and cut["output"].endswith("ä\n"), cut)


@requirement(
    "TERMINAL-005",
    f"{SPEC}/terminals#killing-commands",
    "A killed command keeps its terminal.",
    with_code("output-killed", -32002),
)
def keeps_killed_terminals(run: Run) -> None:
    need(run.result("kill") in ({}, None), run.answer("kill"))
    ended = run.result("wait-killed")
    need(ended.get("signal") or ended.get("exitCode"), ended)
    need("output" in run.result("output-killed"), run.answer("output-killed"))


@requirement(
    "TERMINAL-006",
    f"{SPEC}/terminals#releasing-terminals",
    "A released terminal is not valid any more.",
    with_result("released", output="one\n", truncated=False),
)
def forgets_released_terminals(run: Run) -> None:
    need(run.result("release") in ({}, None), run.answer("release"))
    run.code("released")


# -- forms, and the end ----------------------------------------------------------------------------


@requirement(
    "FORM-001",
    f"{SPEC}/elicitation",
    "Forms are answered if they were offered, else refused with -32601.",
    with_result("form", action="perhaps"),
)
def answers_forms(run: Run) -> None:
    if "elicitation" in run.offers:
        need(run.result("form").get("action") in ("accept", "decline", "cancel"), run.answer("form"))
    else:
        need(run.code("form") == -32601, run.answer("form"))


def _stays(run: Run) -> None:
    run.ended = False


@requirement(
    "SHUTDOWN-001", f"{SPEC}/transports#stdio", "The client ends the agent's process when it leaves.", _stays
)
def ends_the_agent(run: Run) -> None:
    need(run.ended, "the process still runs")
