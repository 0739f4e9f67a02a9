"""The echo of our own prompt."""

from typing import Any

from trunkline.protocols.acp.prompt_echo import PromptEcho

LINK = {"type": "resource_link", "uri": "file:///a.py", "name": "a.py"}


def text(value: str) -> dict[str, Any]:
    """Give a text."""
    return {"type": "text", "text": value}


def expecting(*blocks: dict[str, Any]) -> PromptEcho:
    """Give one that expects these blocks."""
    echo = PromptEcho()
    echo.expect(blocks)
    return echo


def test_texts_come_back_in_other_pieces() -> None:
    echo = expecting(text("look at"), text("this file"))
    assert echo.takes(text("look at\nthis"))
    assert echo.takes(text(" file"))
    assert not echo.takes(text("file"))


def test_another_text_is_not_an_echo() -> None:
    assert not expecting(text("look")).takes(text("look here"))
    assert not expecting(text("look")).takes(text("ok"))


def test_a_link_and_a_resource_are_known_by_their_address() -> None:
    echo = expecting(LINK, {"type": "resource", "resource": {"uri": "file:///b", "text": "x"}})
    assert echo.takes(
        {"type": "resource", "resource": {"uri": "file:///b", "text": "x", "mimeType": "text/plain"}}
    )
    assert echo.takes(LINK | {"title": "A"})
    assert not echo.takes(LINK)


def test_nothing_is_expected_after_the_turn() -> None:
    echo = expecting(text("look"), LINK)
    echo.clear()
    assert not echo.takes(text("look"))
    assert not echo.takes(LINK)
