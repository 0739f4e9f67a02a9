"""The HTTP client of an AG-UI server: one POST per run, its events as they come."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from trunkline.errors import AgentError, AgentProtocolError, AuthenticationRequired
from trunkline.protocols.sse import MEDIA_TYPE, FrameReader

_CONNECT_WITHIN = 10.0
_SILENCE_SECONDS = 600.0
_BODY = 2_000


class AguiServer:
    """An AG-UI server, by its address."""

    def __init__(self, url: str, headers: dict[str, str] | None = None) -> None:
        self.url = url
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        self.name = f"the AG-UI server at {host}"
        """The name of the server in errors, without a password of its address."""
        self._address = f"{parts.scheme}://{host}{parts.path}"
        self._headers = {"accept": MEDIA_TYPE, "content-type": "application/json", **(headers or {})}
        self._timeout = httpx.Timeout(_SILENCE_SECONDS, connect=_CONNECT_WITHIN)

    @asynccontextmanager
    async def run(self, request: dict[str, Any]) -> AsyncGenerator[AsyncGenerator[dict[str, Any]]]:
        """Start a run and give its events; leaving the block closes the connection, which cancels the run."""
        body = msgspec.json.encode(request)
        try:
            async with (
                # Proxies of the environment are not for an address that a person typed.
                httpx.AsyncClient(timeout=self._timeout, trust_env=False) as client,
                client.stream("POST", self.url, content=body, headers=self._headers) as response,
            ):
                if response.status_code != 200:
                    await self._refuse(response)
                yield self._events(response)
        except httpx.HTTPError as error:
            raise AgentError(self._explain(error)) from error

    async def _refuse(self, response: httpx.Response) -> None:
        """Raise the reason that the server gives for not starting the run."""
        text = " ".join((await response.aread())[:_BODY].decode(errors="replace").split())
        text = re.sub(r"<[^>]*>", " ", text).strip()
        status = response.status_code
        if status in (401, 403):
            raise AuthenticationRequired(
                f"{self._address} refused us with {status}: set TRUNKLINE_AGUI_TOKEN to its token. {text}"
            )
        raise AgentError(f"{self._address} answered {status}: {text or response.reason_phrase}")

    def _explain(self, error: httpx.HTTPError) -> str:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return f"no AG-UI server answers at {self._address}: start it, or check the address ({error})"
        if isinstance(error, httpx.TimeoutException):
            return f"{self._address} sent nothing for {_SILENCE_SECONDS:g} s"
        return f"the connection to {self._address} broke: {type(error).__name__} {error}".rstrip()

    async def _events(self, response: httpx.Response) -> AsyncGenerator[dict[str, Any]]:
        reader = FrameReader(peer=self.name)
        async for piece in response.aiter_bytes():
            for frame in reader.feed(piece):
                yield self._decode(frame)
        for frame in reader.close():
            yield self._decode(frame)

    def _decode(self, frame: bytes) -> dict[str, Any]:
        try:
            return msgspec.json.decode(frame, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AgentProtocolError(f"{self.name} sent an event that is no JSON object: {error}") from None
