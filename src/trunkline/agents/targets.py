"""TARGETs: the one word on the command line that says which agent to run.

``module:attr``, ``path/file.py:attr``, ``acp:COMMAND ARGS``, ``registry:ID``, ``agui:URL``, ``pty:COMMAND``,
``demo``, ``demo-auth``, ``finance``, ``finance:openai`` and ``finance:langchain``. Every failure says what is
wrong, what was looked at and what to type instead; the traceback of the user's own file goes to stderr and
nowhere else.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import inspect
import shlex
import shutil
import sys
import traceback
from asyncio import events
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any

from trunkline.agents.adapt import adapt
from trunkline.agents.import_hints import import_hint
from trunkline.agents.interface import Agent
from trunkline.errors import NotAnAgent, TargetError

__all__ = ["SCHEMES", "resolve_target"]


def _demo() -> Agent:
    from trunkline.demos.scripted import ScriptedAgent

    return ScriptedAgent()


def _demo_auth() -> Agent:
    from trunkline.demos.scripted import ScriptedAgent

    return ScriptedAgent(authentication=True)


def _finance() -> Agent:
    from trunkline.demos.finance.agent import finance_agent

    return finance_agent()


def _finance_langchain() -> Agent:
    from trunkline.demos.finance.agent import finance_langchain

    return finance_langchain()


def _finance_openai() -> Agent:
    from trunkline.demos.finance.agent import finance_openai

    return finance_openai()


def _agui(url: str) -> Agent:
    try:
        from trunkline.agents.agui import AguiAgent
    except ModuleNotFoundError as error:
        raise TargetError(f"agui: needs the package {error.name}: pip install 'trunkline[agui]'") from error
    return AguiAgent(url)


def _acp(line: str) -> Agent:
    from trunkline.agents.acp.agent import AcpAgent

    try:
        words = shlex.split(line)
    except ValueError as error:
        raise TargetError(f"the command in {f'acp:{line}'!r} cannot be read: {error}") from None
    if not words or not words[0]:
        raise TargetError("acp: names no command: write acp:COMMAND ARGS, as in 'acp:gemini --acp'")
    return AcpAgent(words[0], words[1:])


def _registry(name: str) -> Agent:
    from trunkline.agents.acp.agent import AcpAgent
    from trunkline.agents.acp.registry import launch_of, parse_name

    launch = launch_of(*parse_name(name))
    return AcpAgent(launch.command, launch.args, env=launch.env)


def _pty(command: str) -> Agent:
    from trunkline.agents.pty import PtyAgent

    return PtyAgent(command)


SCHEMES: dict[str, Callable[[], Agent]] = {
    "demo": _demo,
    "demo-auth": _demo_auth,
    "finance": _finance,
    "finance:openai": _finance_openai,
    "finance:langchain": _finance_langchain,
}
"""Names that need no file."""

PREFIXES: dict[str, Callable[[str], Agent]] = {"acp": _acp, "agui": _agui, "pty": _pty, "registry": _registry}
"""Words before a colon that need something after it."""

_FORMS = ", ".join(
    [
        "module:attr",
        "path/file.py:attr",
        "acp:COMMAND ARGS",
        "registry:ID",
        "agui:URL",
        "pty:COMMAND",
        *SCHEMES,
    ]
)

# Words that a TARGET may begin with in other versions: never the name of a module.
_RESERVED = ("acp", "agui", "finance", "pty", "registry")


def resolve_target(target: str) -> Agent:
    """Give the agent that a TARGET names."""
    thing = load_target(target)
    if target in SCHEMES or target.partition(":")[0] in PREFIXES:
        return thing
    try:
        return adapt(thing, name=target.rpartition(":")[2])
    except NotAnAgent as error:
        raise NotAnAgent(f"{target}: {error}") from None


def load_target(target: str) -> Any:
    """Give the object that a TARGET names as it is: an agent, or what becomes one."""
    if target in SCHEMES:
        return SCHEMES[target]()
    word, colon, rest = target.partition(":")
    if colon and word in PREFIXES:
        return PREFIXES[word](rest)
    place, _, attr = target.rpartition(":")
    if not _is_dotted(attr) or not (place.endswith(".py") or _is_dotted(place)) or place in _RESERVED:
        raise TargetError(_explain(target))
    with _between_loops():
        thing: Any = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    for part in attr.split("."):
        thing = _get(thing, part, place)
    return thing


@contextlib.contextmanager
def _between_loops() -> Generator[None]:
    """Import as a script is run: many a file waits for its tools with ``asyncio.run`` at its top."""
    running = events._get_running_loop()
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(running)


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _explain(target: str) -> str:
    """Say what is wrong with a word that has none of the known forms."""
    if target.endswith(".py"):
        return f"{target!r} does not say which agent in the file: write {target}:NAME"
    place, colon, attr = target.rpartition(":")
    near = difflib.get_close_matches(target, SCHEMES, n=1)
    word, _, rest = target.partition(":")
    if colon and Path(f"{place}.py").is_file():
        near = [f"{place}.py:{attr or 'NAME'}"]
    elif colon and (prefixes := difflib.get_close_matches(word.lower(), PREFIXES, n=1)):
        near = [f"{prefixes[0]}:{rest}"]
    elif not near and not colon and shutil.which(target.partition(" ")[0]):
        near = [f"acp:{target}"]
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"unknown target {target!r}{hint} Known forms: {_FORMS}"


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise TargetError(f"there is no file {str(path)!r}{_near_files(path)}")
    name = f"trunkline_target_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None, "the name ends in .py"
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # The file's own folder first, as if it were run as a script.
    _look_first_in(path.resolve().parent)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise _blame(str(path), error) from error
    return module


def _near_files(path: Path) -> str:
    folder = path.parent if path.parent.is_dir() else Path()
    near = difflib.get_close_matches(path.name, [p.name for p in folder.glob("*.py") if p.is_file()], n=3)
    if not near:
        return f" (looked from {Path.cwd()})"
    return f" in {folder.resolve()}; did you mean {' or '.join(near)}?"


def _load_module(name: str) -> ModuleType:
    if "" not in sys.path:
        _look_first_in(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise TargetError(
                f"there is no module {name!r}: run from the folder that holds it, install it, "
                f"or name the file, as in path/to/{name.split('.')[-1]}.py:NAME. Known forms: {_FORMS}"
            ) from None
        raise _blame(name, error) from error
    except (Exception, SystemExit) as error:
        raise _blame(name, error) from error


def _look_first_in(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _blame(place: str, error: BaseException) -> TargetError:
    """Show the user's own traceback on stderr, without our frames, and name the error."""
    frames = error.__traceback__
    while frames is not None and not _is_users(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    sys.stderr.write("".join(traceback.format_exception(type(error), error, frames)))
    if isinstance(error, SystemExit):
        return TargetError(
            f"{place} ended the program while it was imported (sys.exit({error.code!r})): "
            "put what runs it under 'if __name__ == \"__main__\":'"
        )
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError):
        what += import_hint(error)
    return TargetError(f"{place} failed while it was imported: {what}")


