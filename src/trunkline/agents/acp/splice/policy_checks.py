"""Checks what the agent of a splice asks for: our own files, and what the policy judges."""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from trunkline.agents.acp.requests.request_params import check_absolute, read_params
from trunkline.agents.acp.requests.terminal_requests import is_program
from trunkline.agents.acp.splice.loose_parsing import methods_if_ambiguous
from trunkline.content import DiffBlock
from trunkline.errors import Denied
from trunkline.own_files import own_file
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.content import tool_content_to_wire
from trunkline.protocols.acp.fields import text_in
from trunkline.protocols.jsonrpc.connection import error_with_details
from trunkline.protocols.jsonrpc.messages import INVALID_REQUEST
from trunkline.session.permissions import ToolRequest, command_block
from trunkline.session.view import SessionView
from trunkline.workspace.guard import TextChange

if TYPE_CHECKING:
    from trunkline.agents.acp.splice.agent_requests import AgentRequest

PERMISSION = "session/request_permission"
READ, WRITE, RUN = "fs/read_text_file", "fs/write_text_file", "terminal/create"
GUARDED = (READ, WRITE, RUN)
"""What the policy judges besides permissions; the other requests about a terminal follow a judged one."""
JUDGED = (PERMISSION, *GUARDED)

TEXT_SHOWN = 10 * 1024 * 1024
"""Bytes of a file that is to be written, of which the change is shown."""


def check_request(request: AgentRequest, *, has_policy: bool) -> None:
    """Refuse what could be read in two ways, and writes to our own files."""
    methods = methods_if_ambiguous(request.raw)
    if WRITE in methods or (has_policy and any(m in JUDGED for m in methods)):
        raise error_with_details(
            INVALID_REQUEST,
            "invalid request: a member comes twice in an object, or a byte is no UTF-8: it can be read "
            "in two ways",
        )
    if request.method in (READ, WRITE) and (path := text_in(request.params, "path")):
        for form in (os.path.abspath(path), os.path.realpath(path)):
            own = own_file(form)
            if own is not None and (own.secret or request.method == WRITE):
                raise error_with_details(
                    Denied.hint.jsonrpc,
                    f"{path}: it is {own.what} of trunkline, which no agent may touch",
                )


async def judge(request: AgentRequest, view: SessionView) -> None:
    """Ask the policy about a file or a command; raises what refuses it."""
    guard = view.guard
    assert guard is not None, "a session has a guard"
    if request.method == RUN:
        command, env, cwd = _read_command(request)
        await guard.check_command(command, env, cwd or view.cwd or os.getcwd())
        return
    path = text_in(request.params, "path") or ""
    check_absolute("path", path)
    resolved = await asyncio.to_thread(os.path.realpath, path)
    if request.method == READ:
        await guard.check_file("read", path, resolved)
        return

    async def text_before() -> str | None:
        request.text_before = await asyncio.to_thread(_read, path)
        return request.text_before

    text = str(request.params.get("content"))
    await guard.check_file("edit", path, resolved, TextChange(text, text_before))


def show_request(request: AgentRequest) -> dict[str, Any]:
    """Show the person at the editor what a file or a command is about: the whole of it is approved."""
    if request.method == RUN:
        command, env, cwd = _read_command(request)
        about = ToolRequest(call_id="", kind="execute", command=command, env=env, cwd=cwd)
        content = [tool_content_to_wire(block, ()) for block in command_block(about)]
        return {"kind": "execute", "content": content}
    path = text_in(request.params, "path") or ""
    if request.method == READ:
        return {"kind": "read", "locations": [{"path": path}]}
    change = DiffBlock(path=path, old=request.text_before, new=str(request.params.get("content")))
    return {"kind": "edit", "locations": [{"path": path}], "content": [tool_content_to_wire(change, ())]}


class _Command(NamedTuple):
    command: tuple[str, ...] | str
    env: dict[str, str]
    cwd: str | None


def _read_command(request: AgentRequest) -> _Command:
    wanted = read_params(wire.CreateTerminalRequest, request.params)
    words = (wanted.command, *wanted.args)
    command = words if wanted.args or is_program(wanted.command) else wanted.command
    return _Command(command, {variable.name: variable.value for variable in wanted.env}, wanted.cwd)


def _read(path: str) -> str | None:
    """Give the text of a file; None for what is too long, and for pipes and devices: they may never end."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_size > TEXT_SHOWN:
            return None
        with open(opened, encoding="utf-8", closefd=False) as file:
            return file.read(TEXT_SHOWN)
    except (OSError, ValueError):
        return None
    finally:
        os.close(opened)
