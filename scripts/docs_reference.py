"""Puts the reference of public names where a page says ``<!-- reference MODULE NAME... -->``.

A name is a class or a function of that module; without names, all that its ``__all__`` has. What is
shown is the signature and the docstrings as they are written: of the class, its fields and its methods.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARK = re.compile(r"<!-- reference ([\w.]+)((?: \w+)*) -->")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SHOWN_SPECIAL = ("__call__",)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in a page; mkdocs calls this for each of them."""
    return MARK.sub(lambda mark: "\n\n".join(_entries(mark[1], mark[2].split())), markdown)


def _entries(module_name: str, names: list[str]) -> Iterator[str]:
    module = importlib.import_module(module_name)
    for name in names or module.__all__:
        found = inspect.unwrap(getattr(module, name))
        if inspect.isclass(found) or inspect.isfunction(found):
            yield _entry(module_name, name, found)


def _entry(module_name: str, name: str, found: Any) -> str:
    source = Path(inspect.getfile(found)).read_text("utf-8")
    kinds = ast.ClassDef | _Function
    # Of overloads the last definition is the one that is called.
    *_, node = (
        one for one in ast.parse(source).body if isinstance(one, kinds) and one.name == found.__name__
    )
    parts = [f"### `{name}`", f"`from {module_name} import {name}`"]
    if isinstance(node, ast.ClassDef):
        parts += [_prose(node), *_fields(node, source), *_methods(node, source)]
    else:
        parts += [_signature(node, source), _prose(node)]
    return "\n\n".join(part for part in parts if part)


def _prose(node: ast.ClassDef | _Function) -> str:
    return (ast.get_docstring(node) or "").replace("``", "`")


def _signature(node: _Function, source: str) -> str:
    """Give the lines of a definition as they are written, without its body."""
    lines = source.splitlines()[node.lineno - 1 : node.body[0].lineno]
    body = node.body[0]
    lines[-1] = lines[-1].encode()[: body.col_offset].decode()
    head = textwrap.dedent("\n".join(lines)).rstrip().removesuffix(":")
    head = re.sub(r"\bself,\s*|\bself\b(?=\))", "", head)
    return f"```python\n{head}\n```"


def _fields(node: ast.ClassDef, source: str) -> list[str]:
    """List the public fields: those of the class, and those that its ``__init__`` sets and describes."""
    rows: list[str] = []
    for body, owner in [(node.body, "")] + [(one.body, "self.") for one in _functions(node, "__init__")]:
        for statement, after in zip(body, [*body[1:], None], strict=True):
            text = ast.get_source_segment(source, statement) or ""
            if not isinstance(statement, ast.AnnAssign | ast.Assign) or not text.startswith(owner):
                continue
            about = _string(after)
            field = " ".join(text.removeprefix(owner).split())
            name = re.split(r"\W", field, maxsplit=1)[0]
            if name.startswith("_") or (owner and not about):
                continue
            shown = name if owner else field
            rows.append(f"* `{shown}`: {about}" if about else f"* `{shown}`")
    return ["\n".join(rows)] if rows else []


def _functions(node: ast.ClassDef, name: str) -> list[_Function]:
    return [one for one in node.body if isinstance(one, _Function) and one.name == name]


def _string(node: ast.stmt | None) -> str:
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return " ".join(node.value.value.replace("``", "`").split())
    return ""


def _methods(node: ast.ClassDef, source: str) -> Iterator[str]:
    for one in node.body:
        if isinstance(one, _Function) and (not one.name.startswith("_") or one.name in _SHOWN_SPECIAL):
            if any("property" in ast.unparse(each) for each in one.decorator_list):
                returns = ast.get_source_segment(source, one.returns) if one.returns else "Any"
                yield f"* `{one.name}: {returns}` (property): {' '.join(_prose(one).split())}"
            elif not any("overload" in ast.unparse(each) for each in one.decorator_list):
                yield f"{_signature(one, source)}\n\n{_prose(one)}"
