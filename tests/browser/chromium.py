"""A browser for tests: Chromium, driven by npm's playwright-core, one line of JSON per step."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

SECONDS = 30
"""How long a page may take for one step."""


def find_chromium() -> str | None:
    """Where the browser is."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """A browser with any number of pages; close it."""

    def __init__(self, executable: str, packages: Path, profile: Path) -> None:
        """Start a browser with a profile of its own."""
        command = ["node", str(packages / "drive.mjs"), executable, str(profile), str(SECONDS)]
        self._driver = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self._opened = 0

    def step(self, do: str, **fields: Any) -> Any:
        """Do one thing; what does not come about in time is an AssertionError that says what was awaited."""
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.write(json.dumps({"do": do, **fields}) + "\n")
        self._driver.stdin.flush()
        line = self._driver.stdout.readline()
        assert line, "the browser is gone"
        report = json.loads(line)
        assert "error" not in report, f"{do} {fields}: {report['error']}"
        return report["value"]

    def open(self, url: str) -> Page:
        """Open a page."""
        self._opened += 1
        page = Page(self, f"page-{self._opened}")
        self.step("open", page=page.name, url=url)
        return page

    def log_in(self, address: str, token: str) -> None:
        """Give the browser the cookie of our own page on a server."""
        self.step("login", address=address, token=token)

    def close(self) -> None:
        """Let the browser go."""
        self._driver.communicate(timeout=4 * SECONDS)


class Page:
    """A page, as a person has it before them; ``text`` chooses among what a selector finds."""

    def __init__(self, browser: Browser, name: str) -> None:
        self.name = name
        self._browser = browser

    def _step(self, do: str, **fields: Any) -> Any:
        output = {name: value for name, value in fields.items() if value is not None}
        return self._browser.step(do, page=self.name, **output)

    def type(self, selector: str, text: str) -> None:
        """Write into a field and press Enter."""
        self._step("type", selector=selector, input=text)

    def send(self, selector: str, text: str) -> None:
        """Write a message and press Enter, as often as it takes until the page has taken it."""
        self._step("send", selector=selector, input=text)

    def click(self, selector: str, text: str | None = None, *, nth: int | None = None) -> None:
        """Click on something, as soon as it is there and takes clicks."""
        self._step("click", selector=selector, text=text, nth=nth)

    def fill(self, selector: str, text: str) -> None:
        """Write into a field, in the place of what is there."""
        self._step("fill", selector=selector, input=text)

    def press(self, key: str, selector: str | None = None) -> None:
        """Press a key, where the focus is or on something."""
        self._step("press", key=key, selector=selector)

    def see(self, selector: str, text: str | None = None) -> None:
        """Wait until something can be seen."""
        self._step("see", selector=selector, text=text)

    def miss(self, selector: str, seconds: float | None = None) -> None:
        """Wait until nothing of the kind is there any more."""
        self._step("miss", selector=selector, seconds=seconds)

    def texts(self, selector: str) -> list[str]:
        """Read everything of a kind."""
        return self._step("texts", selector=selector)

    def select(self, selector: str, label: str) -> None:
        """Choose an entry of a list by what it says."""
        self._step("select", selector=selector, label=label)

    def download(self, selector: str, text: str | None = None) -> tuple[str, str]:
        """Click on something that downloads a file; gives the name and the text of the file."""
        name, content = self._step("download", selector=selector, text=text)
        return name, content

    def count(self, selector: str, text: str | None = None) -> int:
        """Count what a selector finds now."""
        return self._step("count", selector=selector, text=text)

    def attribute(self, selector: str, name: str, text: str | None = None) -> str | None:
        """Read an attribute of the first thing that a selector finds."""
        return self._step("attribute", selector=selector, name=name, text=text)

    def evaluate(self, expression: str) -> Any:
        """Give the value of an expression of JavaScript; a promise is awaited."""
        return self._step("evaluate", expression=expression)

    def wait(self, expression: str) -> None:
        """Wait until an expression of JavaScript is true."""
        self._step("wait", expression=expression)

    def attach(self, selector: str, *files: Path) -> None:
        """Choose files in a field for files."""
        self._step("attach", selector=selector, files=[str(file) for file in files])

    def resize(self, width: int, height: int) -> None:
        """Give it another size."""
        self._step("resize", width=width, height=height)

    def theme(self, scheme: str) -> None:
        """Let the system prefer ``light`` or ``dark``."""
        self._step("theme", scheme=scheme)

    def force_colours(self, colours: bool) -> None:
        """Let the system choose all colours, or no more."""
        self._step("force", colours=colours)

    def reload(self) -> None:
        """Load the page anew."""
        self._step("reload")

    def shoot(self, path: Path) -> None:
        """Take a picture of it."""
        self._step("shoot", path=str(path))

    def tells(self, text: str) -> None:
        """Wait until its console has said something."""
        self._step("tells", text=text)

    def console(self) -> list[str]:
        """What the page wrote to its console and asked of servers."""
        return self._step("console")

    def close(self) -> None:
        """Close the page."""
        self._step("close")
