"""Policies by name or from a file, as ``--policy NAME|FILE`` gives them."""

from __future__ import annotations

import contextlib
import difflib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from trunkline.errors import ConfigurationError
from trunkline.own_files import protect_own_file
from trunkline.workspace.policy import POLICY_NAMES, Policy, RuleError

_LARGEST = 1024 * 1024
_RULE_HEADER = re.compile(r"\s*\[\[\s*rules\s*\]\]")


def load_policy(name_or_file: str) -> Policy:
    """Give a ready policy by its name, or the one in a TOML or JSON file."""
    if name_or_file in POLICY_NAMES:
        return Policy.parse(name_or_file)
    path = Path(name_or_file)
    if path.is_dir():
        raise ConfigurationError(f"the policy {path} is a folder: name a TOML or JSON file in it")
    if not path.is_file():
        near = difflib.get_close_matches(name_or_file.lower(), POLICY_NAMES, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ConfigurationError(
            f"there is no policy and no file {name_or_file!r}{hint}: "
            f"the policies are {', '.join(POLICY_NAMES)}; a file is TOML or JSON"
        )
    protect_own_file(path, "the policy")
    text = _read(path)
    table = _parse(path, text)
    if table == {}:
        raise ConfigurationError(f'the policy {path} is empty: write at least base = "ask", or a rule')
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
    except UnicodeDecodeError:
        raise ConfigurationError(f"the policy {path} is no text in UTF-8: name a TOML or JSON file") from None
    except OSError as error:
        raise ConfigurationError(f"the policy {path} cannot be read: {error.strerror}") from None
    if len(text) > _LARGEST:
        raise ConfigurationError(f"the policy {path} has more than {_LARGEST >> 20} MiB: name another file")
    return text


def _parse(path: Path, text: str) -> Any:
    if path.suffix in (".yaml", ".yml"):
        raise ConfigurationError(f"{path} is YAML, which is not read here: write the policy in TOML or JSON")
    if not text.strip():
        return {}
    is_json = path.suffix == ".json" or text.lstrip().startswith("{")
    try:
        return _load_json(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if not is_json:
            with contextlib.suppress(ValueError, RecursionError):
                return _load_json(text)  # A list or a word, which ``from_dict`` refuses.
        raise ConfigurationError(f"{path} is not {'JSON' if is_json else 'TOML'}: {error}") from None


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
