from typing import Any

from langchain.agents.middleware import ModelCallLimitMiddleware, TodoListMiddleware
from langgraph.graph import MessagesState
from tests.agents.langchain.graphs import broken, graph_of, weather
from tests.agents.langchain.untyped_langchain import create_agent

from trunkline.agents.langchain.graph.inspect import middleware_in, model_in, tools_in
from trunkline.testing.chat import ScriptedChatModel


def test_what_an_agent_was_made_of_is_found_in_it() -> None:
    model = ScriptedChatModel()
    todo, limit = TodoListMiddleware(), ModelCallLimitMiddleware(run_limit=3)
    graph = create_agent(model, [weather, broken], middleware=[todo, limit])
    assert set(middleware_in(graph)) >= {todo, limit}
    assert model_in(graph) is model
    assert tools_in(graph).keys() == {"weather", "broken", "write_todos"}


def test_a_plain_graph_has_no_middleware_and_no_model() -> None:
    def node(state: MessagesState) -> dict[str, Any]:
        return {}

    graph = graph_of(node)
    assert middleware_in(graph) == ()
    assert model_in(graph) is None
    assert tools_in(graph) == {}
