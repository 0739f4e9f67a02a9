"""Checks the events of an agent, so that what is written is what will be read.

msgspec checks types when it decodes, not when a struct is made: an event may hold a word, a number or an
object that no reader of the journal would take.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeGuard, Union, cast, get_args, get_origin

import msgspec

from trunkline import events as ev
from trunkline.errors import AgentProtocolError
from trunkline.json_patch import copy_json
from trunkline.open_words import known_words

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


def check_event(event: ev.Event, agent: str, *, foreign_words: bool = False) -> tuple[ev.Event, int]:
    """Give an event as the journal can carry it, and its size; raises AgentProtocolError for any other.

    A word outside the known ones is a typing error, except with ``foreign_words``: those of another program.
    """
    name = type(event).__name__
    try:
        try:
            data = ev.encode_event(event)
        except UnicodeEncodeError:
            return _repaired(event)
        _decoder(type(event), foreign_words).decode(data)
    except msgspec.ValidationError as error:
        legal = _legal_words(type(event), str(error))
        raise AgentProtocolError(f"{agent} emitted a {name} that is not one: {error}{legal}") from None
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise AgentProtocolError(f"{agent} emitted a {name} that is not JSON: {error}") from None
    # The agent may go on with the same object, and what it does to it then was not emitted.
    if isinstance(event, ev.StateReplaced):
        event = msgspec.structs.replace(event, state=copy_json(event.state))
    elif isinstance(event, ev.StatePatched):
        event = msgspec.structs.replace(event, patch=tuple(copy_json(event.patch)))
    return event, len(data)


def with_well_formed_texts(event: ev.Event) -> ev.Event:
    """Give an event without lone surrogates; one that is no JSON at all stays as it is."""
    try:
        ev.encode_event(event)
    except UnicodeEncodeError:
        with suppress(TypeError, ValueError, RecursionError, msgspec.MsgspecError):
            return _repaired(event)[0]
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        pass
    return event


def _repaired(event: ev.Event) -> tuple[ev.Event, int]:
    text = well_formed(json.dumps(msgspec.to_builtins(event), ensure_ascii=False))
    return msgspec.json.decode(text, type=type(event)), len(text)


def _legal_words(kind: type[ev.Event], error: str) -> str:
    """Name the words that a field takes, if it was given another one."""
    found = _WRONG_WORD.search(error)
    named = found and next((f for f in msgspec.structs.fields(kind) if f.encode_name == found[1]), None)
    words = known_words(named.type) if named else ()
    return f"; it is one of {', '.join(words)}" if words else ""


def well_formed(text: str) -> str:
    """Replace lone surrogates, which no wire and no journal can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
    return text


@cache
def _decoder(kind: type[ev.Event], foreign_words: bool) -> msgspec.json.Decoder[Any]:
    """Make a decoder that checks the fields of an event and leaves alone what may be any JSON.

    A tool's result may have megabytes: its JSON is looked over, but no object is made of it.
    """
    forms = {field.name: field.type for field in msgspec.structs.fields(kind)}
    if not foreign_words:
        forms = {name: _closed(form) for name, form in forms.items()}
    raw = {name: msgspec.Raw if form is Any else form for name, form in forms.items()}
    return msgspec.json.Decoder(_with_fields(kind, raw))


def _closed(form: Any) -> Any:
    """Give a type that takes the known words only, also in the structs inside it."""
    origin, parts = get_origin(form), get_args(form)
    if origin is Annotated and (words := known_words(form)):
        return Literal[words]
    if origin in (Union, UnionType):
        return Union[tuple(_closed(part) for part in parts)]
    if origin is tuple:
        return tuple[_closed(parts[0]), ...]
    if not (isinstance(form, type) and issubclass(form, msgspec.Struct)):
        return cast("Any", form)
    forms = {field.name: field.type for field in msgspec.structs.fields(form)}
    closed = {name: _closed(one) for name, one in forms.items()}
    return form if closed == forms else _with_fields(form, closed)


def _with_fields(kind: type[msgspec.Struct], forms: Mapping[str, Any]) -> type[msgspec.Struct]:
    """Make a struct like another one, whose fields have other types."""
    required = {field.name for field in msgspec.structs.fields(kind) if field.required}
    fields: list[Any] = [
        (name, form) if name in required else (name, form, msgspec.field(default=None))
        for name, form in forms.items()
    ]
    config = kind.__struct_config__
    return msgspec.defstruct(kind.__name__, fields, kw_only=True, tag_field=config.tag_field, tag=config.tag)
