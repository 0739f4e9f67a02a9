"""What a front end sends with a prompt, in the state, the configuration and the context of a graph."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState
from langgraph.runtime import Runtime
from tests.agents.langchain.graphs import run_turn
from tests.agents.langchain.untyped_langchain import StateGraph
from typing_extensions import TypedDict

from trunkline import adapt
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.graph.client_input import client_fields
from trunkline.commands import Prompt

TOOL = {"name": "paint", "description": "Paint it.", "parameters": {"type": "object"}}
KNOWN = {"description": "The user", "value": "Ada"}
PROMPT = Prompt.of("Go!", tools=(TOOL,), context=(KNOWN,), forwarded={"theme": "dark"})

Fields = TypedDict("Fields", {"tools": list[Any], "ag-ui": dict[str, Any], "copilotkit": dict[str, Any]})


class Everything(Fields, MessagesState):
    """A state with all that a client sends."""


class OtherTools(MessagesState):
    """A state whose tools are something else."""

    tools: dict[str, bool]


class MaybeTools(MessagesState):
    """A state whose tools may be missing."""

    tools: list[Any] | None


def graph_of(schema: Any, work: Any, context: Any = None, config: Any = None) -> Any:
    builder = StateGraph(schema, context)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    return LangChainAgent(builder.compile(), config=config)


async def test_the_fields_of_the_state_are_filled_and_stay_out_of_the_shared_state() -> None:
    seen: list[Any] = []

    def work(state: Everything) -> Any:
        seen.append({name: value for name, value in state.items() if name != "messages"})
        return {}

    events = await run_turn(graph_of(Everything, work), PROMPT)
    assert seen == [
        {
            "tools": [TOOL],
            "ag-ui": {"tools": [TOOL], "context": [KNOWN]},
            "copilotkit": {"actions": [TOOL], "context": [KNOWN]},
        }
    ]
    assert [event for event in events if "State" in type(event).__name__] == []
    assert [event for event in events if type(event).__name__ == "Notice"] == [], "the tools can be bound"


async def test_a_front_end_that_sends_nothing_leaves_no_field_missing() -> None:
    seen: list[Any] = []

    def work(state: Everything) -> Any:
        seen.append(state["tools"])
        return {}

    await run_turn(graph_of(Everything, work), "Go!")
    assert seen == [[]]


@pytest.mark.parametrize(
    ("schema", "found"), [(OtherTools, set[str]()), (MaybeTools, {"tools"}), (MessagesState, set[str]())]
)
def test_only_a_list_of_tools_is_taken_for_those_of_the_page(schema: Any, found: set[str]) -> None:
    def work(state: Any) -> Any:
        return {}

    assert client_fields(graph_of(schema, work).runnable) == found


@dataclass
class Context:
    """A runtime context that wants to know what the client sends."""

    forwarded_props: dict[str, Any]
    client_context: list[Any] = field(default_factory=list[Any])
    tenant: str = "nobody"


async def test_context_and_properties_are_in_the_configuration_and_the_runtime_context() -> None:
    seen: list[Any] = []

    def work(state: MessagesState, config: RunnableConfig, runtime: Runtime[Context]) -> Any:
        seen.append((config, runtime.context))
        return {}

    # What a client sends never takes the place of what the developer set.
    config = {"configurable": {"tenant": "acme", "client_context": ["mine"]}}
    prompt = Prompt.of("Go!", context=(KNOWN,), forwarded={"tenant": "evil", "thread_id": "evil"})
    await run_turn(graph_of(MessagesState, work, Context, config), prompt)
    ((config, context),) = seen
    configurable = config["configurable"]
    assert configurable["forwarded_props"] == {"tenant": "evil", "thread_id": "evil"}
    assert (configurable["tenant"], configurable["client_context"]) == ("acme", ["mine"])
    assert configurable.get("thread_id") != "evil"
    assert context == Context(configurable["forwarded_props"], ["mine"], "acme")


async def test_a_runtime_context_that_needs_more_is_left_to_the_developer() -> None:
    @dataclass
    class Needs:
        forwarded_props: dict[str, Any]
        database: str

    seen: list[Any] = []

    def work(state: MessagesState, runtime: Runtime[Needs]) -> Any:
        seen.append(runtime.context)
        return {}

    await run_turn(graph_of(MessagesState, work, Needs), PROMPT)
    assert seen == [None]


async def test_an_agent_that_is_a_function_gets_them_with_its_prompt() -> None:
    seen: list[Any] = []

    async def agent(prompt: Any, ctx: Any) -> Any:
        seen.append((prompt.context, prompt.forwarded, ctx.prompt.tools))
        yield "ok"

    await run_turn(adapt(agent), PROMPT)
    assert seen == [((KNOWN,), {"theme": "dark"}, (TOOL,))]
