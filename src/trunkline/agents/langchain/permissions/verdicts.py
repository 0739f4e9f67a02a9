"""Carries a verdict out: the call with its new arguments, or the tool message that the model gets instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from langchain_core.messages import ToolMessage

Word = Literal["approve", "edit", "reject", "respond"]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a call: true when it runs."""

    word: Word
    args: dict[str, Any] | None = None
    """The arguments a person gave instead (edit)."""
    message: str = ""
    """What the model is told instead of a result: why not (reject), or a person's words (respond)."""

    def __bool__(self) -> bool:
        return self.word in ("approve", "edit")


def revise_request(request: Any, verdict: Verdict) -> Any:
    """Give the request of an approved call the arguments that the person wrote, if any."""
    if verdict.args is None:
        return request
    return request.override(tool_call={**request.tool_call, "args": verdict.args})


def answer_of(call: Mapping[str, Any], verdict: Verdict) -> ToolMessage:
    """Answer the model in the place of a call that does not run."""
    return ToolMessage(
        content=verdict.message,
        name=call["name"],
        tool_call_id=call["id"],
        status="success" if verdict.word == "respond" else "error",
    )
