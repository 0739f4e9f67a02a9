"""One server for a module: the providers keep their connections for as long as a program runs."""

import gc
from collections.abc import AsyncIterator
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

Options = dict[str, Any]


class City(BaseModel):
    """A city."""

    name: str
    people: int


@tool
def look() -> list[Any]:
    """Take a picture."""
    return [{"type": "text", "text": "A dot."}, {"type": "image", "base64": PNG, "mime_type": "image/png"}]


def name_of(wire: object) -> str:
    """What a test is called after its wire."""
    return type(wire).__name__


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def serving() -> AsyncIterator[ModelServer]:
    with serve_model() as server:
        yield server
    for client in gc.get_objects():
        if isinstance(client, httpx.AsyncClient | httpx2.AsyncClient) and not client.is_closed:
            await client.aclose()


@pytest.fixture
def server(serving: ModelServer) -> ModelServer:
    """A server that was asked nothing yet, and has nothing to say."""
    serving.asked.clear()
    serving.replies.clear()
    return serving


@pytest.fixture(params=["checkpointer", "journal"])
def memory(request: pytest.FixtureRequest) -> Options:
    """Who remembers the conversation."""
    return {"checkpointer": InMemorySaver()} if request.param == "checkpointer" else {}


@pytest.fixture(params=[None, "v1"], ids=["unset", "standard"])
def settings(request: pytest.FixtureRequest) -> Options:
    """Which shape LangChain gives its messages."""
    return {} if request.param is None else {"output_version": request.param}
