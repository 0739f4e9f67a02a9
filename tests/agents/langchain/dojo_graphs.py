"""Graphs of the shapes that the pages of AG-UI's dojo talk to, as people write them for ag-ui-langgraph.

They know nothing of Trunkline. Each takes its model, and a checkpointer if it shall have one. ``SCRIPTS`` has
answers for a scripted model that make the feature visible; the comment at each graph says what its page does.
"""

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import adispatch_custom_event
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from trunkline.testing.chat import Answer, call

Graph = Callable[..., Any]


# -- agentic chat: the page's context reaches the prompt, its tools are offered ------------------------


class PageState(AgentState[Any]):
    """A state with what the page sends, as CopilotKit's SDK has it."""

    copilotkit: dict[str, Any]


class ContextInPrompt(AgentMiddleware[Any, Any]):
    """Puts the page's context into the system prompt."""

    state_schema = PageState

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Add each thing that the page wants known."""
        known = request.state.get("copilotkit", {}).get("context", [])
        lines = [f"{item['description']}: {item['value']}" for item in known]
        return await handler(request.override(system_message=SystemMessage("\n".join(["Help.", *lines]))))


def agentic_chat(model: Any, saver: Any = None) -> Any:
    """A chat whose page sends context and tools of its own."""
    return create_agent(model, [], middleware=[ContextInPrompt()], checkpointer=saver)


# -- backend tool rendering: the page shows a card for the result of get_weather -----------------------


@tool
def get_weather(location: str) -> dict[str, Any]:
    """Tell the weather of a place."""
    return {"temperature": 20, "conditions": "sunny", "humidity": 50, "wind_speed": 10, "feelsLike": 25}


def backend_tool_rendering(model: Any, saver: Any = None) -> Any:
    """An agent with one tool."""
    return create_agent(model, [get_weather], checkpointer=saver)


# -- human in the loop: the page shows the steps of an interrupt, and sends back a text ---------------


@tool
def plan_execution_steps(steps: list[dict[str, str]]) -> None:
    """Plan the steps of a task."""


class Steps(MessagesState):
    """A plan, and the page's tools."""

    steps: list[dict[str, str]]
    tools: list[Any]


def _predicting(config: RunnableConfig, state_key: str, name: str, argument: str) -> None:
    """Say which argument becomes which field: the nodes change the configuration in place."""
    predicted = [{"state_key": state_key, "tool": name, "tool_argument": argument}]
    config.setdefault("metadata", {})["predict_state"] = predicted


def _result(tool_call: Mapping[str, Any], content: str) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": tool_call["id"]}


def _start_and_chat(state: type[Any], start_node: Any, chat_node: Any, saver: Any) -> Any:
    """A graph that goes from one node to the other, and ends."""
    builder = StateGraph(state)
    builder.add_node("start_node", start_node)
    builder.add_node("chat_node", chat_node)
    builder.add_edge(START, "start_node")
    builder.add_edge("start_node", "chat_node")
    builder.add_edge("chat_node", END)
    return builder.compile(checkpointer=saver)


def human_in_the_loop(model: Any, saver: Any = None) -> Any:
    """Plan, let a person choose the steps, and tell how it went."""

    async def start_node(state: Steps, config: RunnableConfig) -> Any:
        return Command(
            goto="chat_node", update={"messages": state["messages"], "steps": state.get("steps", [])}
        )

    async def chat_node(state: Steps, config: RunnableConfig) -> Any:
        _predicting(config, "steps", "plan_execution_steps", "steps")
        bound = model.bind_tools([*state["tools"], plan_execution_steps], parallel_tool_calls=False)
        response = await bound.ainvoke([SystemMessage("Plan it."), *state["messages"]], config)
        messages = [*state["messages"], response]
        if not response.tool_calls:
            return Command(goto=END, update={"messages": messages, "steps": state["steps"]})
        planned = response.tool_calls[0]
        steps = [
            {"description": step["description"], "status": "enabled"} for step in planned["args"]["steps"]
        ]
        messages.append(_result(planned, "Task steps generated."))
        return Command(goto="process_steps_node", update={"messages": messages, "steps": steps})

    async def process_steps_node(state: Steps, config: RunnableConfig) -> Any:
        chosen = interrupt({"steps": state["steps"]})
        response = await model.ainvoke(
            [SystemMessage("Tell it."), {"role": "user", "content": chosen}], config
        )
        return Command(goto=END, update={"messages": [*state["messages"], response], "steps": state["steps"]})

    builder = StateGraph(Steps)
    builder.add_node("start_node", start_node)
    builder.add_node("chat_node", chat_node)
    builder.add_node("process_steps_node", process_steps_node)
    builder.add_edge(START, "start_node")
    builder.add_edge("start_node", "chat_node")
    builder.add_edge("process_steps_node", END)
    return builder.compile(checkpointer=saver)


