"""Takes secrets out of what is shared: values that we know to be secret, and what looks like a key.

Texts can be left out too: then only what is known to be an id, a name or a status of ours is kept, and of all
else only how long it was. What is not known is left out: an input or a diff says as much as a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

MARK = "[redacted]"

_SECRET_NAME = re.compile(
    r"(^|[_\-.])(api[_-]?key|key|token|secret|password|passwd|credential|authorization|cookie)s?($|[_\-.])"
    r"|apikey|accesstoken|refreshtoken|clientsecret",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"(input|output|total|max|reasoning|cached|prompt|completion).*tokens?$", re.IGNORECASE)
_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|key|gsk|xai|hf|ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs]|npm|pypi)[-_][A-Za-z0-9_\-]{12,}"
    r"|\bAKIA[0-9A-Z]{12,}|\bAIza[0-9A-Za-z_\-]{20,}|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]*"
    r"|(?<=[Bb]earer )\S+|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
)
_ASSIGNED = re.compile(
    r"""((?:api[_-]?key|token|secret|password|passwd|authorization)["']?\s*[=:]\s*["']?)([^\s"',}]{6,})""",
    re.IGNORECASE,
)
_KEPT = frozenset({
    "activity_id", "activity_type", "by", "call_id", "code", "compaction_id", "currency", "digest",
    "durable_key", "exception", "fault", "front_end", "group", "kind", "lane", "message_id", "mime_type",
    "model", "name", "native_id", "option_id", "option_kind", "outcome", "parent_call_id", "parent_lane",
    "priority", "prompt_id", "provider", "question_id", "question_ids", "result_message_id", "role",
    "rule", "run_id", "severity", "signal", "source_id", "status", "step_id", "stop_reason",
    "terminal_id", "to_message_id", "tool", "turn_id", "type",
})  # fmt: skip
"""The fields of records that hold no text of a person or an agent."""
_FREE = frozenset({
    "annotations", "answer_schema", "fields", "input", "patch", "payload", "raw_output", "result",
    "state", "value",
})  # fmt: skip
"""The fields with whatever an agent or a person puts there: their keys and numbers tell something, too."""
_FAULT = re.compile(r"\b[A-Za-z_]*(?:Error|Exception|Timeout)\b")
_SHORTEST = 6


class Redactor:
    """Takes known secrets, key-like values and, if wanted, texts out of values."""

    def __init__(self, secrets: Iterable[str] = (), *, texts: bool = False) -> None:
        """With ``texts`` what people and agents said is left out, too."""
        known = sorted({one for one in secrets if len(one) >= _SHORTEST}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None
        self._texts = texts

    @classmethod
    def of(cls, environ: Mapping[str, str], *, texts: bool = False) -> Redactor:
        """Know the values of all variables that are named like secrets."""
        return cls((value for name, value in environ.items() if is_secret_name(name)), texts=texts)

    def text(self, text: str) -> str:
        """Give a text without secrets."""
        if self._known is not None:
            text = self._known.sub(MARK, text)
        return _ASSIGNED.sub(rf"\1{MARK}", _KEY_LIKE.sub(MARK, text))

    def value(self, value: Any, name: str = "") -> Any:
        """Give a JSON value without secrets, and without texts if that is wanted."""
        if self._texts and name in _FREE and value is not None:
            return _length(value)
        if isinstance(value, dict):
            fields = cast("dict[Any, Any]", value)
            if self._texts and name == "content" and "type" not in fields:
                return _length(fields)
            if self._texts and "uri" in fields:
                fields = {**fields, "name": _length(fields.get("name", ""))}
            return {self.text(str(key)): self.value(one, str(key)) for key, one in fields.items()}
        if isinstance(value, list | tuple):
            items = cast("Iterable[Any]", value)
            return [self.value(one, name) for one in items]
        if value is None or isinstance(value, bool):
            return value
        if is_secret_name(name):
            return MARK
        if not isinstance(value, str):
            return value
        if self._texts and name and name not in _KEPT and value:
            return _length(value)
        return self.text(value)


def _length(value: Any) -> str:
    """Say of what was left out how long it was; of an error also its type."""
    if isinstance(value, dict | list):
        return f"[{len(cast('list[Any]', value))} entries]"
    found = _FAULT.search(str(value))
    return f"[{len(str(value))} characters{f', {found[0]}' if found else ''}]"


def is_secret_name(name: str) -> bool:
    """Whether what has this name is likely a secret; numbers of tokens are none."""
    return _SECRET_NAME.search(name) is not None and _COUNTS.search(name) is None
