"""One turn of an agent of the SDK, from the prompt to its end, with every stop for approvals between."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from agents import Agent, Runner, RunResultStreaming, RunState, ToolCallOutputItem
from trunkline import events as ev
from trunkline.agents.interface import Sayable
from trunkline.agents.openai import run_states
from trunkline.agents.openai.agent_copies import AgentCopies
from trunkline.agents.openai.input_items import Item, items_of, user_item
from trunkline.agents.openai.permissions import REFUSED, Permissions, durable_key
from trunkline.agents.openai.running_calls import Calls
from trunkline.agents.openai.stream_events.stop_reasons import notice_of, stop_of
from trunkline.agents.openai.stream_events.translator import StreamTranslator
from trunkline.agents.openai.tools.client_tools import client_tools
from trunkline.agents.openai.tools.function_tools import ToolCopies
from trunkline.agents.openai.tools.native_tools import request_of
from trunkline.commands import Prompt
from trunkline.error_redaction import marks_of
from trunkline.session.context import Decision, TurnContext
from trunkline.session.ids import new_id
from trunkline.tools.adapter_calls import show_calls
from trunkline.tools.call_files import CallFiles
from trunkline.tools.folder_reader import folder_reader
from trunkline.tools.results import model_text

if TYPE_CHECKING:
    from trunkline.agents.openai.agent import OpenAIAgent
    from trunkline.agents.openai.tools.session_servers import SessionServers

log = logging.getLogger("trunkline.openai")

_REPAIR_WITHIN = 3.0
_STOP_WITHIN = 0.5
_BURST = 64
_TOLD = "trunkline.openai.notices"
_NOT_RUN = "The agent stopped before it ran this call."


class SdkTurn:
    """One turn of one agent: ``run``, or ``resume`` after a restart."""

    def __init__(self, owner: OpenAIAgent, ctx: TurnContext, servers: SessionServers | None) -> None:
        """Join a turn's context with an agent; ``servers`` are the session's own."""
        self._owner = owner
        self._ctx = ctx
        self._memory = owner.memory_of(ctx.session)
        settings = owner.run_config.model_settings
        self._translator = StreamTranslator(
            ctx.turn_id,
            lambda: new_id("message"),
            kind_mapper=owner.kind_mapper,
            annotations=self._annotations_of,
            call_files=CallFiles(folder_reader(ctx.session.folders)),
            max_tokens=None if settings is None else settings.max_tokens,
            on_usage=self._count,
        )
        self._calls = Calls(ctx, self._translator)
        self._permissions = Permissions(ctx, self._calls)
        tools = ToolCopies(self._calls, self._permissions)
        show_calls(ctx, lambda native_id: self._calls.shown_call(native_id, self._permissions.is_approved))
        own = {tool.name for tool in owner.agent.tools}
        self._agent: Agent[Any] = AgentCopies(
            owner.agent,
            tools,
            config=ctx.session.config,
            run_config=owner.run_config,
            session_tools=[
                tools.function_tool(tool) for tool in client_tools(ctx.prompt.tools, ctx, self._calls)
            ],
            servers=[] if servers is None else servers.for_turn(ctx, self._calls, own),
            notify=self._notify_once,
        ).copy(owner.agent)
        self._context = owner.context_for(ctx.session)
        self._history: list[Item] = []
        self._inputs = 0
        self._usage: list[ev.TokenUsage] = []

    def _count(self, usage: ev.TokenUsage) -> None:
        self._usage.append(usage)
        self._ctx.usage(usage)

    def _annotations_of(self, name: str) -> dict[str, Any] | None:
        return self._calls.annotations_of(name)

    def _notify_once(self, title: str, text: str) -> None:
        """Show a notice, once in a session."""
        notified: set[str] = self._ctx.session.memory.setdefault(_TOLD, set())
        if title not in notified:
            notified.add(title)
            self._ctx.notice(title, text, severity="warning")

    # -- running ---------------------------------------------------------------------------------------

    async def run(self, prompt: Prompt) -> AsyncIterator[Sayable]:
        """Answer a prompt."""
        if self._memory is None:
            self._history = items_of(await self._ctx.history())
        else:
            # A process that died in a turn left the history unrepaired.
            await self._memory.repair()
        inputs = [*self._history, *_context_items(prompt.context), user_item(prompt.content)]
        self._inputs = len(inputs)
        async for item in self._run(inputs):
            yield item
        if self._memory is not None:
            await self._mark(self._memory, prompt)

    async def resume(self, answers: Mapping[str, ev.Answered]) -> AsyncIterator[Sayable]:
        """Go on with a turn of an earlier process."""
        ctx = self._ctx
        if self._memory is None:
            self._history = items_of(await ctx.history())
        so_far = await ctx.turn_so_far()
        self._calls.restore(so_far)
        # A question that was answered before the process ended is not open any more.
        earlier = {
            one.asked.durable_key: one.answered
            for one in so_far.questions.values()
            if one.asked.durable_key is not None and one.answered is not None
        }
        try:
            state = await run_states.restore(
                ctx.session, ctx.turn_id, self._agent, self._history, self._context
            )
            assert state is not None, "its questions were looked for"
            for usage in run_states.usage_of(ctx.session):
                self._count(usage)
            await self._decide(state, {**earlier, **answers})
        except asyncio.CancelledError:
            raise
        except Exception as error:
            log.warning("the run of turn %s could not be restored", ctx.turn_id, exc_info=error)
            await run_states.discard(ctx.session)
            why = f"the agent changed since it asked, or cannot be resumed: {error}"
            self._calls.close(reason=why, status="failed")
            yield ev.TurnFailed(code="interrupted", message=why)
            return
        async for item in self._run(state):
            yield item

    async def _run(self, given: list[Item] | RunState[Any, Any]) -> AsyncIterator[Sayable]:
        """Run the agent to its end, and ask the questions that it stops for."""
        error: Exception | None = None
        try:
            while True:
                result = self._start(given)
                await self._follow(result)
                if not result.interruptions:
                    self._say_output(result)
                    break
                given = result.to_state()
                await self._decide(given, {})
        except asyncio.CancelledError:
            self._calls.show_results()
            # The SDK lets go of the tools of inner agents before these have stopped: what a cancelled turn
            # started must not run beside the next one.
            await self._calls.wait_until_idle(_STOP_WITHIN)
            await self._repair()
            raise
        except Exception as raised:
            error = raised
            await self._repair()
        terminal = stop_of(error, self._translator.facts)
        if error is not None and (notice := notice_of(error)) is not None:
            self._ctx.emit(notice)
        self._calls.close(reason=_NOT_RUN, status="failed")
        if error is not None and isinstance(terminal, ev.TurnFailed):
            turn_id = self._ctx.turn_id
            log.warning(
                "the agent failed in turn %s", turn_id, exc_info=error, extra={"failed_turn": turn_id}
            )
            yield ev.TurnFailed(code=terminal.code, message=terminal.message, meta=marks_of(error))
        else:
            yield terminal

    def _start(self, given: list[Item] | RunState[Any, Any]) -> RunResultStreaming:
        owner = self._owner
        return Runner.run_streamed(
            self._agent,
            cast("Any", given),
            context=self._context,
            max_turns=owner.max_turns,
            hooks=owner.hooks,
            run_config=owner.run_config,
            session=None if self._memory is None else self._memory.session,
        )

    async def _follow(self, result: RunResultStreaming) -> None:
        """Show what happens in a run until it ends or stops."""
        feed, ctx, number = self._calls.feed, self._ctx, 0
        # Typed as an iterator; it is a generator, which ends the run when it is closed.
        async with contextlib.aclosing(cast("AsyncGenerator[Any]", result.stream_events())) as events:
            async for event in events:
                feed(event)
                number += 1
                if number % _BURST == 0:
                    await asyncio.sleep(0)
                if ctx.lagging:
                    await ctx.ready()

    def _say_output(self, result: RunResultStreaming) -> None:
        """Say the output of a run that ended with a tool: no message of the model has it."""
        last: Any = result.new_items[-1] if result.new_items else None
        if isinstance(last, ToolCallOutputItem) and result.final_output not in (None, ""):
            text = model_text(result.final_output)
            self._ctx.emit_text(text, new_id("message"))

    async def _repair(self) -> None:
        """Complete the user's own history for the next prompt, unless another process resumes this turn."""
        if self._memory is None or not self._ctx.live:
            return
        repairing = asyncio.ensure_future(self._repair_memory())
        try:
            async with asyncio.timeout(_REPAIR_WITHIN):
                await asyncio.shield(repairing)
        except Exception:
            log.exception("the agent's own Session could not be repaired")

    async def _repair_memory(self) -> None:
        assert self._memory is not None
        await self._memory.repair(await self._ctx.turn_so_far())

    async def _mark(self, memory: Any, prompt: Prompt) -> None:
        turn = await self._ctx.turn_so_far()
        await memory.mark([message.message_id for message in turn.messages if message.lane is None])

    # -- approvals -------------------------------------------------------------------------------------

    async def _decide(self, state: RunState[Any, Any], answers: Mapping[str, ev.Answered]) -> None:
        """Decide about the calls that a run stopped for: keep the run, ask, and tell it the answers."""
        ctx, items = self._ctx, state.get_interruptions()
        requests = [request_of(item) for item in items]
        keys = _unique([durable_key(one.native_id, one.name, one.input) for one in requests])
        if not answers:
            await ctx.durable()
            if not await run_states.keep(
                ctx.session, ctx.turn_id, state, self._kept_history, keys, self._usage
            ):
                keys = [""] * len(keys)
        asking = [
            asyncio.ensure_future(
                self._permissions.decide_interruption(
                    request, self._calls.find(request.native_id) or request.native_id, key, answers.get(key)
                )
            )
            for request, key in zip(requests, keys, strict=True)
        ]
        await asyncio.sleep(0)
        ctx.suspend()
        try:
            decisions: list[Decision] = await asyncio.gather(*asking)
        finally:
            for question in asking:
                question.cancel()
        for item, decision in zip(items, decisions, strict=True):
            if decision:
                state.approve(item)
            else:
                state.reject(item, rejection_message=decision.reason or REFUSED)
        # First: a process that ends now must not run the calls a second time.
        await run_states.discard(ctx.session)

    @property
    def _kept_history(self) -> tuple[int, int]:
        """How many of the input items are of the journal, and how many there are."""
        return (len(self._history), self._inputs) if self._memory is None else (0, 0)


def _unique(keys: Sequence[str]) -> list[str]:
    """Number the keys that come twice: two agents may make the same call."""
    counts: dict[str, int] = {}
    named: list[str] = []
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
        named.append(key if counts[key] == 1 else f"{key}.{counts[key]}")
    return named


def _context_items(context: Sequence[Mapping[str, Any]]) -> list[Item]:
    """What a front end wants the agent to know, as the user's own words: it comes from a client."""
    if not context:
        return []
    lines = [f"{one.get('description') or 'Context'}: {_text(one.get('value'))}" for one in context if one]
    return [{"role": "user", "content": "What the application shows:\n" + "\n".join(lines)}]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
