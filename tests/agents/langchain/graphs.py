"""Small agents and folds that the LangChain tests share."""

import asyncio
from typing import Any

from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState
from langgraph.prebuilt import ToolNode, tools_condition

from tests.agents.langchain.untyped_langchain import StateGraph, create_agent
from tests.hubs import collect, session_for
from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.commands import Answer, Prompt
from trunkline.conversation import Call, Conversation
from trunkline.folding import fold
from trunkline.session.session import Session
from trunkline.testing.chat import ScriptedChatModel

PARIS = '{"city": "Paris"}'
ROME = '{"city": "Rome"}'


@tool
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"It is sunny in {city}."


@tool
def broken(why: str = "no fuel") -> str:
    """Fail, always."""
    raise ValueError(why)


class WaitingTool:
    """A tool that waits until it may go on, and what is known of it meanwhile."""

    def __init__(self) -> None:
        self.begun, self.go, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

        @tool
        async def wait() -> str:
            """Wait."""
            self.begun.set()
            try:
                await self.go.wait()
            finally:
                self.ended.set()
            return "done"

        self.tool: Any = wait


def helper_for(inner: Any) -> Any:
    """A tool that gives its job to another agent."""

    @tool
    async def helper(job: str) -> str:
        """Let somebody else do it."""
        return (await inner.ainvoke({"messages": [("user", job)]}))["messages"][-1].text

    return helper


def agent_of(
    *answers: Any, tools: Any = (weather,), **options: Any
) -> tuple[LangChainAgent, ScriptedChatModel]:
    """An agent made by create_agent, and its model."""
    script = {
        key: options.pop(key) for key in ("by_prompt", "each_turn", "streaming", "usage") if key in options
    }
    model = ScriptedChatModel(*answers, **script)
    made = adapt(create_agent(model, list(tools), **options))
    assert isinstance(made, LangChainAgent)
    return made, model


def graph_of(node: Any, state: Any = MessagesState, **options: Any) -> Any:
    """A graph with one node."""
    return StateGraph(state).add_node("node", node).add_edge(START, "node").compile(**options)


def plain_graph(model: Any, tools: list[Any], checkpointer: Any = None, **wrappers: Any) -> Any:
    """A graph without create_agent: a model, and a node for its tools."""

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.bind_tools(tools).ainvoke(state["messages"])]}

    builder = StateGraph(MessagesState).add_node(think).add_node("tools", ToolNode(tools, **wrappers))
    builder.add_edge(START, "think").add_edge("tools", "think")
    builder.add_conditional_edges("think", tools_condition)
    return builder.compile(checkpointer=checkpointer)


def folded(events: list[Any]) -> Conversation:
    """What a client that kept up would show."""
    return fold(events)


def calls_of(events: list[Any]) -> dict[str, Any]:
    """The calls of a turn by id, as they stand at its end."""
    return dict(fold(events).calls)


def only_call(events: list[Any]) -> Call:
    """The only call of a turn."""
    (made,) = fold(events).calls.values()
    return made


def parts_of(events: list[Any]) -> list[str]:
    """The kinds of the parts of the first answer, in order."""
    message = next(message for message in fold(events).messages if message.role == "agent")
    return [type(part).__name__.removesuffix("Part").lower() for part in message.parts]


def terminal(events: list[Any]) -> ev.TurnFinished | ev.TurnFailed:
    """The one event that ended the turn."""
    ended = [event for event in events if isinstance(event, ev.TurnFinished | ev.TurnFailed)]
    assert len(ended) == 1, ended
    return ended[0]


def pieces(*rows: tuple[str | None, str | None, str, int]) -> AIMessageChunk:
    """A chunk of a provider that sends these pieces of calls (id, name, arguments, index) at once."""
    made = [tool_call_chunk(id=id, name=name, args=args, index=index) for id, name, args, index in rows]
    return AIMessageChunk(content="", tool_call_chunks=made)


async def converse(agent: Any, *prompts: Prompt | str) -> list[list[Any]]:
    """Have a conversation in a session of its own; the events of each turn."""
    async with session_for(agent) as session:
        return [await collect(session, prompt) for prompt in prompts]


def answering(session: Session, **answer: Any) -> dict[type[ev.Event], Any]:
    """Answer every question of a session like this."""

    async def settle(asked: ev.Asked) -> None:
        await session.answer(Answer(question_id=asked.question_id, **answer))

    return {ev.Asked: settle}


async def run_turn(agent: Any, prompt: Prompt | str = "Go!") -> list[Any]:
    """The events of one turn."""
    return (await converse(agent, prompt))[0]


def stop_of(events: list[Any]) -> ev.StopReason:
    """Why a turn ended that ended well."""
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFinished), ended
    return ended.stop_reason


def failure_of(events: list[Any]) -> tuple[str, str]:
    """The code and the words of a turn that failed."""
    ended = terminal(events)
    assert isinstance(ended, ev.TurnFailed), ended
    return ended.code, ended.message


def check_settled(events: list[Any]) -> None:
    """Nothing is left open, whatever happened."""
    terminal(events)
    assert all(call.status in ev.FINAL_STATUSES for call in calls_of(events).values())
    assert all(lane.outcome is not None for lane in fold(events).lanes.values())
