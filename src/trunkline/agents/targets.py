"""TARGETs: the one word on the command line that says which agent to run.

``module:attr``, ``path/file.py:attr`` (``path/file.py`` alone if it has one agent), ``acp:COMMAND ARGS``,
``registry:ID``, ``agui:URL``, ``pty:COMMAND``, ``demo``, ``demo-auth``, ``finance``, ``finance:openai`` and
``finance:langchain``. Every failure says what is wrong, what was looked at and what to type instead; the
traceback of the user's own file goes to stderr and nowhere else.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import inspect
import os
import shlex
import shutil
import sys
import traceback
from asyncio import events
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from trunkline.agents.adapt import adapt
from trunkline.agents.import_hints import import_hint
from trunkline.agents.interface import Agent
from trunkline.agents.module_agents import agents_of, is_ready_agent
from trunkline.errors import NotAnAgent, TargetError
from trunkline.target_names import PREFIXES, split_target

__all__ = ["BUILT_IN", "NamedAgent", "name_target", "resolve_target"]


class NamedAgent(NamedTuple):
    """An agent, and the whole TARGET that names it."""

    target: str
    agent: Agent


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


def acp_words(line: str) -> list[str]:
    """Give the words of the command in ``acp:LINE``; TargetError if there is none."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise TargetError(f"the command in {f'acp:{line}'!r} cannot be read: {error}") from None
    if not words or not words[0]:
        raise TargetError("acp: names no command: write acp:COMMAND ARGS, as in 'acp:gemini --acp'")
    return words


def _acp(line: str) -> Agent:
    from trunkline.agents.acp.agent import AcpAgent

    command, *args = acp_words(line)
    return AcpAgent(command, args)


def _registry(name: str) -> Agent:
    from trunkline.agents.acp.agent import AcpAgent
    from trunkline.agents.acp.registry import launch_of, parse_name

    launch = launch_of(*parse_name(name))
    return AcpAgent(launch.command, launch.args, env=launch.env)


def _pty(command: str) -> Agent:
    from trunkline.agents.pty import PtyAgent

    return PtyAgent(command)


BUILT_IN: dict[str, Callable[[], Agent]] = {
    "demo": _demo,
    "demo-auth": _demo_auth,
    "finance": _finance,
    "finance:openai": _finance_openai,
    "finance:langchain": _finance_langchain,
}
"""Names that need no file."""

_LOADERS: dict[str, Callable[[str], Agent]] = {"acp": _acp, "agui": _agui, "pty": _pty, "registry": _registry}
"""What makes an agent of the rest of a TARGET, by its prefix."""

_FORMS = ", ".join(
    [
        "module:attr",
        "path/file.py:attr",
        "acp:COMMAND ARGS",
        "registry:ID",
        "agui:URL",
        "pty:COMMAND",
        *BUILT_IN,
    ]
)

# Words that a TARGET may begin with in other versions: never the name of a module.
_RESERVED = (*PREFIXES, "finance")


def resolve_target(target: str) -> Agent:
    """Give the agent that a TARGET names."""
    return name_target(target).agent


def name_target(target: str) -> NamedAgent:
    """Give the agent that a TARGET names, and its whole name: that of a file may be left out."""
    parts = split_target(target)
    if target in BUILT_IN or parts.prefix:
        return NamedAgent(target, load_target(target))
    if parts.is_file and parts.attr is None:
        with _between_loops():
            module = _load_file(Path(target))
        name = _only_agent(module, target)
        target, thing = f"{target}:{name}", getattr(module, name)
    else:
        thing = load_target(target)
    try:
        return NamedAgent(target, adapt(thing, name=target.rpartition(":")[2]))
    except NotAnAgent as error:
        raise NotAnAgent(f"{target}: {error}") from None


def _only_agent(module: ModuleType, path: str) -> str:
    names = agents_of(module)
    if len(names) == 1:
        return names[0]
    if not names:
        raise TargetError(f"{path} has no agent: name what makes one, as in {path}:NAME")
    choices = ", ".join([f"{path}:{name}" for name in names[:12]] + ["..."] * (len(names) > 12))
    raise TargetError(f"{path} has {len(names)} agents: choose one of {choices}")


