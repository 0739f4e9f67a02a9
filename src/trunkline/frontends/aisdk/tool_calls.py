"""Tool calls on the AI SDK's wire: input, output, and the approval between them.

The states of a part are input-streaming, input-available, approval-requested, approval-responded, and
output-available, output-error or output-denied. The AI SDK checks a message that a page sends back: an output
or an error beside an approval needs one that was granted, a denial needs one that was refused
(https://github.com/vercel/ai/blob/main/packages/ai/src/ui/validate-ui-messages.ts). The input of a call is
found in the current step only, so it is never sent again after a step began.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from trunkline import content as c
from trunkline import events as ev
from trunkline.frontends.aisdk.content_parts import output_parts
from trunkline.frontends.aisdk.metadata import OURS, merged, news, provider_metadata
from trunkline.protocols.aisdk.partial_json import MISSING, parse_partial
from trunkline.protocols.aisdk.wire import Chunk, JsonObject, encode
from trunkline.safe_text import safe_title

__all__ = ["OUTPUT_TAIL", "Approval", "CallView"]


OUTPUT_TAIL = 65_536
"""Characters that are kept of what a call, or its terminal, has printed."""


class Approval(msgspec.Struct):
    """A permission that a page sees as the approval of a call."""

    approval_id: str
    approved: bool | None = None
    reason: str | None = None


class CallView:
    """A tool call as a page sees it."""

    __slots__ = (
        "_told", "approval", "arguments", "call_id", "content", "dynamic", "has_input", "input", "is_bare",
        "is_settled", "keeps_metadata", "kind", "lane", "locations", "meta", "name", "output",
        "provider_executed", "raw_output", "reason", "sent_input", "sent_output", "shows_output", "status",
        "step", "title",
    )  # fmt: skip

    def __init__(
        self,
        call_id: str,
        name: str,
        *,
        title: str | None = None,
        kind: str = "other",
        meta: JsonObject | None = None,
        is_client_tool: bool = False,
        is_bare: bool = False,
        keeps_metadata: bool = True,
        lane: str | None = None,
    ) -> None:
        """Begin a call; a bare one has only what its agent said of it, and nothing of ours.

        ``keeps_metadata`` is whether the page takes a title, and metadata beside a result.
        """
        self.call_id = call_id
        self.name = name
        self.title = title
        self.kind = kind
        self.lane = lane
        """The subagent that made it, if the page sees it as a call of the agent itself."""
        self.meta = provider_metadata(meta)
        self.dynamic = not is_client_tool
        self.provider_executed = not is_client_tool
        self.is_bare = is_bare
        self.keeps_metadata = keeps_metadata
        self.step = 0
        self.arguments: list[str] = []
        self.input: Any = MISSING
        self.sent_input: Any = None
        """What was sent as the input, and of the call."""
        self.has_input = False
        """Whether the page has the whole input."""
        self.locations: tuple[ev.Location, ...] = ()
        self.content: tuple[c.Content, ...] = ()
        self.output = ""
        self.raw_output: Any = None
        self.status: str = "pending"
        self.reason: str | None = None
        self.shows_output = False
        """Whether the page shows an output that is not final."""
        self.is_settled = False
        self.sent_output: Any = None
        self.approval: Approval | None = None
        self._told: JsonObject = {}

    def promoted(self, lane: str) -> CallView:
        """Give the call of a subagent as one of the agent itself, where a page can answer for it."""
        view = CallView(self.call_id, self.name, title=self.title, kind=self.kind, lane=lane)
        view.is_bare, view.keeps_metadata = self.is_bare, self.keeps_metadata
        for name in ("meta", "input", "locations", "content", "output", "raw_output", "status", "reason"):
            setattr(view, name, getattr(self, name))
        view.arguments = list(self.arguments)
        return view

    def apply(self, event: ev.ToolUpdate) -> None:
        """Keep what an update changes, except its metadata."""
        self.title = event.title or self.title
        self.kind = event.kind or self.kind
        if event.input is not None:
            self.input = event.input
        if event.locations is not None:
            self.locations = event.locations
        if event.content is not None:
            self.content = event.content
        if event.output is not None:
            self.output = (self.output + event.output)[-OUTPUT_TAIL:]
        if event.raw_output is not None:
            self.raw_output = event.raw_output
        self.status = event.status or self.status
        self.reason = event.reason or self.reason

    def apply_meta(self, event: ev.ToolUpdate) -> None:
        """Keep the metadata of an update."""
        if event.meta:
            self.meta = merged(self.meta, provider_metadata(event.meta))

    # -- input -------------------------------------------------------------------------------------

    def start(self) -> Chunk:
        """Announce the call."""
        self._told = self._call_metadata()
        return self._named("tool-input-start")

    def delta(self, text: str) -> Chunk:
        """Give a piece of the arguments' text."""
        return {"type": "tool-input-delta", "toolCallId": self.call_id, "inputTextDelta": text}

    def available(self) -> Chunk:
        """Give the whole input."""
        self.sent_input = self._shown_input()
        self._told = self._call_metadata()
        self.has_input, self.shows_output = True, False
        return self._named("tool-input-available", input=self.whole_input())

    @property
    def input_changed(self) -> bool:
        """Whether the page has another input, or another title, than the call."""
        return self.has_input and self.sent_input != self._shown_input()

    def _shown_input(self) -> tuple[Any, ...]:
        return self.whole_input(), self.title, self.kind, self.locations

    def whole_input(self) -> Any:
        """Give the input as far as it is known."""
        if self.input is not MISSING:
            return self.input
        text = "".join(self.arguments)
        found: Any = parse_partial(text) if text else {}
        return text if found is MISSING else found

    def _call_metadata(self) -> JsonObject:
        if self.is_bare:
            return self.meta
        about: JsonObject = {"kind": self.kind}
        if self.locations:
            about["locations"] = list(msgspec.to_builtins(self.locations))
        if self.lane is not None:
            about["subagent"] = self.lane
        return merged(self.meta, {OURS: about})

    def _named(self, kind: str, **fields: Any) -> Chunk:
        chunk: Chunk = {"type": kind, "toolCallId": self.call_id, "toolName": self.name}
        if self.title is not None and self.keeps_metadata:
            chunk["title"] = self.title if self.is_bare else safe_title(self.title)
        metadata = self._call_metadata()
        if metadata and (self.keeps_metadata or kind == "tool-input-available"):
            chunk["providerMetadata"] = metadata
        return {**chunk, **fields, **self._who()}

    def _who(self) -> JsonObject:
        """Say who runs the call: a page runs those of its own tools, whose names it knows."""
        about: JsonObject = {"dynamic": True} if self.dynamic else {}
        if self.provider_executed and not self.is_bare:
            about["providerExecuted"] = True
        elif self.dynamic and not self.is_bare:
            about["providerExecuted"] = False
        return about

    # -- output ------------------------------------------------------------------------------------

    @property
    def printed_text(self) -> str:
        """What the call has printed so far; without that, the text that it shows."""
        shown = output_parts(self.content)
        return self.output or (shown[-OUTPUT_TAIL:] if isinstance(shown, str) else "")

    def printed(self) -> Chunk:
        """Give what the call has printed so far, as an output that is not final."""
        self.shows_output = True
        return {
            "type": "tool-output-available",
            "toolCallId": self.call_id,
            "output": self.printed_text,
            "preliminary": True,
            **self._who(),
        }

    def result(self, limit: int) -> Chunk:
        """Give the output of a call that is done."""
        value, about = _shortened(self._output(), limit)
        shown = None if self.raw_output is None else output_parts(self.content)
        if shown is not None and shown != value and not self.is_bare:
            about["content"], cut = _shortened(shown, limit)
            about |= {f"content_{name}": fact for name, fact in cut.items()}
        chunk: Chunk = {"type": "tool-output-available", "toolCallId": self.call_id, "output": value}
        metadata = news(self.meta, self._told, value)
        if about:
            metadata = merged(metadata, {OURS: about})
        if metadata and self.keeps_metadata:
            chunk["providerMetadata"] = metadata
        return {**chunk, **self._who()}

    def error(self, text: str | None = None) -> Chunk:
        """Give why a call has no output."""
        shown = output_parts(self.content)
        fallback = shown if isinstance(shown, str) else self.output
        chunk: Chunk = {
            "type": "tool-output-error",
            "toolCallId": self.call_id,
            "errorText": text or self.reason or fallback or self.status,
        }
        metadata = news(self.meta, self._told, None)
        if metadata and self.keeps_metadata:
            chunk["providerMetadata"] = metadata
        return {**chunk, **self._who()}

    def _output(self) -> Any:
        if self.raw_output is not None:
            return self.raw_output
        return output_parts(self.content) or self.output or None

    # -- approval ----------------------------------------------------------------------------------

    def response(self, approval: Approval) -> Chunk:
        """Tell how an approval was answered."""
        chunk: Chunk = {
            "type": "tool-approval-response",
            "approvalId": approval.approval_id,
            "approved": bool(approval.approved),
        }
        if approval.reason:
            chunk["reason"] = approval.reason
        return chunk


def _shortened(value: Any, limit: int) -> tuple[Any, JsonObject]:
    """Cut a value that is too large for a page; the facts are its whole size and its digest."""
    if not limit:
        return value, {}
    whole = value.encode() if isinstance(value, str) else encode(value)
    if len(whole) <= limit:
        return value, {}
    facts = {"truncated": True, "bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
    return f"{whole[:limit].decode(errors='ignore')}\n[cut here: {len(whole)} bytes in all]", facts
