"""A form as the schema that an editor shows as fields, and the content that it sends back.

ACP's schema has texts, numbers, switches and choices. A field that is something else is a text.
"""

from __future__ import annotations

import contextlib
from typing import Any

from trunkline.frontends.acp.form_fields import choices_of, fields_of, type_of
from trunkline.frontends.acp.forms_as_text import (
    AnswerMismatch,
    field_kind,
    items_of,
    read_field,
    write_field,
)
from trunkline.questions import Form


def form_schema(form: Form) -> dict[str, Any]:
    """Give a form's schema as ACP has it: its lists are choices, so other ones, and objects, are texts."""
    texts = {name: _as_text(field) for name, field in fields_of(form).items() if _is_text_only(field)}
    if not texts:
        return form.fields
    return {**form.fields, "properties": {**form.fields["properties"], **texts}}


def read_form_content(form: Form, content: dict[str, Any]) -> dict[str, Any]:
    """Read the texts that stand for something else; one that does not fit is left to the agent."""
    fields, read = fields_of(form), dict(content)
    for name, value in content.items():
        if isinstance(value, str) and _is_text_only(field := fields.get(name, {})):
            with contextlib.suppress(AnswerMismatch):
                read[name] = read_field(field, value.strip())
    return read


def _is_text_only(field: dict[str, Any]) -> bool:
    kind = type_of(field)
    return kind == "object" or (kind == "array" and not choices_of(items_of(field)))


def _as_text(field: dict[str, Any]) -> dict[str, Any]:
    about = f"{field.get('description') or ''} ({field_kind(field)})".strip()
    shown: dict[str, Any] = {"type": "string", "description": about}
    if "title" in field:
        shown["title"] = field["title"]
    if field.get("default") is not None:
        shown["default"] = write_field(field, field["default"])
    return shown
