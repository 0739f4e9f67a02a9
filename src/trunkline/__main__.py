"""``python -m trunkline`` and ``trunkline``: the command line."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trunkline.agents.interface import Agent


def main() -> None:
    """Run a command, and end without waiting for threads that its agent left behind."""
    code: object = 0
    _fill_standard_streams()
    try:
        _run()
    except SystemExit as leaving:
        code = leaving.code
        raise
    except BaseException:
        code = 1
        raise
    finally:
        # Imported by now in every command that runs an agent; the others have no threads.
        if (own := sys.modules.get("trunkline.transports.process.own_exit_threads")) is not None:
            own.wait_for_no_threads(code if isinstance(code, int) else int(code is not None))


def _fill_standard_streams() -> None:
    """Put /dev/null where the parent process closed stdin, stdout or stderr.

    Else the next file that is opened, the journal for example, would stand where errors are printed.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)
    # They stay open to the end, as those of Python do.
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _run() -> None:
    """Run a command.

    An editor starts ``trunkline acp TARGET`` for every session and waits for it, so that one goes
    past the command line's own imports. An agent that speaks ACP itself answers ``initialize`` itself,
    by the splice, which the command line has.
    """
    match sys.argv[1:]:
        case ["acp", target] if not target.startswith(("-", "acp:", "registry:")) and _is_plain():
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


def _is_plain() -> bool:
    """Whether there is nothing else to look at: no configuration file, and no person at a terminal."""
    if "TRUNKLINE_CONFIG" in os.environ or os.isatty(0):
        return False
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # The command line says it.
        return False
    while not os.path.isfile(os.path.join(folder, "trunkline.toml")):
        above = os.path.dirname(folder)
        if above == folder:
            return True
        folder = above
    return False


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


def _load(target: str) -> tuple[str, Agent]:
    from trunkline.agents.targets import name_target

    _prepare_process()
    return name_target(target)


if __name__ == "__main__":
    main()
