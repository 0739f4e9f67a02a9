"""A browser for tests: Chromium, driven by npm's playwright-core, one line of JSON per step."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

SECONDS = 15
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

    def click(self, selector: str, text: str | None = None, *, nth: int | None = None) -> None:
        """Click on something, as soon as it is there and takes clicks."""
        self._step("click", selector=selector, text=text, nth=nth)

    def see(self, selector: str, text: str | None = None) -> None:
        """Wait until something can be seen."""
        self._step("see", selector=selector, text=text)

    def miss(self, selector: str, seconds: float | None = None) -> None:
        """Wait until nothing of the kind is there any more."""
        self._step("miss", selector=selector, seconds=seconds)

    def texts(self, selector: str) -> list[str]:
        """Read everything of a kind."""
        return self._step("texts", selector=selector)

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
