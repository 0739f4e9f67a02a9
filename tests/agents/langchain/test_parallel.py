"""Two agents and twenty sessions at once, chunk by chunk in step, do not mix."""

import asyncio
import itertools
from contextlib import AsyncExitStack
from typing import Any

from langchain.tools import ToolRuntime
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver

from tests.agents.langchain.untyped_langchain import create_agent
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import hub_for, soon
from trunkline import adapt
from trunkline.testing.chat import ScriptedChatModel, call, thinks

SESSIONS = [f"<{number:02}>" for number in range(20)]
TURNS = ("first", "second")


@tool
async def shout(text: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Say it louder, and in which thread."""
    thread: str = runtime.config.get("configurable", {})["thread_id"]
    await asyncio.sleep(0)
    return f"{text.upper()}! in {thread}"


def make_agent(names: list[str], barrier: asyncio.Barrier, **options: Any) -> Any:
    """Make an agent that answers every session in words of its own, and never runs ahead of the others.

    All of them use the same ids for their calls, and each has a subagent at work.
    """
    inner = ScriptedChatModel(
        by_prompt={
            f"{name} {turn}": [[call("shout", {"text": f"{name} {turn} deep"}, "c")], f"{name} {turn} found"]
            for name in names
            for turn in TURNS
        },
        gate=barrier.wait,
    )
    helper = create_agent(inner, [shout], name="helper")

    @tool
    async def delegate(task: str) -> str:
        """Let a subagent do it."""
        ended = await helper.ainvoke({"messages": [HumanMessage(task)]})
        return ended["messages"][-1].text

    model = ScriptedChatModel(
        by_prompt={
            f"{name} {turn}": [
                [
                    thinks(f"{name} {turn} thinks"),
                    f"{name} {turn} begins",
                    call("shout", {"text": f"{name} {turn}"}, "c"),
                    call("delegate", {"task": f"{name} {turn}"}, "d"),
                ],
                f"{name} {turn} ends with four words",
            ]
            for name in names
            for turn in TURNS
        },
        gate=barrier.wait,
    )
    tools: list[BaseTool] = [shout, delegate]
    return create_agent(model, tools, **options)


def updates_of(editor: Editor, session: str) -> list[dict[str, Any]]:
    """The updates of one session, as they came over the shared wire."""
    messages = [m["params"] for m in editor.agents_wire.messages if m.get("method") == "session/update"]
    return [params["update"] for params in messages if params["sessionId"] == session]


def shown(updates: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What a client shows in the end, lane by lane: text and thoughts by message, calls with their ends."""
    seen: dict[tuple[Any, ...], Any] = {}
    for update in updates:
        lane = update.get("_meta", {}).get("trunkline", {}).get("lane")
        kind = update["sessionUpdate"]
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            key = (lane, kind.split("_")[1], update["messageId"])
            seen[key] = seen.get(key, "") + update["content"]["text"]
        elif kind in ("tool_call", "tool_call_update"):
            known = seen.setdefault((lane, "call", update["toolCallId"]), {})
            known.update(update)
    return [
        (
            lane,
            kind,
            content if kind != "call" else (content["status"], content["rawInput"], content["rawOutput"]),
        )
        for (lane, kind, _), content in seen.items()
    ]


def expected(name: str, session: str) -> list[tuple[Any, ...]]:
    """What a session shows, of itself and of nobody else."""
    return [
        item
        for output in (f"{name} {turn}" for turn in TURNS)
        for item in (
            (None, "thought", f"{output} thinks"),
            (None, "message", f"{output} begins"),
            (None, "call", ("completed", {"text": output}, f"{output.upper()}! in {session}")),
            (None, "call", ("completed", {"task": output}, f"{output} found")),
            ("d", "call", ("completed", {"text": f"{output} deep"}, f"{output.upper()} DEEP! in {session}")),
            ("d", "message", f"{output} found"),
            (None, "message", f"{output} ends with four words"),
        )
    ]


async def play(editor: Editor, name: str) -> str:
    """Open a session and send its prompts."""
    session = await editor.open()
    for turn in TURNS:
        ended = await editor.prompt(session, f"{name} {turn}")
        assert ended["stopReason"] == "end_turn"
    return session


async def test_two_agents_and_twenty_sessions_at_once_do_not_mix() -> None:
    barrier = asyncio.Barrier(len(SESSIONS))
    halves = SESSIONS[::2], SESSIONS[1::2]
    agents = (make_agent(halves[0], barrier, checkpointer=InMemorySaver()), make_agent(halves[1], barrier))
    async with AsyncExitStack() as stack:
        editors: list[Editor] = []
        for agent in agents:
            hub = await stack.enter_async_context(hub_for(adapt(agent)))
            editors.append(await stack.enter_async_context(editing(hub, ABLE)))
        owners = {name: editor for names, editor in zip(halves, editors, strict=True) for name in names}
        sessions = await soon(asyncio.gather(*(play(owners[name], name) for name in SESSIONS)), 50)
    for name, session in zip(SESSIONS, sessions, strict=True):
        assert shown(updates_of(owners[name], session)) == expected(name, session)
    for editor in editors:
        speakers = [m["params"]["sessionId"] for m in editor.agents_wire.messages if "params" in m]
        turns = sum(one != other for one, other in itertools.pairwise(speakers))
        assert turns > len(speakers) / 2, "the sessions spoke at the same time"
