"""Functions that a user gives as options: one that raises costs what it was asked for, never the run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, cast

from trunkline.errors import ConfigurationError
from trunkline.tools.naming import KindMapper, cautious_kind

SessionIdExtractor = Callable[[Any], "str | None"]
"""From the config of a run (or of a checkpoint) to the session it belongs to."""

log = logging.getLogger("trunkline.langchain")


class UserFunction:
    """Calls a function of the user; what it raises is logged once, and ``fallback`` answers in its place."""

    def __init__(
        self, function: Callable[..., Any], option: str, instead: str, fallback: Callable[..., Any]
    ) -> None:
        """Call the function that was given as ``option``; ``instead`` is what the log says is done then."""
        self._function = function
        self._option = option
        self._instead = instead
        self._fallback = fallback
        self._has_failed = False

    def __call__(self, *given: Any) -> Any:
        """Give what the function gives."""
        try:
            return self._function(*given)
        except Exception:
            if not self._has_failed:
                self._has_failed = True
                log.exception(
                    "%s failed, so %s; further errors of it are not logged", self._option, self._instead
                )
            return self._fallback(*given)


def check_function(given: Any, option: str) -> None:
    """Refuse what cannot be called."""
    if given is not None and not callable(given):
        kind = cast("type[Any]", type(given))
        hint = ", such as the get of this one" if issubclass(kind, Mapping) else ""
        raise ConfigurationError(
            f"{option} is an object of type {kind.__name__}: give a function{hint}, or None"
        )


def contain(
    function: Callable[..., Any] | None, option: str, instead: str, fallback: Callable[..., Any] | None = None
) -> UserFunction | None:
    """Give a function that never raises; None for None, and the same for one that is contained already."""
    if function is None or isinstance(function, UserFunction):
        return function
    check_function(function, option)
    return UserFunction(function, option, instead, fallback or _give_none)


def contain_kind_mapper(mapper: KindMapper | None) -> KindMapper | None:
    """Give a mapper that never raises; a tool whose kind it cannot tell never counts as harmless."""
    return contain(mapper, "tool_kind_mapper", "a tool of a harmless name is of kind other", cautious_kind)


def contain_extractor(extractor: SessionIdExtractor | None) -> SessionIdExtractor | None:
    """Give an extractor that never raises; None instead of a thread that may be somebody else's."""
    return contain(extractor, "session_id_extractor", "its runs belong to no known session")


def _give_none(*given: Any) -> None:
    """Answer in the place of a function that has no better answer."""
