"""Refuses what a client may not ask for, before any work begins, and says what would be right."""

from __future__ import annotations

import os
from collections.abc import Sequence

from trunkline.agents.interface import PromptCapabilities
from trunkline.content import AudioBlock, Content, ImageBlock, ResourceBlock, TextBlock
from trunkline.errors import InvalidCommand
from trunkline.events import CommandInfo


def check_content(content: Sequence[Content], able: PromptCapabilities) -> None:
    """Refuse a prompt that is empty, or that has blocks which the agent does not take."""
    if not content:
        raise InvalidCommand("the prompt is empty: send at least one content block")
    for block in content:
        wanted = (
            (isinstance(block, ImageBlock) and not able.image and "image")
            or (isinstance(block, AudioBlock) and not able.audio and "audio")
            or (isinstance(block, ResourceBlock) and not able.embedded_context and "resource")
        )
        if wanted:
            raise InvalidCommand(f"this agent takes no {wanted} blocks (see promptCapabilities)")


def is_command(content: Sequence[Content], commands: Sequence[CommandInfo]) -> bool:
    """Whether a message runs one of these commands."""
    first = content[0]
    parts = first.text.split(maxsplit=1) if isinstance(first, TextBlock) else []
    return bool(parts) and parts[0] in {f"/{one.name}" for one in commands}


def check_folders(cwd: str, more: Sequence[str] = (), *, local: bool = False) -> None:
    """Refuse paths that are not absolute, and a working folder of a local client that does not exist.

    A remote client names folders of its own machine, which cannot be checked here.
    """
    for folder in (cwd, *more):
        # cwd "MUST be an absolute path", and so must each additional directory
        # (https://agentclientprotocol.com/protocol/v1/session-setup).
        if not folder.startswith("/"):
            raise InvalidCommand(f"{folder!r} is not an absolute path")
    if local and not os.path.isdir(cwd):
        raise InvalidCommand(f"the folder {cwd!r} does not exist: open one that does, or create it")
