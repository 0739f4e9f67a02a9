"""Opens the page in a browser: ``trunkline serve --open``."""

from __future__ import annotations

import os
import tempfile
import threading
import webbrowser
from contextlib import suppress
from html import escape
from pathlib import Path

import click

from trunkline.state_files import state_folder


class OpenedPage:
    """A file that leads a browser to a link; it is removed when the command ends.

    The link logs in, and other users of the machine can see the arguments of every process. So the browser
    gets the name of a file that only this user can read.
    """

    def __init__(self, url: str) -> None:
        folder = state_folder() / "open"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=folder, suffix=".html")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(
                '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
                f'<meta http-equiv="refresh" content="0; url={escape(url)}"><title>Trunkline</title>'
            )
        self.path = Path(name)

    def show(self) -> None:
        """Open it beside the server, which goes on without it."""
        threading.Thread(target=self._show, name="trunkline opens a browser", daemon=True).start()

    def _show(self) -> None:
        if not webbrowser.open(self.path.as_uri()):
            click.echo("warning: no browser was found: open the link by hand", err=True)

    def remove(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self.path.unlink()
