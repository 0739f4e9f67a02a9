"""``trunkline new``: the files of a new agent."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path

import click

from trunkline.cli.new.project import KINDS, NEEDED_MODULES, Kind, install_line, project_files, write_project
from trunkline.safe_text import escape

_HELP = """Make a folder NAME with an agent, its tests and a README.

What is made runs at once, without a network or a key. Nothing that is there is overwritten.

\b
Examples:
  trunkline new word-counter
  trunkline new my-agent --kind langchain
  trunkline new my-agent --kind openai
"""


@click.command("new", help=_HELP)
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="function",
    show_default=True,
    help="A plain function, an agent of LangChain, or one of the OpenAI Agents SDK.",
)
def command(name: str, kind: Kind) -> None:
    folder = Path(name)
    files = project_files(folder.resolve().name, kind)
    write_project(folder, files)
    click.echo(f"made {escape(name)}: {', '.join(sorted(files))}", err=True)
    needed = NEEDED_MODULES.get(kind)
    if needed is not None and find_spec(needed) is None:
        click.echo(f"It needs an extra that is not installed here: {install_line(kind)}", err=True)
    elif find_spec("pytest") is None:
        click.echo("Its tests need pytest, which is not installed here: pip install pytest", err=True)
    click.echo("Next:", err=True)
    lines = [
        (f"cd {escape(shlex.quote(name))}", ""),
        ("trunkline chat agent.py", "talk to it"),
        ("python -m pytest", "its tests"),
        ("trunkline init agent.py", "in your editor"),
        ("trunkline serve agent.py --cwd . --open", "in your browser"),
    ]
    for line, about in lines:
        click.echo(f"  {line:<42}{about}".rstrip(), err=True)