# -- agentic generative UI: the page counts the steps that are completed, while the node runs ----------


@tool
def generate_task_steps(steps: list[dict[str, str]]) -> None:
    """Work through the steps of a task."""


def agentic_generative_ui(model: Any, saver: Any = None) -> Any:
    """Work through steps, and show each as it is completed."""

    async def start_node(state: Steps, config: RunnableConfig) -> Any:
        return Command(goto="chat_node", update={"messages": state["messages"], "steps": []})

    async def chat_node(state: Steps, config: RunnableConfig) -> Any:
        _predicting(config, "steps", "generate_task_steps", "steps")
        bound = model.bind_tools([*state["tools"], generate_task_steps], parallel_tool_calls=False)
        response = await bound.ainvoke([SystemMessage("Do it."), *state["messages"]], config)
        messages = [*state["messages"], response]
        if not response.tool_calls:
            return Command(goto=END, update={"messages": messages, "steps": state["steps"]})
        state["steps"] = [dict(step) for step in response.tool_calls[0]["args"]["steps"]]
        for step in state["steps"]:
            step["status"] = "completed"
            await adispatch_custom_event("manually_emit_state", state, config=config)
        messages.append(_result(response.tool_calls[0], "Steps executed."))
        return Command(goto="chat_node", update={"messages": messages, "steps": state["steps"]})

    return _start_and_chat(Steps, start_node, chat_node, saver)


# -- tool-based generative UI: the page runs generate_haiku, and wants no further run ------------------


class Tools(MessagesState):
    """The page's tools."""

    tools: list[Any]


def tool_based_generative_ui(model: Any, saver: Any = None) -> Any:
    """Call a tool of the page, and end there."""

    async def chat_node(state: Tools, config: RunnableConfig) -> Any:
        bound = model.bind_tools([*state.get("tools", [])], parallel_tool_calls=False)
        response = await bound.ainvoke([SystemMessage("Write haikus."), *state["messages"]], config)
        return Command(goto=END, update={"messages": [response]})

    builder = StateGraph(Tools)
    builder.add_node("chat_node", chat_node)
    # CopilotKit's documentation has a tool node in such a graph, whether it has tools or not.
    builder.add_node("tool_node", ToolNode([]))
    builder.add_edge(START, "chat_node")
    builder.add_edge("chat_node", END)
    return builder.compile(checkpointer=saver)


# -- shared state: page and agent change one recipe, the agent in place --------------------------------


@tool
def generate_recipe(recipe: dict[str, Any]) -> None:
    """Write the whole recipe."""


class Recipe(MessagesState):
    """A recipe, and the page's tools."""

    recipe: dict[str, Any] | None
    tools: list[Any]


