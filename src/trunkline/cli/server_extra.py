"""The error of a command that needs the server where its packages are not installed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from trunkline.errors import ConfigurationError


@contextmanager
def needs_server_extra() -> Generator[None]:
    """Say what to install when an import of the block finds no package."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"the server needs an extra ({error.name} is missing): pip install 'trunkline[server]'"
        ) from None
