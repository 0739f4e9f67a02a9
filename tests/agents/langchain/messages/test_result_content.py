"""Tests of what a content_mapper may give, and of what clients are shown of it."""

from typing import Any

import pytest
from langchain_core.tools import tool
from mcp.types import ImageContent, TextContent
from tests.agents.langchain.graphs import weather
from tests.agents.langchain.recorded_updates import PROMPT, call_of
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import only, run_turn, soon

from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain import ToolMiddleware, TrunklineContext, acp_agent, agui_agent
from trunkline.agents.langchain.messages.result_content import read_content
from trunkline.content import (
    DiffBlock,
    ImageBlock,
    LinkBlock,
    ResourceBlock,
    TerminalBlock,
    TextBlock,
    text_of,
)
from trunkline.protocols.acp import wire
from trunkline.testing import AguiRecorder, RecordingTransport
from trunkline.testing.chat import ScriptedChatModel, call

SHORT = TextBlock(text="short")
PICTURE = ImageBlock(mime_type="image/png", data="aGk=")


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("short", SHORT),
        (SHORT, SHORT),
        ({"type": "text", "text": "short"}, SHORT),
        ({"type": "content", "content": {"type": "text", "text": "short"}}, SHORT),
        (wire.TextContent(text="short"), SHORT),
        (TextContent(type="text", text="short"), SHORT),
        ({"type": "image", "data": "aGk=", "mimeType": "image/png"}, PICTURE),
        ({"type": "image", "base64": "aGk=", "mime_type": "image/png"}, PICTURE),
        (ImageContent(type="image", data="aGk=", mimeType="image/png"), PICTURE),
        (
            {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"},
            DiffBlock(path="/a", old="x", new="y"),
        ),
        ({"type": "terminal", "terminalId": "t1"}, TerminalBlock(terminal_id="t1")),
        ({"type": "resource_link", "uri": "file:///a", "name": "a"}, LinkBlock(uri="file:///a", name="a")),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "text": "x"}},
            ResourceBlock(uri="file:///a", text="x"),
        ),
    ],
)
def test_texts_blocks_and_dicts_of_each_protocol_are_taken(given: Any, read: Any) -> None:
    assert read_content(given) == (read,)
    assert read_content([given, "and"]) == (read, TextBlock(text="and"))


def test_none_leaves_a_result_as_it_is_and_an_empty_list_hides_it() -> None:
    assert read_content(None) is None
    assert read_content([]) == ()


@pytest.mark.parametrize(
    "given", [42, [42], {"colour": "red"}, {"type": "diff"}, {"type": "image"}, object()]
)
def test_anything_else_is_an_error_that_says_what_may_be_given(given: Any) -> None:
    with pytest.raises(
        TypeError, match="gives None, a text, a content block, a dict of ACP, MCP or LangChain"
    ):
        read_content(given)


@tool
def other() -> str:
    """Do something else."""
    return "all of it"


def model() -> ScriptedChatModel:
    return ScriptedChatModel(call("weather", {"city": "Rome"}), call("other", id="call_2"), "Done.")


def shorten(message: Any) -> Any:
    return [{"type": "text", "text": "short"}] if message.name == "weather" else None


async def test_an_agui_client_is_shown_what_the_mapper_gives_and_all_of_the_rest() -> None:
    page = AguiRecorder()
    agent = agui_agent(model(), [weather, other], transport=page, content_mapper=shorten)
    await soon(agent.ainvoke(PROMPT))
    results = [one["content"] for one in page.messages if one["role"] == "tool"]
    assert (results, page.types[-1]) == (["short", "all of it"], "RUN_FINISHED")


@pytest.mark.parametrize("is_built", [False, True], ids=["model", "built"])
async def test_an_acp_client_is_shown_what_the_mapper_gives_and_all_of_the_rest(is_built: bool) -> None:
    client = RecordingTransport(session_id="s")
    if is_built:
        agent = acp_agent(create_agent(model(), [weather, other]), transport=client, content_mapper=shorten)
    else:
        agent = acp_agent(model(), [weather, other], transport=client, content_mapper=shorten)
    await soon(agent.ainvoke(PROMPT))
    _check(client)


async def test_a_tool_middleware_alone_maps_too() -> None:
    client = RecordingTransport(session_id="s")
    middleware = [ToolMiddleware(content_mapper=shorten)]
    agent = create_agent(model(), [weather, other], middleware=middleware, context_schema=TrunklineContext)
    await soon(agent.ainvoke(PROMPT, context=TrunklineContext(transport=client)))
    _check(client)


def _check(client: RecordingTransport) -> None:
    mapped, left = (call_of(client, call_id) for call_id in ("call_1", "call_2"))
    assert [one["content"]["text"] for one in mapped["content"] + left["content"]] == ["short", "all of it"]
    assert "sunny" not in str(client.emitted)
    assert left["rawOutput"] == "all of it"


async def test_a_session_shows_what_the_mapper_gives_and_all_of_the_rest() -> None:
    graph = create_agent(model(), [weather, other], middleware=[ToolMiddleware(content_mapper=shorten)])
    events = await run_turn(adapt(graph), "go")
    ended = [one for one in only(events, ev.ToolUpdate) if one.status == "completed"]
    assert [text_of(one.content or ()) for one in ended] == ["short", "all of it"]
