"""Executions that are stopped at odd moments."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.hubs import make, session_for
from trunkline import events as ev
from trunkline.agents.interface import Agent, AgentCard
from trunkline.cli.exec.approvals import ExecApprovals
from trunkline.cli.exec.run import DENIED, ExecRun
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.session.context import SessionView, TurnContext
from trunkline.testing import ScriptedAgent


class Recorder:
    """A printer that remembers, and may do something on the way."""

    def __init__(self) -> None:
        self.events: list[ev.AnyEvent] = []
        self.ended = False
        self.execution: ExecRun | None = None

    async def begin(self, session_id: str) -> None: ...

    def go_on(self, conversation: Conversation) -> None: ...

    async def show(self, events: Sequence[ev.AnyEvent]) -> None:
        self.events += events
        if self.execution is not None and any(isinstance(event, ev.Text) for event in events):
            self.execution.stop(7)
            self.execution.stop(8)

    async def end(self, turn_id: str | None, denied: bool) -> None:
        self.ended = True


class Sleeper:
    """An agent that never gets ready."""

    card = AgentCard(name="sleeper")

    def __init__(self) -> None:
        self.opening = asyncio.Event()

    async def open_session(self, session: SessionView) -> None:
        self.opening.set()
        await asyncio.Event().wait()

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "never"


async def execute(agent: Agent, prompt: str, printer: Recorder, *, stops: bool, timeout: float | None) -> int:
    async with asyncio.timeout(20), session_for(agent) as session:
        execution = ExecRun(session, printer, ExecApprovals("none"))
        printer.execution = execution if stops else None
        return await execution.run(prompt, timeout)


async def test_the_first_reason_to_stop_is_the_exit_code() -> None:
    printer = Recorder()

    assert await execute(ScriptedAgent(), "/wait-for-cancel", printer, stops=True, timeout=15) == 7
    assert isinstance(printer.events[-1], ev.TurnFinished)
    assert printer.ended


async def test_one_that_is_stopped_before_it_began_sends_nothing() -> None:
    class Early(Recorder):
        async def begin(self, session_id: str) -> None:
            assert self.execution is not None
            self.execution.stop(143)

    printer = Early()
    assert await execute(ScriptedAgent(), "/wait-for-cancel", printer, stops=True, timeout=15) == 143
    assert printer.events == []


async def test_an_agent_that_never_gets_ready_runs_into_the_timeout() -> None:
    printer = Recorder()

    assert await execute(Sleeper(), "hello", printer, stops=False, timeout=0.05) == 3
    assert printer.events == []


async def test_a_turn_that_the_agent_ends_as_cancelled_after_a_refusal_is_a_refusal() -> None:
    async def gives_up(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[ev.Event]:
        assert not await ctx.permission("May I?", tool="run", input={})
        yield ev.TurnFinished(turn_id=ctx.turn_id, stop_reason="cancelled")

    assert await execute(make(gives_up), "go", Recorder(), stops=False, timeout=None) == DENIED


async def test_an_execution_that_is_itself_cancelled_says_so() -> None:
    agent = Sleeper()
    running = asyncio.create_task(execute(agent, "hello", Recorder(), stops=False, timeout=None))
    await asyncio.wait_for(agent.opening.wait(), 5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
