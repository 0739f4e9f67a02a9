"""Hosts as they are written in lists; how requests fare with them is in test_gate."""

import pytest

from trunkline.errors import ConfigurationError
from trunkline.server.security.hosts import Hosts, is_address, is_loopback


@pytest.mark.parametrize("text", ["*", "", "https://example.org", "*.org", "a b", "host:port", "h:70000"])
def test_a_host_is_exact(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is no host"):
        Hosts([text])


@pytest.mark.parametrize(
    ("host", "loopback", "address"),
    [
        ("127.0.0.1", True, True),
        ("127.9.9.9", True, True),
        ("::1", True, True),
        ("[::1]", True, True),
        ("localhost", True, False),
        ("LocalHost", True, False),
        ("0.0.0.0", False, True),
        ("::", False, True),
        ("192.168.0.1", False, True),
        ("example.org", False, False),
    ],
)
def test_what_only_this_machine_reaches(host: str, loopback: bool, address: bool) -> None:
    assert (is_loopback(host), is_address(host)) == (loopback, address)
