"""What a change of a settings file looks like, without the secrets in it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping

from trunkline.cli.init.variables import PLAIN, mask
from trunkline.safe_text import escape

_SECRET = re.compile(
    r'("[^"\\\n]*(?:key|token|secret|passw|credential)[^"\\\n]*"\s*:\s*)"((?:[^"\\\n]|\\.)+)"', re.IGNORECASE
)
"""A member that holds a secret by its name: other agents have theirs in the same file."""


def show_difference(path: str, old: str, new: str, variables: Mapping[str, str]) -> list[str]:
    """Give the lines that change, with those around them, safe to print."""
    before, after = _masked(old, variables), _masked(new, variables)
    if before == after:
        return [f"  {escape(path)}: only values of variables change"]
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{path} (now)", f"{path} (then)", lineterm="", n=2
    )
    return [escape(line) for line in lines]


def _masked(text: str, variables: Mapping[str, str]) -> str:
    for name, value in variables.items():
        if value and name not in PLAIN:
            written = json.dumps(value, ensure_ascii=False)
            text = text.replace(written, f'"{mask(value)}"')
    return _SECRET.sub(lambda found: f'{found[1]}"{_masked_again(found[2])}"', text)


def _masked_again(value: str) -> str:
    return value if "…" in value else mask(value)
