"""The client's MCP servers, as far as an agent can use them."""

from typing import Any

import pytest

from trunkline.agents.acp.mcp_servers import usable_servers

HTTP: dict[str, Any] = {"agentCapabilities": {"mcpCapabilities": {"http": True}}}


def test_each_kind_has_the_shape_of_the_wire() -> None:
    headers = [{"name": "A", "value": "1"}]
    servers: list[dict[str, Any]] = [
        {"name": "a", "command": "mcp"},
        {"name": "b", "url": "https://x.org", "headers": headers, "type": "http"},
    ]
    assert usable_servers(servers, HTTP) == (
        [
            {"name": "a", "command": "mcp", "args": [], "env": []},
            {"type": "http", "name": "b", "url": "https://x.org", "headers": headers},
        ],
        [],
    )


@pytest.mark.parametrize(
    ("server", "why"),
    [
        ({"type": "sse", "name": "x", "url": "https://x.org"}, "does not speak sse"),
        ({"type": "acp", "name": "x", "server_id": "1"}, "its type is 'acp'"),
        ({"name": "x", "command": "rm", "reach": ["x.org"]}, "may not start programs"),
        ({"name": "x", "url": "http://10.0.0.1/", "reach": ["x.org"]}, "host '10.0.0.1' may not be called"),
        ({"name": "x", "url": "http://x.org:81/", "reach": ["x.org:80"]}, "host 'x.org' may not be called"),
    ],
)
def test_what_cannot_or_must_not_be_used_is_left_out_and_why(server: dict[str, Any], why: str) -> None:
    usable, (note,) = usable_servers([server], HTTP)
    assert usable == []
    assert why in note


def test_a_remote_client_may_name_the_hosts_that_are_allowed_for_it() -> None:
    servers = [{"name": "x", "url": "https://x.org/mcp", "reach": ["x.org"]}]
    usable, notes = usable_servers(servers, HTTP)
    assert [one["url"] for one in usable] == ["https://x.org/mcp"]
    assert "reach" not in usable[0]
    assert notes == []
