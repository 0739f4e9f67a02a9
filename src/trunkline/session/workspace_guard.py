"""The policy for a session's files and terminals: asked for every access through them.

What a rule or the default denies is refused, and what they allow goes on; both leave a ``Decided`` record.
Where a rule asks, a person is asked, unless a person has approved the same access in this turn already.
Where the policy has no rule and its default is to ask, the access goes on: to ask is up to the agent. One
that is a program of its own (``SessionView.asks_before_access``) is not trusted with that: a person is asked.
"""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence

from trunkline import events as ev
from trunkline.content import Content, DiffBlock
from trunkline.errors import Denied
from trunkline.session.context import current
from trunkline.session.permissions import Permissions, ToolRequest
from trunkline.workspace.environment_marks import without_marks
from trunkline.workspace.guard import FileAccess, TextChange

_TOOLS: dict[FileAccess, str] = {"read": "read_file", "edit": "write_file", "delete": "delete_file"}
_VERBS: dict[FileAccess, str] = {"read": "Read", "edit": "Write", "delete": "Delete"}


class WorkspaceGuard:
    """Asks the permissions of a session about files and commands."""

    def __init__(self, permissions: Permissions, record: Callable[[ev.Decided], object]) -> None:
        """Ask these permissions; ``record`` stores what is decided outside of a turn."""
        self._permissions = permissions
        self._record = record

    async def check_file(
        self, access: FileAccess, path: str, resolved: str, change: TextChange | None = None
    ) -> None:
        """Let a file be touched, or refuse."""
        paths = tuple(dict.fromkeys((path, resolved)))
        request = ToolRequest(call_id="", tool=_TOOLS[access], kind=access, input={"path": path}, paths=paths)

        async def shown() -> tuple[Content, ...]:
            if change is None:
                return ()
            return (DiffBlock(path=resolved, old=await change.text_before(), new=change.text),)

        await self._check(request, f"{_VERBS[access]} {path}", shown)

    async def check_command(self, command: Sequence[str] | str, env: Mapping[str, str], folder: str) -> None:
        """Let a command (its words, or a line for a shell) start in a folder, or refuse."""
        if not isinstance(command, str):
            command = tuple(command)
        line = command if isinstance(command, str) else shlex.join(command)
        cwd = None if self._permissions.is_own_folder(folder) else folder
        request = ToolRequest(
            call_id="", tool="terminal", kind="execute", command=command, env=without_marks(env), cwd=cwd
        )
        await self._check(request, f"Run {line}" + (f" in {cwd}" if cwd else ""))

    async def _check(
        self,
        request: ToolRequest,
        title: str,
        shown: Callable[[], Awaitable[tuple[Content, ...]]] | None = None,
    ) -> None:
        decision = self._permissions.decide(request)
        context = current()
        if context is not None and context.session.guard is not self:
            # A turn of another session: its journal and its people have no say about these files.
            context = None
        if decision is None:
            if self._permissions.leaves_to_agent(request):
                return
            if context is None:
                raise Denied(f"{title}: the policy asks about it, and no turn of its session runs to ask in")
            wanted = self._permissions.approvals(request)
            if wanted and wanted <= context.approved:
                return
            decision = await context.permission(
                f"{title}?",
                tool=request.tool,
                kind=request.kind,
                input=request.input,
                paths=request.paths,
                command=request.command,
                env=request.env,
                cwd=request.cwd,
                content=() if shown is None else await shown(),
            )
        elif context is not None:
            context.record(request, decision)
        else:
            self._record(request.decided(decision))
        if not decision:
            raise Denied(
                f"{title}: refused by {decision.by or 'the user'} ({decision.reason or 'no reason given'})"
            )