def shared_state(model: Any, saver: Any = None) -> Any:
    """Change the recipe of the page."""

    async def start_node(state: Recipe, config: RunnableConfig) -> Any:
        if state.get("recipe") is None:
            state["recipe"] = {"title": "", "ingredients": [], "instructions": ["First step"]}
            await adispatch_custom_event("manually_emit_intermediate_state", state, config=config)
        return Command(
            goto="chat_node", update={"messages": state["messages"], "recipe": state.get("recipe")}
        )

    async def chat_node(state: Recipe, config: RunnableConfig) -> Any:
        _predicting(config, "recipe", "generate_recipe", "recipe")
        bound = model.bind_tools([*state["tools"], generate_recipe], parallel_tool_calls=False)
        prompt = SystemMessage(f"The recipe: {json.dumps(state['recipe'])}")
        response = await bound.ainvoke([prompt, *state["messages"]], config)
        messages = [*state["messages"], response]
        if not response.tool_calls:
            return Command(goto=END, update={"messages": messages, "recipe": state["recipe"]})
        recipe = state["recipe"]
        assert recipe is not None
        recipe.update(response.tool_calls[0]["args"]["recipe"])
        messages.append(_result(response.tool_calls[0], "Recipe generated."))
        await adispatch_custom_event("manually_emit_intermediate_state", state, config=config)
        return Command(goto="start_node", update={"messages": messages, "recipe": recipe})

    return _start_and_chat(Recipe, start_node, chat_node, saver)


# -- predictive state updates: the document grows with the arguments, then the page confirms it --------


@tool
def write_document(document: str) -> str:
    """Write the whole document."""
    return document


class Document(MessagesState):
    """A document, and the page's tools."""

    document: str | None
    tools: list[Any]


def predictive_state_updates(model: Any, saver: Any = None) -> Any:
    """Write a document, and ask the page's own tool to confirm it."""

    async def start_node(state: Document, config: RunnableConfig) -> Any:
        return Command(goto="chat_node")

    async def chat_node(state: Document, config: RunnableConfig) -> Any:
        _predicting(config, "document", "write_document", "document")
        bound = model.bind_tools([*state["tools"], write_document], parallel_tool_calls=False)
        prompt = SystemMessage(f"The document: {state.get('document')}")
        response = await bound.ainvoke([prompt, *state["messages"]], config)
        messages = [*state["messages"], response]
        if not response.tool_calls:
            return Command(goto=END, update={"messages": messages})
        function = {"name": "confirm_changes", "arguments": "{}"}
        confirm = {"id": str(uuid.uuid4()), "type": "function", "function": function}
        messages += [
            _result(response.tool_calls[0], "Document written."),
            {"role": "assistant", "content": "", "tool_calls": [confirm]},
        ]
        document = response.tool_calls[0]["args"]["document"]
        return Command(goto=END, update={"messages": messages, "document": document})

    return _start_and_chat(Document, start_node, chat_node, saver)


# -- subgraphs: each interrupts with options that are objects; the page sends the chosen one as JSON text


@dataclass
class Flight:
    """A flight that can be chosen."""

    airline: str
    departure: str
    arrival: str
    price: str
    duration: str


@dataclass
class Hotel:
    """A hotel that can be chosen."""

    name: str
    location: str
    price_per_night: str
    rating: str


FLIGHTS = [
    Flight("KLM", "Amsterdam (AMS)", "San Francisco (SFO)", "$650", "11h 30m"),
    Flight("United", "Amsterdam (AMS)", "San Francisco (SFO)", "$720", "12h 15m"),
]
HOTELS = [
    Hotel("Hotel Zephyr", "Fisherman's Wharf", "$280/night", "4.2 stars"),
    Hotel("Hotel Zoe", "Union Square", "$320/night", "4.4 stars"),
]


@tool
def route(answer: str, next_agent: str | None) -> None:
    """Answer, and say which agent goes on."""


