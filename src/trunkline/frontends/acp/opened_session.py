"""A session that a client has open: its files and terminals, its view of the turn, and its prompts."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from trunkline.errors import SessionBusy, WorkspaceError
from trunkline.events import TurnStarted
from trunkline.frontends.acp.editor import EditorFiles, EditorTerminals
from trunkline.frontends.acp.prompt_view import PromptView
from trunkline.protocols.acp import wire
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.session.ids import new_id
from trunkline.session.session import Session
from trunkline.session.stream.reader import WHOLE

_REMEMBERED = 100


class RunningPrompt:
    """A prompt that the client waits for."""

    def __init__(self, task: asyncio.Task[Any] | None) -> None:
        """Begin; ``task`` carries the client's request out."""
        self.task = task
        self.cancelled = False
        self.key = new_id("prompt")
        """The key that the session knows the prompt by."""
        self.begun = asyncio.Event()
        """Set once its turn is shown, or never will be."""
        self.over = asyncio.Event()
        """Set in the step in which its answer is sent."""


class OpenedSession:
    """A session that this client opened."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.followed: Session | None = None
        self.view: PromptView | None = None
        self.files: EditorFiles | None = None
        self.terminals: EditorTerminals | None = None
        self.warned_of_unused_servers = False
        self.steering: dict[str, None] = {}
        """The newest messages that this client sent for a running turn, by key."""
        self.commands_due = False
        """Whether the client may have missed the agent's commands."""
        self.prompt: RunningPrompt | None = None
        self._next: RunningPrompt | None = None

    @property
    def terminal_ids(self) -> set[str]:
        """The terminals that the client draws."""
        return self.terminals.ids if self.terminals is not None else set()

    @property
    def shown(self) -> PromptView | None:
        """What the client is being shown."""
        view = self.view
        return view if view is not None and view.session is self.session and not view.is_over else None

    def use_editor(self, connection: Connection, client: wire.ClientCapabilities) -> None:
        """Let the agent use the files and terminals that the client offers."""
        view, session_id = self.session.view, self.session.session_id
        if client.terminal:
            # Without a folder that we can look at, nothing of the editor's is used.
            with contextlib.suppress(WorkspaceError):
                requests = OrderedRequests(connection, self)
                self.terminals = self.terminals or EditorTerminals(requests, session_id)
                self.terminals.move(view.folders)
                view.terminals = self.terminals
        if client.fs.read_text_file or client.fs.write_text_file:
            with contextlib.suppress(WorkspaceError):
                requests = OrderedRequests(connection, self)
                self.files = EditorFiles(view.folders, requests, session_id, client.fs)
                view.files = self.files

    @property
    def asking(self) -> PromptView | None:
        """What the client is being shown, if its next message answers a question of that."""
        return self.shown if self.shown is not None and self.shown.asked is not None else None

    @property
    def followed_elsewhere(self) -> bool:
        """Whether the session has readers besides this client's own."""
        own = (self.followed is self.session) + (self.shown is not None)
        return self.session.followers > own

    def is_shown(self, turn: TurnStarted) -> bool:
        """Whether the client is shown a turn that no prompt of its own waits for."""
        return turn.by == "agent" or turn.prompt_id in self.steering

    def begin_steering(self) -> str:
        """Give the key of a message for the running turn."""
        key = new_id("prompt")
        self.steering[key] = None
        if len(self.steering) > _REMEMBERED:
            del self.steering[next(iter(self.steering))]
        return key

    # -- prompts -----------------------------------------------------------------------------------

    async def begin_prompt(self) -> RunningPrompt:
        """Begin a prompt; right behind one that was cancelled it waits for that one's answer."""
        mine, before = RunningPrompt(asyncio.current_task()), self.prompt
        if self._next is not None or (before is not None and not before.cancelled):
            raise SessionBusy("a prompt is running in this session: wait for it or cancel it first")
        if before is not None:
            self._next = mine
            try:
                settings = self.session.settings
                # A cancelled turn settles within this time, whatever its agent does.
                async with asyncio.timeout(settings.detach_after + settings.command_timeout):
                    await before.over.wait()
            except TimeoutError:
                raise SessionBusy("the prompt before was cancelled and is not over yet: try again") from None
            finally:
                self._next = None
        self.prompt = mine
        return mine

    def finish_prompt(self, mine: RunningPrompt) -> None:
        """End a prompt; its answer follows in the same step."""
        if self.prompt is mine:
            self.prompt = None
        mine.begun.set()
        mine.over.set()

    @property
    def newest(self) -> RunningPrompt | None:
        """The prompt that a cancel is for."""
        return self._next or self.prompt

    def detach(self) -> None:
        """Wait for no prompt and show nothing any more; the turn goes on."""
        for prompt in (self._next, self.prompt):
            if prompt is not None and prompt.task is not None:
                prompt.task.cancel()
        if self.shown is not None:
            self.shown.detach()

    # -- order -------------------------------------------------------------------------------------

    async def wait_for_updates(self) -> None:
        """Wait until the client was sent every update so far of the turn that it is shown."""
        position, prompt = self.session.position, self.prompt
        if prompt is not None and self.session.runs_prompt(prompt.key):
            await prompt.begun.wait()
        if self.shown is not None and position.offset != WHOLE:
            await self.shown.reach(position.record, position.offset)


class OrderedRequests:
    """Requests to the client that wait for the updates before them."""

    def __init__(self, connection: Connection, attached: OpenedSession) -> None:
        self._connection = connection
        self.opened = attached

    async def request(self, method: str, params: Any) -> Any:
        """Ask the client and give its answer."""
        await self.opened.wait_for_updates()
        return await self._connection.request(method, params)

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return self._connection.closed

    @property
    def input_closed(self) -> bool:
        """Whether the client will answer nothing any more."""
        return self._connection.input_closed