def load_target(target: str) -> Any:
    """Give the object that a TARGET names as it is: an agent, or what becomes one."""
    if target in BUILT_IN:
        return BUILT_IN[target]()
    prefix, source, attr = parts = split_target(target)
    if prefix:
        return _LOADERS[prefix](source)
    if (
        attr is None
        or not _is_dotted(attr)
        or not (parts.is_file or _is_dotted(source))
        or source in _RESERVED
    ):
        raise TargetError(_explain(target))
    with _between_loops():
        thing: Any = _load_file(Path(source)) if parts.is_file else _load_module(source)
    for part in attr.split("."):
        thing = _get(thing, part, source)
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
        return f"{target!r} does not say what in the file: write {target}:NAME"
    meant = _meant_by(target)
    hint = f"; did you mean {meant!r}?" if meant is not None else "."
    return f"unknown target {target!r}{hint} Known forms: {_FORMS}"


def _meant_by(target: str) -> str | None:
    """Guess the TARGET that a word is meant to be."""
    source, colon, attr = target.rpartition(":")
    near = difflib.get_close_matches(target, BUILT_IN, n=1)
    word, _, rest = target.partition(":")
    if word in ("http", "https"):
        return f"agui:{target}"
    if source.endswith(".py:"):  # As pytest names a test.
        return f"{source}{attr}"
    if colon and Path(f"{source}.py").is_file():
        return f"{source}.py:{attr or 'NAME'}"
    if near:
        return near[0]
    if not colon and Path(f"{target}.py").is_file():
        return f"{target}.py"
    if colon and (prefixes := difflib.get_close_matches(word.lower(), PREFIXES, n=1)):
        return f"{prefixes[0]}:{rest}"
    module, dot, name = target.rpartition(".")
    if dot and not colon and Path(f"{module.replace('.', '/')}.py").is_file():
        return f"{module}:{name}"
    if target and Path(target).is_dir():
        files = sorted(Path(target).glob("*.py"))
        chosen = files if len(files) == 1 else [file for file in files if file.name == "agent.py"]
        return str(chosen[0]) if chosen else None
    return f"acp:{target}" if not colon and shutil.which(target.partition(" ")[0]) else None


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


def _blame(source: str, error: BaseException) -> TargetError:
    """Show the user's own traceback on stderr, without our and libraries' frames, and name the error."""
    frames = error.__traceback__
    while frames is not None and not _is_users(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    shown = traceback.TracebackException(type(error), error, frames)
    own = [frame for frame in shown.stack if "site-packages" not in Path(frame.filename).parts]
    if own and not os.environ.get("TRUNKLINE_TRACEBACK"):
        # Thirty lines of a library about a key that is missing would hide the one line that says so.
        shown.stack = traceback.StackSummary.from_list(own)
    sys.stderr.write("".join(shown.format()))
    if isinstance(error, SystemExit):
        return TargetError(
            f"{source} ended the program while it was imported (sys.exit({error.code!r})): "
            "put what runs it under 'if __name__ == \"__main__\":'"
        )
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError):
        what += import_hint(error)
    return TargetError(f"{source} failed while it was imported: {what}")


def _is_users(filename: str) -> bool:
    return not filename.startswith("<frozen") and filename not in (__file__, importlib.__file__)


def _get(thing: Any, attr: str, source: str) -> Any:
    try:
        return getattr(thing, attr)
    except AttributeError:
        public: list[str] = [name for name in dir(thing) if not name.startswith("_")]
        near = difflib.get_close_matches(attr, public, n=3)
        agents = [name for name in public if is_ready_agent(inspect.getattr_static(thing, name, None))]
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
        raise TargetError(f"{source} has no {attr!r}{hint}") from None


def _is_own(value: Any, thing: Any) -> bool:
    """Whether a name holds something made there: not what was only imported for the making."""
    if inspect.isclass(value) or inspect.ismodule(value):
        return False
    made_in = getattr(value, "__module__", None)
    return not inspect.isroutine(value) or made_in == getattr(thing, "__name__", None)
