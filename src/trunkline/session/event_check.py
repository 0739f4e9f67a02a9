"""Checks what an agent says, so that what is written is what will be read.

msgspec checks types when it decodes, not when a struct is made: an event may hold a word, a number or an
object that no reader of the journal would take.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeGuard, cast, get_args

import msgspec

from trunkline import events as ev
from trunkline.errors import AgentProtocolError
from trunkline.json_patch import copy_json
from trunkline.open_words import known_words

__all__ = ["check_event", "is_plain_text", "well_formed"]

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


def check_event(event: ev.Event, agent: str, *, foreign_words: bool = False) -> tuple[ev.Event, int]:
    """Give an event as the journal can carry it, and its size; raises AgentProtocolError for any other.

    A word outside the known ones is a typing error, except with ``foreign_words``: those of another program.
    """
    name = type(event).__name__
    try:
        try:
            data = ev.encode_event(event)
        except UnicodeEncodeError:
            text = well_formed(json.dumps(msgspec.to_builtins(event), ensure_ascii=False))
            return msgspec.json.decode(text, type=type(event)), len(text)
        _decoder(type(event)).decode(data)
    except msgspec.ValidationError as error:
        raise AgentProtocolError(f"{agent} said a {name} that is not one: {error}") from None
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise AgentProtocolError(f"{agent} said a {name} that is not JSON: {error}") from None
    if not foreign_words and (unknown := _unknown_word(event)):
        raise AgentProtocolError(f"{agent} said a {name} that is not one: {unknown}")
    # The agent may go on with the same object, and what it does to it then was not said.
    if isinstance(event, ev.StateReplaced):
        event = msgspec.structs.replace(event, state=copy_json(event.state))
    elif isinstance(event, ev.StatePatched):
        event = msgspec.structs.replace(event, patch=tuple(copy_json(event.patch)))
    return event, len(data)


def _unknown_word(value: Any, path: str = "$") -> str | None:
    """Say where a struct has a word that is not known, and which ones are."""
    for name, known in _word_fields(cast("type[Any]", type(value))):
        held, place = getattr(value, name), f"{path}.{name}"
        if known:
            if held is not None and held not in known:
                return f"unknown word {held!r} - at `{place}`; it is one of {', '.join(known)}"
            continue
        for part in cast("tuple[Any, ...]", held) if isinstance(held, tuple) else (held,):
            if (found := _unknown_word(part, place)) is not None:
                return found
    return None


@cache
def _word_fields(kind: type[Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Name the fields of a struct with their known words; none for a field that holds such structs."""
    if not issubclass(kind, msgspec.Struct):
        return ()
    found: list[tuple[str, tuple[str, ...]]] = []
    for field in msgspec.structs.fields(kind):
        if known := known_words(field.type):
            found.append((field.name, known))
        elif any(_word_fields(part) for part in _structs_in(field.type)):
            found.append((field.name, ()))
    return tuple(found)


def _structs_in(field_type: Any) -> Iterator[type[Any]]:
    if isinstance(field_type, type):
        yield field_type
    for part in get_args(field_type):
        yield from _structs_in(part)


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
