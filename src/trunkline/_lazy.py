"""Load the public names of a package when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str,
    homes: Mapping[str, str],
    *,
    modules: Collection[str] = (),
    extras: Mapping[str, str] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Give ``__getattr__`` and ``__dir__`` of a package whose names live in other modules.

    ``homes`` says for each name the module that has it. ``modules`` are the modules of the package that are
    attributes of it without an import of their own. ``extras`` says which extra of ours installs what
    a home needs (by the beginning of the home's name); the error of a missing package then names it.
    ``renamed`` says for each old name the present one; the old one still works, with a warning.
    """

    def load(name: str) -> Any:
        if renamed and name in renamed:
            warn_renamed(package, name, renamed[name])
            return getattr(sys.modules[package], renamed[name])
        if name in modules:
            return import_module(f"{package}.{name}")
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(home), name)
        except ModuleNotFoundError as error:
            extra = next((extra for start, extra in (extras or {}).items() if home.startswith(start)), None)
            if extra is None or (error.name or "").startswith("trunkline"):
                raise
            raise ImportError(
                f"{name} needs the package {error.name}: run `pip install 'trunkline[{extra}]'`",
                name=error.name,
            ) from error
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted((*homes, *modules))

    return load, names


def warn_renamed(module: str, old: str, new: str) -> None:
    """Warn whoever uses the old name of something that has another one now."""
    import warnings

    from trunkline.errors import TrunklineDeprecation

    text = f"{module}.{old} is called {new} now; the old name is removed in trunkline 1.0"
    # The frames between are this function and the module's __getattr__.
    warnings.warn(text, TrunklineDeprecation, stacklevel=3)
