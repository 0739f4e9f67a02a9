"""Commands: what a front end asks of a session.

Every command may carry a ``key``: posting the same key twice is one command, so a front end may
retry after a cut connection. ``by`` says who sent it and is set by the endpoint, never by the peer.
"""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from trunkline.content import Content, as_content, text_of
from trunkline.questions import Outcome

__all__ = ["Answer", "Cancel", "Command", "DropPrompt", "HandOver", "Prompt", "Rename", "Rewind", "SetConfig"]


class _Command(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The common fields of every command."""

    key: str | None = None
    by: str | None = None
    meta: dict[str, Any] | None = None


class Prompt(_Command, frozen=True, kw_only=True, tag="prompt"):
    """Start a turn with this message."""

    content: tuple[Content, ...] = ()
    message_id: str | None = None
    run_id: str | None = None
    tools: tuple[dict[str, Any], ...] = ()
    """The front end's own tools for this turn; each is a name, a description and a JSON schema."""
    state: Any = None
    """The shared state as the front end has it; None: the front end has nothing to say of it."""
    context: tuple[dict[str, Any], ...] = ()
    """What the front end wants the agent to know; each is a description and a value."""
    forwarded: dict[str, Any] = {}
    """What the front end passes on to the agent besides; it comes from a client, so never trust it."""
    step_kinds: tuple[str, ...] = ("model",)
    """What of an agent's framework is emitted as steps; ``node`` adds the nodes of a graph."""
    busy: Literal["reject", "queue", "interrupt", "steer"] | None = None
    """What to do when a turn is running; None is the session's setting. With ``steer`` the message joins that
    turn where its agent can take it, else it waits for the next one."""

    @classmethod
    def of(cls, value: str | Content | list[Content], **fields: Any) -> Prompt:
        """Make a prompt from text or blocks."""
        return cls(content=as_content(value), **fields)

    @property
    def text(self) -> str:
        """The text of the message, without its attachments."""
        return text_of(self.content)

    def __str__(self) -> str:
        """Give the text of the message, so that ``f"{prompt}"`` is what a person said."""
        return self.text


class Answer(_Command, frozen=True, kw_only=True, tag="answer"):
    """Settle an open question."""

    question_id: str
    outcome: Outcome = "selected"
    option_id: str | None = None
    input: Any = None
    """The tool's arguments as the person edited them."""
    content: Any = None
    """A form's fields, or the result of a client call."""
    reason: str | None = None


class Cancel(_Command, frozen=True, kw_only=True, tag="cancel"):
    """Stop the running turn; with a ``turn_id``, only if it is that one."""

    turn_id: str | None = None
    reason: str | None = None


class SetConfig(_Command, frozen=True, kw_only=True, tag="set_config"):
    """Choose a value for a configuration option."""

    option_id: str
    value: str | bool


class Rewind(_Command, frozen=True, kw_only=True, tag="rewind"):
    """Go back so that this message is the last one; None goes back to the beginning."""

    to_message_id: str | None = None


class DropPrompt(_Command, frozen=True, kw_only=True, tag="drop_prompt"):
    """Take a prompt that still waits out of the queue."""

    prompt_id: str


class Rename(_Command, frozen=True, kw_only=True, tag="rename"):
    """Give the session a title that a person chose; None lets its agent name it again."""

    title: str | None = None


class HandOver(_Command, frozen=True, kw_only=True, tag="hand_over"):
    """Let another process own the session, if nothing goes on in it; a process asks for that, not a client.

    It is never stored with the records. An owner of an earlier version does not know it and gives no answer.
    """

    to: str
    """The process that wants the session, by its name in a lease."""


Command = Union[Prompt, Answer, Cancel, SetConfig, Rewind, DropPrompt, Rename, HandOver]
