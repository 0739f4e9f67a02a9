"""What a verdict does to a call: its new arguments, or the answer to the model in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import ToolMessage

from trunkline.agents.langchain.permissions.decide import Verdict


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
