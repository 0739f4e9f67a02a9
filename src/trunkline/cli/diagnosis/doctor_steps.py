"""The steps from a TARGET to an agent that answers: each is fine, or says what to do next."""

from __future__ import annotations

import ast
import contextlib
import http.client
import importlib.util
import os
import re
import shlex
import shutil
import signal
import socket
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast
from urllib.parse import urlsplit

from trunkline._version import __version__
from trunkline.cli.diagnosis.check import acp_command
from trunkline.cli.diagnosis.doctor_fixes import fix_of, fix_of_slow_import, fix_of_target
from trunkline.errors import TrunklineError
from trunkline.target_names import split_target
from trunkline.transports.process.environment import scrub

if TYPE_CHECKING:
    from trunkline.conformance.acp.stdio_client import StdioClient

_AUTH_REQUIRED = -32000
_NODE = 20
_PROVIDERS = {
    "langchain_openai": "OPENAI_API_KEY", "openai": "OPENAI_API_KEY", "agents": "OPENAI_API_KEY",
    "langchain_anthropic": "ANTHROPIC_API_KEY", "anthropic": "ANTHROPIC_API_KEY",
    "langchain_google_genai": "GOOGLE_API_KEY", "langchain_mistralai": "MISTRAL_API_KEY",
    "langchain_deepseek": "DEEPSEEK_API_KEY", "langchain_groq": "GROQ_API_KEY",
}  # fmt: skip


class Step(NamedTuple):
    """One step: what was looked at, how it is, and what to do about it."""

    name: str
    outcome: Literal["ok", "fail", "note"]
    text: str
    fix: str = ""


def examine(target: str, journal: str | None, port: int, patience: float) -> Iterator[Step]:
    """Walk the steps; the ones that need a broken one are left out."""
    yield Step("trunkline", "ok", f"{__version__} on Python {sys.version.split()[0]}, {sys.executable}")
    broken = False
    for step in _find_agent(target, patience):
        yield step
        broken = broken or step.outcome == "fail"
    if not broken and split_target(target).prefix not in ("agui", "pty"):
        yield from _shake_hands(target, patience)
    yield _journal(journal)
    yield _port(port)


# -- finding the agent -----------------------------------------------------------------------------


def _find_agent(target: str, patience: float) -> Iterator[Step]:
    parts = split_target(target)
    if parts.prefix in ("acp", "pty"):
        yield from _program(target, parts.source)
    elif parts.prefix == "registry":
        yield from _registry(target, parts.source)
    elif parts.prefix == "agui":
        yield from _client()
        yield _server(parts.source)
    else:
        yield from _module(target, patience)


def _program(target: str, line: str) -> Iterator[Step]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        yield Step("command", "fail", f"{line!r} cannot be read: {error}", "close the quotes")
        return
    if not words:
        yield Step("command", "fail", f"{target} names no command", 'write "acp:COMMAND ARGS"')
        return
    yield from _on_path(words[0])


def _on_path(program: str) -> Iterator[Step]:
    found = shutil.which(program)
    if found is None and Path(program).is_file() and "/" in program:
        fix = f"chmod +x {shlex.quote(program)}"
        yield Step("command", "fail", f"{program} may not be executed", fix)
        return
    if found is None:
        fix = f"install {program}, or write its whole path; PATH is {os.environ.get('PATH', '')}"
        if program in ("npx", "npm", "node"):
            fix = f"install Node.js {_NODE} or newer (https://nodejs.org)"
        elif program in ("uvx", "uv"):
            fix = "install uv (https://docs.astral.sh/uv)"
        yield Step("command", "fail", f"there is no program {program!r} on PATH", fix)
        return
    yield Step("command", "ok", f"{program} is {found}")
    if Path(found).name in ("npx", "node", "npm"):
        yield _node()


def _node() -> Step:
    from trunkline.conformance.acp.stdio_client import StdioClient

    if shutil.which("node") is None:
        return Step("node", "fail", "there is no node on PATH", f"install Node.js {_NODE} or newer")
    with StdioClient(["node", "--version"], patience=10.0) as client:
        line = client.next()
    version = line.raw.decode(errors="replace").strip() if line else "unknown"
    major = re.match(r"v(\d+)", version)
    if major is None or int(major[1]) < _NODE:
        return Step("node", "fail", f"Node.js is {version}", f"install Node.js {_NODE} or newer")
    return Step("node", "ok", f"Node.js {version}")


def _registry(target: str, name: str) -> Iterator[Step]:
    from trunkline.agents.acp.registry import launch_of, parse_name

    try:
        launch = launch_of(*parse_name(name))
    except TrunklineError as error:
        yield Step("registry", "fail", str(error), "`trunkline agents` lists the ids")
        return
    yield Step("registry", "ok", f"{target} is started by {launch.line}")
    yield from _on_path(launch.command)


