"""Tests of the options as type checkers know them."""

import inspect
from typing import Any

import pytest
from tests.agents.langchain.untyped_langchain import create_agent

from trunkline.agents.langchain.hosted.middleware import known_options
from trunkline.agents.langchain.hosted.options import (
    AcpAgentOptions,
    AcpOptions,
    AguiAgentOptions,
    AguiRunOptions,
)


@pytest.mark.parametrize(
    ("front_end", "of_middleware", "of_agent"),
    [("acp", AcpOptions, AcpAgentOptions), ("agui", AguiRunOptions, AguiAgentOptions)],
)
def test_they_are_those_that_there_are(front_end: str, of_middleware: Any, of_agent: Any) -> None:
    known = set(known_options(front_end))
    of_create_agent = set(inspect.signature(create_agent).parameters) - {"model", "tools", "middleware"}
    assert set(of_middleware.__annotations__) == known
    assert set(of_agent.__annotations__) == known | of_create_agent
