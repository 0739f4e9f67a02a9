"""A prompt as the content blocks that one agent takes; pure.

"All Agents MUST support ContentBlock::Text and ContentBlock::ResourceLink"
(https://agentclientprotocol.com/protocol/v1/initialization#prompt-capabilities). What an agent does not take
is sent as one of these, and a note says so; what cannot be sent so is refused. Nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trunkline import content as c
from trunkline.agents.acp.initialize import capability
from trunkline.commands import Prompt
from trunkline.errors import InvalidCommand
from trunkline.protocols.acp.content import block_to_wire

Json = dict[str, Any]

_ADDRESSES = ("file:", "http:", "https:")


def prompt_blocks(prompt: Prompt, initialize: Mapping[str, Any]) -> tuple[list[Json], list[str]]:
    """Give the blocks of a prompt for an agent that answered ``initialize`` so, and what was changed."""
    notes: list[str] = []
    blocks = [_fit(block, block_to_wire(block), initialize, notes) for block in prompt.content]
    for item in prompt.context:
        text = f"{item.get('description') or 'Context'}: {item.get('value')}"
        blocks.insert(0, {"type": "text", "text": text})
    if prompt.tools:
        names = ", ".join(str(tool.get("name")) for tool in prompt.tools)
        notes.append(f"it cannot use the tools of the front end: {names}")
    return blocks or [{"type": "text", "text": ""}], notes


def _fit(block: c.Content, made: Json, initialize: Mapping[str, Any], notes: list[str]) -> Json:
    """Give a block as it is, or as one that the agent takes."""
    kind = made["type"]
    if kind in ("text", "resource_link"):
        return made
    if kind == "resource":
        return _fit_resource(made, initialize, notes)
    if capability(initialize, "promptCapabilities", kind):
        return made
    url = getattr(block, "url", None)
    return _link(str(url or ""), kind, made.get("mimeType"), f"{kind}s", notes)


def _fit_resource(made: Json, initialize: Mapping[str, Any], notes: list[str]) -> Json:
    if capability(initialize, "promptCapabilities", "embeddedContext"):
        return made
    resource: Json = made["resource"]
    uri = str(resource["uri"])
    if "text" in resource:
        notes.append(f"it takes no embedded resources: {uri} was sent as text")
        return {"type": "text", "text": f"{uri}:\n{resource['text']}"}
    return _link(uri, uri.rpartition("/")[2] or uri, resource.get("mimeType"), "embedded resources", notes)


def _link(uri: str, name: str, mime_type: str | None, what: str, notes: list[str]) -> Json:
    if not uri.startswith(_ADDRESSES):
        raise InvalidCommand(f"this agent takes no {what}: send text, or a link to a file that it can read")
    notes.append(f"it takes no {what}: {uri} was sent as a link")
    link: Json = {"type": "resource_link", "uri": uri, "name": name}
    return link if mime_type is None else {**link, "mimeType": mime_type}
