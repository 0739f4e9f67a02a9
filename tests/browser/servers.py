"""What a page needs: a place that serves it, and a server of ours somewhere else."""

import functools
import os
import re
import subprocess
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.cli.child_programs import command

SECRET = "0123456789abcdef"
READER = "fedcba9876543210"
"""A token of the same person that may only read."""
SECONDS = 30
_ROOT = Path(__file__).parents[2]  # agents of the tests import their helpers from here
_GREETING = re.compile(r"AG-UI +(http://\S+)/agui")
_LINK = re.compile(r"Open +(http://\S+)")


class Address(str):
    """Where a server is; ``link`` is what it printed for a person to open."""

    link: str = ""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serve_site(folder: Path) -> Generator[int]:
    """Serve files on a free port of this machine; gives the port."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield site.server_port
        finally:
            site.shutdown()
            thread.join(SECONDS)


@contextmanager
def serve_agent(
    *targets: str, origin: str | None = None, folder: Path, port: str = "0", options: Sequence[str] = ()
) -> Generator[Address]:
    """Run ``trunkline serve`` for its own page, and for the pages of an origin; gives its address."""
    words = command(
        "serve", *targets, "--port", port, *options, *(["--allow-origin", origin] if origin else [])
    )
    journal = f"sqlite:{folder / 'journal.db'}"
    path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    ours = {"TRUNKLINE_TOKEN": SECRET, "TRUNKLINE_JOURNAL": journal, "PYTHONPATH": path}
    with subprocess.Popen(
        words, env={**os.environ, **ours}, cwd=folder, stderr=subprocess.PIPE, encoding="utf-8"
    ) as server:
        assert server.stderr is not None
        output: list[str] = []
        draining = threading.Thread(target=output.extend, args=(server.stderr,))
        try:
            for line in server.stderr:
                output.append(line)
                if (found := _GREETING.search(line)) is not None:
                    draining.start()
                    address = Address(found[1])
                    address.link = link[1] if (link := _LINK.search("".join(output))) is not None else ""
                    yield address
                    break
            else:
                raise AssertionError(f"the server did not start: {''.join(output)}")
        finally:
            server.terminate()
            server.wait(SECONDS)
    draining.join(SECONDS)
    assert not [line for line in output if line.startswith("Traceback")], "".join(output)
