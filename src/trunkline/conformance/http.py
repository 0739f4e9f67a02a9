"""Requests to a server under test: each is sent, read to its end or a limit, and kept with what came back."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import httpx
import msgspec

from trunkline.errors import AgentProtocolError, ConfigurationError
from trunkline.protocols.sse import FrameReader

_MOST_BYTES = 64 * 1024 * 1024
_SHOWN = 400
_TRANSCRIPT = 60


class Exchange(NamedTuple):
    """A request and all that came back."""

    request: str
    """The request in one line."""
    status: int
    headers: Mapping[str, str]
    body: bytes
    frames: tuple[bytes, ...]
    """The data of the server-sent events, where the body is a stream of them."""
    times: tuple[float, ...]
    """When each of them came, in seconds after the request."""
    ended: bool
    """Whether the server ended the response; not so after a time limit, or when we left."""
    fault: str = ""
    """What broke the connection or the framing."""

    @property
    def content_type(self) -> str:
        """The media type without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def unchecked(self, names: Collection[str], answered: str, began: str) -> dict[str, str]:
        """Which requirements cannot be checked after this first answer, and why; nothing passes by silence.

        ``answered`` is the requirement that there is a stream, ``began`` the one that something is in it.
        """
        if self.status == 200 and self.frames:
            return {}
        if self.status == 200:
            return dict.fromkeys(set(names) - {answered, began}, "the stream was empty")
        why = f"the first prompt was answered with {self.status}" if self.status else "there was no answer"
        hint = {401: " (--token)", 403: " (--token)", 404: " (check the path)", 405: " (check the path)"}
        return dict.fromkeys(set(names) - {answered}, why + hint.get(self.status, ""))

    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects in the frames; a frame that holds none is left out."""
        found: list[dict[str, Any]] = []
        for frame in self.frames:
            try:
                found.append(msgspec.json.decode(frame, type=dict[str, Any]))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
        return found

    def lines(self) -> list[str]:
        """The exchange as a transcript shows it."""
        shown = [f"> {self.request}", f"< {self.status} {self.content_type}"]
        if self.frames:
            frames = zip(self.times, self.frames, strict=True)
            shown += [f"< {at:7.3f} {_cut(frame)}" for at, frame in list(frames)[-_TRANSCRIPT:]]
        elif self.body:
            shown.append(f"< {_cut(self.body)}")
        return [*shown, f"! {self.fault}"] if self.fault else shown


class HttpSubject:
    """A server under test, by its address."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        patience: float,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Send ``headers`` with each request; a response may take ``patience`` seconds."""
        try:
            host = httpx.URL(url).host
        except httpx.InvalidURL as error:
            raise ConfigurationError(
                f"{url!r} is no address ({error}): write http://HOST:PORT/PATH"
            ) from error
        if not host:
            raise ConfigurationError(f"{url!r} names no host: write http://HOST:PORT/PATH")
        self.url = url
        self.exchanges: list[Exchange] = []
        self._patience = patience
        self._client = httpx.Client(
            headers=dict(headers),
            timeout=httpx.Timeout(patience, connect=10.0),
            # Proxies of the environment are not for an address that a person typed.
            trust_env=False,
            transport=transport,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def mark(self) -> object:
        """Give the number of exchanges so far."""
        return len(self.exchanges)

    def transcript_since(self, mark: object) -> list[str]:
        """Give the exchanges since a mark, or the last one where there is none."""
        assert isinstance(mark, int)
        recent = self.exchanges[mark:] or self.exchanges[-1:]
        return [line for exchange in recent for line in exchange.lines()]

    def post(
        self,
        body: Any,
        *,
        headers: Mapping[str, str] | None = None,
        leave: Callable[[bytes], bool] | None = None,
    ) -> Exchange:
        """Send a body, bytes as they are and all else as JSON; leave after a frame that ``leave`` wants."""
        content = body if isinstance(body, bytes) else msgspec.json.encode(body)
        sent = {"content-type": "application/json", "accept": "text/event-stream", **(headers or {})}
        return self.send("POST", self.url, content, sent, leave)

    def send(
        self,
        method: str,
        url: str,
        content: bytes,
        headers: Mapping[str, str],
        leave: Callable[[bytes], bool] | None = None,
    ) -> Exchange:
        """Send a request and read what comes back."""
        began = time.monotonic()
        request = f"{method} {httpx.URL(url).path} {_cut(content)}"
        reader, frames, times, parts = FrameReader(), list[bytes](), list[float](), list[bytes]()
        status, answered, ended, fault, size = 0, dict[str, str](), False, "", 0
        try:
            with self._client.stream(method, url, content=content, headers=dict(headers)) as response:
                status, answered = response.status_code, dict(response.headers)
                streams = answered.get("content-type", "").startswith("text/event-stream")
                for piece in response.iter_bytes():
                    parts.append(piece)
                    size += len(piece)
                    new = reader.feed(piece) if streams else []
                    frames += new
                    times += [time.monotonic() - began] * len(new)
                    if leave is not None and any(map(leave, new)):
                        break
                    if size > _MOST_BYTES or time.monotonic() - began > self._patience:
                        fault = f"left after {size} bytes and {time.monotonic() - began:.0f} s"
                        break
                else:
                    ended = True
        except httpx.HTTPError as error:
            fault = f"{type(error).__name__} {error}".strip()
        except AgentProtocolError as error:
            fault = str(error)
        if ended and not fault:
            with suppress(AgentProtocolError):
                rest = reader.close()
                frames += rest
                times += [time.monotonic() - began] * len(rest)
        exchange = Exchange(
            request, status, answered, b"".join(parts), tuple(frames), tuple(times), ended, fault
        )
        self.exchanges.append(exchange)
        return exchange


def _cut(data: bytes) -> str:
    text = data[: _SHOWN + 1].decode(errors="replace")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(data)} bytes)"
