"""The start of every command that runs an agent."""

from __future__ import annotations

from trunkline.cli.logs import show_logs
from trunkline.state_files import protect_state_folder
from trunkline.transports.process.secrets import close_process


def prepare_process(*, shows_failures: bool = False) -> None:
    """Print logs as lines, and keep our secrets from the processes that the agent starts.

    ``shows_failures`` is whether the command shows itself why a turn failed.
    """
    show_logs(shows_failures=shows_failures)
    close_process()
    protect_state_folder()
