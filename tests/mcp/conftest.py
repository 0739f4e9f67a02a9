"""One example server over HTTP and one over SSE, shared by the tests that do not end it."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.agents.langchain.mcp_example import serving


@pytest.fixture(scope="session")
def http() -> Iterator[dict[str, Any]]:
    with serving("http") as connection:
        yield connection


@pytest.fixture(scope="session")
def sse() -> Iterator[dict[str, Any]]:
    with serving("sse") as connection:
        yield connection
