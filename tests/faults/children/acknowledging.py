"""Kills itself with SIGKILL in the moment it is told that something was taken; one fork for each death.

The process reads ``{"do": SCENARIO, "path": JOURNAL}`` from its standard input, forks, and prints what the
fork knew when it died. Forking keeps the imports: a hundred deaths take seconds.
"""

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import trunkline
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import forever, make
from trunkline import events as ev
from trunkline.agents.adapt import adapt
from trunkline.agents.interface import Agent, AgentCard
from trunkline.commands import Answer, Prompt
from trunkline.journal import open_journal
from trunkline.options import ConfigOption
from trunkline.questions import Form
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.testing import AcpEditor, ScriptedChatModel
from trunkline.testing.chat import call

SECRET = "a-secret-for-the-acknowledged"
SCENARIOS: dict[str, Callable[[Path], Awaitable[None]]] = {}


def die(**knows: Any) -> None:
    """Tell what was acknowledged, and be killed at once."""
    os.write(1, json.dumps({"died": True, **knows}).encode() + b"\n")
    os.kill(os.getpid(), signal.SIGKILL)


def dies(agent: Callable[..., Any] | Agent) -> Any:
    """Make a scenario of a function that is given a new session of ``agent``."""

    def decorate(scenario: Callable[[Session], Awaitable[None]]) -> None:
        async def run(path: Path) -> None:
            chosen = agent if isinstance(agent, Agent) else make(agent)
            async with Hub(chosen, await open_journal(f"sqlite:{path}")) as hub:
                await scenario(await hub.create("s"))

        SCENARIOS[scenario.__name__] = run

    return decorate


async def talks(prompt: Prompt) -> AsyncIterator[str]:
    yield "hello"
    if prompt.text != "short":
        await forever()


@dies(talks)
async def prompt(session: Session) -> None:
    receipt = await session.prompt("long")
    die(turn_id=receipt.turn_id, prompt_id=receipt.prompt_id)


@dies(talks)
async def queued_prompt(session: Session) -> None:
    await session.prompt("long")
    receipt = await session.prompt(Prompt.of("next", busy="queue"))
    die(queued_id=receipt.prompt_id)


@dies(talks)
async def cancel(session: Session) -> None:
    receipt = await session.prompt("long")
    await session.cancel()
    die(turn_id=receipt.turn_id, ended="cancelled")


@dies(talks)
async def terminal(session: Session) -> None:
    async for event in session.stream("short"):
        if isinstance(event, ev.TurnFinished):
            die(turn_id=event.turn_id, ended="end_turn")


class Configurable:
    """An agent with an option."""

    card = AgentCard(name="configurable", options=(ConfigOption(option_id="loud", name="Loud", value=False),))

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "fine"


@dies(Configurable())
async def config(session: Session) -> None:
    await session.set_config("loud", True)
    die(loud=True)


async def asks(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    yield "a question: "
    answered = await ctx.ask(Form(message="how many?", fields={"properties": {"n": {"type": "integer"}}}))
    die(answered=answered.question_id)
    yield "unheard"


@dies(asks)
async def question(session: Session) -> None:
    async for event in session.stream("go"):
        if isinstance(event, ev.Asked):
            die(asked=event.question_id)


def _yes(asked: ev.Asked) -> Answer:
    return Answer(question_id=asked.question_id, outcome="accepted", content={"n": 1}, by="tester")


@dies(asks)
async def answer_as_the_agent_gets_it(session: Session) -> None:
    async for event in session.stream("go"):
        if isinstance(event, ev.Asked):
            await session.answer(_yes(event))


async def asks_and_waits(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    await ctx.ask(Form(message="how many?", fields={"properties": {"n": {"type": "integer"}}}))
    yield "thank you"
    await forever()


@dies(asks_and_waits)
async def answer(session: Session) -> None:
    async for event in session.stream("go"):
        if isinstance(event, ev.Asked):
            await session.answer(_yes(event))
            die(answered=event.question_id)


# -- tools: the effect of one is never without its record ------------------------------------------


async def uses_tool(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    async with ctx.tool("deploy", input={"where": "prod"}, kind="execute") as handle:
        die(call_id=handle.call_id)
    yield "done"


def uses_tool_in_a_thread(prompt: Prompt, ctx: TurnContext) -> str:
    with ctx.tool("deploy", input={"where": "prod"}, kind="execute") as handle:
        die(call_id=handle.call_id)
    return "done"


async def yields_a_call(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
    yield ev.ToolCall(call_id="c1", name="deploy")
    die(call_id="c1")


async def asks_permission(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    if decision := await ctx.permission("Deploy?", tool="deploy", input={"where": "prod"}):
        die(call_id=decision.call_id, allowed=True)
    yield "done"


async def _until_dead(session: Session) -> None:
    async for event in session.stream("go"):
        if isinstance(event, ev.Asked):
            await session.answer(
                Answer(question_id=event.question_id, outcome="selected", option_id="allow_once", by="tester")
            )


@dies(uses_tool)
async def tool(session: Session) -> None:
    await _until_dead(session)


@dies(uses_tool_in_a_thread)
async def tool_of_a_plain_function(session: Session) -> None:
    await _until_dead(session)


@dies(yields_a_call)
async def yielded_call(session: Session) -> None:
    await _until_dead(session)


@dies(asks_permission)
async def permission(session: Session) -> None:
    await _until_dead(session)


def deploy(where: str) -> str:
    """Deploy to a place."""
    die(native_id="call-1")
    return where


async def deploy_soon(where: str) -> str:
    """Deploy to a place."""
    return deploy(where)


def _langchain(tool: Callable[..., Any]) -> Agent:
    model = ScriptedChatModel([call(tool.__name__, {"where": "prod"}, id="call-1"), "done"])
    return adapt(create_agent(model, [tool]))


@dies(_langchain(deploy_soon))
async def langchain_tool(session: Session) -> None:
    await _until_dead(session)


@dies(_langchain(deploy))
async def langchain_tool_of_a_plain_function(session: Session) -> None:
    await _until_dead(session)


# -- through front ends ----------------------------------------------------------------------------


async def acp_prompt(path: Path) -> None:
    async with AcpEditor(make(talks), journal=await open_journal(f"sqlite:{path}")) as client:
        session_id = await client.new_session("/tmp")
        result = await client.prompt(session_id, "short")
        die(session_id=session_id, ended=result["stopReason"])


async def agui_run(path: Path) -> None:
    import uvicorn

    app = trunkline.asgi(make(talks), journal=f"sqlite:{path}", tokens=[SECRET])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.001)
    port = server.servers[0].sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    message = {"id": "m1", "role": "user", "content": "short"}
    body = json.dumps({"threadId": "s", "runId": "r", "messages": [message]}).encode()
    head = f"POST /agui HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {SECRET}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    seen = b""
    while b"RUN_FINISHED" not in seen:
        seen += await reader.read(65536)
    die(ended="end_turn")
    await serving


SCENARIOS.update(acp_prompt=acp_prompt, agui_run=agui_run)


def main() -> None:
    """Serve deaths until the standard input ends."""
    for line in sys.stdin:
        wanted = json.loads(line)
        pid = os.fork()
        if not pid:
            try:
                asyncio.run(_bounded(SCENARIOS[wanted["do"]](Path(wanted["path"]))))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        os.write(1, json.dumps({"did": wanted["do"], "killed": killed}).encode() + b"\n")


async def _bounded(work: Awaitable[None]) -> None:
    async with asyncio.timeout(20):
        await work


if __name__ == "__main__":
    main()
