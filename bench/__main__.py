"""Runs benches: ``python -m bench [NAME...] [--quick] [--out FOLDER]``."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from pathlib import Path

from bench import report

NAMES = (
    "trunk",
    "acp",
    "acp_agent",
    "splice",
    "langchain",
    "middleware",
    "cancel",
    "openai_agents",
    "agui",
    "aisdk",
    "replay",
    "growth",
    "start",
    "idle",
    "streams",
)
RESULTS = Path(__file__).parent / "results"


def run(name: str, *, quick: bool = False) -> report.Result:
    """Run one bench; each has a module of its own."""
    return importlib.import_module(f"bench.{name}").run(quick)


def main(args: Sequence[str] | None = None) -> None:
    """Run the named benches, or all, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Figures for the budgets.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(NAMES)}; none: all")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that the benches run")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the raw samples go")
    chosen = parser.parse_args(args)
    unknown = set(chosen.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no bench {', '.join(sorted(unknown))}; choose of {', '.join(NAMES)}")
    for name in chosen.names or NAMES:
        result = run(name, quick=chosen.quick)
        print(report.show(result), flush=True)
        report.write(result, chosen.out)


if __name__ == "__main__":
    main()
