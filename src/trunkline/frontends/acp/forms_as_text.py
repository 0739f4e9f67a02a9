"""Forms as text: a form as a message of the agent, and the person's next message as its content.

For clients that have no forms. One field takes the whole message. Several are written as ``name: value``
lines, or as a JSON object. An answer that does not fit raises an error that says how to write it.
"""

from __future__ import annotations

import math
from typing import Any, cast

import msgspec

from trunkline.content import Content, LinkBlock, ResourceBlock, TextBlock
from trunkline.frontends.acp.form_fields import (
    Choice,
    choices_of,
    defaults_of,
    fields_of,
    required_of,
    type_of,
)
from trunkline.questions import Form
from trunkline.safe_text import reveal

DECLINE = "decline"
_DECLINES = frozenset(
    {
        DECLINE,
        "/decline",
        "cancel",
        "/cancel",
        "no thanks",
        "no thank you",
        "never mind",
        "nevermind",
        "abort",
        "stop",
    }
)
"""Whole messages that decline, in any case and with any punctuation around them; see docs/editors.md."""
_YES = frozenset({"y", "true", "on", "ok", "sure"})
_NO = frozenset({"n", "false", "off"})
_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "array": "several, separated by commas",
    "object": "a JSON object",
}
_EMPTY = "There is nothing in the answer"
_INTEGERS = range(-(2**63), 2**63)


class AnswerMismatch(Exception):
    """The message does not answer the question; the text says why."""


# -- asking ------------------------------------------------------------------------------------------


def describe_form(form: Form) -> str:
    """Say what a form asks for."""
    fields, required = fields_of(form), required_of(form)
    message = form.message.strip() or str(form.fields.get("description") or "The agent asks for an answer.")
    if len(fields) != 1:
        lines = [_describe_field(name, field, name in required) for name, field in fields.items()]
        return "\n".join([message, *([""] if lines else []), *lines])
    (field,) = fields.values()
    about = str(field.get("description") or "").strip()
    title = str(field.get("title") or "").strip()
    if about and about not in message:
        message = f"{message}\n{about}"
    elif not about and " " in title and title not in message:
        # One word is a name; more of them say what is asked. Without the empty line it were a row of a table.
        message = f"{message}\n\n{title}"
    lines = [f"{number}. {choice.name}" for number, choice in enumerate(choices_of(field), 1)]
    return "\n".join([message, *([""] if lines else []), *lines])


def ask_as_text(form: Form, call: dict[str, Any] | None = None) -> str:
    """Ask for what a form asks for, and say how to answer; ``call`` is what is to be approved."""
    fields, how = fields_of(form), ""
    if len(fields) != 1:
        how = f": one line for each field, as in `{next(iter(fields))}: ...`, or a JSON object"
    elif not choices_of(*fields.values()) and (kind := field_kind(*fields.values())) != "text":
        how = f": {kind}"
    how_to_answer = f"Your next message is the answer{how}. To decline, write `{DECLINE}`."
    return f"{_describe_call(call)}{describe_form(form)}\n\n{how_to_answer}"


def _describe_call(call: dict[str, Any] | None) -> str:
    """A call with its whole arguments, if it has any, in a block that these cannot end."""
    if call is None:
        return ""
    if call.get("rawInput") is None:
        return f"{call['title']}\n\n"
    given = msgspec.json.format(msgspec.json.encode(call["rawInput"], enc_hook=repr)).decode()
    fence = "```"
    while fence in given:
        fence += "`"
    return f"{call['title']}\n\n{fence}json\n{reveal(given)}\n{fence}\n\n"


def _describe_field(name: str, field: dict[str, Any], required: bool) -> str:
    about = str(field.get("description") or field.get("title") or "").strip()
    if about.casefold() == name.replace("_", " ").casefold():
        about = ""
    notes = [field_kind(field)]
    default = field.get("default")
    if default is not None and (written := write_field(field, default)):
        notes.append(f"default {written}")
    elif default is not None or not required:
        notes.append("optional")
    return f"- `{name}`{f' {about}' if about else ''} ({', '.join(notes)})"


def field_kind(field: dict[str, Any]) -> str:
    """Say in words what a field takes."""
    if type_of(field) == "boolean":
        return "yes or no"
    if choices := choices_of(field):
        return "one of: " + " | ".join(choice.name for choice in choices)
    if type_of(field) == "array" and (options := choices_of(items_of(field))):
        return f"some of: {' | '.join(option.name for option in options)}; separated by commas"
    return _KINDS.get(type_of(field), "text")


# -- answering ---------------------------------------------------------------------------------------


def message_text(content: tuple[Content, ...]) -> str:
    """The text of a message; files and links in it are given by their addresses, but are no answer alone."""
    if not any(isinstance(block, TextBlock) and block.text.strip() for block in content):
        raise AnswerMismatch(
            "The answer can only be text: a link or a file alone is none" if content else _EMPTY
        )
    texts: list[str] = []
    for block in content:
        if isinstance(block, TextBlock):
            texts.append(block.text)
        elif isinstance(block, LinkBlock | ResourceBlock):
            texts.append(block.uri)
        else:
            raise AnswerMismatch("The answer can only be text")
    return "".join(texts).strip()


