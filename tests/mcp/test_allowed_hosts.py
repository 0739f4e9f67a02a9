"""Which hosts and addresses may be called for somebody far away."""

import pytest

from trunkline.errors import ConfigurationError
from trunkline.mcp.allowed_hosts import Outbound

INSIDE = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
    "100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1", "255.255.255.255", "::", "::1",
    "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::7f00:1", "2002:7f00:1::",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_no_name_leads_to_this_machine_or_its_network_by_itself(address: str) -> None:
    assert not Outbound(["mcp.example.org"]).allows_address(address, 443)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_a_name_leads_to_public_addresses(address: str) -> None:
    assert Outbound(["mcp.example.org"]).allows_address(address, 443)


def test_nothing_is_allowed_without_a_list() -> None:
    assert not Outbound()
    assert not any(Outbound().allows_host(host, 443) for host in ("mcp.example.org", "8.8.8.8", "localhost"))


@pytest.mark.parametrize(
    ("entry", "host", "port", "allowed"),
    [
        ("mcp.example.org", "mcp.example.org", 443, True),
        ("mcp.example.org", "MCP.Example.org.", 8443, True),
        ("mcp.example.org:443", "mcp.example.org", 443, True),
        ("mcp.example.org:443", "mcp.example.org", 80, False),
        ("mcp.example.org", "evil.mcp.example.org", 443, False),
        ("mcp.example.org", "example.org", 443, False),
        ("mcp.example.org", "8.8.8.8", 443, False),
        ("8.8.8.8", "8.8.8.8", 443, True),
        ("10.1.0.0/16", "10.1.2.3", 80, True),
        ("10.1.0.0/16", "10.2.2.3", 80, False),
        ("10.1.0.0/16:80", "10.1.2.3", 81, False),
        ("127.0.0.1:9000", "127.0.0.1", 9000, True),
        ("127.0.0.1:9000", "127.0.0.1", 22, False),
        ("127.0.0.1", "::ffff:127.0.0.1", 80, True),
        ("[::1]:9000", "::1", 9000, True),
        ("::1", "[::1]", 9000, True),
        ("localhost:9000", "localhost", 9000, True),
        ("localhost:9000", "127.0.0.1", 9000, True),
        ("localhost", "169.254.169.254", 80, False),
    ],
)
def test_a_list_allows_what_is_on_it_and_nothing_else(
    entry: str, host: str, port: int, allowed: bool
) -> None:
    assert Outbound([entry]).allows_host(host, port) is allowed


def test_a_name_and_its_network_together_allow_a_server_inside() -> None:
    both = Outbound(["mcp.internal", "10.1.0.0/16"])
    assert both.allows_host("mcp.internal", 80)
    assert both.allows_address("10.1.2.3", 80)
    assert not both.allows_address("10.2.0.1", 80)


@pytest.mark.parametrize(
    "entry", ["", "https://mcp.example.org", "*", "*.example.org", "10.1.0.1/16", "a b", "1.2.3"]
)
def test_what_is_no_host_is_refused(entry: str) -> None:
    with pytest.raises(ConfigurationError):
        Outbound([entry])
