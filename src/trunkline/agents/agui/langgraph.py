"""What ag-ui-langgraph (0.0.47) sends besides AG-UI, or instead of it.

* An interrupt is the custom event ``on_interrupt`` and, by default, nothing else.
* Several interrupts at once are answered only by the older ``forwardedProps.command.resume``.
* LangChain's HumanInTheLoopMiddleware puts the reviews of several calls into one interrupt.
* The state repeats the conversation. It is also the first to have the arguments of a call that came in
  one piece, because the stream leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Required, TypedDict, cast

import msgspec

from trunkline import events as ev
from trunkline.questions import ALLOW_KINDS, Option, Permission

INTERRUPT_EVENT = "on_interrupt"
"""The name of the custom event that is an interrupt."""

Json = dict[str, Any]

_KINDS = ("ai", "human", "system", "tool")
_OPTIONS = {
    "approve": Option(option_id="approve", name="Approve", kind="allow_once"),
    "reject": Option(option_id="reject", name="Reject", kind="reject_once"),
}


# -- interrupts ------------------------------------------------------------------------------------


def interrupt_of(event: Json) -> Json:
    """Give the interrupt of a custom event, in the shape that it has in an outcome."""
    value: Any = event.get("value")
    if isinstance(value, str):
        with suppress(msgspec.DecodeError, RecursionError):
            value = msgspec.json.decode(value)
    about = cast("Json", value) if isinstance(value, dict) else {"message": value}
    raw: Any = event.get("rawEvent")
    return {
        "id": cast("Json", raw).get("id") if isinstance(raw, dict) else None,
        "message": about.get("message"),
        "toolCallId": about.get("toolCallId") or about.get("tool_call_id"),
        "responseSchema": about.get("responseSchema") or about.get("response_schema"),
        "subagentRunId": event.get("subagentRunId"),
        "metadata": {"langgraph": {"raw": value}},
    }


def is_langgraph(interrupt: Json) -> bool:
    """Whether LangGraph asks, and not by a server of ours, which takes several answers at once."""
    metadata = cast("Json", interrupt.get("metadata") or {})
    return "langgraph" in metadata and "trunkline" not in metadata


def raw_value(interrupt: Json) -> Any:
    """The value that a graph interrupted itself with."""
    about: Any = cast("Json", interrupt.get("metadata") or {}).get("langgraph")
    return cast("Json", about).get("raw") if isinstance(about, dict) else None


# -- reviews ---------------------------------------------------------------------------------------


def reviews_of(interrupt: Json, calls: Mapping[str, Json]) -> list[Permission]:
    """Give the reviews that an interrupt of LangChain's middleware asks for; none for any other interrupt."""
    try:
        asked = msgspec.convert(raw_value(interrupt), _Reviews)
    except msgspec.ValidationError:
        return []
    configs = asked.get("review_configs") or []
    allowed = {config["action_name"]: config["allowed_decisions"] for config in configs}
    open_calls = dict(calls)
    found: list[Permission] = []
    for action in asked["action_requests"]:
        name = action["name"]
        choices = allowed.get(name, ["approve", "reject"])
        call_id = _call_of(name, action.get("args"), open_calls) or name
        open_calls.pop(call_id, None)
        found.append(
            Permission(
                message=str(action.get("description") or f"Run {name}?"),
                call_id=call_id,
                options=tuple(option for choice, option in _OPTIONS.items() if choice in choices),
                allows_edit="edit" in choices,
            )
        )
    return found


class _Action(TypedDict, total=False):
    name: Required[str]
    args: Any
    description: str | None


class _Config(TypedDict):
    action_name: str
    allowed_decisions: list[str]


class _Reviews(TypedDict, total=False):
    """What LangChain's middleware asks."""

    action_requests: Required[list[_Action]]
    review_configs: list[_Config] | None


def _call_of(name: str, args: Any, calls: Mapping[str, Json]) -> str | None:
    """The call that is reviewed; a review names it by what it does."""
    named = [call_id for call_id, call in calls.items() if call["name"] == name]
    same = [call_id for call_id in named if read_arguments(calls[call_id]["arguments"]) == args]
    return next(iter(same or named), None)


def decision_of(answered: ev.Answered, name: str) -> Json:
    """Give an answer as the decision of a review."""
    if answered.outcome != "selected" or answered.option_kind not in ALLOW_KINDS:
        return {"type": "reject", **({"message": answered.reason} if answered.reason else {})}
    if answered.input is not None:
        return {"type": "edit", "edited_action": {"name": name, "args": answered.input}}
    return {"type": "approve"}


# -- state -----------------------------------------------------------------------------------------


def without_messages(state: Any) -> Any:
    """Give a state without the conversation, which has events of its own."""
    if not _messages(state):
        return state
    return {key: value for key, value in cast("Json", state).items() if key != "messages"}


def arguments_in(state: Any) -> Iterable[tuple[str, Any]]:
    """The arguments of the calls in a state's conversation, by their ids."""
    for message in _messages(state):
        calls: Any = message.get("tool_calls")
        for call in cast("list[Any]", calls) if isinstance(calls, list) else ():
            if isinstance(call, dict):
                yield str(cast("Json", call).get("id")), cast("Json", call).get("args")


def _messages(state: Any) -> list[Json]:
    messages: Any = cast("Json", state).get("messages") if isinstance(state, dict) else None
    if not isinstance(messages, list):
        return []
    found = [cast("Json", one) for one in cast("list[Any]", messages) if isinstance(one, dict)]
    shaped = len(found) == len(cast("list[Any]", messages)) and all(
        one.get("type") in _KINDS for one in found
    )
    return found if shaped else []


def read_arguments(arguments: str) -> Any:
    """Read the arguments of a call; those that are not JSON stay text."""
    try:
        return msgspec.json.decode(arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return arguments
