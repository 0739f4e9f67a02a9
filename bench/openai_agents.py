"""What agents of the OpenAI Agents SDK cost on the trunk, per token.

The same agent on the same model, streamed bare by ``Runner.run_streamed`` and by us to neutral events. The
ratio is to the bare stream of the same process in the same round, so that a busy neighbour disturbs both.
"""

from __future__ import annotations

import sys

from bench.langchain import TOKEN, Case, Measurer, make_rows, play_rounds, ratio_of
from bench.report import Result

BARE, EVENTS = "bare run_streamed", "trunkline, to events"
BUDGET = 1.5


def cases(quick: bool) -> dict[str, Case]:
    """Everything that is measured in a round."""
    tokens = 200 if quick else 5_000
    return {
        BARE: Case("ours", "bare", tokens, TOKEN, BARE),
        EVENTS: Case("ours", "events", tokens, TOKEN, BARE),
    }


def measure(chosen: dict[str, Case], rounds: int) -> dict[str, list[float]]:
    """Measure all cases in turn, round after round; give seconds per token."""
    program = Measurer(sys.executable, "openai_tokens.py")
    try:
        return play_rounds(chosen, {"ours": program}, rounds)
    finally:
        program.end()


def judge(samples: dict[str, list[float]]) -> list[str]:
    """Say whether the budget is kept."""
    ratio = ratio_of(samples[EVENTS], samples[BARE])
    word = "kept" if ratio <= BUDGET else "MISSED"
    return [f"budget {word}: a token to events takes {ratio:.2f}x of the bare stream (at most {BUDGET}x)"]


def run(quick: bool = False) -> Result:
    """Measure both ways in one run."""
    chosen = cases(quick)
    samples = measure(chosen, 1 if quick else 10)
    return Result(
        name="openai_agents",
        about=f"processor time for each of {chosen[BARE].times:,} tokens",
        rows=make_rows(chosen, samples),
        samples={**samples},
        verdicts=judge(samples),
        quick=quick,
    )
