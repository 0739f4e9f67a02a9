"""The requirements once more, against ``/acp``: over a WebSocket and over streamable HTTP."""

import asyncio
import queue
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conformance.acp.test_kit import (
    test_every_message_is_valid,
    test_the_requirement_is_kept,
    test_what_is_left_open_is_done_this_way,
)
from tests.server.running_server import SECRET, listening

from trunkline.agents.targets import resolve_target
from trunkline.conformance.acp.kit import AgentUnderTest
from trunkline.conformance.acp.run import judge
from trunkline.conformance.table import Verdict
from trunkline.server.asgi import asgi

pytestmark = pytest.mark.slow

__all__ = [
    "test_every_message_is_valid",
    "test_the_requirement_is_kept",
    "test_what_is_left_open_is_done_this_way",
]


@contextmanager
def serving_in_a_thread() -> Generator[str]:
    """The scripted agents on a server with a loop of its own: the kit is plain and blocking."""
    places: queue.Queue[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = queue.Queue()

    async def serve() -> None:
        over = asyncio.Event()
        agents = {name: resolve_target(name) for name in ("demo", "demo-auth")}
        async with listening(asgi(agents, tokens=SECRET)) as place:
            places.put((place, asyncio.get_running_loop(), over))
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    place, loop, over = places.get(timeout=20)
    try:
        yield place
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(20)


@pytest.fixture(scope="module", params=["ws", "http"])
def judged(
    request: pytest.FixtureRequest, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Verdict], list[str]]:
    """What the kit finds about the scripted agent; made once for each transport."""
    folder = tmp_path_factory.mktemp("conformance")
    env = {"TRUNKLINE_TOKEN": SECRET, "PYTHONPATH": str(root)}
    with serving_in_a_thread() as place:

        def command(agent: str) -> list[str]:
            url = f"{request.param}://{place}/acp/{agent}"
            return [sys.executable, str(root / "tests/server/stdio_relay.py"), url]

        return judge(AgentUnderTest(command("demo"), folder, command("demo-auth"), env))
