"""The benches run and say what they promise, so that they cannot rot; their timings gate nothing."""

import json
from pathlib import Path

import pytest
from bench import __main__ as runner
from bench import acp_agent, replay, report, soak

COLUMNS = {
    "trunk": {"case", "events/s", "wall us/event", "cpu us/event", "x of bare (cpu)"},
    "acp": {"program", "updates/s", "agent cpu us", "x of raw"},
    "acp_agent": {"reader", "updates/s", "x of raw", "x of SDK"},
    "splice": {"way", "updates/s", "x of direct", "round trip us"},
    "agui": {"case", "over", "cpu us (min)", "x of bare"},
    "aisdk": {"case", "per", "cpu us (min)", "per s", "x of base"},
    "langchain": {"case", "per", "cpu us (min)", "x of base"},
    "openai_agents": {"case", "per", "cpu us (min)", "x of base"},
    "middleware": {"case", "cpu ms (median)", "adds ms", "x of none"},
    "cancel": {"case", "ms (median)", "ms"},
    "replay": {"way", "records", "records/s", "cpu us/record", "peak MB"},
    "growth": {"case", "run", "journal", "turns", "token ms", "x of shortest", "stall ms"},
    "start": {"case", "wall ms", "cpu ms", "x of base (wall)"},
    "idle": {"session", "KB each"},
    "streams": {"agents", "events/s", "slowest/fastest", "longest silence s"},
}
CASES = {
    "trunk": {"bare async for", "trunk, 0 readers", "trunk, 1 readers", "trunk, 10 readers"},
    "acp": {"raw pipe", "trunkline acp", "SDK 0.12.1"},
    "acp_agent": {"raw pipe", "AcpAgent", "SDK 0.12.1"},
    "splice": {"direct", "spliced"},
    "agui": {
        "bare astream(messages)",
        "trunkline, to SSE bytes",
        "ag-ui-langgraph 0.0.47, raw off",
        "ag-ui-langgraph 0.0.47, default",
        "pydantic-ai 2.66",
        "trunkline serve, HTTP",
        "pydantic-ai 2.66, HTTP",
    },
    "aisdk": {
        "bare astream(messages)",
        "trunkline, to SSE bytes",
        "trunkline, encoder alone",
        "pydantic-ai 2.66",
        "pydantic-ai 2.66, adapter alone",
    },
    "langchain": {
        "bare astream(messages)",
        "trunkline, to events",
        "trunkline, to ACP bytes",
        "deepagents-acp 0.0.13",
        "langchain-acp 1.10, 20 tokens",
    },
    "openai_agents": {"bare run_streamed", "trunkline, to events"},
    "middleware": {
        "no middleware",
        "ours, every option off",
        "our callback handler, every option off",
        "five empty middlewares",
        "SessionMiddleware",
        "ToolMiddleware",
        "PermissionMiddleware",
        "ModeMiddleware",
        "PlanMiddleware",
        "all of ours, callbacks and ACP",
    },
    "cancel": {"cancel inside a tool"},
    "replay": {"read", "open", "fold", "prime"},
    "growth": {"ACP prompt", "AG-UI, whole history", "AG-UI, new message only", "open, no snapshot"},
    "start": {
        "import asyncio",
        "import trunkline.session.session",
        "acp demo, greeted",
        "SDK 0.12.1, greeted",
        "acp LangChain agent, greeted",
        "deepagents-acp, greeted",
    },
    "idle": {"opened", "owned", "after one turn"},
    "streams": {"eager", "paced"},
}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", runner.NAMES)
def test_a_bench_shows_a_table_and_keeps_its_samples(
    name: str, tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runner.main([name, "--quick", "--out", str(tmp_path)])
    shown = capsys.readouterr().out
    kept = (tmp_path / f"{name}.json").read_text(encoding="utf-8")
    result = json.loads(kept)
    first, *_ = result["rows"][0]
    assert COLUMNS[name] <= set(result["rows"][0])
    assert CASES[name] <= {row[first] for row in result["rows"]}
    assert all(column in shown for column in COLUMNS[name])
    assert all(result["samples"].values()), "every figure comes with what it was made of"
    assert {"cores", "load", "python"} <= set(result["machine"])
    assert str(root) not in kept
    assert str(Path.home()) not in kept


@pytest.mark.slow
def test_agents_that_are_started_and_stopped_leave_no_process_descriptor_or_file() -> None:
    _, left = acp_agent.start_and_stop(12)
    assert left == {"processes": 0, "descriptors": 0, "files": 0}


@pytest.mark.slow
def test_a_soak_tells_what_was_held_in_every_lap() -> None:
    result = soak.run(quick=True)
    assert len(result.samples["laps"]) >= soak.FEW_LAPS
    assert result.verdicts
    assert {"memory MB", "files", "tasks", "sessions"} <= set(result.rows[0])


def laps(count: int, **growth: int) -> list[soak.Lap]:
    flat = soak.Lap(memory=50 * 2**20, files=20, tasks=5, sessions=0, seconds=1.0)
    return [
        flat._replace(**{name: getattr(flat, name) + by * lap for name, by in growth.items()})
        for lap in range(count)
    ]


def test_a_soak_that_holds_the_same_in_every_lap_grew_nowhere() -> None:
    assert soak.judge(laps(30)) == []


@pytest.mark.parametrize("held", ["memory", "files", "tasks", "sessions"])
def test_a_soak_names_what_grows(held: str) -> None:
    by = 2**20 if held == "memory" else 1
    assert [held in output for output in soak.judge(laps(30, **{held: by}))] == [True]


def test_a_soak_forgives_what_is_only_held_at_first() -> None:
    assert soak.judge([lap._replace(files=5) for lap in laps(3)] + laps(27)) == []


def test_a_soak_exits_with_one_when_something_grew(monkeypatch: pytest.MonkeyPatch) -> None:
    def soaked(*_: object) -> report.Result:
        return report.Result(name="soak", about="", rows=[{"lap": "1"}], samples={}, verdicts=["GROWTH: x"])

    monkeypatch.setattr(soak, "run", soaked)
    assert soak.main(["--minutes", "1"]) == 1


def test_growth_is_one_for_what_is_linear_and_two_for_what_is_quadratic() -> None:
    sizes = [1_000, 10_000, 100_000]
    assert replay.growth(sizes, [size * 3e-6 for size in sizes]) == pytest.approx(1.0)
    assert replay.growth(sizes, [size**2 * 3e-6 for size in sizes]) == pytest.approx(2.0)


def test_a_bench_that_does_not_exist_is_refused_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        runner.main(["nothing"])
    assert refused.value.code == 2
    assert "trunk, acp, acp_agent, splice, langchain" in capsys.readouterr().err


def test_a_table_has_a_line_for_every_row_under_its_headings() -> None:
    shown = report.table([{"case": "a", "n": 1234567, "x": 1.5}, {"case": "longer", "n": 1, "x": None}])
    assert shown.splitlines() == [
        "case            n     x",
        "a       1,234,567  1.50",
        "longer          1     -",
    ]
