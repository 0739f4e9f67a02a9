"""Forms as buttons: a form that wants a yes or a no, or a link, asked as a permission request.

Every ACP client can show a permission; few can show a form. But some clients show the *kind* of an option
only ("Accept", "Reject"), and take the last one of a kind. So a request has **never two options of one
kind**, and the content of its tool call says what the buttons mean. A form with more to choose from is asked
in text (``forms_as_text``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from trunkline import events as ev
from trunkline.frontends.acp.form_fields import choices_of, defaults_of, fields_of, required_of, type_of
from trunkline.questions import Form, Link, Option, OptionKind, Permission, Question


class Button(NamedTuple):
    """One way to answer: the name of the button, its kind, and the content that it stands for."""

    option_id: str
    name: str
    content: dict[str, Any] | None
    kind: OptionKind = "allow_once"


def buttons_for(question: Form | Link) -> list[Button]:
    """Give the buttons that a question comes down to, one of a kind; none when it has more to choose from.

    Fields that may be left out are left to their defaults. A form without fields wants a yes only.
    """
    if isinstance(question, Link):
        return [Button("ok", "Done", None)]
    fields, required = fields_of(question), required_of(question)
    if not fields:
        return [Button("ok", "OK", {})]
    name = required[0] if len(required) == 1 else next(iter(fields))
    if len(fields) > 1 and len(required) != 1:
        return []
    choices = choices_of(fields[name])
    others = {other: value for other, value in defaults_of(fields).items() if other != name}
    made = [Button(choice.text, choice.name, {name: choice.value, **others}) for choice in choices]
    if type_of(fields[name]) == "boolean":
        return [made[0], made[1]._replace(kind="reject_once")]
    return made if len(made) == 1 else []


def describe_choice(question: Form | Link, buttons: list[Button]) -> str:
    """Describe the question and its buttons, for a client that does not show their names."""
    asked = question.message.strip()
    if isinstance(question, Link):
        asked = f"{asked}\n\n{question.url}"
    yes = f"Accept: {buttons[0].name}."
    no = f"Reject: {buttons[1].name}." if len(buttons) > 1 else "Reject: decline."
    return f"{asked}\n\n{yes} {no}"


def call_for_question(asked: ev.Asked) -> ev.ToolCall:
    """Make a tool call for a question that has none: a permission request is always about a call."""
    question = asked.question
    first, newline, _ = question.message.strip().partition("\n")
    title = f"{first}{'…' if newline else ''}" or "The agent asks"
    if isinstance(question, Link):
        title = f"{title} {question.url}"
    return ev.ToolCall(
        turn_id=asked.turn_id,
        lane=asked.lane,
        call_id=f"{asked.question_id}.choice",
        name="question",
        title=title,
        kind="other",
    )


# -- permissions -------------------------------------------------------------------------------------

_CHOICE = "choice"


def options_by_kind(options: Iterable[Option]) -> dict[OptionKind, list[Option]]:
    """The options that want no text of the person, by kind, in their order."""
    groups: dict[OptionKind, list[Option]] = {}
    for option in options:
        if not option.wants_words:
            groups.setdefault(option.kind, []).append(option)
    return groups


def choice_form(message: str, options: Iterable[Option], call_id: str | None = None) -> Form:
    """Ask which of these options it shall be."""
    named = [{"const": option.option_id, "title": option.name} for option in options]
    field = {"type": "string", "title": "Your choice", "oneOf": named}
    schema = {"type": "object", "properties": {_CHOICE: field}, "required": [_CHOICE]}
    return Form(message=message, fields=schema, call_id=call_id)


def chosen_option(content: Any) -> str | None:
    """The option that such a form was filled in with."""
    filled = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    chosen = filled.get(_CHOICE)
    return chosen if isinstance(chosen, str) else None


def text_form(question: Question) -> Form | None:
    """Give the form that a client without forms is asked in text; None for what buttons can ask."""
    if isinstance(question, Form):
        return None if buttons_for(question) else question
    if isinstance(question, Permission) and any(
        len(group) > 1 for group in options_by_kind(question.options).values()
    ):
        plain = [option for option in question.options if not option.wants_words]
        return choice_form(question.message, plain, question.call_id)
    return None
