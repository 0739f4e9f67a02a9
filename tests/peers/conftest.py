"""Lets the shared assertions say what differs, as those of a test module do; and the client in node."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.agui import Browser

pytest.register_assert_rewrite("tests.peers.contract")


@pytest.fixture(scope="module")
def browser(root: Path) -> Iterator[Browser]:
    """One node process for all tests of a module."""
    browser = Browser(root)
    yield browser
    browser.close()
