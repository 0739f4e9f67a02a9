"""What a scripted model says, in no provider's words; and a request as a script sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Hold:
    """Nothing more until the server is told to go on, or the agent hangs up."""


@dataclass(frozen=True)
class Say:
    """Text, in the pieces in which it is streamed. A Hold among them is a wait inside of the text."""

    pieces: tuple[str | Hold, ...]

    @property
    def text(self) -> str:
        return "".join(piece for piece in self.pieces if isinstance(piece, str))


@dataclass(frozen=True)
class Think(Say):
    """Thinking, in the pieces in which it is streamed."""


@dataclass(frozen=True)
class Use:
    """A call of one of the agent's own tools."""

    tool: str
    input: Mapping[str, Any] | str
    """Arguments; plain text for a tool that takes text, which only the Responses API has."""


@dataclass(frozen=True)
class Refuse:
    """An HTTP error instead of a reply. It must be the only part."""

    status: int
    message: str


Part = Say | Think | Use | Refuse
Reply = Sequence[Part]
"""One answer of the model to one request."""

Script = Mapping[str, Sequence[Reply]]
"""By a word of the prompt: the replies to it. The second comes after the results of the first one's tools."""


def say(*pieces: str | Hold) -> Say:
    return Say(pieces)


def think(*pieces: str | Hold) -> Think:
    return Think(pieces)


@dataclass(frozen=True)
class Exchange:
    """One request to the model, as far as it matters for a script."""

    messages: Sequence[tuple[str, str]]
    """Role (user or model) and the text in it, results of tools included."""
    tools: frozenset[str]
    stream: bool
    body: Mapping[str, Any]

    def place_in(self, script: Script) -> tuple[str, int] | None:
        """The word of the newest prompt that the script knows, and how many replies it has had.

        It depends on nothing but the request: a request that is repeated is answered the same.
        """
        for index in range(len(self.messages) - 1, -1, -1):
            role, text = self.messages[index]
            at, word = max(((text.rfind(word), word) for word in script), default=(-1, ""))
            if role == "user" and at >= 0:
                roles = [role for role, _ in self.messages[index:]]
                return word, sum(now == "model" != before for before, now in pairwise(roles))
        return None
