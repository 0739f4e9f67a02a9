import pytest

from trunkline.cli.terminal.suggestions import Suggestion, suggest
from trunkline.options import Choice, ConfigOption

COMMANDS = [("tools", "Call a tool"), ("text", "Say something"), ("parallel-tools", "Call two")]
OPTIONS = [
    ConfigOption(
        option_id="mode",
        name="Mode",
        value="ask",
        category="mode",
        choices=(Choice(value="ask", name="Ask first"), Choice(value="agentic", name="Just do it")),
    ),
    ConfigOption(option_id="verbose", name="Verbose", value=True),
]


def no_files(typed: str) -> list[str]:
    return []


@pytest.mark.parametrize(
    ("before", "texts"),
    [
        ("", []),
        ("hello", []),
        ("/", ["/tools", "/text", "/parallel-tools"]),
        ("/to", ["/tools", "/parallel-tools"]),
        ("/nothing", []),
        ("/mode ", ["ask", "agentic"]),
        ("/mode ag", ["agentic"]),
        ("/mode ask more", []),
        ("/option ", ["mode", "verbose"]),
        ("/option verbose ", ["on", "off"]),
        ("/option mode a", ["ask", "agentic"]),
        ("/option unknown ", []),
        ("/tools ", []),
        ("two lines\n/to", []),
    ],
)
def test_commands_and_values_of_options_are_suggested(before: str, texts: list[str]) -> None:
    assert [one.text for one in suggest(before, COMMANDS, OPTIONS, no_files)] == texts


def test_a_suggestion_takes_the_place_of_the_word() -> None:
    assert suggest("/te", COMMANDS, OPTIONS, no_files) == [Suggestion("/text", 3, "Say something")]
    assert suggest("/mode ag", COMMANDS, OPTIONS, no_files) == [Suggestion("agentic", 2, "Just do it")]


def test_files_behind_an_at_sign_are_suggested_anywhere_in_a_line() -> None:
    def files(typed: str) -> list[str]:
        return [path for path in ("src/chat/loop.py", "loops.md") if typed in path]

    assert suggest("look at @chat/l", [], [], files) == [Suggestion("@src/chat/loop.py", 7)]
    assert suggest("@loop", [], [], files) == [Suggestion("@src/chat/loop.py", 5), Suggestion("@loops.md", 5)]
    assert suggest("/tools\n@loops", COMMANDS, [], files) == [Suggestion("@loops.md", 6)]
    assert suggest("me@example", [], [], files) == []
