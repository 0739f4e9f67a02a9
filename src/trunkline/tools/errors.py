"""How a tool call fails: each message is for the model that made the call, and for people."""

from __future__ import annotations

from trunkline.errors import AgentError


class ToolError(AgentError):
    """A tool call failed; a tool raises it with words for the model."""

    code = "tool_failed"


class InvalidArguments(ToolError):
    """The arguments of a call do not fit its tool, which did not run."""

    code = "tool_arguments"


class ToolDenied(ToolError):
    """A call was refused by a person, by the policy, or because nobody could be asked; it did not run."""

    code = "tool_denied"
