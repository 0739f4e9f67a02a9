"""The turn context: everything an agent can do besides yielding text.

The turn below emits the events and waits for answers. What a context emits after its turn is dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, Union

import msgspec

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.content import Content, as_content
from trunkline.conversation import Conversation
from trunkline.errors import TurnCancelled
from trunkline.questions import (
    ALLOW_KINDS,
    REJECT_KINDS,
    ClientCall,
    Coverage,
    Form,
    Link,
    Option,
    Permission,
    Question,
    default_options,
    name_coverage,
)
from trunkline.session.edited_arguments import approved_call, with_edited
from trunkline.session.handles import SharedState, ToolHandle, must_be_awaited
from trunkline.session.permissions import Approval, Decision, ToolRequest, command_block
from trunkline.session.turn_interface import TurnInterface
from trunkline.session.view import SessionView

if TYPE_CHECKING:
    from trunkline.workspace import Files
    from trunkline.workspace.terminal_access import TerminalsAccess

__all__ = [
    "CURRENT",
    "Decision",
    "Sayable",
    "SessionView",
    "SharedState",
    "ToolHandle",
    "ToolRequest",
    "TurnContext",
    "current",
]

Sayable = Union[str, ev.AnyEvent, Content]
"""What an agent may yield: text, an event, or a content block."""

T = TypeVar("T")

CURRENT: ContextVar[TurnContext | None] = ContextVar("trunkline.context", default=None)
"""Set by a turn in its own task."""


def current() -> TurnContext | None:
    """Give the context of the turn that runs this code; None outside a turn, and once the turn is over.

    It is known in the agent's task, in tasks that it starts, and in threads of ``asyncio.to_thread``.
    """
    context = CURRENT.get()
    return context if context is not None and context.live else None


class TurnContext:
    """One agent's view of one turn."""

    def __init__(self, turn: TurnInterface, prompt: Prompt, session: SessionView) -> None:
        self._turn = turn
        self.turn_id = turn.turn_id
        """The id of this turn."""
        self.emit_text: Callable[[str, str], None] = turn.emit_text
        """Emit a piece of text of the message with this id, by the shortest way. Safe from any thread."""
        self.prompt = prompt
        """What the person said: ``text``, and all blocks in ``content``."""
        self.session = session
        """The session as the agent sees it: its id, folder, options and client."""
        self.state = SharedState(self)
        """The state that the agent shares with the front ends."""
        self._messages = 1
        self._calls = 0
        self._question_numbers = itertools.count(1)
        # A turn that goes on in another process must not use its ids again.
        self._prefix = turn.prefix
        self._names: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self.inputs: dict[str, Any] = {}
        """The arguments that the cards of calls show, by call."""
        self.denied: set[str] = set()
        """The calls that were refused in this turn."""
        self.approved: set[Approval] = set()
        """The accesses that a person approved in this turn, or by an earlier "always"."""
        self._recorded: set[ev.Decided] = set()
        self._message_id = f"{turn.prefix}.1"
        self._message_over = False
        self._has_text = False

    # -- emitting ----------------------------------------------------------------------------------

    def emit(self, item: Sayable) -> None:
        """Emit something now: text, an event, or a content block. Safe from any thread."""
        self._turn.emit(item)

    async def ready(self) -> None:
        """Wait while the journal is too far behind; adapters that emit in a loop call this."""
        await self._turn.ready()

    async def durable(self) -> None:
        """Wait until every event so far is stored: before an effect that must not go unrecorded."""
        await self._turn.durable()

    @property
    def lagging(self) -> bool:
        """Whether the journal is so far behind that ``ready`` would wait."""
        return self._turn.lagging

    @property
    def message_id(self) -> str:
        """The assistant message that yielded text belongs to; after a call or an answer it is another one."""
        self._has_text = True
        return self.new_message() if self._message_over else self._message_id

    def in_message(self, call: ev.ToolCall) -> ev.ToolCall:
        """Put a yielded call that names no message into that of the text before it, as ``tool`` does."""
        if call.message_id is not None or call.lane is not None or not self._has_text:
            return call
        self._message_over = True
        return msgspec.structs.replace(call, message_id=self._message_id)

    def new_message(self) -> str:
        """Begin another assistant message and give its id."""
        self._messages += 1
        self._message_id = f"{self._prefix}.{self._messages}"
        self._message_over = False
        return self._message_id

    def end_message(self) -> None:
        """Let text that is yielded from now on belong to another message."""
        self._message_over = True

    def plan(self, entries: Iterable[str | ev.PlanEntry]) -> None:
        """Show the whole plan as it stands."""
        shown = [ev.PlanEntry(content=entry) if isinstance(entry, str) else entry for entry in entries]
        self.emit(ev.Plan(entries=tuple(shown)))

    def title(self, title: str) -> None:
        """Name the session."""
        self.emit(ev.InfoChanged(title=title))

    def notice(self, title: str, description: str | None = None, *, severity: Any = "info") -> None:
        """Show the person something that is not part of the answer."""
        self.emit(ev.Notice(title=title, description=description, severity=severity))

    def usage(self, usage: ev.TokenUsage) -> None:
        """Count tokens; the turn's end reports the sum per provider and model."""
        self._turn.count(usage)

    def tool(
        self,
        name: str,
        *,
        input: Any = None,
        kind: ev.ToolKind = "other",
        title: str | None = None,
        locations: Sequence[str | ev.Location] = (),
        call_id: str | None = None,
    ) -> ToolHandle:
        """Show a piece of work as a tool call: ``async with ctx.tool("search") as call: ...``."""
        return ToolHandle(self, self.start_call(name, input, kind, title, locations, call_id))

    def start_call(
        self,
        name: str,
        input: Any = None,
        kind: ev.ToolKind = "other",
        title: str | None = None,
        locations: Sequence[str | ev.Location] = (),
        call_id: str | None = None,
    ) -> str:
        """Announce a call and give its id."""
        if call_id is None:
            self._calls += 1
            call_id = f"{self._prefix}.c{self._calls}"
        self._names[call_id] = name
        if title is not None:
            self._titles[call_id] = title
        call = ev.ToolCall(call_id=call_id, name=name, title=title, kind=kind, message_id=self._message_id)
        self.emit(call)
        # Front ends show a message's calls below its text, and know no message that goes on in a later run.
        self._message_over = True
        if input is not None:
            self.inputs[call_id] = input
        if input is not None or locations:
            self.emit(ev.ToolUpdate(call_id=call_id, input=input, locations=_locations(locations)))
        return call_id

    # -- asking ------------------------------------------------------------------------------------

    async def ask(
        self,
        question: Question,
        *,
        durable_key: str | None = None,
        group: str | None = None,
        expires_in: float | None = None,
        lane: str | None = None,
    ) -> ev.Answered:
        """Put a question to the followers of the session and wait for the answer.

        Raises TurnCancelled when the turn is cancelled meanwhile, or over already.
        """
        self._check_live()
        asked = ev.Asked(
            turn_id=self.turn_id,
            lane=lane,
            question_id=f"{self._prefix}.q{next(self._question_numbers)}",
            question=question,
            durable_key=durable_key,
            group=group,
        )
        answered = await self._turn.ask(asked, expires_in)
        self._message_over = True
        if answered.outcome == "cancelled":
            raise TurnCancelled("the turn was cancelled while a question was open")
        return answered

    @must_be_awaited
    async def permission(
        self,
        message: str,
        *,
        tool: str | None = None,
        input: Any = None,
        kind: ev.ToolKind = "other",
        call_id: str | None = None,
        options: Sequence[Option] | None = None,
        allows_edit: bool = False,
        paths: Sequence[str] = (),
        command: Sequence[str] | str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        content: str | Content | Sequence[Content] = (),
        durable_key: str | None = None,
        group: str | None = None,
        also_kinds: Sequence[ev.ToolKind] = (),
        lane: str | None = None,
        always_covers_tool: bool = False,
        others: Sequence[ToolRequest] = (),
        answer: Callable[[ToolRequest], Awaitable[Decision | None]] | None = None,
    ) -> Decision:
        """Ask whether a tool may run; the policy and earlier "always" answers are asked first.

        Without a ``call_id`` a call is shown for it, which ends with the turn, or when the agent emits
        something else; a refused one is shown as denied. ``env`` is what the command is given besides its
        words: no rule allows a command with variables. ``cwd`` is where it runs, if not in the session's
        folder. The person sees all of ``input``, ``env``, ``cwd`` and ``command``, and ``content``: a
        DiffBlock for what is written, or any other block. An "always" is kept by tool and kind, for a command
        by its program and subcommand; a permission that names no tool, or that a rule wants to be asked, is
        asked for every time; ``always_covers_tool`` keeps it for every call of the tool that runs no command.
        The policy judges the call by ``also_kinds`` too, and ``others``: calls that the answer is for as
        well. ``answer`` may decide for the person, or give None. ``lane`` is the call's subagent.
        """
        self._check_live()
        blocks = as_content(content)
        own = call_id is None
        if call_id is None:
            call_id = self.start_call(tool or "permission", input, kind, message, paths)
        elif tool is None:
            tool = self._names.get(call_id)
        request = ToolRequest(
            call_id=call_id,
            tool=tool or "",
            kind=kind,
            also_kinds=tuple(also_kinds),
            input=input,
            paths=tuple(paths),
            command=command if command is None or isinstance(command, str) else tuple(command),
            env=dict(env or {}),
            cwd=cwd,
            always_covers_tool=always_covers_tool,
            others=tuple(others),
        )
        if input is not None and self.inputs.get(call_id) != input:
            # The card may show other arguments: what is approved is what it shows.
            self.inputs[call_id] = input
            self.emit(ev.ToolUpdate(lane=lane, call_id=call_id, input=input, locations=_locations(paths)))
        if blocks := (*command_block(request), *blocks):
            self.emit(ev.ToolUpdate(lane=lane, call_id=call_id, content=blocks))
        decision = self.decide(request)
        if decision is None and answer is not None and (decision := await answer(request)) is not None:
            self.record(request, decision)
        if decision is None:
            covers = self.covers(request)
            shown = default_options(always=covers is not None, covers=covers) if options is None else options
            question = Permission(
                message=message,
                call_id=call_id,
                options=name_coverage(shown, covers),
                allows_edit=allows_edit,
                covers=covers,
            )
            answered = await self.ask(question, durable_key=durable_key, group=group, lane=lane)
            decision = self._apply_answer(request, covers, answered)
            if answered.option_kind not in (None, *ALLOW_KINDS, *REJECT_KINDS):
                return decision  # Neither a yes nor a no: only the agent knows what it does then.
        if not decision:
            self.denied.add(call_id)
            why = decision.reason or "the user refused it"
            self.emit(ev.ToolUpdate(lane=lane, call_id=call_id, status="denied", reason=why))
            return decision
        if decision.by != "policy":
            # What the policy allows here may be another call to a rule that asks: only a person answers that.
            self.approve(with_edited(request, decision.input))
        title = self._titles.get(call_id, "")
        self.emit(approved_call(request, decision, title=title, content=blocks, lane=lane))
        if own:
            self._turn.hold(call_id)
        # What was approved is in the journal before it is done.
        await self.durable()
        return decision

    def _apply_answer(self, request: ToolRequest, covers: Coverage | None, answered: ev.Answered) -> Decision:
        """Turn a person's answer into a decision; the policy checks arguments that the person edited."""
        input = request.input if answered.input is None else answered.input
        decision = Decision(
            allowed=answered.option_kind in ALLOW_KINDS,
            call_id=request.call_id,
            input=input,
            always=answered.option_kind in ("allow_always", "reject_always"),
            reason=answered.reason,
            by=answered.by,
            option_id=answered.option_id,
        )
        self.remember(covers, decision)
        if decision and input != request.input:
            changed = with_edited(request, input)
            judged = self._turn.permissions.decide(changed)
            if judged is not None and not judged and judged.by == "policy":
                self.record(changed, judged)
                return judged
        return decision

    def approve(self, request: ToolRequest) -> None:
        """Count the accesses of a call as approved by a person: this turn does not ask about them again."""
        self.approved |= self._turn.permissions.approvals(request)

    @property
    def has_policy(self) -> bool:
        """Whether the operator gave a policy."""
        return self._turn.permissions.has_policy

    @property
    def asks_about_everything(self) -> bool:
        """Whether ``decide`` gives None for every call."""
        return self._turn.permissions.asks_about_everything

    def decide(self, request: ToolRequest, *, by_policy_only: bool = False) -> Decision | None:
        """What the policy or an earlier "always" says of a call; None when a person is to be asked.

        The decision is recorded. With ``by_policy_only`` an earlier "always" does not count.
        """
        decision = self._turn.permissions.decide(request)
        if decision is None or (by_policy_only and decision.by != "policy"):
            return None
        self.record(request, decision)
        return decision

    def policy_denial(self, request: ToolRequest) -> str | None:
        """Why the policy denies a call, without a record of it; None where it does not."""
        decision = self._turn.permissions.decide(request)
        return None if decision is None or decision or decision.by != "policy" else decision.reason

    def record(self, request: ToolRequest, decision: Decision) -> None:
        """Store a decision that no person was asked for, once in a turn."""
        decided = msgspec.structs.replace(request.decided(decision), turn_id=self.turn_id)
        if decided not in self._recorded:
            self._recorded.add(decided)
            self._turn.record(decided)

    def has_no_rule_for(self, request: ToolRequest) -> bool:
        """Whether no rule of the policy is about a call and its default is to ask."""
        return self._turn.permissions.has_no_rule_for(request)

    def covers(self, request: ToolRequest) -> Coverage | None:
        """What an "always" about a call would cover; None where it would not count, so do not offer it."""
        return self._turn.permissions.covers(request)

    def remember(self, covers: Coverage | None, decision: Decision) -> None:
        """Keep an "always" for the rest of the session."""
        self._turn.permissions.remember(covers, decision)

    @must_be_awaited
    async def form(self, message: str, fields: dict[str, Any]) -> dict[str, Any] | None:
        """Ask for a few fields (a flat JSON schema); None when the person declines."""
        schema = fields if "properties" in fields else {"type": "object", "properties": fields}
        answered = await self.ask(Form(message=message, fields=schema))
        return answered.content if answered.outcome == "accepted" else None

    @must_be_awaited
    async def link(self, message: str, url: str) -> bool:
        """Ask the person to visit an address; true when they did."""
        return (await self.ask(Link(message=message, url=url))).outcome == "accepted"

    async def client_call(self, name: str, input: Any = None) -> Any:
        """Run one of the front end's own tools and give its result."""
        call_id = self.start_call(name, input)
        answered = await self.ask(ClientCall(call_id=call_id, name=name, input=input))
        if answered.outcome != "accepted":
            why = answered.reason or "the front end did not run it"
            self.emit(ev.ToolUpdate(call_id=call_id, status="failed", reason=why))
            return None
        self.emit(ev.ToolUpdate(call_id=call_id, status="completed", raw_output=answered.content))
        return answered.content

    def suspend(self) -> None:
        """Emit that the framework stopped and waits for the open questions."""
        self._turn.suspend()

    # -- looking around ----------------------------------------------------------------------------

    @property
    def files(self) -> Files:
        """The session's files."""
        return self.session.files

    @property
    def terminals(self) -> TerminalsAccess:
        """The session's terminals."""
        return self.session.terminals

    async def history(self) -> Conversation:
        """The conversation before this turn."""
        return await self._turn.history()

    async def turn_so_far(self) -> Conversation:
        """The conversation of this turn so far, also in an earlier process."""
        return await self._turn.turn_so_far()

    async def steered(self) -> list[Prompt]:
        """Take the messages that the person sent to this turn since the last call, without waiting for any.

        What is not taken begins the next turn. Text that is yielded after belongs to another message.
        """
        taken = await self._turn.steered()
        if taken:
            self.end_message()
        return taken

    @property
    def live(self) -> bool:
        """Whether the turn can still emit events; a cancelled one can until it is over."""
        return self._turn.live

    def wait(self, awaitable: Awaitable[T]) -> T:
        """Wait for something from a plain function, which runs in a thread of its own.

        Raises TurnCancelled once the turn is over, so that no thread waits for ever.
        """
        return self._turn.wait(awaitable)

    def _check_live(self) -> None:
        if not self._turn.live:
            raise TurnCancelled("the turn is over")


def _locations(paths: Iterable[str | ev.Location]) -> tuple[ev.Location, ...] | None:
    return tuple(ev.Location(path=path) if isinstance(path, str) else path for path in paths) or None
