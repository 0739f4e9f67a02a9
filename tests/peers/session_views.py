"""One view of a session made from two sides: from what a client heard, and from what the journal holds."""

from collections.abc import Collection
from typing import Any, cast

import msgspec

from trunkline import Conversation
from trunkline.conversation import Call, CallPart, MediaPart, Message, Part, SourcePart, TextPart

View = dict[str, Any]

_KINDS = {"agent_message_chunk": "text", "agent_thought_chunk": "thought", "user_message_chunk": "user"}


def heard_view(heard: list[dict[str, Any]], *, loose: Collection[str] = ()) -> View:
    """Fold the updates of a client, as any client would: pieces joined by message id, calls merged by id.

    ``loose`` are calls that belong to no message, so that their place is not compared.
    """
    view = _empty()
    for update in (bare(item["update"]) for item in heard if "update" in item):
        kind: str = update.pop("sessionUpdate")
        lane: str = update.pop("_meta", {}).get("trunkline", {}).get("lane", "")
        if kind in _KINDS:
            _add_place(view, lane, update["messageId"])
            _add_part(view["messages"].setdefault(update["messageId"], []), _KINDS[kind], update["content"])
        elif kind in ("tool_call", "tool_call_update"):
            call_id = update.pop("toolCallId")
            if kind == "tool_call" and call_id not in loose:
                _add_place(view, lane, call_id)
            update.pop("name", None)  # The SDK 0.12 does not know it.
            view["calls"].setdefault(call_id, {}).update(update)
        elif kind == "plan":
            view["plan"] = update["entries"]
        elif kind == "session_info_update":
            view["title"] = update.get("title")
        elif kind == "usage_update":
            view["usage"] = update
        elif kind == "config_option_update":
            view["options"] = {option["id"]: option["currentValue"] for option in update["configOptions"]}
        elif kind == "notice":
            view["notices"].append([update["severity"], update["title"], update.get("description")])
        elif kind == "compaction_update":
            view["compactions"][update["compactionId"]] = update["status"]
    return view


def kept_view(
    conversation: Conversation, *, person: bool, notices: bool = True, terminals: Collection[str] = ()
) -> View:
    """Show a conversation as a client should see it.

    ``person`` is whether the person's own messages are shown, as a load does; ``notices`` whether the
    client knows notices; ``terminals`` are those it runs itself.
    """
    view = _empty()
    for message in conversation.messages:
        _add_message(view, message, person=person)
    for call_id, call in conversation.calls.items():
        view["calls"][call_id] = bare(_call(call, conversation, terminals))
    view["plan"] = [
        {"content": entry.content, "priority": entry.priority, "status": entry.status}
        for entry in conversation.plan
    ]
    view["title"] = conversation.title
    if conversation.usage is not None:
        cost = conversation.usage.cost
        view["usage"] = bare(
            {
                "used": conversation.usage.used,
                "size": conversation.usage.size,
                "cost": None if cost is None else {"amount": cost.amount, "currency": cost.currency},
            }
        )
    view["options"] = {option.option_id: option.value for option in conversation.options}
    if notices:
        view["notices"] = [
            [notice.severity, notice.title, notice.description] for notice in conversation.notices
        ]
    view["compactions"] = {key: value.status for key, value in conversation.compactions.items()}
    return view


def _empty() -> View:
    return {
        "order": {},
        "messages": {},
        "calls": {},
        "plan": [],
        "title": None,
        "usage": None,
        "options": {},
        "notices": [],
        "compactions": {},
    }


def bare(value: Any) -> Any:
    """Leave out what is null: SDKs differ in whether they show it."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: bare(item) for key, item in fields.items() if item is not None}
    return [bare(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _add_place(view: View, lane: str, identity: str) -> None:
    """Note in which order messages and calls are spoken of, lane by lane."""
    places: list[str] = view["order"].setdefault(lane, [])
    if places[-1:] != [identity]:
        places.append(identity)


def _add_part(parts: list[Any], kind: str, content: dict[str, Any]) -> None:
    if content["type"] != "text":
        parts.append(["block", content])
    elif parts and parts[-1][0] == kind:
        parts[-1][1] += content["text"]
    else:
        parts.append([kind, content["text"]])


# -- the journal's side ----------------------------------------------------------------------------


def _add_message(view: View, message: Message, *, person: bool) -> None:
    lane, identity = message.lane or "", message.message_id
    if message.role == "user":
        if person:
            _add_place(view, lane, identity)
            for block in message.content:
                _add_part(view["messages"].setdefault(identity, []), "user", _block(block))
        return
    for part in message.parts:
        if isinstance(part, CallPart):
            _add_place(view, lane, part.call_id)
        elif content := _part(part):
            _add_place(view, lane, identity)
            _add_part(view["messages"].setdefault(identity, []), str(part.__struct_config__.tag), content)


def _part(part: Part) -> dict[str, Any] | None:
    """Give what a part is on the wire; nothing for one without words."""
    if isinstance(part, MediaPart):
        return _block(part.content)
    if isinstance(part, SourcePart):
        uri = part.url or f"source:{part.source_id}"
        name = part.title or part.document or uri
        return bare({"type": "resource_link", "uri": uri, "name": name, "mimeType": part.mime_type})
    text = part.text if isinstance(part, TextPart) else getattr(part, "text", "")
    return {"type": "text", "text": text} if text else None


def _call(call: Call, conversation: Conversation, terminals: Collection[str]) -> dict[str, Any]:
    refused = call.status in ("failed", "denied", "cancelled")
    content: list[Any] = []
    for block in call.content:
        made = _block(block)
        if made["type"] == "terminal" and made["terminalId"] not in terminals:
            shown = conversation.terminals.get(made["terminalId"])
            made = {"type": "text", "text": "" if shown is None else shown.data}
        content.append(made if made["type"] in ("diff", "terminal") else {"type": "content", "content": made})
    if call.output:
        content.append(_text_content(call.output))
    if refused and call.reason:
        content.append(_text_content(f"{call.status.capitalize()}: {call.reason}"))
    given = call.input
    if given is None and call.arguments:
        given = msgspec.json.decode(call.arguments)
    return {
        "title": call.title or call.name,
        "kind": call.kind,
        "status": "failed" if refused else call.status,
        "rawInput": msgspec.json.decode(call.arguments)
        if call.input is None and call.arguments
        else call.input,
        "rawOutput": call.raw_output,
        "locations": [msgspec.to_builtins(place) for place in call.locations] or None,
        "content": content or None,
    }


def _text_content(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _block(block: Any) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(block)
    renamed = {"mime_type": "mimeType", "terminal_id": "terminalId", "old": "oldText", "new": "newText"}
    made = bare({renamed.get(key, key): value for key, value in made.items()})
    if made["type"] == "link":
        made["type"] = "resource_link"
    if made["type"] == "resource":
        return {"type": "resource", "resource": {key: value for key, value in made.items() if key != "type"}}
    return made
