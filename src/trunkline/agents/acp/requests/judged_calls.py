"""Calls of an agent as the policy judges them: their kind, paths and command; pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, cast

from msgspec.structs import replace

from trunkline import events as ev
from trunkline.content import Content, DiffBlock
from trunkline.session.context import ToolRequest
from trunkline.workspace.always import command_in

_UNKNOWN = "unknown"
_CHANGES = ("edit", "delete", "move")


class CallView(Protocol):
    """A tool call as far as the agent has described it."""

    call_id: str
    native_id: str
    lane: str | None
    name: str
    title: str | None
    kind: str
    status: str
    input: Any
    locations: tuple[ev.Location, ...]
    content: tuple[Content, ...]


def describe_request(call: CallView, others: Sequence[CallView] = ()) -> ToolRequest:
    """Describe a call to the policy, by what the agent says of it and by what it shows.

    A command is executed and a diff is an edit, whatever kind the agent gives: the policy judges by each.
    A question about ``others`` is judged by what each of them does, and shows their commands.
    """
    own = _describe(call)
    if not others:
        return own
    parts = [own, *map(_describe, others)]
    kinds = dict.fromkeys(kind for part in parts for kind in (part.kind, *part.also_kinds))
    commands = [command_in(part.input) if part.command is None else part.command for part in parts]
    lines = [one if isinstance(one, str) else shlex.join(one) for one in commands if one is not None]
    kind = "execute" if lines else own.kind
    return replace(
        own,
        kind=kind,
        also_kinds=tuple(one for one in kinds if one != kind),
        paths=tuple(dict.fromkeys(path for part in parts for path in part.named_paths)),
        command="\n".join(lines) or None,
        others=tuple(parts[1:]),
    )


def _describe(call: CallView) -> ToolRequest:
    declared = cast("ev.ToolKind", call.kind)
    command = _command_of(call)
    diffs = [block.path for block in call.content if isinstance(block, DiffBlock)]
    kind = declared
    if command is not None or command_in(call.input) is not None:
        kind = "execute"
    elif diffs and declared not in _CHANGES:
        kind = "edit"
    return ToolRequest(
        call_id=call.call_id,
        # Tools without a name are not one tool: an "always" about one of them is not kept.
        tool="" if call.name == _UNKNOWN else call.name,
        kind=kind,
        also_kinds=() if kind == declared else (declared,),
        input=call.input,
        paths=tuple(dict.fromkeys([*(location.path for location in call.locations), *diffs])),
        command=command,
    )


def _command_of(call: CallView) -> str | None:
    """Give the command of a call whose arguments do not name it.

    Without any arguments it is the title: gemini shows it there. With arguments that we do not know it is all
    of their texts, each a line, as one of them may be what runs; a title is no more than a label then.
    """
    if call.kind != "execute" or command_in(call.input) is not None:
        return None
    if call.input:
        return "\n".join(_texts(call.input)) or None
    return (call.title or "").strip().strip("`").strip() or None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in cast("dict[str, Any]", value).values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _texts(one)
