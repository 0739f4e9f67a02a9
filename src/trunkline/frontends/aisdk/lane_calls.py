"""The tool calls of one lane: which chunks follow from what happens to them."""

from __future__ import annotations

from collections.abc import Callable, Collection

from trunkline import content as c
from trunkline import events as ev
from trunkline.frontends.aisdk.content_parts import diff_data
from trunkline.frontends.aisdk.terminals import Terminals
from trunkline.frontends.aisdk.text_parts import Parts
from trunkline.frontends.aisdk.tool_calls import Approval, CallView
from trunkline.protocols.aisdk.partial_json import MISSING
from trunkline.protocols.aisdk.wire import Chunk, JsonObject, StreamVersion

__all__ = ["LaneCalls", "Offer"]

Out = list[Chunk]
Offer = Callable[[str, Callable[[], Out]], Out]
"""Gives a part that replaces an earlier one, or keeps it for later."""

_FINAL = ev.FINAL_STATUSES
_UNANSWERED = "nobody answered before the call ended"


class LaneCalls:
    """The calls of one lane, whose chunks make one message."""

    def __init__(
        self,
        parts: Parts,
        terminals: Terminals,
        version: StreamVersion,
        offer: Offer,
        *,
        limit: int = 0,
        client_tools: Collection[str] = (),
        is_bare: bool = False,
        tells_answers: bool | None = None,
    ) -> None:
        """Begin without calls; ``limit`` is how many bytes of an output a page gets.

        ``tells_answers`` is for a fold: it knows the answers also where the stream could not tell them.
        """
        self._parts = parts
        self._terminals = terminals
        self._version = version
        self._tells_answers = version.tells_answers if tells_answers is None else tells_answers
        self._offer = offer
        self._limit = limit
        self._client_tools = client_tools
        self._is_bare = is_bare
        self._shown: dict[str, JsonObject] = {}
        """The data parts of calls, as they were sent."""
        self._owners: dict[str, str] = {}
        """The calls that show a terminal."""
        self._open: dict[str, CallView] = {}
        """The calls that are not settled."""
        self.views: dict[str, CallView] = {}

    @property
    def has_open_input(self) -> bool:
        """Whether the input of a call is still to come: no step may begin before it is there."""
        return any(not view.has_input for view in self._open.values())

    # -- a call begins -----------------------------------------------------------------------------

    def begin(self, event: ev.ToolCall) -> Out:
        """Announce a call, once."""
        if event.call_id in self.views:
            return []
        view = CallView(
            event.call_id,
            event.name,
            title=event.title,
            kind=event.kind,
            meta=event.meta,
            is_client_tool=event.name in self._client_tools,
            is_bare=self._is_bare,
            keeps_metadata=self._version.keeps_results_metadata,
        )
        out = self._parts.close()
        self._add(view)
        return [*out, view.start()]

    def adopt(self, view: CallView, lane: str) -> CallView:
        """Take over the call of a subagent, which has to be answered here."""
        own = view.promoted(lane)
        own.dynamic = own.provider_executed = own.name not in self._client_tools
        self._add(own)
        return own

    def _add(self, view: CallView) -> None:
        view.step = self._parts.step
        self._parts.touch()
        self.views[view.call_id] = self._open[view.call_id] = view

    def is_running_in_step(self) -> bool:
        """Whether a call of this step has no result: a page sends no answer then by itself."""
        return any(view.step == self._parts.step for view in self._open.values())

    def add_input(self, event: ev.ToolInput) -> Out:
        """Stream a piece of the arguments, as long as the page has not all of them."""
        view = self.views.get(event.call_id)
        if view is None or not event.delta:
            return []
        view.arguments.append(event.delta)
        return [] if view.has_input else [view.delta(event.delta)]

    def give_input(self, view: CallView) -> Out:
        """Give the whole input, unless the page has it."""
        return [] if view.has_input else [view.available()]

    # -- a call goes on ----------------------------------------------------------------------------

    def update(self, event: ev.ToolUpdate) -> Out:
        """Show what changes."""
        view = self.views.get(event.call_id)
        if view is None:
            return []
        view.apply(event)
        if view.is_settled:
            view.apply_meta(event)
            return [*self._show_content(view), *self._correct(view)]
        ends = event.status in _FINAL
        out: Out = []
        if not ends:
            # Of the last update the metadata is that of the result.
            view.apply_meta(event)
        if event.status not in (None, "pending") or event.output:
            # Before that the arguments may still change: agents send them in pieces.
            out += self.give_input(view)
        if view.input_changed:
            out += self._refresh(view, ends=ends)
        out += self._show_content(view)
        if ends:
            view.apply_meta(event)
            return out + self._settle(view)
        if event.output or (event.content is not None and view.status == "in_progress" and view.printed_text):
            out += self._offer(f"output:{view.call_id}", lambda: self._printed(view))
        return out

    def _printed(self, view: CallView) -> Out:
        approval = view.approval
        if view.is_settled or (approval is not None and not approval.approved):
            # An output would hide the question.
            return []
        return [view.printed()]

    def _refresh(self, view: CallView, *, ends: bool) -> Out:
        """Give the input again where it changed, as long as its part can be found."""
        approval = view.approval
        if view.step != self._parts.step or (approval is not None and not approval.approved):
            return []
        if approval is None:
            printed = view.shows_output
            return [view.available(), *([view.printed()] if printed and not ends else [])]
        if self._tells_answers:
            return [view.available(), view.response(approval)]
        return [view.available()] if ends else []

    def _show_content(self, view: CallView) -> Out:
        """Show changes of files and terminals as data parts, each by its id."""
        out: Out = []
        for number, block in enumerate(view.content):
            if isinstance(block, c.DiffBlock):
                data = {"toolCallId": view.call_id, **diff_data(block)}
                part_id = f"{view.call_id}:diff:{number}"
                if self._shown.get(part_id) != data:
                    self._shown[part_id] = data
                    out.append({"type": "data-diff", "id": part_id, "data": data})
            elif isinstance(block, c.TerminalBlock) and block.terminal_id not in self._owners:
                self._owners[block.terminal_id] = view.call_id
                out.append(self._terminals.part(block.terminal_id, view.call_id))
        if out:
            self._parts.touch()
        return out

    def show_terminal(self, terminal_id: str) -> Out:
        """Show what a terminal has printed, if a call of this message shows it."""
        owner = self._owners.get(terminal_id)
        if owner is None:
            return []
        return self._offer(f"terminal:{terminal_id}", lambda: [self._terminals.part(terminal_id, owner)])

    # -- a call ends -------------------------------------------------------------------------------

    def _settle(self, view: CallView) -> Out:
        """Give the result, the error or the refusal; the approval is made to fit, as pages check it."""
        view.is_settled = True
        self._open.pop(view.call_id, None)
        approval = view.approval
        out: Out = []
        completed = view.status == "completed"
        if approval is None and view.status == "denied" and self._version.tells_answers:
            return self._deny_by_rule(view)
        if approval is not None and approval.approved is None:
            if not self._tells_answers:
                # Only the client could answer: a part of its own shows how the call ended.
                view.approval = approval = None
                out += self._show_anew(view)
            else:
                approval.approved, approval.reason = completed, _UNANSWERED
                out.append(view.response(approval))
        if approval is not None and not approval.approved:
            return [*out, {"type": "tool-output-denied", "toolCallId": view.call_id}]
        if completed:
            view.sent_output = chunk = view.result(self._limit)
            return [*out, chunk]
        return [*out, view.error()]

    def _deny_by_rule(self, view: CallView) -> Out:
        """Deny a call that nobody was asked about: an approval that was asked and refused by itself."""
        if view.shows_output:
            if view.step != self._parts.step:
                return [view.error()]
            reset = [view.available()]
        else:
            reset = []
        approval = Approval(f"{view.call_id}:denied", approved=False, reason=view.reason)
        return [
            *reset,
            {
                "type": "tool-approval-request",
                "approvalId": approval.approval_id,
                "toolCallId": view.call_id,
                "isAutomatic": True,
            },
            view.response(approval),
            {"type": "tool-output-denied", "toolCallId": view.call_id},
        ]

    def _correct(self, view: CallView) -> Out:
        """Give the output again, if it changed after the call ended."""
        if view.sent_output is None:
            return []
        chunk = view.result(self._limit)
        if chunk == view.sent_output:
            return []
        view.sent_output = chunk
        return [chunk]

    def end_all(self, reason: str) -> Out:
        """End the calls that are left when a response ends for good; a question that is open stays so."""
        out: Out = []
        for view in list(self._open.values()):
            if view.approval is not None and view.approval.approved is None:
                continue
            view.status, view.reason = "failed", reason
            out += [*self.give_input(view), *self._settle(view)]
        return out

    # -- approvals ---------------------------------------------------------------------------------

    def request(self, view: CallView, approval_id: str, about: JsonObject) -> Out | None:
        """Ask for approval; None where a page could not show it as the state of the call."""
        approval = view.approval
        if view.is_settled or (approval is not None and approval.approved is None):
            return None
        out = self.give_input(view)
        if view.shows_output:
            if view.step != self._parts.step:
                return None
            out.append(view.available())
        view.approval = Approval(approval_id)
        chunk = {"type": "tool-approval-request", "approvalId": approval_id, "toolCallId": view.call_id}
        return [*out, {**chunk, **about}]

    def answer(
        self, view: CallView, *, approved: bool, reason: str | None, page_said: bool | None = None
    ) -> Out:
        """Tell how the approval of a call was answered; ``page_said`` is how the page answered it."""
        approval = view.approval
        if approval is None or view.is_settled:
            return []
        approval.approved, approval.reason = approved, reason
        if self._tells_answers:
            return [view.response(approval)]
        return [] if page_said in (None, approved) else self._overrule(view, approved=approved)

    def _overrule(self, view: CallView, *, approved: bool) -> Out:
        """Show a call as another client decided it, to a page that keeps its own answer.

        The page's part must fit its answer: a yes takes an error, a no only a denial. Then a call that ran is
        shown by a part of its own.
        """
        view.approval = None
        if not approved:
            return []
        return [{"type": "tool-output-denied", "toolCallId": view.call_id}, *self._show_anew(view)]

    def _show_anew(self, view: CallView) -> Out:
        """Begin a second part for a call: only the newest one is found by what follows."""
        out = self._parts.start_step(always=True)
        view.step = self._parts.step
        self._parts.touch()
        return [*out, view.available()]

    def hand_over(self, view: CallView, input: object) -> Out:
        """Let the page run a call: its tool is one of its own."""
        approval = view.approval
        if view.is_settled or (approval is not None and not (approval.approved and self._tells_answers)):
            return []
        if input is not None and view.input is MISSING and not view.arguments:
            view.input = input
        if view.has_input and (not view.provider_executed or view.step != self._parts.step):
            return []
        view.provider_executed = False
        return [view.available(), *([] if approval is None else [view.response(approval)])]

    # -- a response that begins here ---------------------------------------------------------------

    def announce(self) -> Out:
        """Announce again the calls whose input is not whole: each response counts their pieces anew."""
        out: Out = []
        for view in self._open.values():
            if not view.has_input:
                out.append(view.start())
                if view.arguments:
                    out.append(view.delta("".join(view.arguments)))
        return out
