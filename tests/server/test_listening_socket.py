"""The socket that the server listens on: its address, and what is said when it cannot be had."""

import socket
from typing import Any

import pytest

from trunkline.errors import ConfigurationError
from trunkline.server.listening_socket import bind, url_of


@pytest.mark.parametrize(
    ("host", "start"),
    [("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://127.0.0.1:"), ("localhost", "http://")],
)
def test_a_socket_has_an_address_that_can_be_typed(host: str, start: str) -> None:
    with bind(host, 0) as listener:
        assert url_of(listener).startswith(start)


def has_sixth_version() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(("host", "start"), [("::1", "http://[::1]:"), ("::", "http://[::1]:")])
def test_so_has_one_of_the_sixth_version(host: str, start: str) -> None:
    if not has_sixth_version():
        with pytest.raises(ConfigurationError, match="is no address of this machine"):
            bind(host, 0)
        return
    with bind(host, 0) as listener:
        assert url_of(listener).startswith(start)


def test_a_socket_that_cannot_be_had_is_explained() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port} is taken: choose another"):
            bind("127.0.0.1", port)
    with pytest.raises(ConfigurationError, match="is no address of this machine"):
        bind("192.0.2.1", 0)
    with pytest.raises(ConfigurationError, match="is no address of this machine"):
        bind("no.such.host.invalid", 0)


def test_a_port_that_needs_more_rights_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(ConfigurationError, match="port 80 needs more rights"):
        bind("127.0.0.1", 80)