def _merge(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return {**left, **right}


class Trip(MessagesState):
    """What is planned so far."""

    flights: list[Any]
    hotels: list[Any]
    experiences: list[Any]
    itinerary: Annotated[dict[str, Any], _merge]
    tools: list[Any]


def subgraphs(model: Any, saver: Any = None) -> Any:
    """A supervisor that sends a person through three subgraphs."""

    def finder(kind: str, plural: str, options: list[Any]) -> Callable[..., Awaitable[Any]]:
        async def find(state: Trip, config: RunnableConfig) -> Any:
            chosen: Any = state.get("itinerary", {}).get(kind)
            if not chosen:
                about = {"message": f"Found {len(options)} {plural}.", "options": options}
                chosen = interrupt({**about, "recommendation": options[0], "agent": plural})
            chosen = json.loads(chosen) if isinstance(chosen, str) else chosen
            label = chosen.get("airline") or chosen["name"]
            said = AIMessage(f"{plural.capitalize()} agent: {label} it is.")
            return Command(
                goto=END,
                update={plural: options, "itinerary": {kind: chosen}, "messages": [*state["messages"], said]},
            )

        return find

    async def experiences(state: Trip, config: RunnableConfig) -> Any:
        response = await model.ainvoke([SystemMessage("Tell what there is."), *state["messages"]], config)
        found = [{"name": "Pier 39", "type": "activity"}]
        return Command(goto=END, update={"experiences": found, "messages": [*state["messages"], response]})

    async def supervisor(state: Trip, config: RunnableConfig) -> Any:
        bound = model.bind_tools([route], parallel_tool_calls=False)
        response = await bound.ainvoke([SystemMessage("Plan a trip."), *state["messages"]], config)
        if response.tool_calls and (following := response.tool_calls[0]["args"]["next_agent"]) is not None:
            return Command(goto=following)
        return Command(goto=END, update={"messages": [*state["messages"], response]})

    parts = {
        "flights_agent": finder("flight", "flights", FLIGHTS),
        "hotels_agent": finder("hotel", "hotels", HOTELS),
        "experiences_agent": experiences,
    }
    builder = StateGraph(Trip)
    builder.add_node("supervisor", supervisor)
    builder.add_edge(START, "supervisor")
    for name, node in parts.items():
        part = StateGraph(Trip)
        part.add_node(f"{name}_chat_node", node)
        part.add_edge(START, f"{name}_chat_node")
        part.add_edge(f"{name}_chat_node", END)
        builder.add_node(name, part.compile())
        builder.add_edge(name, "supervisor")
    return builder.compile(checkpointer=saver)


# -- all of them ---------------------------------------------------------------------------------------

GRAPHS: dict[str, Graph] = {
    made.__name__: made
    for made in (
        agentic_chat,
        backend_tool_rendering,
        human_in_the_loop,
        agentic_generative_ui,
        tool_based_generative_ui,
        shared_state,
        predictive_state_updates,
        subgraphs,
    )
}

STEPS = [{"description": word, "status": "pending"} for word in ("Dig", "Plant", "Water")]
HAIKU = {"japanese": ["a"], "english": ["An old silent pond"], "image_name": "x.jpg", "gradient": "red"}
RECIPE = {"title": "Soup", "ingredients": [{"icon": "🥕", "name": "Carrot", "amount": "2"}]}
DOCUMENT = "# A pirate\n\nCandy Beard sailed the sweet seas."


def _route(answer: str, following: str | None) -> Any:
    return call("route", {"answer": answer, "next_agent": following}, f"to_{following}")


SCRIPTS: dict[str, tuple[Answer, ...]] = {
    "agentic_chat": ("Hello!",),
    "backend_tool_rendering": (call("get_weather", {"location": "Paris"}), "It is sunny."),
    "human_in_the_loop": (call("plan_execution_steps", {"steps": STEPS}), "Done, with a smile."),
    "agentic_generative_ui": (call("generate_task_steps", {"steps": STEPS}), "All done."),
    "tool_based_generative_ui": (call("generate_haiku", HAIKU), "There it is."),
    "shared_state": (call("generate_recipe", {"recipe": RECIPE}), "I made soup of it."),
    "predictive_state_updates": (call("write_document", {"document": DOCUMENT}), "Glad you like it."),
    "subgraphs": (
        _route("Flights first.", "flights_agent"),
        _route("Now a bed.", "hotels_agent"),
        _route("Now some fun.", "experiences_agent"),
        "There is a pier.",
        "Have a good trip!",
    ),
}
