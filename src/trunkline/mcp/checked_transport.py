"""An HTTP transport for servers that a remote client named: it connects to checked addresses only.

A name is resolved here and nowhere else, and the connection goes to the address that was checked, so a name
that resolves differently a moment later (DNS rebinding) changes nothing. Redirects are checked like any
request.
"""

from __future__ import annotations

import asyncio
import socket

import httpx

from trunkline.mcp.allowed_hosts import Outbound

_PORTS = {"http": 80, "https": 443}


class NotAllowed(httpx.TransportError):
    """The host, or an address that it resolves to, is not on the list."""


class CheckedTransport(httpx.AsyncBaseTransport):
    """Sends requests to hosts of a list only."""

    def __init__(self, outbound: Outbound) -> None:
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
                "its name resolves to an address of this machine or its network, which is not on the list "
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
        raise httpx.ConnectError("its name has no address", request=request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()


async def _look_up(host: str, port: int, request: httpx.Request) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpx.ConnectError("its name has no address", request=request) from error
    return list(dict.fromkeys(str(where[0]) for *_, where in found))
