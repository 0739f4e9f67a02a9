"""TARGETs: the one word on the command line that says which agent to run.

``module:attr``, ``path/file.py:attr``, ``demo`` and ``demo-auth``. Every failure says what is
wrong, what was looked at and what to type instead; the traceback of the user's own file goes to
stderr and nowhere else.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from trunkline.adapters import adapt
from trunkline.agents.interface import Agent
from trunkline.errors import TargetError

__all__ = ["SCHEMES", "normalize_target", "resolve_target"]


def _demo() -> Agent:
    from trunkline.testing import ScriptedAgent

    return ScriptedAgent()


def _demo_auth() -> Agent:
    from trunkline.testing import ScriptedAgent

    return ScriptedAgent(authentication=True)


SCHEMES: dict[str, Callable[[], Agent]] = {"demo": _demo, "demo-auth": _demo_auth}
"""Names that need no file."""

_FORMS = "module:attr, path/file.py:attr, " + ", ".join(SCHEMES)


def normalize_target(target: str) -> str:
    """Write a TARGET so that it means the same from every folder."""
    place, colon, attr = target.rpartition(":")
    if colon and place.endswith(".py"):
        return f"{Path(place).resolve()}:{attr}"
    return target


def resolve_target(target: str) -> Agent:
    """Give the agent that a TARGET names."""
    if target in SCHEMES:
        return SCHEMES[target]()
    place, colon, attr = target.rpartition(":")
    if not colon or not place or not attr:
        raise TargetError(_explain_bare(target))
    module = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    thing: Any = module
    for part in attr.split("."):
        thing = _get(thing, part, place)
    return adapt(thing, name=attr)


def _explain_bare(target: str) -> str:
    if target.endswith(".py") or (target and Path(target).suffix == ".py"):
        return f"{target!r} does not say which agent in the file: write {target}:NAME"
    near = difflib.get_close_matches(target, SCHEMES, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown target {target!r}{hint} Known forms: {_FORMS}"


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        folder = path.parent if path.parent.is_dir() else Path()
        near = difflib.get_close_matches(path.name, [p.name for p in folder.glob("*.py")], n=3)
        hint = f"; {folder} has {', '.join(near)}" if near else f" (looked from {Path.cwd()})"
        raise TargetError(f"there is no file {str(path)!r}{hint}")
    name = f"trunkline_target_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{str(path)!r} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    # The file's own folder first, as if it were run as a script.
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _blame(str(path), error) from error
    return module


def _load_module(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise TargetError(
                f"there is no module {name!r}: run from the folder that holds it, install it, "
                f"or name the file, as in path/to/{name.split('.')[-1]}.py:NAME"
            ) from None
        raise _blame(name, error) from error
    except (Exception, SystemExit) as error:
        raise _blame(name, error) from error


def _blame(place: str, error: BaseException) -> TargetError:
    """Show the user's own traceback on stderr, without our frames, and name the error."""
    frames = error.__traceback__
    while frames is not None and not _is_users(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error, frames, chain=False)
    sys.stderr.write("".join(lines))
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, ModuleNotFoundError):
        what += f" (install {error.name!r} into this environment)"
    return TargetError(f"{place} failed while it was imported: {what}")


def _is_users(filename: str) -> bool:
    return not filename.startswith("<frozen") and filename not in (__file__, importlib.__file__)


def _get(thing: Any, attr: str, place: str) -> Any:
    try:
        return getattr(thing, attr)
    except AttributeError:
        public: list[str] = [name for name in dir(thing) if not name.startswith("_")]
        near = difflib.get_close_matches(attr, public, n=3)
        agents = [name for name in public if isinstance(getattr(thing, name, None), Agent)]
        if near:
            hint = f"; did you mean {' or '.join(near)}?"
        elif agents:
            hint = f"; its agents are {', '.join(agents)}"
        else:
            hint = f"; it has {', '.join(sorted(public)[:12]) or 'nothing public'}"
        raise TargetError(f"{place} has no {attr!r}{hint}") from None
