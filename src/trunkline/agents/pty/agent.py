"""PtyAgent: a program in a pseudo-terminal as an agent, one process a session.

A prompt is typed, and what the program then shows is the answer, until it is quiet. Nothing else is known of
the program: no tool calls, no permissions, no images, and no memory but its own while it runs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from trunkline import events as ev
from trunkline.agents.interface import AgentCard, PromptCapabilities
from trunkline.agents.pty.program import PtyProgram, Timing
from trunkline.commands import Prompt
from trunkline.errors import AgentError, InvalidCommand, TargetError
from trunkline.session.context import SessionView, TurnContext
from trunkline.transports.process.child import Exit, within
from trunkline.transports.process.environment import scrub

__all__ = ["PtyAgent", "Timing"]

log = logging.getLogger("trunkline.pty")

_LIMITS = (
    "A program in a terminal: text only. It has no tool calls, asks for no permissions and takes no images; "
    "it forgets the conversation when it ends, and cannot go back in it."
)


class PtyAgent:
    """A program that speaks no protocol."""

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        rows: int = 40,
        columns: int = 120,
        timing: Timing | None = None,
    ) -> None:
        """Run a command line, or its words; ``cwd`` is used for sessions that have no folder.

        The program gets the user's environment without our secrets, and ``env``.
        """
        words = _split(command) if isinstance(command, str) else list(command)
        if not words:
            raise TargetError("pty: needs a command, as in pty:bash or 'pty:python3 -i'")
        self._argv = words
        self._cwd = cwd
        self._env = dict(env or {})
        self._size = (rows, columns)
        self._timing = timing or Timing()
        name = os.path.basename(words[0])
        self.card = AgentCard(
            name=name,
            title=shlex.join(words),
            description=_LIMITS,
            prompt=PromptCapabilities(image=False, audio=False, embedded_context=False),
        )

    async def prepare(self) -> None:
        """Refuse a command that cannot be started."""
        self.check_command()

    def check_command(self) -> None:
        """Raise if the command is not on this machine; a path may be meant in the session's folder."""
        if os.sep not in self._argv[0] and shutil.which(self._argv[0], path=self._path()) is None:
            raise TargetError(self._not_found())

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        """Type the prompt, and give what the program shows until it is quiet."""
        held = _held_by(ctx.session, self)
        async with self._turn(ctx, held):
            program = held.program
            if program is None:
                program = await self._start(ctx, held)
                shown = "\n"
                async for shown in program.greeting():
                    yield shown
                if not shown.endswith("\n"):
                    yield "\n"  # The answer does not stand behind the program's own prompt.
            if program.exit is None:
                await program.type(prompt.text)
                async for shown in program.until_quiet():
                    yield shown
        self._watch(ctx.session, held)

    @asynccontextmanager
    async def _turn(self, ctx: TurnContext, held: _Held) -> AsyncGenerator[None]:
        """Show the program's words in this turn and no other; stop the program when the turn is cancelled."""
        async with held.lock:
            try:
                yield
            except asyncio.CancelledError:
                await self._interrupt(ctx, held)
                raise
            await self._note_exit(ctx, held)

    async def _start(self, ctx: TurnContext, held: _Held) -> PtyProgram:
        if held.starts:
            ctx.notice(f"{self.card.name} was started again", "It does not know what was said before.")
        program = PtyProgram(self._timing, *self._size)
        env = {**scrub(os.environ, ["*"]), **self._env}
        try:
            await program.start(self._argv, ctx.session.cwd or self._cwd, env)
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise AgentError(self._not_found()) from None
            raise AgentError(f"{self._argv[0]} cannot be started: {error.strerror}") from None
        held.program, held.starts = program, held.starts + 1
        return program

    def _path(self) -> str:
        return self._env.get("PATH") or os.environ.get("PATH", os.defpath)

    def _not_found(self) -> str:
        return f"Agent command not found: {self._argv[0]}; looked in PATH={self._path()}"

    async def _interrupt(self, ctx: TurnContext, held: _Held) -> None:
        """Stop what the program does: Ctrl-C, SIGINT, and the end of all its processes."""
        program = held.program
        if program is None:
            return
        if not await program.interrupt():
            ctx.notice(f"{self.card.name} did not react to Ctrl-C and was killed", severity="warning")
            held.program = None
            await program.close()
            return
        async for shown in program.until_quiet(0):
            ctx.emit(shown)
        await self._note_exit(ctx, held)

    async def _note_exit(self, ctx: TurnContext, held: _Held) -> None:
        program = held.program
        if program is None or program.exit is None:
            return
        held.program = None
        ctx.emit(self._exit_notice(program.exit))
        await program.close()

    def _exit_notice(self, exit: Exit) -> ev.Notice:
        severity = "info" if exit == Exit(0, None) else "warning"
        return ev.Notice(title=f"{self.card.name} {_describe(exit)}", severity=severity)

    # -- between turns -----------------------------------------------------------------------------

    def _watch(self, session: SessionView, held: _Held) -> None:
        """Show what the program says when nobody has asked it, in turns of its own."""
        if held.watching is None or held.watching.done():
            held.watching = asyncio.create_task(self._show_news(session, held))
            held.watching.add_done_callback(_log_error)

    async def _show_news(self, session: SessionView, held: _Held) -> None:
        async def show(ctx: TurnContext) -> AsyncIterator[str]:
            async with self._turn(ctx, held):
                if program is not None and held.program is program:
                    async for shown in program.until_quiet():
                        yield shown
            over.set()

        while (program := held.program) is not None:
            await program.wait_for_news()
            async with held.lock:
                over = asyncio.Event()  # A turn that runs shows what there is.
            if held.program is not program:
                continue
            if program.has_news:
                await session.begin_turn(show)
                await within(self._timing.redraw, over)
            elif program.exit is not None:
                held.program = None
                session.emit(self._exit_notice(program.exit))
                await program.close()

    async def close_session(self, session: SessionView) -> None:
        """End the session's program and all that it started."""
        held = _held_by(session, self)
        if held.watching is not None:
            held.watching.cancel()
        program, held.program = held.program, None
        if program is not None:
            await program.close()

    async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
        """Refused: what was typed into a program cannot be taken back."""
        raise InvalidCommand(f"{self.card.name} runs in a terminal and cannot go back: begin a new session")

    async def fork(self, session: SessionView, origin: SessionView) -> None:
        """Refused: a running program cannot be copied."""
        raise InvalidCommand(f"{self.card.name} runs in a terminal and cannot be copied: begin a new session")


class _Held:
    """What the agent holds for a session."""

    def __init__(self) -> None:
        self.program: PtyProgram | None = None
        self.starts = 0
        self.lock = asyncio.Lock()
        self.watching: asyncio.Task[None] | None = None


def _held_by(session: SessionView, agent: PtyAgent) -> _Held:
    return session.memory.setdefault(agent, _Held())


def _log_error(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.warning("what a program says between turns is not shown any more: %s", error)


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise TargetError(f"pty:{command} cannot be read as a command line: {error}") from None


def _describe(exit: Exit) -> str:
    if exit.signal is not None:
        return f"was ended by {exit.signal}"
    return "ended" if not exit.code else f"ended with the exit code {exit.code}"
