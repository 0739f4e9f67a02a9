"""The prompts of one session at an ACP agent: sends them, gives messages to their turns, cancels them."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

import msgspec

from trunkline import events as ev
from trunkline.agents.acp.connection import AgentConnection
from trunkline.agents.acp.errors import says_that_session_is_lost
from trunkline.agents.acp.native_session import NativeSession
from trunkline.agents.acp.prompt_blocks import prompt_blocks
from trunkline.agents.acp.refeed import refeed
from trunkline.agents.acp.silent_agent import SilenceWatch
from trunkline.agents.interface import WireLines
from trunkline.commands import Prompt
from trunkline.errors import AgentError, AgentExited
from trunkline.options import ConfigOption
from trunkline.protocols.acp.prompt_result import turn_finished
from trunkline.protocols.jsonrpc.messages import NoAnswer, RpcError
from trunkline.session.context import TurnContext
from trunkline.session.view import SessionView

if TYPE_CHECKING:
    from trunkline.agents.acp.agent import AcpAgent

log = logging.getLogger("trunkline.acp")

TAKEN = ("injected", "startedNewTurn")
"""The outcomes of steering after which the agent has the message; else it waits for its own turn."""


class SessionPrompts:
    """Prompts one session at an agent, for as long as ours is open in this process."""

    def __init__(self, agent: AcpAgent, view: SessionView) -> None:
        """Prepare; ``open`` starts what is needed."""
        self._agent = agent
        self._settings = agent.settings
        self._native = NativeSession(agent, view, self._process_ended)
        self._events = self._native.events
        self._silence = SilenceWatch(
            self._events, agent.settings.silent_after, agent.settings.stop_silent_after
        )
        self._prompt: asyncio.Future[Any] | None = None

    @property
    def connection(self) -> AgentConnection | None:
        """The process of the session, if it has one."""
        return self._native.connection

    def wire_lines(self) -> WireLines | None:
        """Give the newest lines of the session's process, also after its end; None if it had none."""
        return self._native.wire.read() if self._native.wire is not None else None

    async def open(self) -> AgentConnection:
        """Make sure that the agent has this session open, in a process that runs."""
        await self._native.wait_for_end()
        async with self._native.lock:
            connection = await self._native.open()
        self._native.idle_close.schedule()
        return connection

    async def set_config(self, options: tuple[ConfigOption, ...]) -> tuple[ConfigOption, ...]:
        """Set what differs from the agent's options; gives the options as the agent has them then."""
        await self.open()
        async with self._native.lock:
            return await self._native.set_config(options)

    async def fork(self) -> str | None:
        """Copy the session at the agent and give the id of the copy; None if the agent does not offer it."""
        await self.open()
        async with self._native.lock:
            return await self._native.fork()

    async def begin_anew(self) -> None:
        """Let the next prompt begin a new session at the agent, with the conversation as it is then."""
        async with self._native.lock:
            await self._native.close_at_agent()
            await self._native.release_process()
            await self._native.keep(None, refeed=True)

    # -- prompts -----------------------------------------------------------------------------------

    async def run(self, prompt: Prompt, ctx: TurnContext) -> ev.TurnFinished:
        """Send a prompt, and wait for the end of the turn.

        An agent whose process lives on without the session is started again, with the next prompt; or at
        once, if it has not begun with this one.
        """
        try:
            return await self._run(prompt, ctx)
        except RpcError as error:
            if not says_that_session_is_lost(error):
                raise self._agent.explain(error, "the prompt") from None
            async with self._native.lock:
                await self._native.release_process()
            if self._events.has_said:
                raise self._agent.explain(error, "the prompt") from None
            log.warning("%s is started again, as it lost a session: %s", self._agent.card.name, error)
        try:
            return await self._run(prompt, ctx)
        except RpcError as error:
            raise self._agent.explain(error, "the prompt") from None

    async def _run(self, prompt: Prompt, ctx: TurnContext) -> ev.TurnFinished:
        connection = await self.open()
        native = self._native
        blocks = await self._blocks(prompt, connection, ctx)
        # It raises if the process has ended meanwhile: then no turn has begun at the agent.
        self._prompt = future = self._ask(prompt, blocks, connection)
        native.idle_close.cancel()
        self._events.begin(ctx)
        native.decoder.begin_turn(ctx.turn_id, blocks)
        stop_reason, stderr = "failed", connection.stderr
        try:
            result = await self._answer(future, connection, ctx)
            await native.held.released.wait()
            native.tell_of_noise()
            finished = self._finished(result)
            stop_reason = finished.stop_reason
            has_said = self._events.has_said or native.decoder.holds_error_text
            if stop_reason == "end_turn" and not has_said and not prompt.text.startswith("/"):
                self._tell_of_no_words(ctx, connection.stderr if connection.stderr != stderr else "")
            if native.must_refeed:
                await native.keep(native.native_id, refeed=False)
            return finished
        except asyncio.CancelledError:
            stop_reason = "cancelled"
            await self._cancel(connection, future)
            raise
        except NoAnswer:
            raise connection.gone() from None
        except RpcError as error:
            native.held.release()
            self._events.has_said |= native.decoder.drop_error_text(str(error))
            raise
        finally:
            native.held.release()
            self._events.end(stop_reason, prompt=future)
            native.idle_close.schedule()

    async def _blocks(
        self, prompt: Prompt, connection: AgentConnection, ctx: TurnContext
    ) -> list[dict[str, Any]]:
        """Give a prompt as the agent takes it; what had to be changed is said to the person."""
        blocks, notes = prompt_blocks(prompt, connection.initialize)
        for note in notes:
            ctx.notice(f"{self._agent.card.title}: {note}", severity="warning")
        return await self._with_conversation(blocks, ctx) if self._native.must_refeed else blocks

    def _ask(
        self, prompt: Prompt, blocks: list[dict[str, Any]], connection: AgentConnection
    ) -> asyncio.Future[Any]:
        """Send a prompt; the future is the agent's answer."""
        return connection.ask("session/prompt", {"sessionId": self._native.native_id, "prompt": blocks})

    def _finished(self, result: dict[str, Any]) -> ev.TurnFinished:
        """Give the end of the turn; tokens that name no model are those of the model that is chosen."""
        decoder = self._native.decoder
        end = turn_finished(result, decoder.profile)
        models = (option.value for option in decoder.options if option.category == "model")
        if end.usage and isinstance(model := next(models, None), str):
            usage = tuple(msgspec.structs.replace(one, model=one.model or model) for one in end.usage)
            return msgspec.structs.replace(end, usage=usage)
        return end

    def _tell_of_no_words(self, ctx: TurnContext, stderr: str) -> None:
        """Tell the person of a turn in which nothing came: some agents keep an error of their model back."""
        why = "Its own log may say why; a key that the model's provider does not accept is a usual cause."
        ctx.notice(
            f"{self._agent.card.title} ended the turn without a word",
            f"The end of its stderr: {stderr[-500:]}" if stderr else why,
            severity="warning",
        )

    async def _with_conversation(
        self, blocks: list[dict[str, Any]], ctx: TurnContext
    ) -> list[dict[str, Any]]:
        """Put the conversation so far before a prompt, as the agent does not know it."""
        text = refeed(await ctx.history())
        if text is None:
            return blocks
        ctx.notice(
            f"{self._agent.card.title} was sent the conversation so far, as it does not remember it",
            f"{len(text)} characters of text, without images and without its own state",
        )
        return [{"type": "text", "text": text}, *blocks]

    async def _answer(
        self, future: asyncio.Future[Any], connection: AgentConnection, ctx: TurnContext
    ) -> dict[str, Any]:
        """Wait for the answer to a prompt; an agent that is silent for too long is stopped."""
        if not await self._silence.wait(future, ctx, self._agent.card):
            await self._cancel(connection, future)
            silence = self._settings.stop_silent_after
            why = f"{self._agent.card.name} was stopped, as it said nothing for {silence:g} s"
            stderr = connection.stderr[-500:]
            raise AgentError(f"{why}; the end of its stderr: {stderr}" if stderr else why)
        result = future.result()
        return cast("dict[str, Any]", result) if isinstance(result, dict) else {}

    async def steer(self, prompt: Prompt) -> bool:
        """Give a message to the running turn; False if the agent does not offer that, or does not take it.

        The shape is that of claude-agent-acp 0.99.1 and codex-acp 2.6.0. With ``promptRequired`` an agent
        that was idle by then leaves the message to us, and it waits for its own turn; without that the agent
        would begin a turn of its own with it.
        """
        connection, decoder = self.connection, self._native.decoder
        running = self._prompt is not None and not self._prompt.done()
        if connection is None or not running or not decoder.profile.can_steer(connection.initialize):
            return False
        blocks, _ = prompt_blocks(prompt, connection.initialize)
        decoder.expect_echo(blocks)
        params = {
            "sessionId": self._native.native_id,
            "prompt": blocks,
            "_meta": {"steering": {"idleBehavior": "promptRequired"}},
        }
        held = self._native.held
        held.hold()
        try:
            result = await self._native.request(connection, decoder.profile.steering, params)
        except (RpcError, TimeoutError, AgentExited) as error:
            log.warning("%s did not take a message into its turn: %s", self._agent.card.name, error)
            return False
        finally:
            # In the next step: in this one the message is journalled.
            asyncio.get_running_loop().call_soon(held.release)
        if result.get("outcome") not in TAKEN:
            return False
        decoder.end_message()
        return True

    # -- cancelling --------------------------------------------------------------------------------

    async def _cancel(self, connection: AgentConnection, future: asyncio.Future[Any]) -> None:
        """Tell the agent to stop; one that does not is stopped by signals, in its own time.

        "The Client MUST respond to all pending session/request_permission requests with the cancelled
        outcome" (https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation).
        """
        self._native.requests.cancel_turn()
        self._native.decoder.cancel_turn()
        if future.done() or connection.ended.is_set():
            return
        connection.notify("session/cancel", {"sessionId": self._native.native_id})
        await asyncio.wait({future}, timeout=self._settings.cancel_within)
        if not future.done():
            self._native.end_soon(self._stop(connection))

    async def _stop(self, connection: AgentConnection) -> None:
        """Stop an agent that does not react to session/cancel; our session stays, and is loaded again."""
        name = self._agent.card.title
        if self._agent.processes.users_of(connection) > 1:
            self._native.notice(
                f"{name} goes on with a cancelled prompt",
                "Other sessions use its process; this one goes on in another.",
                severity="warning",
            )
            self._agent.processes.retire(connection)
            await self._native.release_process()
            return
        log.warning("%s did not react to session/cancel, and is stopped", name)
        await self._native.release_process(interrupt=True)

    # -- the end -----------------------------------------------------------------------------------

    def _process_ended(self) -> None:
        """Tell the person that the process ended while nothing ran; a running turn fails by itself."""
        self._events.close()
        connection = self.connection
        if connection is not None and (self._prompt is None or self._prompt.done()):
            self._native.notice(
                f"the process of {self._agent.card.title} ended; it is started again with the next prompt",
                connection.exit,
                severity="warning",
                code="agent_exited",
            )

    async def close(self) -> None:
        """Let go of the session in this process; it can be loaded again."""
        self._native.idle_close.cancel()
        self._events.close()
        await self._native.wait_for_end()
        running = self._prompt is not None and not self._prompt.done()
        try:
            await self._native.requests.close()
            if not running:
                await self._native.close_at_agent()
        finally:
            await self._native.release_process(interrupt=running)
