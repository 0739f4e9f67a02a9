"""Tools: what is declared of a function, and what is refused."""

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.errors import ConfigurationError
from trunkline.questions import Coverage
from trunkline.tools import Tool, tool
from trunkline.tools.declaration import as_tool


def read_page(path: str, line: int = 1) -> str:
    """Read one page.

    Args:
        path: the file
    """
    return f"{path}:{line}"


def test_a_tool_is_still_the_function() -> None:
    made = tool(read_page)
    assert isinstance(made, Tool)
    assert made("a", line=3) == "a:3"
    assert (made.name, made.description, made.kind) == ("read_page", "Read one page.", "read")
    assert repr(made) == "<Tool read_page (read, allow)>"


@pytest.mark.parametrize(
    ("template", "arguments", "title"),
    [
        ("Read {path}", {"path": "a.txt"}, "Read a.txt"),
        ("Read {path}", {}, "Read …"),
        ("Read {path}", None, "Read …"),
        ("{{{path}}} {line}", {"path": "a", "line": 0}, "{a} 0"),
        ("{path.__class__} {path}", {"path": "a"}, "{path.__class__} a"),
        ("{path}", {"path": "x" * 500}, "x" * 79 + "…"),
        ("{path}", {"path": "two\nlines\x1b[1m"}, "two lines\\x1b[1m"),
        (None, {"path": "a.txt"}, "Read page a.txt"),
    ],
)
def test_the_title_of_a_call_is_one_short_line(template: Any, arguments: Any, title: str) -> None:
    assert tool(title=template)(read_page).title_of(arguments) == title


@pytest.mark.parametrize(
    ("declared", "paths"),
    [
        (None, ["a.txt"]),
        ("{path}", ["a.txt"]),
        (["{path}", "{line}"], ["a.txt"]),
        (lambda arguments: [ev.Location(path=arguments["path"], line=3), "b"], ["a.txt", "b"]),  # pyright: ignore
    ],
)
def test_the_files_of_a_call_are_templates_or_a_function(declared: Any, paths: list[str]) -> None:
    made = tool(locations=declared)(read_page)
    assert [one.path for one in made.locations_of({"path": "a.txt"})] == paths
    assert made.locations_of(None) == ()


def test_the_buttons_have_the_words_of_the_tool_and_only_these_are_offered() -> None:
    made = tool(options={"allow_once": "Yes", "allow_always": "Always read", "reject_once": "No"})(read_page)
    covers = Coverage(tool="read_page", kind="read")
    assert [one.name for one in made.buttons(covers)] == ["Yes", "Always read", "No"]
    assert [one.name for one in made.buttons(None)] == ["Yes", "No"]
    assert made.always_covers_tool
    usual = tool(read_page)
    assert [one.kind for one in usual.buttons(None)] == ["allow_once", "reject_once"]
    assert not usual.always_covers_tool


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"kind": "look"}, "there is no kind 'look'; choose one of read, edit"),
        ({"permission": "maybe"}, "there is no permission 'maybe'; choose one of allow, ask, deny"),
        ({"shows": "video"}, "there is no shows 'video'"),
        ({"options": {"yes": "Yes"}}, "there is no option 'yes'"),
        ({"options": {"allow_once": "Yes"}}, "need words for allow_once, and for a way to refuse"),
        ({"options": {"allow_always": "Yes", "reject_once": "No"}}, "need words for allow_once"),
        ({"title": "Read {pth}"}, "read_page: there is no argument 'pth' for its title; it has path, line"),
        (
            {"locations": ["{path}", "{0}"]},
            "there is no argument '0' for its locations",
        ),
        ({"name": "read page"}, "'read page' is no name for a tool"),
    ],
)
def test_what_is_declared_wrongly_is_refused_at_once(declared: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        tool(**declared)(read_page)


@pytest.mark.parametrize("thing", [3, "text", dict])
def test_what_is_no_function_is_no_tool(thing: Any) -> None:
    with pytest.raises(ConfigurationError, match="is not a function: write @tool"):
        as_tool(thing)


class Lookup:
    """A tool as a class, with a schema of its own."""

    name = "lookup"
    description = ""
    input_schema = {"type": "object", "properties": {"key": {"type": "string"}}}  # noqa: RUF012

    def execute(self, **kwargs: Any) -> str:
        """Look something up."""
        return str(kwargs)


class Typed:
    """A tool as a class, by its signature."""

    def execute(self, key: str) -> str:
        """Look something up."""
        return key


def test_an_object_is_described_by_its_schema_or_by_its_signature() -> None:
    made = as_tool(Lookup(), kind="search")
    assert (made.name, made.description, made.kind) == ("lookup", "Look something up.", "search")
    assert made.schema["properties"] == {"key": {"type": "string"}}
    assert as_tool(Typed()).schema["required"] == ["key"]
    assert as_tool(Typed()).name == "Typed"
