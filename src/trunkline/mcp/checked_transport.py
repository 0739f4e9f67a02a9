"""Calls of servers that somebody far away named: every address is checked, and then that one is called.

A name is looked up here and nowhere else, and the connection goes to the address that was checked: a name
that leads elsewhere a moment later leads nowhere. Redirects come through here as every request does.
"""

from __future__ import annotations

import asyncio
import socket

import httpx

from trunkline.mcp.allowed_hosts import Outbound

__all__ = ["CheckedTransport", "NotAllowed"]

_PORTS = {"http": 80, "https": 443}


class NotAllowed(httpx.TransportError):
    """The host, or an address that it leads to, is not on the list."""


class CheckedTransport(httpx.AsyncBaseTransport):
    """Sends requests to hosts of a list only."""

    def __init__(self, outbound: Outbound) -> None:
        """Allow these hosts."""
        self._outbound = outbound
        self._transport = httpx.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to one of the addresses that were checked."""
        host, port = request.url.host, request.url.port or _PORTS.get(request.url.scheme, 0)
        if not self._outbound.allows_host(host, port):
            raise NotAllowed("its host is not on the list of the server (--allow-mcp)", request=request)
        addresses = await _look_up(host, port, request)
        if not all(self._outbound.allows_address(address, port) for address in addresses):
            raise NotAllowed(
                "its name leads to an address of this machine or its network, which is not on the list "
                "(--allow-mcp)",
                request=request,
            )
        for number, address in enumerate(addresses):
            # The name stays in the Host header and in what TLS checks.
            extensions = {**request.extensions, "sni_hostname": host}
            sent = httpx.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions=extensions,
            )
            try:
                return await self._transport.handle_async_request(sent)
            except httpx.ConnectError:
                if number == len(addresses) - 1:
                    raise
        raise httpx.ConnectError("the name leads nowhere", request=request)

    async def aclose(self) -> None:
        """Let go of every connection."""
        await self._transport.aclose()


async def _look_up(host: str, port: int, request: httpx.Request) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpx.ConnectError("its name leads nowhere", request=request) from error
    return list(dict.fromkeys(str(where[0]) for *_, where in found))
