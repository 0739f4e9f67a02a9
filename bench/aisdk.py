"""What a token of an agent costs on its way to a page built on useChat, and what one chunk costs to encode.

The same LangChain graph on the same model, streamed bare by ``agent.astream(stream_mode="messages")`` and by
us through a session and a journal in memory to the bytes of a UI message stream; and pydantic-ai's adapter
for the AI SDK, which has a model of its own. The ways that only encode begin with events that are there
already. Every ratio is to the bare stream, or to our own encoder, in the same round.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack

from bench.langchain import Case, Measurer, play_rounds, ratio_of
from bench.machine import peer_python
from bench.report import Result, Row, spread

PROGRAM = "aisdk_tokens.py"
PEERS = "agui-peers"
TOKEN, CHUNK = "token", "chunk"
BARE, BARE_TOO = "bare astream(messages)", "bare, where the peers live"
OURS, ENCODE = "trunkline, to SSE bytes", "trunkline, encoder alone"
PEER, PEER_ENCODE = "pydantic-ai 2.66", "pydantic-ai 2.66, adapter alone"
BUDGET = 1.0


def cases(quick: bool) -> dict[str, Case]:
    """Everything that is measured in a round."""
    tokens = 200 if quick else 5_000
    return {
        BARE: Case("ours", "bare", tokens, TOKEN, BARE),
        OURS: Case("ours", "ours", tokens, TOKEN, BARE),
        BARE_TOO: Case("peers", "bare", tokens, TOKEN, BARE_TOO),
        PEER: Case("peers", "pydantic", tokens, TOKEN, BARE_TOO),
        ENCODE: Case("ours", "encode-ours", tokens, CHUNK, ENCODE),
        PEER_ENCODE: Case("peers", "encode-pydantic", tokens, CHUNK, ENCODE),
    }


def measure(chosen: dict[str, Case], rounds: int) -> dict[str, list[float]]:
    """Measure all cases in turn, round after round; give seconds per token or chunk."""
    with ExitStack() as stack:
        programs = {
            "ours": Measurer(sys.executable, PROGRAM),
            "peers": Measurer(peer_python(PEERS), PROGRAM),
        }
        for program in programs.values():
            stack.callback(program.end)
        return play_rounds(chosen, programs, rounds)


def run(quick: bool = False) -> Result:
    """Measure everything in one run."""
    chosen = cases(quick)
    samples = measure(chosen, 1 if quick else 15)
    rows: list[Row] = [
        {
            "case": name,
            "per": case.unit,
            "cpu us (min)": min(samples[name]) * 1e6,
            "min..max": spread(samples[name], 1e6, 1),
            "per s": 1 / min(samples[name]),
            "x of base": ratio_of(samples[name], samples[case.base]),
        }
        for name, case in chosen.items()
    ]
    ratio = ratio_of(samples[OURS], samples[BARE])
    verdict = "kept" if ratio <= BUDGET else "MISSED"
    peer = ratio_of(samples[PEER_ENCODE], samples[ENCODE])
    return Result(
        name="aisdk",
        about=f"processor time for each of {chosen[BARE].times:,} tokens on their way to a page with useChat",
        rows=rows,
        samples={**samples},
        verdicts=[
            f"budget {verdict}: a token to useChat takes {ratio:.2f}x of the bare stream (at most {BUDGET}x)",
            f"pydantic-ai's adapter takes {peer:.1f}x of our encoder for a chunk",
        ],
        quick=quick,
    )
