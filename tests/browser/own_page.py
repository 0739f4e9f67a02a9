"""Our own page in a browser: a conversation with an agent of a running server."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.browser.chromium import Browser
from tests.browser.servers import SECRET

COMPOSER = "[data-composer]"
ANSWER = ".message.agent"
STOP = "button.stop"
QUESTION = ".question[data-open]"
_COMPLAINTS = ("error:", "warning:", "pageerror:")


class OwnPage:
    """A new conversation with an agent, in a browser that is logged in."""

    def __init__(
        self, browser: Browser, server: str, agent: str, *, session: str | None = None, token: str = SECRET
    ) -> None:
        """Begin a conversation, or open one that is there."""
        self.server = server
        self.excused: tuple[str, ...] = ()
        """What the page may complain of."""
        self.session: str = session or self.ask("POST", "/sessions", {"agent": agent})["session_id"]
        browser.log_in(server, token)
        self.page = browser.open(f"{server}/#/s/{quote(self.session, safe='')}")
        self.page.see(COMPOSER)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to the server as another client of the same person."""
        request = urllib.request.Request(
            self.server + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {SECRET}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")

    def command(self, **command: Any) -> Any:
        """Send a command to the session as another client."""
        return self.ask("POST", f"/sessions/{quote(self.session, safe='')}/commands", command)

    def say(self, text: str) -> None:
        """Send a message."""
        self.page.type(COMPOSER, text)

    def hears(self, text: str) -> None:
        """Wait for words in an answer."""
        self.page.see(ANSWER, text)

    def rests(self) -> None:
        """Wait until no turn runs."""
        self.page.miss(STOP)

    def answers(self) -> list[str]:
        """All that the agent said, with its calls."""
        return self.page.texts(ANSWER)

    def focused(self) -> str:
        """Say where the focus is: the tag, classes and label of the element."""
        return self.page.evaluate(
            "(({ tagName, className, ariaLabel }) => `${tagName} ${className} ${ariaLabel ?? ''}`)"
            "(document.activeElement)"
        )

    def complaints(self) -> list[str]:
        """What the page complained of, and whom it asked but its own server."""
        output = self.page.console()
        foreign = [
            line
            for line in output
            if line.startswith("asks:") and not line.split(" ")[2].startswith((f"{self.server}/", "blob:"))
        ]
        complaints = [line for line in output if line.startswith(_COMPLAINTS)]
        return [line for line in complaints if not any(words in line for words in self.excused)] + foreign

    def overflow(self) -> int:
        """How many pixels the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    def _watch_tasks(self) -> None:
        """Note from now on what holds the page up."""
        self.page.evaluate(
            "(() => { window.tasks = []; new PerformanceObserver((list) =>"
            "window.tasks.push(...list.getEntries().map((one) => Math.round(one.duration))))"
            ".observe({ type: 'longtask' }); })()"
        )

    def findings(self) -> list[dict[str, Any]]:
        """What axe finds that is serious or worse; its source must have been evaluated."""
        found: list[dict[str, Any]] = self.page.evaluate(
            "axe.run(document).then(({ violations }) => violations)"
        )
        return [
            {"rule": one["id"], "help": one["help"], "at": [node["html"][:200] for node in one["nodes"]]}
            for one in found
            if one["impact"] in ("serious", "critical")
        ]

    def picture(self, name: str) -> None:
        """Keep a picture for the documentation, if it is asked for."""
        if (folder := os.environ.get("TRUNKLINE_SCREENSHOTS")) is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.shoot(Path(folder) / f"{name}.png")

    def close(self) -> None:
        """Close the page; nobody may have complained."""
        complaints = self.complaints()
        self.page.close()
        assert complaints == [], complaints

    def longest_task(self, play: Callable[[OwnPage], None]) -> int:
        """How many milliseconds the page was held up at most, while something was played."""
        self._watch_tasks()
        play(self)
        return max(self.page.evaluate("window.tasks"), default=0)


def check_smooth(begin: Callable[[], OwnPage], play: Callable[[OwnPage], None], limit: int) -> None:
    """Check that no task of the page is longer than a number of milliseconds.

    A busy machine may hold up any program: the best of three tries counts, and where more waits to run than
    there are processors, five times as much is allowed.
    """
    longest: list[int] = []
    limit *= 5 if os.getloadavg()[0] > (os.cpu_count() or 1) else 1
    while len(longest) < 3 and min(longest, default=limit) >= limit:
        longest.append(begin().longest_task(play))
    assert min(longest) < limit, longest
