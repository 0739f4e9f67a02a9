"""Policies by name or from a file, as ``--policy NAME|FILE`` gives them."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from trunkline.errors import ConfigurationError
from trunkline.workspace.policy import POLICY_NAMES, Policy, RuleError

__all__ = ["load_policy"]

_LARGEST = 1024 * 1024
_RULE_HEADER = re.compile(r"\s*\[\[\s*rules\s*\]\]")


def load_policy(name_or_file: str) -> Policy:
    """Give a ready policy by its name, or the one in a TOML or JSON file."""
    if name_or_file in POLICY_NAMES:
        return Policy.parse(name_or_file)
    path = Path(name_or_file)
    if not path.is_file():
        near = difflib.get_close_matches(name_or_file, POLICY_NAMES, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigurationError(
            f"there is no policy and no file {name_or_file!r}: {hint}"
            f"The policies are {', '.join(POLICY_NAMES)}; a file is TOML or JSON"
        )
    text = _read(path)
    table = _parse(path, text)
    try:
        return Policy.from_dict(table)
    except RuleError as error:
        raise ConfigurationError(f"{path}{_line_of_rule(text, error.number)}: {error}") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_LARGEST + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the policy {path} cannot be read: {error}") from None
    if len(text) > _LARGEST:
        raise ConfigurationError(f"the policy {path} has more than {_LARGEST >> 20} MiB: name another file")
    return text


def _parse(path: Path, text: str) -> Any:
    form, loads = ("JSON", _load_json) if text.lstrip().startswith("{") else ("TOML", tomllib.loads)
    try:
        return loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{path} is not {form}: {error}") from None


def _load_json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_without_repeats)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that is given twice: json would silently keep the last."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"{key!r} is given twice")
        table[key] = value
    return table


def _line_of_rule(text: str, number: int) -> str:
    """Say where the n-th ``[[rules]]`` of a TOML file begins; nothing where rules are written otherwise."""
    headers = [line for line, content in enumerate(text.splitlines(), 1) if _RULE_HEADER.match(content)]
    return f", line {headers[number - 1]}" if number <= len(headers) else ""
