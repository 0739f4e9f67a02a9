import subprocess
import sys
from typing import Any

import pytest
from agents.realtime import RealtimeAgent

from agents import Agent
from tests.agents.openai.sdk_agents import agent_of
from tests.hubs import run_turn, text_of
from trunkline import adapt
from trunkline.agents.adapt import FactoryAgent
from trunkline.agents.openai import OpenAIAgent
from trunkline.agents.openai.recognise import recognise
from trunkline.errors import ConfigurationError, NotAnAgent


class Special(Agent[Any]):
    """An agent of a user's own class."""


def test_an_agent_of_the_sdk_is_an_agent_of_ours() -> None:
    for agent in (Agent(name="Helper", handoff_description="It helps."), Special(name="Helper")):
        made = adapt(agent)
        assert isinstance(made, OpenAIAgent)
        assert made.card.name == "Helper"


async def test_a_function_that_makes_one_for_each_session_is_an_agent() -> None:
    def build(session: Any) -> Any:
        return agent_of(f"Hello in {session.session_id}.")[0].agent

    made = adapt(build)
    assert isinstance(made, FactoryAgent)
    assert text_of(await run_turn(made, session_id="s")) == "Hello in s."


def test_an_agent_that_speaks_by_voice_is_refused_with_a_sentence() -> None:
    with pytest.raises(NotAnAgent, match="voice"):
        adapt(RealtimeAgent(name="Voice"))


def test_other_objects_are_not_taken() -> None:
    assert recognise(object()) is None
    with pytest.raises(ConfigurationError, match="takes an agents"):
        OpenAIAgent(object())  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("max_turns", [0, -1])
def test_a_limit_under_which_no_run_begins_is_refused(max_turns: int) -> None:
    with pytest.raises(ConfigurationError, match=f"max_turns is {max_turns}: no run could begin"):
        OpenAIAgent(Agent(name="Helper"), max_turns=max_turns)


def test_an_sdk_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "trunkline.agents.openai.agent", raising=False)
    monkeypatch.setitem(sys.modules, "agents.run_config", None)
    with pytest.raises(ConfigurationError, match=r"pip install -U 'trunkline\[openai\]'"):
        recognise(Agent(name="Helper"))


def test_recognising_loads_no_framework() -> None:
    code = (
        "import sys, trunkline.agents.openai\n"
        "from trunkline.agents.openai.recognise import recognise\n"
        "assert recognise(object()) is None\n"
        "assert not {'agents', 'openai', 'pydantic'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
