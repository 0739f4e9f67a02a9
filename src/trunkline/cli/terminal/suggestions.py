"""What a chat offers to complete: slash commands, values of options, and files behind an @. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from trunkline.options import ConfigOption
from trunkline.safe_text import one_line

_MOST = 100


class Suggestion(NamedTuple):
    """A text that may take the place of the last characters before the cursor."""

    text: str
    replaces: int
    about: str = ""


def suggest(
    before: str,
    commands: Sequence[tuple[str, str]],
    options: Sequence[ConfigOption],
    files: Callable[[str], list[str]],
) -> list[Suggestion]:
    """Give what may follow, for the text before the cursor.

    ``commands`` are names with a description; ``files`` gives the paths that have what is typed.
    """
    word = before.rpartition(" ")[2].rpartition("\n")[2]
    if word.startswith("@"):
        return [Suggestion(f"@{name}", len(word)) for name in files(word[1:])]
    if not before.startswith("/") or "\n" in before:
        return []
    name, blank, given = before[1:].partition(" ")
    if not blank:
        return [Suggestion(f"/{one}", len(before), about) for one, about in _matching(name, commands)]
    return [Suggestion(value, len(word), about) for value, about in _values(name, given, options)]


def _values(name: str, given: str, options: Sequence[ConfigOption]) -> list[tuple[str, str]]:
    option_id, blank, value = given.partition(" ")
    if name == "mode" and not blank:
        modes = [option for option in options if option.category == "mode"]
        return _matching(option_id, [choice for option in modes for choice in values_of(option)])
    if name != "option":
        return []
    if not blank:
        return _matching(option_id, [(option.option_id, option.name) for option in options])
    chosen = [option for option in options if option.option_id == option_id]
    return _matching(value, [choice for option in chosen for choice in values_of(option)])


def values_of(option: ConfigOption) -> list[tuple[str, str]]:
    """Give the values of an option as a person types them, each with its name."""
    if option.is_switch:
        return [("on", ""), ("off", "")]
    return [(choice.value, choice.name) for choice in option.all_choices()]


def value_text(value: str | bool) -> str:
    """Give a value of an option as a person types it."""
    return ("on" if value else "off") if isinstance(value, bool) else value


def _matching(typed: str, words: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give the words that begin with what is typed, then those that have it inside."""
    listed, typed = list(words), typed.lower()
    begin = [one for one in listed if one[0].lower().startswith(typed)]
    inside = [one for one in listed if typed in one[0].lower() and one not in begin]
    return [(word, one_line(about, 60)) for word, about in [*begin, *inside][:_MOST]]
