"""The variables of the process, with those of a file ``.env`` below them, which never override them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from trunkline.demos.finance.ledger.errors import LedgerError
from trunkline.env_file import read_env_file
from trunkline.errors import ConfigurationError


def environment(folder: Path | None = None, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give the variables of the process (or ``variables``), and those that only ``.env`` in a folder has."""
    own = os.environ if variables is None else variables
    path = (Path.cwd() if folder is None else folder) / ".env"
    try:
        return {**(read_env_file(path) if path.is_file() else {}), **own}
    except ConfigurationError as error:
        raise LedgerError(str(error)) from error
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be read ({error.strerror}): check its mode, or move it away"
        ) from error
