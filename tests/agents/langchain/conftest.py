"""Fixtures of the LangChain tests."""

from collections.abc import Iterator

import pytest

from tests.agents.langchain.agui_client import Page
from trunkline.testing import RecordingTransport


@pytest.fixture
def page() -> Iterator[Page]:
    """A client that ends up without a breach of the official client's rules."""
    page = Page()
    yield page
    assert page.breaches == []


@pytest.fixture
def transport() -> RecordingTransport:
    """A client of ACP that keeps what it is sent."""
    return RecordingTransport()
