"""What LangChain agents cost on the trunk, per token.

The same graph on the same model, streamed bare by ``agent.astream(stream_mode="messages")``,
by us to neutral events and to the bytes of ACP, and by the peers, which live in an environment of their
own and are spared the way to bytes. Every ratio is to the bare stream of the same process in the same
round, so that a busy neighbour disturbs both alike. One peer copies all it ever said for every token, so
it gets few of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Protocol

from bench.machine import CHILD_TIMEOUT, peer_python
from bench.report import Result, Row, median, spread

PROGRAMS = Path(__file__).parent / "programs"
PEERS = "bench-langchain"
TOKEN = "token"
BARE, BARE_TOO = "bare astream(messages)", "bare, where the peers live"
EVENTS, ACP = "trunkline, to events", "trunkline, to ACP bytes"
BUDGET = 1.0


class Case(NamedTuple):
    """What a program is asked to measure, how much of it, and what it is held against."""

    program: str
    way: str
    times: int
    unit: str
    base: str


class Measures(Protocol):
    """Whatever can measure a case."""

    def measure(self, case: Case) -> float:
        """Seconds of processor time."""
        ...


class Measurer:
    """A program that measures what it is asked for."""

    def __init__(self, python: str, program: str) -> None:
        """Start it; it waits."""
        self._child = subprocess.Popen(
            [python, str(PROGRAMS / program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def measure(self, case: Case) -> float:
        """Seconds of processor time."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(f"{case.way} {case.times}\n")
        self._child.stdin.flush()
        output = self._child.stdout.readline()
        if not output:
            code = self._child.wait(CHILD_TIMEOUT)
            raise RuntimeError(f"{case.way} could not be measured: its program ended with {code}")
        return json.loads(output)

    def end(self) -> None:
        """Close its input and wait."""
        self._child.communicate(timeout=CHILD_TIMEOUT)


def cases(quick: bool) -> dict[str, Case]:
    """Everything that is measured in a round."""
    tokens, few = (200, 20) if quick else (5_000, 100)

    def token(way: str, base: str, count: int = tokens, where: str = "ours") -> Case:
        return Case(where, way, count, TOKEN, base)

    return {
        BARE: token("bare", BARE),
        EVENTS: token("events", BARE),
        ACP: token("acp", BARE),
        BARE_TOO: token("bare", BARE_TOO, where="peers"),
        "deepagents-acp 0.0.13": token("deepagents-acp", BARE_TOO, where="peers"),
        f"langchain-acp 1.10, {few} tokens": token("langchain-acp", BARE_TOO, few, "peers"),
        f"langchain-acp 1.10, {2 * few} tokens": token("langchain-acp", BARE_TOO, 2 * few, "peers"),
    }


def measure(chosen: dict[str, Case], rounds: int) -> dict[str, list[float]]:
    """Measure all cases in turn, round after round; give seconds per token or invocation."""
    with ExitStack() as stack:
        programs = {
            "ours": Measurer(sys.executable, "langchain_tokens.py"),
            "peers": Measurer(peer_python(PEERS), "langchain_tokens.py"),
        }
        for program in programs.values():
            stack.callback(program.end)
        return play_rounds(chosen, programs, rounds)


def play_rounds(
    chosen: dict[str, Case], programs: Mapping[str, Measures], rounds: int
) -> dict[str, list[float]]:
    """Let programs measure all cases in turn, round after round; give seconds per unit."""
    samples: dict[str, list[float]] = {name: [] for name in chosen}
    for number in range(rounds + 1):
        for name, case in chosen.items():
            spent = programs[case.program].measure(case)
            if number:  # The first round warms up.
                samples[name].append(spent / case.times)
    return samples


def judge(samples: dict[str, list[float]]) -> list[str]:
    """Say which budgets are kept."""
    ratio = ratio_of(samples[ACP], samples[BARE])
    return [
        f"budget {_word(ratio <= BUDGET)}: a token to ACP takes {ratio:.2f}x of the bare stream "
        f"(at most {BUDGET}x)",
    ]


def ratio_of(taken: list[float], base: list[float]) -> float:
    """The middle of the ratios of all rounds."""
    return median(one / other for one, other in zip(taken, base, strict=True))


def _word(kept: bool) -> str:
    return "kept" if kept else "MISSED"


def make_rows(chosen: dict[str, Case], samples: dict[str, list[float]]) -> list[Row]:
    """The smallest of all samples, and the middle of the ratios to the base."""
    return [
        {
            "case": name,
            "per": case.unit,
            "cpu us (min)": min(samples[name]) * 1e6,
            "min..max": spread(samples[name], 1e6, 1),
            "x of base": ratio_of(samples[name], samples[case.base]),
        }
        for name, case in chosen.items()
    ]


def run(quick: bool = False) -> Result:
    """Measure ourselves and the peers in one run."""
    chosen = cases(quick)
    rounds = 1 if quick else 10
    samples = measure(chosen, rounds)
    return Result(
        name="langchain",
        about=f"processor time for each of {chosen[BARE].times:,} tokens",
        rows=make_rows(chosen, samples),
        samples={**samples},
        verdicts=judge(samples),
        quick=quick,
    )
