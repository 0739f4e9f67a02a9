from typing import Any

import pytest

from trunkline.protocols.aisdk.data_urls import data_url, read_data_url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (data_url("image/png", "AAEC"), ("image/png", b"\0\1\2")),
        ("data:,hi%20you", ("text/plain", b"hi you")),
        ("DATA:Text/HTML;charset=utf-8,<b>", ("text/html", b"<b>")),
        ("data:text/plain;charset=utf-8;base64,aGk", ("text/plain", b"hi")),
        ("data:text/plain;base64, a G k = ", ("text/plain", b"hi")),
        ("data:text/plain;base64,a", None),
        ("data:text/plain;base64,***", None),
        ("data:text/plain", None),
        ("https://example.org", None),
    ],
)
def test_a_data_url_is_read_as_browsers_do(url: str, expected: Any) -> None:
    assert read_data_url(url) == expected
