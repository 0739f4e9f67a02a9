"""``trunkline sessions export``: a session as a file."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import click

from trunkline.cli.journals import use_journal
from trunkline.cli.options import journal_option, session_argument
from trunkline.cli.sessions.show import write, write_session

_SUFFIXES = {
    ".htm": "html",
    ".html": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".jsonl": "jsonl",
}
"""The format of a file, by the end of its name."""

_EXPORT = """Export a session as markdown, HTML or JSON.

JSON has every record: one a line in .jsonl, one document in .json. The end of the
file's name chooses the format (.jsonl, .json, .md, .html), unless --format does.

\b
Examples:
  trunkline sessions export sess_1a2b3c > talk.jsonl
  trunkline sessions export sess_1a2b3c --output talk.md
  trunkline sessions export sess_1a2b3c --output talk.html
  trunkline sessions export sess_1a2b3c --html > talk.html
"""


@click.command("export", help=_EXPORT)
@session_argument
@click.option(
    "--format",
    "format_",
    type=click.Choice(["jsonl", "json", "markdown", "html"]),
    help="The format (default: that of the file's name, else jsonl).",
)
@click.option("--html", "format_", flag_value="html", help="The same as --format html.")
@click.option("--md", "format_", flag_value="markdown", help="The same as --format markdown.")
@click.option("--json", "format_", flag_value="json", help="The same as --format json.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of stdout.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@journal_option
def export_command(
    session_id: str, format_: str | None, output: Path | None, force: bool, journal: str | None
) -> None:
    suffix = "" if output is None else output.suffix.lower()
    chosen = format_ or _SUFFIXES.get(suffix, "jsonl")
    whole = "document" if chosen == "json" else chosen
    if force and output is None:
        raise click.UsageError("--force is for a file: name it with --output")
    if output is not None and output.exists() and not force:
        raise click.UsageError(f"{output} is there already: name another file, or add --force to replace it")
    if output is None:
        use_journal(journal, lambda opened: write_session(opened, session_id, whole, write))
        return
    # Beside the file first: half an export never replaces a whole one.
    draft = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            use_journal(journal, lambda opened: write_session(opened, session_id, whole, file.write))
        draft.replace(output)
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink()
