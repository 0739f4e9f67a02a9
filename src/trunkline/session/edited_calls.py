"""What a call's card shows once a person has edited its arguments."""

from __future__ import annotations

import os
import re
from typing import Any, cast

from msgspec.structs import replace

from trunkline.content import Content, DiffBlock

__all__ = ["Edited"]

_SHORTEST = 3
"""A shorter value stands in a sentence by chance."""


class Edited:
    """Puts changed arguments in the place of the old ones, wherever a card named those."""

    def __init__(self, before: Any, after: Any) -> None:
        """Compare the arguments as they were with those that will be used."""
        old, new = (cast("dict[str, Any]", one) if isinstance(one, dict) else {} for one in (before, after))
        self._changed = {
            value: new[name]
            for name, value in old.items()
            if isinstance(value, str) and isinstance(new.get(name), str) and value and value != new[name]
        }

    def path(self, path: str) -> str:
        """Give a path that an argument named, whole or from some folder on."""
        for old, new in self._changed.items():
            if path == old or path.endswith(f"/{old}"):
                return os.path.join(path.removesuffix(old), new)
        return path

    def sentence(self, text: str) -> str:
        """Give a sentence with the new arguments in it."""
        named = [value for value in self._changed if len(value) >= _SHORTEST]
        if not named:
            return text
        pattern = "|".join(re.escape(value) for value in sorted(named, key=len, reverse=True))
        return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda found: self._changed[found[0]], text)

    def block(self, block: Content) -> Content:
        """Give a block with the new arguments in it, if it is a diff of them."""
        if not isinstance(block, DiffBlock):
            return block
        new = block.new if block.new is None else self._changed.get(block.new, block.new)
        return replace(block, path=self.path(block.path), new=new)
