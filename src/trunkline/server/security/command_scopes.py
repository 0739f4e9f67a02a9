"""Which scope of a token a command needs, whatever the protocol that it came by."""

from __future__ import annotations

from typing import Any

from trunkline.commands import Answer, Cancel, DropPrompt, Prompt, Rename, Rewind, SetConfig
from trunkline.server.security.tokens import PermissionScope

COMMAND_SCOPES: dict[type[Any], PermissionScope] = {
    Prompt: "prompt",
    Cancel: "prompt",
    Rewind: "prompt",
    DropPrompt: "prompt",
    Rename: "prompt",
    Answer: "answer",
    # A mode may be one that asks for nothing any more, so to choose it is to answer in advance.
    SetConfig: "answer",
}