def _client() -> Iterator[Step]:
    """Say what is missing for ``agui:``, also where the server is there."""
    if importlib.util.find_spec("httpx") is None:
        yield Step("package", "fail", "agui: needs the package httpx", "pip install 'trunkline[agui]'")


def _server(url: str) -> Step:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return Step("address", "fail", f"{url!r} is no address", "write agui:http://HOST:PORT/PATH")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname, port), timeout=5.0).close()
    except OSError as error:
        address = f"{parts.hostname}:{port}"
        return Step(
            "address", "fail", f"nothing answers at {address}: {error}", "start the server, or check the port"
        )
    return _endpoint(url)


def _endpoint(url: str) -> Step:
    """Send a run that no server may take: what it answers tells a wrong path or a token from a server."""
    token = os.environ.get("TRUNKLINE_AGUI_TOKEN")
    headers = {"content-type": "application/json", "accept": "text/event-stream"}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    # Proxies of the environment are not for an address that a person typed.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        status = opener.open(urllib.request.Request(url, b"{}", headers), timeout=5.0).status
    except urllib.error.HTTPError as error:
        status = error.code
    except (OSError, ValueError, http.client.HTTPException) as error:
        return Step(
            "address", "fail", f"{url} does not answer as a web server does: {error}", "check the address"
        )
    if status in (401, 403):
        why = "does not take the token in" if token else "wants a token in"
        return Step("address", "fail", f"{url} {why} TRUNKLINE_AGUI_TOKEN", "export TRUNKLINE_AGUI_TOKEN=...")
    if status in (404, 405) or status >= 500:
        fix = "check the path after the port; trunkline serve has AG-UI at /agui"
        return Step("address", "fail", f"a run at {url} is answered with {status}", fix)
    return Step("address", "ok", f"{url} answers; `trunkline check {url}` looks further")


def _module(target: str, patience: float) -> Iterator[Step]:
    from trunkline.agents.targets import name_target

    parts = split_target(target)
    if parts.is_file:
        step = _file(Path(parts.source))
        yield step
        if step.outcome == "fail":
            return
        yield from _keys(Path(parts.source))
    try:
        # What the file prints is none of our report.
        with _at_most(patience), contextlib.redirect_stdout(sys.stderr):
            named = name_target(target)
    except TrunklineError as error:
        yield _explain(target, error)
        return
    except _TooLongError:
        text = f"{parts.source} is still being imported after {patience:g} s"
        yield Step("agent", "fail", text, fix_of_slow_import(parts.source))
        return
    except Exception as error:
        yield Step(
            "agent", "fail", f"{type(error).__name__}: {error}", fix_of(error) or "see the error above"
        )
        return
    yield Step("agent", "ok", f"{named.target} is an agent: {named.agent.card.name}")


def _file(path: Path) -> Step:
    if not path.is_file():
        return Step("file", "fail", f"there is no file {path}", f"write its path from here: {Path.cwd()}")
    try:
        ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        where = f"line {error.lineno}" if error.lineno else str(path)
        return Step("file", "fail", f"{where} cannot be read: {error.msg}", f"correct {path}")
    except (OSError, ValueError) as error:
        return Step("file", "fail", f"{path} cannot be read: {error}", "check its owner and its encoding")
    return Step("file", "ok", f"{path.resolve()} can be read")


def _keys(path: Path) -> Iterator[Step]:
    """Say which keys of providers a file is likely to need and does not find."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # "openai:gpt-5.5", as LangChain names models.
            imported.add(f"langchain_{node.value.partition(':')[0]}" if ":" in node.value else "")
    for name in sorted({_PROVIDERS[one] for one in imported if one in _PROVIDERS}):
        if not os.environ.get(name):
            fix = f"export {name}=..., or --env-file FILE; an editor needs it in the env of its settings"
            yield Step("key", "note", f"{name} is not set", fix)


def _explain(target: str, error: TrunklineError) -> Step:
    text = str(error)
    hidden = " hides " in text
    return Step(
        "agent", "fail", text, ("" if hidden else fix_of(error.__cause__)) or fix_of_target(target, text)
    )


@contextlib.contextmanager
def _at_most(seconds: float) -> Generator[None]:
    """Leave somebody's code that does not end by itself; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _TooLongError(BaseException):
    """The time is over; not an Exception, so that the code that is stopped does not handle it."""


# -- talking to it ---------------------------------------------------------------------------------


