"""Puts the lists of modules, from the docstrings of all packages, where a page says ``<!-- modules -->``."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src/trunkline"
MARK = "<!-- modules -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in a page; mkdocs calls this for each of them."""
    return markdown.replace(MARK, module_lists()) if MARK in markdown else markdown


def module_lists() -> str:
    """Give a section for each package: its path, and its docstring without the examples."""
    parts: list[str] = []
    for path in sorted(SOURCE.rglob("__init__.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        first = docstring.partition("\n\n")[0]
        entries = [line for line in docstring.splitlines() if line.startswith("* ``")]
        name = path.parent.relative_to(SOURCE.parent)
        parts += [f"### `{name}/`", first, "\n".join(entries).replace("``", "`")]
    return "\n\n".join(parts)
