"""One server for a module: the providers keep their connections for as long as a program runs."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import httpx2
import pytest
import pytest_asyncio
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from tests.agents.langchain.expected_blocks import PNG
from tests.agents.langchain.providers.model_server import ModelServer, serve_model
from tests.agents.langchain.providers.wires import Wire
from tests.agents.langchain.untyped_langchain import create_agent
from trunkline import adapt

__all__ = ["City", "Make", "look", "name_of", "photograph"]


class City(BaseModel):
    """A city."""

    name: str
    people: int


@tool
def look() -> Any:
    """Look around."""
    return [{"type": "text", "text": "A dot."}, {"type": "image", "base64": PNG, "mime_type": "image/png"}]


@tool
def photograph(city: str) -> list[Any]:
    """Take a picture of a city."""
    return [{"type": "text", "text": city}, {"type": "image", "base64": PNG, "mime_type": "image/png"}]


def name_of(wire: Wire) -> str:
    """What a test is called after its wire."""
    return type(wire).__name__


class Make:
    """Makes agents of a provider's model and tools; models live until the clients below them are closed."""

    def __init__(self) -> None:
        self._models: list[Any] = []

    def __call__(self, wire: Wire, server: ModelServer, *tools: Any, **options: Any) -> Any:
        model = wire.model(server.url, **options.pop("settings", {}))
        self._models.append(model)
        return adapt(create_agent(model, list(tools), **options))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def make() -> AsyncIterator[Make]:
    made = Make()
    yield made
    for client in gc.get_objects():
        if isinstance(client, httpx.AsyncClient | httpx2.AsyncClient) and not client.is_closed:
            await client.aclose()


@pytest.fixture(scope="module")
def serving() -> Iterator[ModelServer]:
    with serve_model() as server:
        yield server


@pytest.fixture
def server(serving: ModelServer) -> ModelServer:
    """A server that was asked nothing yet, and has nothing to say."""
    serving.asked.clear()
    serving.replies.clear()
    return serving


@pytest.fixture(params=["checkpointer", "journal"])
def memory(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Who remembers the conversation."""
    return {"checkpointer": InMemorySaver()} if request.param == "checkpointer" else {}


@pytest.fixture(params=[None, "v1"], ids=["unset", "standard"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Which shape LangChain gives its messages."""
    return {} if request.param is None else {"output_version": request.param}
