"""Canonical JSON: the vectors of RFC 8785, and messages of ours."""

import builtins
import json
import struct
from typing import Any

import pytest

from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.protocols.unified.canonical import canonical_json
from trunkline.protocols.unified.wire import TextContent, UnifiedMessage

# https://www.rfc-editor.org/rfc/rfc8785#section-3.2.2 to 3.2.4
SAMPLE = (
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],'
    '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}'
)
SAMPLE_BYTES = bytes.fromhex(
    "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333"
    "332e333333333333332c31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c75"
    "303030665c6e4127425c225c5c5c5c5c222f227d"
)
# https://www.rfc-editor.org/rfc/rfc8785#section-3.2.3
SORTED = (
    '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh",'
    '"1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control",'
    '"\\u00f6":"Latin Small Letter O With Diaeresis"}'
)
ORDER = [
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
]
# https://www.rfc-editor.org/rfc/rfc8785#appendix-B
NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]


def test_the_sample_of_the_rfc_has_its_bytes() -> None:
    assert canonical_json(json.loads(SAMPLE)) == SAMPLE_BYTES


def test_keys_are_sorted_by_utf_16_units_as_in_the_rfc() -> None:
    assert list(json.loads(canonical_json(json.loads(SORTED))).values()) == ORDER


@pytest.mark.parametrize(("ieee", "text"), NUMBERS)
def test_numbers_are_written_as_in_appendix_b(ieee: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(ieee))
    assert canonical_json(number) == text.encode()


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), float("-inf"), 2**53, {"a": [-(2**53)]}, "\ud800"], ids=repr
)
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(InvalidCommand, match="RFC 8785"):
        canonical_json(value)


def test_a_message_has_the_same_bytes_whatever_the_order_of_its_metadata() -> None:
    one, other = (
        UnifiedMessage(
            id="i",
            timestamp=1,
            type="assistant",
            role="assistant",
            content=(TextContent("é"),),
            metadata=metadata,
        )
        for metadata in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    )
    assert canonical_json(one) == canonical_json(other)
    assert canonical_json(one).decode() == (
        '{"content":[{"text":"é","type":"text"}],"id":"i","metadata":{"a":1,"b":2},'
        '"role":"assistant","timestamp":1,"type":"assistant"}'
    )


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "rfc8785":
            raise ModuleNotFoundError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigurationError, match=r"trunkline\[unified\]"):
        canonical_json({})
