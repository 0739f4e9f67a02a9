"""The page beside a chat: the chat's own hub, served on a free port of this machine."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from trunkline.agents.interface import Agent
from trunkline.cli.journals import opened_journal
from trunkline.cli.server_extra import needs_server_extra
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.target_names import normalize_target
from trunkline.workspace.policy import Policy

if TYPE_CHECKING:
    from trunkline.server.app import Server


class PageLinks(NamedTuple):
    """Makes links that log one browser in, each once."""

    app: Server
    url: str

    def link(self, session: Session) -> str:
        """Give a link to a session; its code works once, and for ten minutes."""
        words = {"code": self.app.new_login_code() or "", "session": session.session_id}
        return f"{self.url}/#{urlencode(words)}"


@asynccontextmanager
async def opened_page(
    agent: Agent, target: str, address: str | None, policy: Policy | None, cwd: str | None
) -> AsyncGenerator[tuple[Hub, PageLinks]]:
    """Serve an agent to this process and to browsers of this machine for as long as the block runs."""
    with needs_server_extra():
        from trunkline.server.agents import address_name
        from trunkline.server.asgi import asgi
        from trunkline.server.limits import Limits
        from trunkline.server.listening_socket import bind, url_of
        from trunkline.server.run import served
        from trunkline.server.security.tokens import new_secret

    name = address_name(agent)
    async with opened_journal(address) as journal:
        app = asgi(
            {name: agent},
            targets={name: normalize_target(target)},
            journal=journal,
            tokens=new_secret(),
            policy=policy,
            cwd=cwd or os.getcwd(),
            # Who leaves the chat does not wait for what the page runs.
            limits=Limits(drain_seconds=0),
        )
        with bind("127.0.0.1", 0) as listener:
            async with served(app, listener):
                yield await app.agents.hub(), PageLinks(app, url_of(listener))
