"""The start of every command that runs an agent."""

from __future__ import annotations

from trunkline.cli.logs import show_logs
from trunkline.transports.process.secrets import close_process

__all__ = ["begin"]


def begin() -> None:
    """Show logs as lines, and keep our secrets from whatever the agent starts."""
    show_logs()
    close_process()
