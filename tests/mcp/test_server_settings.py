"""The shapes in which MCP servers are given."""

from pathlib import Path
from typing import Any

import pytest

from trunkline.mcp.server_settings import Program, Site, read_connections

STDIO_AND_WEB = "known are stdio (command, args, env), http or sse (url, headers)"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"command": "c"}, Program(command="c")),
        (
            {"transport": "stdio", "command": "c", "args": ["-v"], "env": {"K": "v"}, "cwd": Path("/w")},
            Program(command="c", args=("-v",), env={"K": "v"}, cwd="/w"),
        ),
        ({"url": "http://h/mcp"}, Site(url="http://h/mcp")),
        ({"transport": "streamable_http", "url": "https://h"}, Site(url="https://h")),
        ({"transport": "streamable-http", "url": "https://h"}, Site(url="https://h")),
        (
            {"transport": "sse", "url": "http://h", "headers": {"A": "b"}},
            Site(url="http://h", headers={"A": "b"}, sse=True),
        ),
    ],
)
def test_a_mapping_is_what_developers_write(given: dict[str, Any], read: object) -> None:
    assert read_connections({"s": given}) == ({"s": read}, {})


def test_a_list_is_what_editors_send() -> None:
    pair = [{"name": "K", "value": "v"}]
    servers: list[dict[str, Any]] = [
        {"name": "a", "command": "/bin/a", "args": ["-v"], "env": pair},
        {"type": "http", "name": "b", "url": "http://b", "headers": pair},
        {"type": "sse", "name": "c", "url": "http://c", "headers": []},
        {"command": "nameless"},
    ]
    assert read_connections(servers)[0] == {
        "a": Program(command="/bin/a", args=("-v",), env={"K": "v"}),
        "b": Site(url="http://b", headers={"K": "v"}),
        "c": Site(url="http://c", sse=True),
        "server 4": Program(command="nameless"),
    }


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, f"it has neither a command nor a url; {STDIO_AND_WEB}"),
        ({"type": "acp", "server_id": "x"}, f"its transport is 'acp'; {STDIO_AND_WEB}"),
        ({"transport": "stdio"}, "Expected `str`, got `null` - at `$.command`"),
        ({"command": "c", "args": [1]}, "Expected `str`, got `int` - at `$.args[0]`"),
        ({"command": "c", "env": {"K": 1}}, "at `$.env[...]`"),
        ({"command": "c", "env": [{"name": "K"}]}, "it cannot be read ('value')"),
        ({"transport": "http"}, "at `$.url`"),
        ({"url": "ftp://h"}, "its url begins with neither http:// nor https://"),
    ],
)
def test_what_is_wrong_with_one_is_said_and_the_others_are_read(given: dict[str, Any], why: str) -> None:
    read, wrong = read_connections({"bad": given, "good": {"command": "c"}})
    assert list(read) == ["good"]
    assert why in wrong["bad"]


def test_what_is_no_object_harms_no_other() -> None:
    servers: list[Any] = ["srv --now", {"name": "good", "command": "c"}]
    read, wrong = read_connections(servers)
    assert (list(read), wrong) == (["good"], {"server 1": f"it is no object; {STDIO_AND_WEB}"})


def test_a_name_is_given_once() -> None:
    read, wrong = read_connections([{"name": "a", "command": "1"}, {"name": "a", "command": "2"}])
    assert read == {"a": Program(command="1")}
    assert wrong == {"a": "it is given twice: give each server a name of its own"}


def test_what_may_be_secret_is_not_shown() -> None:
    assert str(Program(command="c", args=("--token", "s3cret"), env={"T": "s3cret"})) == "'c'"
    assert str(Site(url="https://me:s3cret@h:8/mcp?token=s3cret#s3cret")) == "https://h:8/mcp"
