"""``trunkline bundle``: what a bug report needs, without secrets, in one file."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
import zipfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from trunkline._version import __version__
from trunkline.cli.config_option import config_of
from trunkline.cli.diagnosis.doctor_steps import examine
from trunkline.cli.diagnosis.redaction import Redactor
from trunkline.cli.journals import find_session, use_journal
from trunkline.cli.options import journal_option
from trunkline.cli.signals import end_by_signals
from trunkline.cli.tab_suggestions import complete_sessions
from trunkline.config_file import Config
from trunkline.env_file import read_env_file
from trunkline.errors import ConfigurationError
from trunkline.exports.formats import FORMATS
from trunkline.journal import Journal, SessionInfo

_PACKAGES = (
    "trunkline", "msgspec", "orjson", "click", "langchain", "langgraph", "openai-agents", "mcp", "httpx",
    "starlette", "uvicorn", "agent-client-protocol", "ag-ui-protocol", "deepagents",
)  # fmt: skip
_DOCTOR_SECONDS = 20.0
_README = """A bug bundle of trunkline, made by `trunkline bundle`.

versions.json    packages, Python and the system
environment.json the names of variables that concern agents; values only where they are no secrets
config.toml      trunkline.toml, without secrets
doctor.json      the steps of `trunkline doctor`
session.jsonl    the records of the session, without secrets{texts}

Look into it before you share it.
"""

_HELP = """Write a bug report's material to a zip file: versions, settings, the doctor's steps, a session.

Secrets never get into it: neither the values of variables that are named like one, nor what looks like a key.
What was said in the session is left out as well, and only its length told, unless --texts keeps it.

\b
Examples:
  trunkline bundle -o bug.zip
  trunkline bundle sess_1a2b3c -o bug.zip --texts
"""


@click.command("bundle", help=_HELP)
@click.argument("session", required=False, shell_complete=complete_sessions)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True)
@click.option("--texts", is_flag=True, help="Keep what was said, still without secrets.")
@click.option("--no-doctor", is_flag=True, help="Do not start the session's agent to look at it.")
@journal_option
@click.pass_context
def command(
    context: click.Context,
    session: str | None,
    output: Path,
    texts: bool,
    no_doctor: bool,
    journal: str | None,
) -> None:
    if texts and session is None:
        raise click.UsageError("--texts is for a session: name it")
    if output.exists():
        raise click.UsageError(f"{output} is there already: name another file")
    config = config_of(context)
    variables = {**_file_variables(config), **os.environ}
    redactor = Redactor.of(variables, texts=not texts)
    plain = Redactor.of(variables)
    files: dict[str, str] = {
        "README.txt": _README.format(texts="" if texts else " and texts"),
        "versions.json": _json(_versions()),
        "environment.json": _json(_variables(plain)),
    }
    if config is not None:
        files["config.toml"] = plain.text(Path(config.path).read_text("utf-8", "replace"))
    target = None
    if session is not None:
        info, records = use_journal(journal, lambda opened: _read_session(opened, session))
        target = info.target
        files["session.jsonl"] = "".join(_line(redactor.value(json.loads(one))) for one in records)
    if target and not no_doctor:
        with end_by_signals():
            steps = [step._asdict() for step in examine(target, journal, 8000, _DOCTOR_SECONDS)]
        files["doctor.json"] = _json(plain.value(steps))
    # The name of a person is often in it.
    home = str(Path.home()).rstrip("/") or "~"
    opened = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opened, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in files.items():
            # Once more over the whole: whatever a file was made of, a known secret is not in it.
            shown = plain.text(text).replace(home, "~")
            bundle.writestr(name, shown.encode("utf-8", "backslashreplace"))
    click.echo(f"{output}: {', '.join(files)}. Look into it before you share it.", err=True)


def _file_variables(config: Config | None) -> dict[str, str]:
    """What the agent had from the file of variables that the configuration names."""
    if config is None or config.env_file is None:
        return {}
    with suppress(ConfigurationError):  # It may be gone by now.
        return read_env_file(Path(config.env_file))
    return {}


async def _read_session(journal: Journal, wanted: str) -> tuple[SessionInfo, list[bytes]]:
    info = await find_session(journal, wanted)
    pieces: AsyncIterator[bytes] = FORMATS["jsonl"](journal, info)
    whole = b"".join([piece async for piece in pieces])
    return info, [line for line in whole.splitlines() if line.strip()]


def _versions() -> dict[str, Any]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "trunkline": __version__,
        "python": sys.version,
        "platform": platform.platform(),
        "packages": found,
    }


def _variables(redactor: Redactor) -> dict[str, Any]:
    """The variables that concern us and the providers of models; of secrets only that they are set."""
    wanted = ("TRUNKLINE_", "XDG_", "LANG", "TERM", "NO_COLOR", "PYTHON")
    return {
        name: redactor.value(value, name)
        for name, value in sorted(os.environ.items())
        if name.startswith(wanted) or name.endswith("_API_KEY")
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
