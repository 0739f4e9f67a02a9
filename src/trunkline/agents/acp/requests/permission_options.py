"""The options of a permission: which of the agent's own options an answer stands for; pure.

Agents name options as they like, offer two of one kind, and put them in any order, so an option is chosen by
its kind. "The kind ... helps clients choose the appropriate icon and UI treatment"
(https://agentclientprotocol.com/protocol/v1/tool-calls#permission-options).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, cast

import msgspec

from trunkline.agents.acp.requests.request_params import fields_of
from trunkline.events import ToolKind
from trunkline.protocols.jsonrpc.connection import error_with_details
from trunkline.protocols.jsonrpc.messages import INVALID_PARAMS
from trunkline.questions import ALLOW_KINDS, Option

Choice = Literal["ask", "allow", "refuse"]

CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}
"""The answer to a permission whose turn was cancelled, or that cannot be answered by an option.

"If the current prompt turn gets cancelled, the Client MUST respond with the "cancelled" outcome"
(https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
"""


NO_KIND = "other"
"""The kind of an option whose kind is missing, or is no text."""


class PermissionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent asks permission for, as a callable ``permission=`` is given it."""

    session_id: str
    """Our session."""
    title: str
    tool: str
    kind: ToolKind
    input: Any = None
    paths: tuple[str, ...] = ()
    command: tuple[str, ...] | str | None = None
    options: tuple[Option, ...] = ()
    params: dict[str, Any] = {}
    """The request as it came."""


def read_options(params: Any) -> tuple[Option, ...]:
    """Read the options of a session/request_permission; at least one must be readable.

    One without a kind is for a person alone to choose, as one of a kind that we do not know.
    """
    given: Any = fields_of(params).get("options")
    options: dict[str, Option] = {}
    for entry in cast("list[Any]", given) if isinstance(given, list) else []:
        fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        option_id, kind = fields.get("optionId"), fields.get("kind")
        if isinstance(option_id, str):
            kind = kind if isinstance(kind, str) and kind else NO_KIND
            name = fields.get("name")
            label = name if isinstance(name, str) and name.strip() else option_id
            # Of two with one id only the first can be meant by an answer.
            options.setdefault(option_id, Option(option_id=option_id, name=label, kind=cast("Any", kind)))
    if not options:
        raise error_with_details(
            INVALID_PARAMS, "invalid params: options must be a list of objects with optionId, name and kind"
        )
    return tuple(options.values())


def option_of_kind(options: Iterable[Option], *kinds: str) -> Option | None:
    """Give the first option of the first kind that there is one of."""
    offered = list(options)
    found = (option for kind in kinds for option in offered if option.kind == kind)
    return next(found, None)


def without_always(options: Sequence[Option]) -> tuple[Option, ...]:
    """Leave out the options that are for good, where there is another way to allow."""
    once = tuple(option for option in options if not option.kind.endswith("_always"))
    return once if any(option.kind in ALLOW_KINDS for option in once) else tuple(options)


def chosen_option(options: Sequence[Option], choice: object) -> Option | None:
    """Give the option that a callable's answer means: an id, a kind, or whether it is allowed."""
    if isinstance(choice, bool):
        return option_of_kind(options, "allow_once" if choice else "reject_once")
    if isinstance(choice, Option):
        choice = choice.option_id
    by_id = next((option for option in options if option.option_id == choice), None)
    return by_id or option_of_kind(options, str(choice))


def selected(option: Option | None) -> dict[str, Any]:
    """Give the answer that selects an option; none is a cancelled one."""
    if option is None:
        return CANCELLED
    return {"outcome": {"outcome": "selected", "optionId": option.option_id}}
