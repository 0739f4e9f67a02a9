"""An AG-UI server on ag-ui-langgraph, with a model that needs no network; prints its port.

It runs in an environment that has the package and nothing of ours. The last prompt says what happens; the
same words do the same in serve_pydantic_ai.py and in tests/peers/agents.py. At ``/`` interrupts are
outcomes, at ``/default`` they are told as the package tells them when nobody asks for more, and below both
``/review`` lets LangChain's middleware ask.
"""

import asyncio
import importlib
import json
import operator
import socket
import sys
from collections.abc import AsyncIterator
from typing import Annotated, Any

import langchain.agents
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send, interrupt

SCHEMA = {"type": "object", "properties": {"approved": {"type": "boolean"}, "editedArgs": {"type": "object"}}}


def calls(*made: tuple[str, dict[str, Any]]) -> AIMessageChunk:
    chunks = [
        {
            "name": name,
            "args": json.dumps(args),
            "id": f"{name}-{index}",
            "index": index,
            "type": "tool_call_chunk",
        }
        for index, (name, args) in enumerate(made)
    ]
    return AIMessageChunk(content="", tool_call_chunks=chunks)  # pyright: ignore[reportArgumentType]


def answer(messages: list[BaseMessage]) -> list[Any]:
    """What the model says next."""
    begin = max(at for at, message in enumerate(messages) if isinstance(message, HumanMessage))
    prompt, results = str(messages[begin].text), messages[begin + 1 :]
    if prompt == "fail":
        return ["Before. ", RuntimeError("the provider hung up")]
    if prompt == "slow":
        return ["Slow. ", asyncio.Event()]
    if not results:
        match prompt:
            case "tool":
                return [calls(("weather", {"city": "Paris"}))]
            case "sell" | "review":
                return [calls(("sell", {"what": "shoes"}))]
            case "sell both":
                return [calls(("sell", {"what": "shoes"}), ("sell", {"what": "hats"}))]
            case "ask":
                return [calls(("ask", {}))]
            case "pick":
                return [calls(("pick_colour", {"of": ["red", "blue"]}))]
            case _:
                prompts = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
                return [f"{word} " for word in " | ".join(prompts).split()]
    results = [message for message in results if message.type == "tool"]
    return [f"{message.text}. " for message in results]


class Scripted(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for piece in answer(messages):
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            else:
                chunk = AIMessageChunk(content=piece) if isinstance(piece, str) else piece
                yield ChatGenerationChunk(message=chunk)


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"Sunny in {city}"


@tool
def sell(what: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Sell something, after asking."""
    answer: dict[str, Any] = interrupt(
        {"message": f"Sell {what}?", "toolCallId": call_id, "responseSchema": SCHEMA}
    )
    if not answer.get("approved"):
        return f"kept {what}"
    edited: dict[str, str] = answer.get("editedArgs") or {"what": what}
    return f"sold {edited['what']}"


@tool("sell")
def sell_at_once(what: str) -> str:
    """Sell something; whoever reviews it has been asked."""
    return f"sold {what}"


@tool
def ask() -> str:
    """Ask something that has no form."""
    return f"They said {interrupt('What is your name?')}"


class State(MessagesState):
    tools: list[Any]
    visits: Annotated[int, operator.add]


async def chat(state: State) -> dict[str, Any]:
    return {"messages": [await Scripted().ainvoke(state["messages"])], "visits": 1}


def route(state: State) -> Any:
    """Run every call in a task of its own, as create_agent does; those of the client are not ours."""
    last = state["messages"][-1]
    made = last.tool_calls if isinstance(last, AIMessage) else []
    return [Send("tools", [call]) for call in made if call["name"] != "pick_colour"] or END


def graph() -> Any:
    made: Any = StateGraph(State)
    made.add_node("chat", chat)
    made.add_node("tools", ToolNode([weather, sell, ask]))
    made.add_edge(START, "chat")
    made.add_conditional_edges("chat", route, ["tools", END])
    made.add_edge("tools", "chat")
    return made.compile(checkpointer=InMemorySaver())


def reviewed() -> Any:
    review: Any = HumanInTheLoopMiddleware({"sell": True})
    agents: Any = langchain.agents
    return agents.create_agent(Scripted(), [sell_at_once], middleware=[review], checkpointer=InMemorySaver())


def main() -> None:
    # The environment this file is checked in does not have them.
    peer: Any = importlib.import_module("ag_ui_langgraph")
    fastapi: Any = importlib.import_module("fastapi")
    uvicorn: Any = importlib.import_module("uvicorn")
    app = fastapi.FastAPI()
    for path, options in (("", {"emit_interrupt_outcome": True}), ("/default", {})):
        for place, made in ((path or "/", graph()), (f"{path}/review", reviewed())):
            agent = peer.LangGraphAgent(name="peer", graph=made, **options)
            peer.add_langgraph_fastapi_endpoint(app, agent, place)
    listener = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    main()
