"""The configuration file ``trunkline.toml``: where it is looked for, and what may stand in it.

Paths in it are meant from its own folder, so that a command means the same wherever it is run.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from trunkline.errors import ConfigurationError, did_you_mean
from trunkline.target_names import split_target

__all__ = ["CONFIG_NAME", "Config", "check_keys", "find_config", "read_config"]

CONFIG_NAME = "trunkline.toml"
MAX_BYTES = 1 << 18
"""How large the file may be."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._~-]{0,63}")
_KEYS = ("agents", "env_file", "journal", "policy", "serve")


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What a configuration file says, with absolute paths."""

    path: str
    digest: str
    """Of its text: another text is another file, as far as its approval is concerned."""
    agents: dict[str, str] = {}
    """TARGETs by their names."""
    journal: str | None = None
    policy: str | None = None
    env_file: str | None = None
    serve: dict[str, Any] = {}
    """Options of ``trunkline serve``, with underscores, as they stand in the file."""

    @property
    def folder(self) -> str:
        """The folder that its paths are meant from."""
        return os.path.dirname(self.path)


def find_config(folder: str | None = None) -> Path | None:
    """Give the nearest file, in a folder (default: this one) or above it."""
    try:
        start = Path(folder or os.getcwd())
    except FileNotFoundError:
        raise ConfigurationError("the current folder was removed: go to another one") from None
    for one in (start, *start.parents):
        if (path := one / CONFIG_NAME).is_file():
            return path
    return None


def read_config(path: Path) -> Config:
    """Read a file; ConfigurationError says what is wrong and where."""
    import tomllib  # Most starts find no file.

    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ConfigurationError(
                f"{path} is larger than {MAX_BYTES} bytes: it is no configuration of ours"
            )
        table = tomllib.loads(data.decode())
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # Not UTF-8, not TOML, or nested without end.
        raise ConfigurationError(f"{path} is not TOML: {error}") from None
    _refuse_unknown(str(path), table, _KEYS, "")
    folder = path.resolve().parent
    journal, policy, env_file = (_text(path, table, key) for key in ("journal", "policy", "env_file"))
    if journal is not None and journal.startswith("sqlite:"):
        journal = f"sqlite:{folder / os.path.expanduser(journal.removeprefix('sqlite:'))}"
    if policy is not None and (os.sep in policy or policy.endswith((".toml", ".json"))):
        policy = str(folder / os.path.expanduser(policy))
    return Config(
        path=str(path.resolve()),
        digest=hashlib.sha256(data).hexdigest(),
        agents=_agents(path, table.get("agents", {}), folder),
        journal=journal,
        policy=policy,
        env_file=None if env_file is None else str(folder / os.path.expanduser(env_file)),
        serve=_table(path, table, "serve"),
    )


def check_keys(config: Config, known: Iterable[str]) -> None:
    """Refuse options of ``[serve]`` that the command does not have."""
    _refuse_unknown(config.path, config.serve, known, " in [serve]")


def _refuse_unknown(path: str, table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    names = list(known)
    for key in table:
        if key not in names:
            hint = did_you_mean(key, names) or f"; known: {', '.join(names)}"
            raise ConfigurationError(f"{path}: there is no {key!r}{where}{hint}")


def _text(path: Path, table: dict[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is None or (isinstance(value, str) and value):
        return value
    raise ConfigurationError(f"{path}: {key} must be a text in quotes, and not an empty one")


def _table(path: Path, table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise ConfigurationError(f"{path}: {key} must be a table: write [{key}] on a line of its own")
    return cast("dict[str, Any]", value)


def _agents(path: Path, table: Any, folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, target in _table(path, {"agents": table}, "agents").items():
        if not _NAME.fullmatch(name):
            raise ConfigurationError(
                f"{path}: {name!r} cannot be the name of an agent: use letters, digits, '.', '_', '~' and '-'"
            )
        if not isinstance(target, str) or not target:
            raise ConfigurationError(
                f'{path}: the agent {name!r} needs a TARGET, as in {name} = "a.py:agent"'
            )
        found[name] = _from_folder(target, folder)
    return found


def _from_folder(target: str, folder: Path) -> str:
    """Write a TARGET so that a file in it is found from every folder."""
    parts = split_target(target)
    return parts.with_source(str(folder / os.path.expanduser(parts.source))) if parts.is_file else target
