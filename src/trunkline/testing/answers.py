"""Answers without a person: what a test says to an agent's questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from trunkline.commands import Answer
from trunkline.events import Asked
from trunkline.questions import Form, Permission

Answers = Callable[[Asked], Answer | None]
"""Answers a question, or leaves it open with None."""

_SAMPLES: dict[str, Any] = {
    "string": "text", "boolean": True, "integer": 1, "number": 1.5, "array": [], "object": {},
}  # fmt: skip


def accept_all(asked: Asked) -> Answer:
    """Allow once; fill every field of a form with its default, its first choice or a sample."""
    question, question_id = asked.question, asked.question_id
    if isinstance(question, Permission):
        return _select(asked, question, "allow_once", "allow_always")
    if isinstance(question, Form):
        fields = cast("dict[str, dict[str, Any]]", question.fields.get("properties", {}))
        content = {name: _sample(field) for name, field in fields.items()}
        return Answer(question_id=question_id, outcome="accepted", content=content, by="test")
    return Answer(question_id=question_id, outcome="accepted", content={"ok": True}, by="test")


def refuse_all(asked: Asked) -> Answer:
    """Reject once; decline everything that is not a permission."""
    if isinstance(asked.question, Permission):
        return _select(asked, asked.question, "reject_once", "reject_always")
    return Answer(question_id=asked.question_id, outcome="declined", by="test")


def _select(asked: Asked, question: Permission, *kinds: str) -> Answer:
    for kind in kinds:
        for option in question.options:
            if option.kind == kind:
                return Answer(question_id=asked.question_id, option_id=option.option_id, by="test")
    return Answer(question_id=asked.question_id, outcome="declined", by="test")


def _sample(field: dict[str, Any]) -> Any:
    if "default" in field:
        return field["default"]
    choices = field.get("enum")
    return choices[0] if choices else _SAMPLES.get(str(field.get("type")), "text")
