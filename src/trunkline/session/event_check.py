"""Checks what an agent says, so that what is written is what will be read.

msgspec checks types when it decodes, not when a struct is made: an event may hold a word, a number or an
object that no reader of the journal would take.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, Literal, TypeGuard, cast, get_args, get_origin

import msgspec

from trunkline import events as ev
from trunkline.errors import AgentProtocolError
from trunkline.json_patch import copy_json

__all__ = ["check_event", "is_plain_text", "well_formed"]

_WRONG_WORD = re.compile(r"Invalid enum value .* at `\$\.(\w+)`")
_SURROGATES = re.compile("[\ud800-\udfff]")


def is_plain_text(event: ev.Event) -> TypeGuard[ev.Text]:
    """Whether this is a text with nothing in it that needs a look: nearly every event is."""
    return (
        type(event) is ev.Text
        and type(event.delta) is str
        and type(event.message_id) is str
        and event.lane is None
        and event.meta is None
    )


def check_event(event: ev.Event, agent: str) -> tuple[ev.Event, int]:
    """Give an event as the journal can carry it, and its size; raises AgentProtocolError for any other."""
    name = type(event).__name__
    try:
        try:
            data = ev.encode_event(event)
        except UnicodeEncodeError:
            text = well_formed(json.dumps(msgspec.to_builtins(event), ensure_ascii=False))
            return msgspec.json.decode(text, type=type(event)), len(text)
        _decoder(type(event)).decode(data)
    except msgspec.ValidationError as error:
        legal = _legal_words(type(event), str(error))
        raise AgentProtocolError(f"{agent} said a {name} that is not one: {error}{legal}") from None
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise AgentProtocolError(f"{agent} said a {name} that is not JSON: {error}") from None
    # The agent may go on with the same object, and what it does to it then was not said.
    if isinstance(event, ev.StateReplaced):
        event = msgspec.structs.replace(event, state=copy_json(event.state))
    elif isinstance(event, ev.StatePatched):
        event = msgspec.structs.replace(event, patch=tuple(copy_json(event.patch)))
    return event, len(data)


def _legal_words(kind: type[ev.Event], error: str) -> str:
    """Name the words that a field takes, if it was given another one."""
    found = _WRONG_WORD.search(error)
    named = found and next((f for f in msgspec.structs.fields(kind) if f.encode_name == found[1]), None)
    if not named:
        return ""
    parts = (named.type, *get_args(named.type))
    words = [str(word) for part in parts if get_origin(part) is Literal for word in get_args(part)]
    return f"; it is one of {', '.join(words)}"


def well_formed(text: str) -> str:
    """Replace lone surrogates, which no wire and no journal can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
    return text


@cache
def _decoder(kind: type[ev.Event]) -> msgspec.json.Decoder[Any]:
    """Make a decoder that checks the fields of an event and leaves alone what may be any JSON.

    A tool's result may have megabytes: its JSON is looked over, but no object is made of it.
    """
    fields: list[Any] = []
    for field in msgspec.structs.fields(kind):
        form: Any = msgspec.Raw if field.type is Any else field.type
        fields.append(
            (field.name, form) if field.required else (field.name, form, msgspec.field(default=None))
        )
    config = cast("Any", kind).__struct_config__
    checked = msgspec.defstruct(kind.__name__, fields, kw_only=True, tag_field="type", tag=config.tag)
    return msgspec.json.Decoder(checked)