def _shake_hands(target: str, patience: float) -> Iterator[Step]:
    """Start the agent as an editor does, greet it and open a session."""
    from trunkline.conformance.acp.stdio_client import Message, StdioClient

    env: dict[str, str] = {}
    argv = acp_command(target, env, "memory:")
    try:
        client = StdioClient(argv, env=env, environ=scrub(os.environ, ["*"]), patience=patience)
    except OSError as error:
        yield Step(
            "start", "fail", f"{argv[0]!r} cannot be started: {error.strerror}", "check its permissions"
        )
        return
    with client, tempfile.TemporaryDirectory() as folder:
        params: Message = {"protocolVersion": 1, "clientCapabilities": {}}
        reply = client.request("initialize", params)
        if reply is None or "result" not in reply:
            yield _silence(client, reply, shlex.join(argv), patience)
            return
        greeting = _greeting(reply["result"])
        yield greeting
        if greeting.outcome == "fail":
            return
        opened = client.request("session/new", {"cwd": folder, "mcpServers": []})
        yield _session(target, client, opened, cast("Message", reply["result"]))
        if stray := _stray(client):
            fix = "let it print to stderr: some clients give up at such a line"
            yield Step("stdout", "note", f"not only messages are printed there: {stray}", fix)


def _greeting(result: Any) -> Step:
    if not isinstance(result, dict) or "protocolVersion" not in result:
        text = f"initialize is answered without a protocolVersion: {result}"
        return Step("handshake", "fail", text, "this program does not speak ACP: check the command")
    greeting = cast("dict[str, Any]", result)
    version: Any = greeting["protocolVersion"]
    info: Any = greeting.get("agentInfo")
    named = cast("dict[str, Any]", info) if isinstance(info, dict) else {}
    name = " ".join(str(named[key]) for key in ("name", "version") if key in named)
    if type(version) is not int or version != 1:
        text = f"it speaks ACP version {version!r}, and clients of today version 1"
        return Step("handshake", "fail", text, "use a version of the agent that speaks ACP version 1")
    return Step("handshake", "ok", f"ACP version {version}, {name or 'without a name'}")


def _stray(client: StdioClient) -> str:
    """What a program printed that is no message."""
    lines = [line.raw.decode(errors="replace").strip() for line in client.log if line.message is None]
    return " | ".join(line[:80] for line in lines[:3] if line)


def _silence(client: StdioClient, reply: Any, line: str, patience: float) -> Step:
    if any(one.message and one.message.get("method") == "initialize" for one in client.log):
        text = "it repeats what it is sent"
        return Step("handshake", "fail", text, "this program does not speak ACP: check the command")
    if reply is not None:
        return Step("handshake", "fail", f"initialize was refused: {reply.get('error')}", f"run it: {line}")
    # A program that has just closed its output ends in a moment.
    code = client.process.wait(1.0)
    words = " | ".join(client.stderr.strip().splitlines()[-3:]) or _stray(client)
    how = f"the program ended with {code}" if code is not None else f"no answer within {patience:g} s"
    fix = fix_of(RuntimeError(client.stderr)) or f"run it by hand and look at what it prints: {line}"
    if code is None and not words:
        fix = f"does it need an option to speak ACP, as --acp? A slow start gets more by --timeout: {line}"
    return Step("handshake", "fail", f"{how}" + (f": {words}" if words else ""), fix)


def _session(target: str, client: StdioClient, opened: Any, greeting: dict[str, Any]) -> Step:
    if opened is not None and "result" in opened:
        return Step("session", "ok", "a session can be opened")
    reply: dict[str, Any] = opened or {}
    error: dict[str, Any] = reply.get("error") or {}
    if error.get("code") == _AUTH_REQUIRED:
        ways = ", ".join(str(way.get("id")) for way in greeting.get("authMethods") or ())
        fix = f"trunkline login {shlex.quote(target)}" + (f" (ways: {ways})" if ways else "")
        return Step("session", "fail", "the agent wants a login", fix)
    words = " | ".join(client.stderr.strip().splitlines()[-3:])
    text = str(error.get("message") or "there is no answer") + (f" ({words})" if words else "")
    return Step("session", "fail", text, fix_of(RuntimeError(text + str(error))) or "see the error")


# -- around it -------------------------------------------------------------------------------------


def _journal(address: str | None) -> Step:
    import asyncio

    from trunkline.journal import open_journal

    async def look() -> str:
        journal = await open_journal(address)
        try:
            await journal.check()
            return journal.url
        finally:
            await journal.close()

    try:
        url = asyncio.run(look())
    except (TrunklineError, OSError) as error:
        fix = "choose another with --journal sqlite:PATH or TRUNKLINE_JOURNAL"
        return Step("journal", "fail", f"sessions cannot be kept: {error}", fix)
    return Step("journal", "ok", f"{url} can be written")


def _port(port: int) -> Step:
    if missing := next(
        (name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None), None
    ):
        fix = "pip install 'trunkline[server]'"
        return Step("port", "note", f"`trunkline serve` needs an extra ({missing} is missing)", fix)
    try:
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
    except OSError as error:
        fix = "trunkline serve ... --port 0 takes a free one"
        return Step("port", "note", f"{port} is not free for `trunkline serve`: {error.strerror}", fix)
    return Step("port", "ok", f"{port} is free for `trunkline serve`")
