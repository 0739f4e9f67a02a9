"""The turns of a spliced session: those of the editor's prompts, and those of other clients'.

The editor's prompts are at the agent already when their turns begin here: such a turn sends nothing, and
waits for the answer. A prompt of another client is sent as a request of our own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trunkline import events as ev
from trunkline.agents.acp.connection import AgentConnection
from trunkline.agents.acp.requests.session_requests import AgentRequests
from trunkline.agents.acp.session_prompts import TAKEN, SessionPrompts
from trunkline.agents.acp.splice.own_requests import retrieve
from trunkline.agents.acp.turn_events import TurnEvents
from trunkline.commands import Prompt
from trunkline.content import Content, TextBlock
from trunkline.errors import AgentError
from trunkline.protocols.acp.content import block_from_wire
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.acp.fields import as_list, as_object
from trunkline.protocols.jsonrpc.messages import NoAnswer, Params, RpcError
from trunkline.session.context import TurnContext
from trunkline.session.ids import new_id
from trunkline.session.view import SessionView

if TYPE_CHECKING:
    from trunkline.agents.acp.splice.agent import SpliceAgent


class OpenPrompt:
    """A prompt, or a message for the running turn, of the editor's that the agent has not answered."""

    def __init__(self, key: str, blocks: list[dict[str, Any]]) -> None:
        self.key = key
        self.blocks = blocks
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.answer.add_done_callback(retrieve)
        self.begun = asyncio.Event()
        """Set when its turn takes what the agent says."""
        self.stored = asyncio.Event()
        """Set when the end of its turn is stored."""
        self.may_be_mute = False
        """Whether its turn may be without a word: it was cancelled, answered before, or had requests."""

    @classmethod
    def of(cls, params: Params) -> OpenPrompt:
        """Make one of what the editor sent."""
        blocks = [as_object(block) for block in as_list(as_object(params).get("prompt"))]
        return cls(new_id("prompt"), blocks)

    @property
    def content(self) -> tuple[Content, ...]:
        """Its blocks as the journal has them; one that we cannot read is shown by its type."""
        return tuple(
            block_from_wire(block) or TextBlock(text=f"[{block.get('type')}]") for block in self.blocks
        )


def missed_prompts(number: int, why: str | None) -> ev.Notice:
    """Say that the journal lacks prompts of the editor."""
    many = f"{number} prompts of the editor are not in this history"
    return ev.Notice(
        title=many if number > 1 else "A prompt of the editor is not in this history",
        description=f"{why}. The agent knows what was said." if why else None,
        severity="warning",
        code="not_journalled",
    )