def read_answer(form: Form, text: str) -> dict[str, Any] | None:
    """Read what a person wrote as the content of a form; None when they decline."""
    fields = fields_of(form)
    if not text:
        raise AnswerMismatch(_EMPTY)
    if declines(text) and not _names_choice(fields, text):
        return None
    if len(fields) == 1:
        ((name, field),) = fields.items()
        return {name: read_field(field, text)}
    given = _read_object(fields, text) if text.startswith("{") else _read_lines(form, text)
    content = {**defaults_of(fields), **given}
    missing = [f"`{name}`" for name in required_of(form) if name not in content]
    if missing:
        raise AnswerMismatch(f"The answer lacks {', '.join(missing)}")
    return content


def declines(text: str) -> bool:
    """Whether a message declines to answer."""
    message = " ".join(text.replace(",", " ").split()).strip(" .!…;:\"'").casefold()
    return message in _DECLINES


def _names_choice(fields: dict[str, dict[str, Any]], text: str) -> bool:
    return len(fields) == 1 and any(_find(field, text) for field in fields.values())


def _read_object(fields: dict[str, dict[str, Any]], text: str) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise AnswerMismatch(f"The answer is no JSON object ({error})") from None
    content: dict[str, Any] = {}
    for name, value in given.items():
        if name not in fields:
            known = ", ".join(f"`{one}`" for one in fields)
            raise AnswerMismatch(f"There is no field `{name}`; the fields are {known}")
        content[name] = read_field(fields[name], value, name) if isinstance(value, str) else value
    return content


def _read_lines(form: Form, text: str) -> dict[str, Any]:
    fields, required = fields_of(form), required_of(form)
    known = {str(field.get("title") or name).casefold(): name for name, field in fields.items()}
    known |= {name.casefold(): name for name in fields}
    written: dict[str, str] = {}
    last: str | None = None
    for line in text.split("\n"):
        head, colon, rest = line.partition(":")
        name = known.get(head.strip(" -*`").casefold()) if colon else None
        if name is not None:
            written[name], last = rest, name
        elif last is not None:
            written[last] += f"\n{line}"  # A text may have several lines.
    if not written and len(required) == 1:
        written[required[0]] = text
    if not written:
        raise AnswerMismatch(
            f"The answer names no field: write one line for each, as in `{next(iter(fields))}: ...`"
        )
    return {
        name: read_field(fields[name], value.strip(), name)
        for name, value in written.items()
        if value.strip()
    }


def read_field(field: dict[str, Any], text: str, name: str = "") -> Any:
    """Read one value as its schema wants it."""
    what = f"`{name}`" if name else "The answer"
    if choices_of(field):
        chosen = _find(field, text)
        if chosen is None:
            raise AnswerMismatch(f"{what} must be {field_kind(field)}")
        return chosen.value
    try:
        value = _convert(field, text)
    except (ValueError, msgspec.DecodeError):
        raise AnswerMismatch(f"{what} must be {field_kind(field)}") from None
    _check_bounds(field, value, what)
    return value


def _convert(field: dict[str, Any], text: str) -> Any:
    kind = type_of(field)
    if kind == "integer":
        number = int(text)
        if number not in _INTEGERS:
            raise ValueError(text)
        return number
    if kind == "number":
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(text)
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "array":
        listed: Any = msgspec.json.decode(text) if text.startswith("[") else text.split(",") if text else []
        return [read_field(items_of(field), one.strip()) if isinstance(one, str) else one for one in listed]
    return msgspec.json.decode(text) if kind == "object" else text


def _check_bounds(field: dict[str, Any], value: Any, what: str) -> None:
    measured, unit = (len(value), " characters") if isinstance(value, str) else (value, "")
    low, high = ("minLength", "maxLength") if isinstance(value, str) else ("minimum", "maximum")
    if not isinstance(measured, int | float):
        return
    least, most = field.get(low), field.get(high)
    if isinstance(least, int | float) and measured < least:
        raise AnswerMismatch(
            f"{what} must have at least {least}{unit}" if unit else f"{what} must be at least {least}"
        )
    if isinstance(most, int | float) and measured > most:
        raise AnswerMismatch(
            f"{what} must have at most {most}{unit}" if unit else f"{what} must be at most {most}"
        )


def _find(field: dict[str, Any], text: str) -> Choice | None:
    """Find a choice by its value, its name or its number."""
    choices, wanted = choices_of(field), text.strip().casefold()
    for choice in choices:
        if wanted in (choice.text.casefold(), choice.name.casefold()):
            return choice
    if type_of(field) == "boolean" and wanted in _YES | _NO:
        return choices[0] if wanted in _YES else choices[1]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(choices):
        return choices[int(wanted) - 1]
    return None


def answer_as_text(form: Form, content: Any) -> str:
    """Write the content of a form as a person would have."""
    fields = fields_of(form)
    given = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    if len(fields) == 1 and len(given) == 1:
        ((name, value),) = given.items()
        return write_field(fields.get(name, {}), value)
    return "\n".join(f"{name}: {write_field(fields.get(name, {}), value)}" for name, value in given.items())


def write_field(field: dict[str, Any], value: Any) -> str:
    """Give a value of a field as a person would write it."""
    for choice in choices_of(field):
        if choice.value == value and type(choice.value) is type(value):
            return choice.name
    if isinstance(value, list):
        return ", ".join(write_field(items_of(field), one) for one in cast("list[Any]", value))
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def items_of(field: dict[str, Any]) -> dict[str, Any]:
    """Give the schema of the items of a list."""
    items: Any = field.get("items")
    return cast("dict[str, Any]", items) if isinstance(items, dict) else {}
