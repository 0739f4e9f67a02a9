"""Fixtures of the tests of permissions."""

import pytest
from tests.agents.langchain.permission_helpers import Trace


@pytest.fixture
def trace() -> Trace:
    """Tools that note what they were called with."""
    return Trace()