class SplicePrompts(SessionPrompts):
    """The turns of one spliced session."""

    def __init__(self, agent: SpliceAgent, view: SessionView) -> None:
        super().__init__(agent, view)
        self._splice = agent
        self.editor_prompts: dict[str, OpenPrompt] = {}
        """The editor's prompts by the keys of their turns."""
        self.editor_messages: dict[str, OpenPrompt] = {}
        """The editor's messages for the turn that runs, by their keys."""
        self.running = asyncio.Event()
        """Set while a turn takes what the agent says."""
        self.over = asyncio.Event()
        """Set while none does."""
        self.over.set()

    @property
    def decoder(self) -> AcpDecoder:
        """Decodes the updates of the session."""
        return self._native.decoder

    @property
    def events(self) -> TurnEvents:
        """Emits the events of the session."""
        return self._events

    @property
    def requests(self) -> AgentRequests:
        """Answers the agent's requests."""
        return self._native.requests

    def take_update(self, update: Mapping[str, Any]) -> Any:
        """Take an update; gives something to wait for when the agent should not say more now."""
        return self._native.take_update(update)

    async def use_opened(
        self, connection: AgentConnection, native_id: str, result: Mapping[str, Any]
    ) -> None:
        """Use the session that the editor opened."""
        async with self._native.lock:
            await self._native.use_opened(connection, native_id, result)

    async def open(self) -> AgentConnection:
        """Give the editor's process, also one that has ended: what it said before is journalled."""
        if self.connection is None:
            raise AgentError(f"the session is not open at {self._agent.card.name} any more")
        return self.connection

    def configured(self, method: str, params: Mapping[str, Any], result: dict[str, Any]) -> list[ev.AnyEvent]:
        """Give what changes when the editor has set a mode, a model or another option."""
        decoder = self.decoder
        value: Any = params.get("value")
        if "configOptions" in result:
            return decoder.take_result(result)
        if method == "session/set_mode":
            return decoder.feed(
                {"sessionUpdate": "current_mode_update", "currentModeId": params.get("modeId")}
            )
        if method == "session/set_model":
            models = [option for option in decoder.options if option.category == "model"]
            return decoder.set_option(models[0].option_id, str(params.get("modelId"))) if models else []
        if isinstance(value, str | bool):
            return decoder.set_option(str(params.get("configId")), value)
        return []

    async def _stop(self, connection: AgentConnection) -> None:
        """Leave an agent alone that does not react to session/cancel: its process is the editor's."""
        self._native.notice(f"{self._agent.card.title} goes on with a cancelled prompt", severity="warning")

    def begin_steering(self, message: OpenPrompt) -> None:
        """Take that the agent got a message of the editor for the running turn; what follows is held."""
        self.editor_messages[message.key] = message
        self.decoder.expect_echo(message.blocks)
        self._native.held.hold()

    def end_steering(self, message: OpenPrompt) -> None:
        """Take that it is decided whether the agent took the message."""
        self.editor_messages.pop(message.key, None)
        self._native.held.release()

    async def steer(self, prompt: Prompt) -> bool:
        """Give a message to the running turn; one of the editor's is at the agent already."""
        message = self.editor_messages.get(prompt.key or "")
        if message is None:
            return await super().steer(prompt)
        try:
            taken = as_object(await asyncio.shield(message.answer)).get("outcome") in TAKEN
        except (RpcError, NoAnswer):
            return False
        if taken:
            self.decoder.end_message()
        return taken

    async def run(self, prompt: Prompt, ctx: TurnContext) -> ev.TurnFinished:
        """Run a turn; the editor's own prompts are not sent again."""
        try:
            return await super().run(prompt, ctx)
        finally:
            self.running.clear()
            self.over.set()
            if (open_prompt := self.editor_prompts.pop(prompt.key or "", None)) is not None:
                open_prompt.begun.set()

    async def _blocks(
        self, prompt: Prompt, connection: AgentConnection, ctx: TurnContext
    ) -> list[dict[str, Any]]:
        open_prompt = self.editor_prompts.get(prompt.key or "")
        return (
            open_prompt.blocks if open_prompt is not None else await super()._blocks(prompt, connection, ctx)
        )

    def _ask(
        self, prompt: Prompt, blocks: list[dict[str, Any]], connection: AgentConnection
    ) -> asyncio.Future[Any]:
        self.over.clear()
        self.running.set()
        open_prompt = self.editor_prompts.get(prompt.key or "")
        if open_prompt is None:
            sent = super()._ask(prompt, blocks, connection)
            self._splice.on_own_prompt(str(self._native.native_id))
            return sent
        open_prompt.may_be_mute |= open_prompt.answer.done()
        open_prompt.begun.set()
        return open_prompt.answer

    def _tell_of_no_words(self, ctx: TurnContext, stderr: str) -> None:
        open_prompt = self.editor_prompts.get(ctx.prompt.key or "")
        if open_prompt is None or not open_prompt.may_be_mute:
            super()._tell_of_no_words(ctx, stderr)

    async def close(self) -> None:
        """Let go of the session here; the editor has it open still."""
        self._native.idle_close.cancel()
        self._events.close()
        await self._native.requests.close()
        await self._native.release_process()
