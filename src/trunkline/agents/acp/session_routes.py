"""Routes: which session an update, a notification or a request of the agent belongs to.

An agent may name a session before it has answered the request that makes it. What it says of a session that
is not known yet is kept, within limits, until the session is attached.
"""

from __future__ import annotations

import json
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, cast

from trunkline.protocols.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND, Params, RpcError

log = logging.getLogger("trunkline.acp")

EARLY_SESSIONS = 64
EARLY_UPDATES = 1000
"""How many sessions may be named before they are attached, and how many updates of each are kept."""
EARLY_CHARACTERS = 16 * 1024 * 1024
"""How long all of these updates may be together."""
GENERAL_NOTIFICATIONS = 64

Wait = Awaitable[Any] | None
"""What a handler may give back: reading from the agent waits for it."""
OnUpdate = Callable[[Mapping[str, Any]], Wait]
OnNotification = Callable[[str, Params], Wait]

_OF_SESSIONS = ("fs/", "terminal/", "session/", "elicitation/")


class RequestHandler(Protocol):
    """Answers what the agent asks in one session."""

    async def handle(self, method: str, params: Any) -> Any:
        """Give the result of a request, or raise RpcError."""
        ...


class _Route(NamedTuple):
    on_update: OnUpdate
    requests: RequestHandler
    on_notification: OnNotification | None


class SessionRoutes:
    """The sessions of one agent process."""

    def __init__(self, wait_for: Callable[[Awaitable[Any]], None]) -> None:
        """``wait_for`` lets the agent wait for what a handler gave back."""
        self._routes: dict[str, _Route] = {}
        self._early: dict[str, deque[tuple[Mapping[str, Any], int]]] = {}
        self._early_size = 0
        self._general: deque[tuple[str, Params]] = deque(maxlen=GENERAL_NOTIFICATIONS)
        self._gone: deque[str] = deque(maxlen=EARLY_SESSIONS)
        self.updates: Counter[str] = Counter()
        """How many updates came for each of the sessions that are attached."""
        self._opening: list[RequestHandler] = []
        self._wait_for = wait_for

    @property
    def sessions(self) -> list[str]:
        """The ids of the sessions that are attached."""
        return list(self._routes)

    def attach(
        self,
        session_id: str,
        on_update: OnUpdate,
        requests: RequestHandler,
        on_notification: OnNotification | None = None,
    ) -> None:
        """Send what concerns a session there from now on, beginning with what came before."""
        route = self._routes[session_id] = _Route(on_update, requests, on_notification)
        if session_id in self._gone:
            self._gone.remove(session_id)
        if on_notification is not None:
            while self._general:
                self._give(on_notification(*self._general.popleft()))
        for update in self._take_early(session_id):
            self._give(route.on_update(update))

    def detach(self, session_id: str) -> None:
        """Discard what the agent says of a session from now on."""
        self.updates.pop(session_id, None)
        if self._routes.pop(session_id, None) is not None:
            self._gone.append(session_id)
        self._take_early(session_id)

    @contextmanager
    def opening(self, requests: RequestHandler) -> Generator[None]:
        """Answer requests for a session whose id is not known yet, as long as only one is being opened."""
        self._opening.append(requests)
        try:
            yield
        finally:
            self._opening.remove(requests)

    def take_notification(self, method: str, params: Params) -> None:
        """Give an update or another notification to its session."""
        fields = params if isinstance(params, dict) else {}
        session_id: Any = fields.get("sessionId")
        route = self._routes.get(session_id) if isinstance(session_id, str) else None
        if method == "session/update":
            update = update_in(fields)
            if session_id is None and len(self._routes) == 1:
                session_id, route = next(iter(self._routes.items()))
            if isinstance(update, dict) and isinstance(session_id, str):
                self._take_update(session_id, route, cast("dict[str, Any]", update))
            else:
                log.warning("an update without a session or without content was ignored")
        elif route is not None:
            if route.on_notification is not None:
                self._give(route.on_notification(method, params))
        elif isinstance(session_id, str):
            log.info("the notification %s is about the session %r, which is not open", method, session_id)
        else:
            self._take_general(method, params)

    def _take_update(self, session_id: str, route: _Route | None, update: dict[str, Any]) -> None:
        if route is not None:
            self.updates[session_id] += 1
            waiting = route.on_update(update)
            if waiting is not None:
                self._wait_for(waiting)
        elif session_id not in self._gone:
            self._keep_early(session_id, update)

    def _keep_early(self, session_id: str, update: dict[str, Any]) -> None:
        """Keep an update until its session is attached; when there is no room, the oldest go."""
        if session_id not in self._early and len(self._early) >= EARLY_SESSIONS:
            self._take_early(next(iter(self._early)))
        kept = self._early.setdefault(session_id, deque())
        size = len(json.dumps(update))
        kept.append((update, size))
        self._early_size += size
        if len(kept) > EARLY_UPDATES:
            log.warning("more than %d updates came for an unknown session", EARLY_UPDATES)
            self._early_size -= kept.popleft()[1]
        while self._early_size > EARLY_CHARACTERS:
            log.warning("updates of unknown sessions are too long to be kept: the oldest are discarded")
            self._take_early(next(iter(self._early)))

    def _take_early(self, session_id: str) -> list[Mapping[str, Any]]:
        """Give what was kept for a session; it is kept no longer."""
        kept = self._early.pop(session_id, ())
        self._early_size -= sum(size for _, size in kept)
        return [update for update, _ in kept]

    def _take_general(self, method: str, params: Params) -> None:
        listeners = [
            route.on_notification for route in self._routes.values() if route.on_notification is not None
        ]
        for on_notification in listeners:
            self._give(on_notification(method, params))
        if not listeners:
            self._general.append((method, params))

    def handler_of(self, method: str, params: Params) -> RequestHandler:
        """Find who answers a request; raises RpcError when nobody can."""
        session_id: Any = params.get("sessionId") if isinstance(params, dict) else None
        if isinstance(session_id, str) and session_id in self._routes:
            return self._routes[session_id].requests
        if len(self._opening) == 1:
            return self._opening[0]
        if session_id is None and len(self._routes) == 1:
            return next(iter(self._routes.values())).requests
        if not method.startswith(_OF_SESSIONS):
            raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")
        raise RpcError(INVALID_PARAMS, f"there is no session {session_id!r} here")

    def _give(self, waiting: Wait) -> None:
        if waiting is not None:
            self._wait_for(waiting)


def update_in(fields: Mapping[str, Any]) -> Any:
    """Give the update of a session/update; some agents write its members beside the session's id."""
    if "update" not in fields and isinstance(fields.get("sessionUpdate"), str):
        return {name: value for name, value in fields.items() if name != "sessionId"}
    return fields.get("update")
