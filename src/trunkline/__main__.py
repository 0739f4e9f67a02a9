"""``python -m trunkline`` and ``trunkline``: the command line."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run a command.

    An editor starts ``trunkline acp TARGET`` for every session and waits for it, so that one goes
    past the command line's own imports.
    """
    match sys.argv[1:]:
        case ["acp", target] if not target.startswith("-"):
            from trunkline.frontends.acp.serving import serve_target

            serve_target(target)
        case _:
            from trunkline.cli import main as run

            run()


if __name__ == "__main__":
    main()
