"""How each provider says the same things on its wire: text, thoughts, calls, and why it stopped."""

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from tests.agents.langchain.providers.model_server import Reply

PROOF = "c2lnbmVk"

End = Literal["stop", "length", "refusal"]


@dataclass(frozen=True)
class Text:
    """Words of the answer, in the pieces they come in."""

    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Thought:
    """Words of the reasoning, and the proof of it that has to be sent back."""

    pieces: tuple[str, ...]
    proof: str = PROOF


@dataclass(frozen=True)
class Call:
    """A call of a tool; its arguments in the pieces they come in."""

    id: str
    name: str
    pieces: tuple[str, ...]

    @property
    def arguments(self) -> Any:
        """The arguments as a whole."""
        return json.loads("".join(self.pieces))


Part = Text | Thought | Call


class Wire(ABC):
    """One provider's way to say it; what the class of LangChain's for it is, and what it can do."""

    provider: ClassVar[str]
    name: ClassVar[str]
    """The model's."""
    thinks: ClassVar[bool] = True
    proves: ClassVar[bool] = True
    """Whether thoughts carry a proof that must come back with the next request."""
    names_calls: ClassVar[bool] = True
    """Whether the provider gives ids to its calls."""
    pieces: ClassVar[bool] = True
    """Whether arguments come as text."""
    caches: ClassVar[bool] = True
    """Whether cached tokens are told."""

    @abstractmethod
    def model(self, url: str, **options: Any) -> Any:
        """LangChain's model of this provider, asking ``url``."""

    @abstractmethod
    def say(self, *parts: Part, end: End = "stop") -> Reply:
        """A stream of these parts: 12 tokens in, 5 of them from a cache, and 7 out."""

    @abstractmethod
    def limit(self) -> Reply:
        """Too many requests; "Slow down, friend." and a wait of 30 seconds."""

    @abstractmethod
    def refuse(self) -> Reply:
        """A request that is refused for what is in it; "I take no pictures."."""

    @abstractmethod
    def images(self, asked: dict[str, Any]) -> list[str]:
        """The images that a request holds, in base64."""

    @abstractmethod
    def results(self, asked: dict[str, Any]) -> list[str]:
        """The texts of the tools' results that a request holds."""

    @abstractmethod
    def attached(self, asked: dict[str, Any]) -> Any:
        """What stands behind the words "Look!" in the first prompt of a request."""

    @abstractmethod
    def check(self, asked: dict[str, Any]) -> None:
        """Find in a request what the provider would refuse it for."""

    def cut(self, *parts: Part) -> Reply:
        """The beginning of a stream, whose connection breaks."""
        whole, tail = self.say(*parts), max(1, len(self.say().pieces) // 2)
        return Reply(whole.pieces[:-tail], whole.kind, cut=True)


def events(*output: Any, named: bool = False, done: bool = False) -> Reply:
    """A stream of server-sent events."""
    pieces = [
        (f"event: {one['type']}\n" if named else "").encode() + f"data: {json.dumps(one)}\n\n".encode()
        for one in output
    ]
    return Reply([*pieces, b"data: [DONE]\n\n"] if done else pieces)


def inner_blocks(asked: dict[str, Any]) -> Iterator[Any]:
    """All blocks of the messages of a request, and those within."""
    for message in asked["messages"]:
        blocks: Any = message["content"] if isinstance(message["content"], list) else ()
        yield from blocks
        for block in blocks:
            yield from block["content"] if isinstance(block.get("content"), list) else ()


def load(package: str) -> Any:
    """Import a provider's package: its types are more than a strict checker can follow."""
    return importlib.import_module(package)
