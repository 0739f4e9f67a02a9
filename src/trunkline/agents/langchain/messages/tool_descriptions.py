"""What is shown of a call: by what its tool's author declares, its MCP server says, or its name tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trunkline import events as ev
from trunkline.tools.call_files import CallFiles
from trunkline.tools.naming import Declared, KindMapper, kind_of, title_of

Annotations = Callable[[str], "dict[str, Any] | None"]
"""What an MCP server says of a tool, by its name."""


class ToolDescriptions:
    """Kind, title and files of the calls of a turn."""

    def __init__(
        self,
        annotations: Annotations | None,
        kind_mapper: KindMapper | None,
        declared: Mapping[str, Declared] | None,
    ) -> None:
        """Describe calls; the mapper comes before what is declared, and that before the annotations."""
        self._annotations = annotations or _no_annotations
        self._kind_mapper = kind_mapper
        self.declared: dict[str, Declared] = dict(declared or {})

    def kind_of(self, name: str) -> ev.ToolKind:
        """The kind that calls of a tool are announced with."""
        return self.announce(name)[0]

    def announce(self, name: str) -> tuple[ev.ToolKind, str]:
        """Kind and title of a call whose arguments are not known yet."""
        declared, mapper = self.declared.get(name), self._kind_mapper
        if declared is None:
            annotations = self._annotations(name)
            return kind_of(name, annotations, mapper), title_of(name, None, annotations)
        mapped = None if mapper is None else mapper(name)
        return mapped or declared.kind, declared.title_of(None)

    def title_of(self, name: str, args: Any) -> str:
        """The title of a call; its arguments are known."""
        declared = self.declared.get(name)
        return title_of(name, args, self._annotations(name)) if declared is None else declared.title_of(args)

    def locations(self, name: str, args: Any, files: CallFiles) -> tuple[ev.Location, ...] | None:
        """The files that a call works on."""
        declared = self.declared.get(name)
        found = files.locations(name, args) if declared is None else declared.locations_of(args)
        return found or None


def _no_annotations(name: str) -> None:
    """No annotations."""
