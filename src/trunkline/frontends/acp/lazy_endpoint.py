"""The lazy endpoint: answers ``initialize`` at once, and loads the rest when it is needed.

An editor starts a process per session and waits for the first answer, so nothing is imported here
that this answer does not need. The agent itself is loaded right afterwards, or, when its card is not
known yet, before. An agent that cannot be loaded is logged at once, and reported when a session is asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from trunkline.errors import TrunklineError
from trunkline.frontends.acp.card_cache import CardCache
from trunkline.frontends.acp.initialize import initialize_result
from trunkline.protocols.jsonrpc.connection import Connection, Reply
from trunkline.protocols.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND, Params, RpcError

if TYPE_CHECKING:
    from trunkline.frontends.acp.endpoint import AcpEndpoint
    from trunkline.session.hub import Hub

log = logging.getLogger("trunkline.acp")


class LazyEndpoint:
    """The handler of a connection whose agent may not be loaded yet."""

    def __init__(
        self,
        connection: Connection,
        open_hub: Callable[[], Awaitable[Hub]],
        cache: CardCache | None = None,
        *,
        principal: str = "local",
        may_answer: bool = True,
        may_follow: bool = True,
        mcp_reach: Sequence[str] | None = None,
        local: bool = False,
    ) -> None:
        """Open the hub with ``open_hub`` when it is first needed; the caller closes it.

        The folders of a ``local`` client are on this machine, and so they must exist.
        """
        self._connection = connection
        self._open_hub = open_hub
        self._cache = cache
        self._principal = principal
        self._may_answer = may_answer
        self._may_follow = may_follow
        self._mcp_reach = mcp_reach
        self._local = local
        self._client: dict[str, Any] = {}
        self._opening = asyncio.Lock()
        self._endpoint: AcpEndpoint | None = None
        self._hub: Hub | None = None
        self._error: TrunklineError | None = None
        self._closing = False

    async def handle(self, method: str, params: Params) -> Any:
        """Carry out a request."""
        if method == "initialize":
            return await self._initialize(params)
        if method.startswith("_") and method != "_session/steering":
            raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")
        return await (await self._open_endpoint()).handle(method, params)

    def handle_notification(self, method: str, params: Params) -> None:
        """Take a notification."""
        if self._endpoint is not None:
            self._endpoint.handle_notification(method, params)

    def withdraw(self, method: str, params: Params) -> bool:
        """The client no longer waits for a request."""
        return self._endpoint is not None and self._endpoint.withdraw(method, params)

    def detach_session(self, session_id: str) -> None:
        """The client stays connected, but follows a session no more."""
        if self._endpoint is not None:
            self._endpoint.detach(session_id)

    async def close(self) -> None:
        """The client is gone or going: cancel its prompts, and answer what it asked before it left."""
        self._closing = True
        if self._endpoint is not None:
            self._endpoint.detach()
        await self._connection.idle()
        async with self._opening:
            # An agent that was being loaded is loaded now, and its owner can close it.
            if self._endpoint is not None:
                self._endpoint.release()
            if self._hub is not None:
                self._store_card(self._hub)  # An agent may have learned its card when it opened a session.

    async def _initialize(self, params: Params) -> Any:
        asked = params if isinstance(params, dict) else {}
        version: Any = asked.get("protocolVersion")
        if isinstance(version, bool) or not isinstance(version, int):
            raise RpcError(INVALID_PARAMS, "initialize needs protocolVersion, a whole number; we speak 1")
        client: Any = asked.get("clientCapabilities")
        self._client = cast("dict[str, Any]", client) if isinstance(client, dict) else {}
        card = self._cache.load() if self._cache is not None else None
        if card is not None:
            # A damaged cache is no reason to keep an editor waiting: then the agent is asked itself.
            with contextlib.suppress(AttributeError, TypeError, KeyError):
                return Reply(self._greet(card), self._load_soon)
        try:
            async with self._opening:
                hub = await self._open_hub()
                await hub.prepare_agent()
        except TrunklineError as error:
            self._remember(error)
            return self._greet({})
        return self._greet(self._store_card(hub))

    def _greet(self, card: dict[str, Any]) -> dict[str, Any]:
        # Only the agent of a TARGET has its card cached.
        return initialize_result(card, self._client, by_command=self._cache is not None)

    def _load_soon(self) -> None:
        # The answer is written first: loading a framework may take seconds.
        self._connection.flush()
        self._connection.spawn(self._load())

    async def _load(self) -> None:
        if self._closing:
            return
        try:
            await self._open_endpoint()
        except TrunklineError as error:
            self._remember(error)

    def _remember(self, error: TrunklineError) -> None:
        """Keep why the agent cannot be loaded for whoever asks for a session; editors show the log."""
        self._error = error
        log.error("%s", error)

    async def _open_endpoint(self) -> AcpEndpoint:
        async with self._opening:
            if self._endpoint is None:
                if self._error is not None:
                    raise self._error
                hub = await self._open_hub()
                await hub.prepare_agent()  # A placeholder must not be cached.
                self._store_card(hub)
                from trunkline.frontends.acp.endpoint import AcpEndpoint
                from trunkline.protocols.acp import wire
                from trunkline.protocols.acp.lossless import decode

                client = decode(wire.ClientCapabilities, self._client)
                self._endpoint = AcpEndpoint(
                    hub,
                    self._connection,
                    client,
                    principal=self._principal,
                    may_answer=self._may_answer,
                    may_follow=self._may_follow,
                    mcp_reach=self._mcp_reach,
                    local=self._local,
                )
            return self._endpoint

    def _store_card(self, hub: Hub) -> dict[str, Any]:
        import msgspec

        self._hub = hub
        card: dict[str, Any] = msgspec.to_builtins(hub.agent.card)
        if self._cache is not None:
            self._cache.store(card)
        return card
