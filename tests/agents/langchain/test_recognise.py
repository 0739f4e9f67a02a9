import builtins
import subprocess
import sys
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import MessagesState

from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from trunkline import adapt
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.recognise import recognise
from trunkline.errors import ConfigurationError, NotAnAgent
from trunkline.testing.chat import ScriptedChatModel


def echo(text: str) -> str:
    return text


RUNNABLE: Any = RunnableLambda(echo)


@pytest.mark.parametrize(
    "thing",
    [create_agent(ScriptedChatModel(), []), ScriptedChatModel(), RUNNABLE],
    ids=["agent", "model", "runnable"],
)
def test_adapt_makes_an_agent_of_whatever_langchain_runs(thing: Any) -> None:
    assert isinstance(adapt(thing), LangChainAgent)


@pytest.mark.parametrize("thing", [object(), "text", 1, {"a": 1}])
def test_what_is_not_langchains_is_left_to_others(thing: Any) -> None:
    assert recognise(thing) is None


def test_a_graph_that_is_not_compiled_is_refused_with_the_next_step() -> None:
    with pytest.raises(NotAnAgent, match=r"compile\(\)"):
        adapt(StateGraph(MessagesState))


def test_a_missing_package_is_named_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "trunkline.agents.langchain.agent":
            raise ImportError("No module named 'langgraph'", name="langgraph")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigurationError, match=r"langgraph is missing.*trunkline\[langchain\]"):
        recognise(RUNNABLE)


def test_a_plain_object_is_turned_down_without_importing_langchain() -> None:
    program = (
        "import sys, trunkline.agents.langchain.recognise as r; assert r.recognise(object()) is None; "
        "assert not [m for m in sys.modules if m.startswith(('langchain', 'langgraph'))]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
