"""What our LangChain middlewares add to an invocation of an agent.

``agent.ainvoke`` with a tool call: without middlewares, with ours and every option off, with each of them
alone and with all of them on, telling a client; and with empty ones and an empty callback handler, which
is what LangChain itself takes for having any. All ways take turns of a few invocations, so that a busy
neighbour disturbs them alike, and what a way adds is the middle of its differences to the plain one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.machine import CHILD_TIMEOUT
from bench.report import Result, Row, median

PROGRAM = Path(__file__).parent / "programs" / "langchain_invocations.py"
NONE, OFF, MUTE = "no middleware", "ours, every option off", "our callback handler, every option off"
EMPTY_HANDLER, ON = "an empty callback handler", "all of ours, callbacks and ACP"
ALONE = {
    "SessionMiddleware": "session",
    "ToolMiddleware": "tools",
    "PermissionMiddleware": "permission",
    "ModeMiddleware": "modes",
    "PlanMiddleware": "plan",
}
WAYS = {
    NONE: "none",
    "no middleware, again": "again",
    OFF: "off",
    EMPTY_HANDLER: "handler",
    MUTE: "mute",
    "one empty middleware": "empty",
    "five empty middlewares": "empties",
    **ALONE,
    ON: "on",
}
BUDGET, MEASURABLE = 1e-3, 0.03


def measure(turns: int, times: int) -> dict[str, list[float]]:
    """Seconds of processor time of an invocation, turn by turn, way by way."""
    order = f"{','.join(WAYS.values())} {turns} {times}"
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        input=order,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=CHILD_TIMEOUT,
    )
    report: dict[str, list[float]] = json.loads(done.stdout)
    return {name: report[way] for name, way in WAYS.items()}


def added_by(samples: dict[str, list[float]], name: str, base: str = NONE) -> float:
    """What a way takes more than another: the middle of the differences, turn by turn."""
    return median(one - other for one, other in zip(samples[name], samples[base], strict=True))


def judge(samples: dict[str, list[float]]) -> list[str]:
    """Say which budgets are kept."""
    plain = median(samples[NONE])
    most = max(ALONE, key=lambda name: added_by(samples, name))
    off = added_by(samples, OFF) / plain
    mute = added_by(samples, MUTE, EMPTY_HANDLER) / plain
    return [
        f"budget {_word(off <= MEASURABLE)}: with every option off an invocation takes {off:+.1%} "
        f"(nothing to measure: at most {MEASURABLE:.0%})",
        f"budget {_word(mute <= MEASURABLE)}: so does our callback handler, with {mute:+.1%} "
        f"against an empty one (at most {MEASURABLE:.0%})",
        _judge_added(f"{most}, alone, adds the most:", added_by(samples, most)),
        _judge_added("all of them, callbacks and ACP add", added_by(samples, ON)),
    ]


def _judge_added(words: str, added: float) -> str:
    return (
        f"budget {_word(added <= BUDGET)}: {words} {added * 1e3:.2f} ms to an invocation "
        f"(at most {BUDGET * 1e3:.0f} ms)"
    )


def _word(kept: bool) -> str:
    return "kept" if kept else "MISSED"


def make_rows(samples: dict[str, list[float]]) -> list[Row]:
    """The middle of all samples, and what each way adds."""
    return [
        {
            "case": name,
            "cpu ms (median)": median(samples[name]) * 1e3,
            "adds ms": added_by(samples, name) * 1e3,
            "x of none": median(samples[name]) / median(samples[NONE]),
        }
        for name in samples
    ]


def run(quick: bool = False) -> Result:
    """Measure every way in one run."""
    turns, times = (2, 1) if quick else (200, 5)
    samples = measure(turns, times)
    return Result(
        name="middleware",
        about=f"processor time of {turns * times:,} invocations of a LangChain agent, each with a tool call",
        rows=make_rows(samples),
        samples={**samples},
        verdicts=judge(samples),
        quick=quick,
    )
