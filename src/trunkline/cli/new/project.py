"""The files of a new agent: what stands in them, and writing them without touching others."""

from __future__ import annotations

import os
import re
from pathlib import Path
from string import Template
from typing import Final, Literal, get_args

from trunkline.errors import ConfigurationError

Kind = Literal["function", "langchain", "openai"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
NEEDED_MODULES: Final[dict[Kind, str]] = {"langchain": "langchain", "openai": "agents"}
"""What a kind imports besides trunkline."""

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_MODEL = " Its model plays a script; the comment in `agent.py` shows the line for a real one."


def install_line(kind: Kind) -> str:
    """Give the command that installs what a kind needs for all lines of its README."""
    extras = "server" if kind == "function" else f"server,{kind}"
    return f"pip install 'trunkline[{extras}]' pytest"


def project_files(name: str, kind: Kind) -> dict[str, str]:
    """Give the texts of the files by their names."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} cannot be the name of an agent: begin with a letter, and use letters, digits, - and _"
        )
    title = " ".join(word.capitalize() for word in re.split(r"[-_]+", name) if word)
    words = {
        "name": name,
        "title": title,
        "install": install_line(kind),
        "model": "" if kind == "function" else _MODEL,
    }
    sources = [*sorted((_TEMPLATES / kind).glob("*.txt")), _TEMPLATES / "README.md.txt"]
    return {
        source.name.removesuffix(".txt"): Template(source.read_text("utf-8")).substitute(words)
        for source in sources
    }


def write_project(folder: Path, files: dict[str, str]) -> None:
    """Write all files, or none when one of them is there already."""
    present = [name for name in files if os.path.lexists(folder / name)]
    if present:
        raise ConfigurationError(
            f"{folder} has {', '.join(present)} already, and nothing is overwritten: choose another name"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            with (folder / name).open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be written: {error.strerror}") from error
