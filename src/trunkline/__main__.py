"""``python -m trunkline`` and ``trunkline``: the command line."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trunkline.agents.interface import Agent


def main() -> None:
    """Run a command.

    An editor starts ``trunkline acp TARGET`` for every session and waits for it, so that one goes
    past the command line's own imports. An agent that speaks ACP itself answers ``initialize`` itself,
    by the splice, which the command line has.
    """
    match sys.argv[1:]:
        case ["acp", target] if not target.startswith(("-", "acp:", "registry:")):
            from trunkline.errors import ConfigurationError
            from trunkline.frontends.acp.stdio import serve_target

            try:
                serve_target(target, functools.partial(_load, target))
            except ConfigurationError as error:
                sys.stderr.write(f"error: {error}\n")
                sys.exit(2)
        case _:
            from trunkline.cli import main as run

            run()


def finance_acp() -> None:
    """Run ``trunkline-finance-acp``: the finance agent for an editor."""
    sys.argv[1:1] = ["acp", "finance"]
    main()


def finance_mcp() -> None:
    """Run ``trunkline-finance-mcp``: the tools of the finance agent for an MCP client."""
    sys.argv[1:1] = ["mcp", "finance"]
    main()


@functools.cache
def _prepare_process() -> None:
    """Prepare this process once, also when loading the target is tried again."""
    from trunkline.cli.start import prepare_process

    prepare_process()


def _load(target: str) -> Agent:
    from trunkline.agents.targets import resolve_target

    _prepare_process()
    return resolve_target(target)


if __name__ == "__main__":
    main()
