"""The user's own ``Session`` of the SDK, if an agent is given one: repaired, rewound and copied as ours is.

Without one the journal gives the history, and nothing has to be repaired: what a turn said and did before it
was cancelled is in the journal, and every call in it has an output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Union, cast

from agents import Session
from trunkline import events as ev
from trunkline.agents.openai.input_items import UNANSWERED, Item, items_of
from trunkline.content import TextBlock
from trunkline.conversation import Conversation
from trunkline.errors import AgentError
from trunkline.folding import fold
from trunkline.session.context import SessionView

SessionFactory = Callable[[SessionView], Session]
OwnSession = Union[Session, SessionFactory]

_MARKS = "openai.marks"
_MOST_MARKS = 500
_CALLS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "shell_call": "shell_call_output",
    "local_shell_call": "local_shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
}


class OwnMemory:
    """A session of ours with the SDK's session that the user gave for it."""

    def __init__(self, view: SessionView, given: OwnSession) -> None:
        self._view = view
        # A session object has methods, and a class or a function makes one.
        made: Any = given if isinstance(given, Session) and not isinstance(given, type) else None
        self.session: Session = made if made is not None else cast("SessionFactory", given)(view)

    async def repair(self, turn: Conversation | None = None) -> None:
        """Complete the history for the next prompt: ``turn`` is one that did not come to its end.

        The SDK stores nothing of a turn that was cancelled but its prompt, and of one that stopped for
        approvals the calls without their outputs.
        """
        items = cast("list[Any]", await self.session.get_items())
        if turn is not None:
            begin = max((at for at, item in enumerate(items) if _is_prompt(item)), default=-1)
            stored = {_call_id(item) for item in items[begin + 1 :] if _call_id(item)}
            has_answer = any(item.get("role") == "assistant" for item in items[begin + 1 :])
            missing = [
                item
                for item in items_of(turn)
                if not _is_prompt(item)
                and (item.get("call_id") not in stored if item.get("call_id") else not has_answer)
            ]
            if missing:
                await self.session.add_items(cast("Any", missing))
                items += missing
        await self._answer_open_calls(items)

    async def _answer_open_calls(self, items: list[Any]) -> None:
        answered = {item.get("call_id") for item in items if str(item.get("type")).endswith("_output")}
        open_calls = [
            item for item in items if item.get("type") in _CALLS and item.get("call_id") not in answered
        ]
        if not open_calls:
            return
        if any(item["type"] not in ("function_call", "custom_tool_call") for item in open_calls):
            # No text answers such a call: it is taken out, with what came after.
            first = min(items.index(item) for item in open_calls)
            await self._cut(first)
            return
        outputs = [
            {"type": _CALLS[item["type"]], "call_id": item["call_id"], "output": UNANSWERED}
            for item in open_calls
        ]
        await self.session.add_items(cast("Any", outputs))

    async def mark(self, message_ids: Iterable[str]) -> None:
        """Remember how long the history is after these messages."""
        length = len(await self.session.get_items())
        marks = [one for one in self._marks() if one[1] <= length]
        marks += [[message_id, length] for message_id in message_ids]
        await self._view.keep(_MARKS, marks[-_MOST_MARKS:])

    def _marks(self) -> list[list[Any]]:
        return cast("list[list[Any]]", self._view.kept.get(_MARKS) or [])

    async def rewind(self, to_message_id: str | None) -> None:
        """Forget what came after a message."""
        length = 0
        if to_message_id is not None:
            found = [length for message_id, length in self._marks() if message_id == to_message_id]
            if not found:
                raise AgentError(
                    f"the agent's own Session does not know how long it was after {to_message_id!r}: "
                    "send the prompt in a new session"
                )
            length = int(found[-1])
        await self._cut(length)
        await self._view.keep(_MARKS, [one for one in self._marks() if one[1] <= length])

    async def _cut(self, length: int) -> None:
        left = len(await self.session.get_items())
        while left > length and await self.session.pop_item() is not None:
            left -= 1

    async def copy_from(self, origin: OwnMemory) -> None:
        """Begin with everything that another session remembers."""
        items = await origin.session.get_items()
        if items and origin.session is not self.session:
            await self.session.add_items(items)
            await self._view.keep(_MARKS, origin._marks())

    async def conversation(self) -> Conversation | None:
        """The history as a conversation; None if there is none."""
        items = cast("list[Any]", await self.session.get_items())
        return conversation_of(items) if items else None


def _is_prompt(item: Any) -> bool:
    return item.get("role") == "user"


def _call_id(item: Any) -> str | None:
    return item.get("call_id")


def conversation_of(items: Iterable[Item]) -> Conversation:
    """Read items as a conversation; what only the model sees is left out."""
    events: list[ev.Event] = []
    for number, item in enumerate(items):
        message_id = f"item-{number}"
        kind, role = item.get("type"), item.get("role")
        if role == "user":
            content = _text(item.get("content"))
            events.append(ev.UserMessage(message_id=message_id, content=(TextBlock(text=content),)))
        elif role == "assistant":
            events.append(ev.Text(message_id=message_id, delta=_text(item.get("content"))))
        elif kind == "function_call":
            call_id = str(item.get("call_id"))
            events.append(ev.ToolCall(call_id=call_id, name=str(item.get("name"))))
            events.append(ev.ToolInput(call_id=call_id, delta=str(item.get("arguments") or "{}")))
        elif kind == "function_call_output":
            output = _text(item.get("output"))
            call_id = str(item.get("call_id"))
            events.append(ev.ToolUpdate(call_id=call_id, status="completed", raw_output=output))
    conversation = fold(events)
    for call in conversation.calls.values():
        if call.status not in ev.FINAL_STATUSES:
            call.status, call.reason = "cancelled", UNANSWERED
    return conversation


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    return "".join(str(part.get("text") or part.get("refusal") or "") for part in parts)