def _is_users(filename: str) -> bool:
    return not filename.startswith("<frozen") and filename not in (__file__, importlib.__file__)


def _get(thing: Any, attr: str, place: str) -> Any:
    try:
        return getattr(thing, attr)
    except AttributeError:
        public: list[str] = [name for name in dir(thing) if not name.startswith("_")]
        near = difflib.get_close_matches(attr, public, n=3)
        agents = [name for name in public if _is_agent(inspect.getattr_static(thing, name, None))]
        if near:
            hint = f"; did you mean {' or '.join(near)}?"
        elif agents:
            functions = [
                name
                for name in public
                if inspect.isfunction(value := inspect.getattr_static(thing, name, None))
                and _is_own(value, thing)
            ]
            hint = f"; its agents are {', '.join(agents[:12])}"
            hint += f", and functions work too: {', '.join(functions[:12])}" if functions else ""
        else:
            own = [name for name in public if _is_own(inspect.getattr_static(thing, name, None), thing)]
            hint = f"; it has {', '.join((own or public)[:12]) or 'nothing public'}"
        raise TargetError(f"{place} has no {attr!r}{hint}") from None


def _is_own(value: Any, thing: Any) -> bool:
    """Whether a name holds something made there: not what was only imported for the making."""
    if inspect.isclass(value) or inspect.ismodule(value):
        return False
    made_in = getattr(value, "__module__", None)
    return not inspect.isroutine(value) or made_in == getattr(thing, "__name__", None)


def _is_agent(value: Any) -> bool:
    return isinstance(value, Agent) and not inspect.isclass(value)
