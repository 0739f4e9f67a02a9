"""What is not JSON with comments is refused, with its place."""

import pytest

from trunkline.cli.init.jsonc_nodes import JsoncError, find_member, read_document


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2: a key in quotes or } is missing"),
        ('{"a" 1}', "line 1, column 6: a colon is missing"),
        ('{"a": }', "a value is missing"),
        ('{\n"a": 1 "b": 2}', "line 2, column 8: a comma or } is missing"),
        ("[1", "a comma or ] is missing"),
        ("{} {}", "something behind the end"),
        ("{'a': 1}", "a key in quotes"),
        ('{"a": nil}', "not a value"),
        ('{"a": "\n"}', "does not end in its line"),
        ('{"a": "\\x"}', "wrong escape"),
        ("/* for ever", "a comment does not end"),
        ("[" * 300, "200 values"),
        ("9" * 5000, "too long"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, said: str) -> None:
    with pytest.raises(JsoncError) as raised:
        read_document(text)
    assert said in str(raised.value)


def test_a_text_without_any_value_is_none() -> None:
    assert read_document("\ufeff // nothing\n") is None


def test_a_value_knows_its_place() -> None:
    text = '// c\n{"a": [1, 2,], "b": {}, }'
    root = read_document(text)
    assert root is not None
    for key, raw in (("a", "[1, 2,]"), ("b", "{}")):
        member = find_member(root, key)
        assert member is not None
        assert text[member.node.start : member.node.end] == raw
        assert text[member.end - 1] == ","
