"""The page folds events into the same conversation as Python does."""

import json
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.legal_sessions import legal_sessions
from tests.strategies import sloppy_streams
from trunkline import events as ev
from trunkline.folding import fold

pytestmark = pytest.mark.slow

_STREAMS = st.one_of(legal_sessions().map(lambda story: story.events), sloppy_streams())


class PageFold:
    """Node with the page's fold."""

    def __init__(self, module: Path) -> None:
        self._node = subprocess.Popen(
            ["node", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(self, events: list[ev.Event], cut: int) -> dict[str, Any]:
        """Fold events on the page's side."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        given = {"events": events, "expected": fold(events), "cut": cut, "snapshot": fold(events[:cut])}
        self._node.stdin.write(msgspec.json.encode(given).decode() + "\n")
        self._node.stdin.flush()
        report = json.loads(self._node.stdout.readline())
        return {name: json.loads(one) if isinstance(one, str) else one for name, one in report.items()}

    def close(self) -> None:
        """Let Node go."""
        self._node.communicate(timeout=30)


@pytest.fixture(scope="module")
def page_fold(
    root: Path, web_packages: Path, tmp_path_factory: pytest.TempPathFactory
) -> Generator[PageFold]:
    module = tmp_path_factory.mktemp("fold") / "fold.mjs"
    bundler = web_packages / "node_modules/.bin/rolldown"
    source = root / "web/tests/fold_lines.ts"
    subprocess.run(
        [bundler, source, "--platform", "node", "--format", "esm", "--file", module],
        check=True,
        capture_output=True,
        timeout=120,
    )
    page_fold = PageFold(module)
    yield page_fold
    page_fold.close()


@given(_STREAMS, st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_session_means_the_same_on_the_page(
    page_fold: PageFold, events: list[ev.Event], data: st.DataObject
) -> None:
    report = page_fold.ask(events, data.draw(st.integers(0, len(events))))
    expected = report["expected"]
    assert report["folded"] == expected
    assert report["at_once"] == expected, "one read at the end is as good as many"
    assert report["resumed"] == expected, "a snapshot takes the place of what came before it"
    assert report["reads_stay"], "what was read before does not change"
