"""Arguments that a person edited in a permission: the call as it is made then, and as it is shown."""

from __future__ import annotations

import os
import re
from typing import Any, cast

from msgspec.structs import replace

from trunkline import events as ev
from trunkline.content import Content, DiffBlock
from trunkline.session.permissions import Decision, ToolRequest
from trunkline.workspace.always import command_in

_SHORTEST = 3
"""A shorter value stands in a sentence by chance."""


class EditedArguments:
    """Puts changed arguments in the place of the old ones, wherever a card named those."""

    def __init__(self, before: Any, after: Any) -> None:
        old, new = (cast("dict[str, Any]", one) if isinstance(one, dict) else {} for one in (before, after))
        self._changed = {
            value: new[name]
            for name, value in old.items()
            if isinstance(value, str) and isinstance(new.get(name), str) and value and value != new[name]
        }

    def path(self, path: str) -> str:
        """Give a path that an argument named, whole or from some folder on."""
        for old, new in self._changed.items():
            if path == old or path.endswith(f"/{old}"):
                return os.path.join(path.removesuffix(old), new)
        return path

    def sentence(self, text: str) -> str:
        """Give a sentence with the new arguments in it."""
        named = [value for value in self._changed if len(value) >= _SHORTEST]
        if not named:
            return text
        pattern = "|".join(re.escape(value) for value in sorted(named, key=len, reverse=True))
        return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda found: self._changed[found[0]], text)

    def block(self, block: Content) -> Content:
        """Give a block with the new arguments in it, if it is a diff of them."""
        if not isinstance(block, DiffBlock):
            return block
        new = block.new if block.new is None else self._changed.get(block.new, block.new)
        return replace(block, path=self.path(block.path), new=new)


def with_edited(request: ToolRequest, input: Any) -> ToolRequest:
    """Give the request with the arguments that a person put in the place of the agent's."""
    if input == request.input:
        return request
    edited = EditedArguments(request.input, input)
    command = None if request.command == command_in(request.input) else request.command
    paths = tuple(edited.path(path) for path in request.paths)
    return replace(request, input=input, paths=paths, command=command)


def approved_call(
    request: ToolRequest, decision: Decision, *, title: str, content: tuple[Content, ...], lane: str | None
) -> ev.ToolUpdate:
    """Give the update of an approved call; one whose arguments were edited shows the new ones."""
    if decision.input == request.input:
        return ev.ToolUpdate(lane=lane, call_id=request.call_id, status="in_progress")
    edited = EditedArguments(request.input, decision.input)
    return ev.ToolUpdate(
        lane=lane,
        call_id=request.call_id,
        status="in_progress",
        input=decision.input,
        title=edited.sentence(title) or None,
        locations=tuple(ev.Location(path=edited.path(path)) for path in request.paths) or None,
        content=tuple(edited.block(block) for block in content) or None,
    )
