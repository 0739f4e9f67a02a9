"""Fields that have known words and keep any other one.

A word may come from a program that we only pass on (an ACP agent's own kind of tool), or from a newer
Trunkline. The journal gives it back as it was, so a live follower and a replay see the same. Encoders map a
word that their protocol does not know to the nearest one it knows.

Who is told of a typing error: an agent's author, by the type checker and when the event is emitted, unless
the agent's card has ``foreign_words``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_args

import msgspec

__all__ = ["OpenWord", "known_words"]

T = TypeVar("T")

if TYPE_CHECKING:
    OpenWord = Annotated[T, "any other word is kept"]
else:

    class OpenWord:
        """``OpenWord[Literal["a", "b"]]``: one of these words to a type checker, any text to a decoder."""

        def __class_getitem__(cls, known: Any) -> Any:
            """Give the type of a field."""
            return Annotated[str, msgspec.Meta(extra={"known_words": get_args(known)})]


def known_words(field_type: Any) -> tuple[str, ...]:
    """Give the known words of a field's type; none if it is not an OpenWord (or an OpenWord or None)."""
    for part in (field_type, *get_args(field_type)):
        for mark in getattr(part, "__metadata__", ()):
            if isinstance(mark, msgspec.Meta) and mark.extra:
                return cast("tuple[str, ...]", mark.extra.get("known_words", ()))
    return ()
