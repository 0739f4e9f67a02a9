"""Tests of the call that a tool runs for."""

import json
from typing import Any

from langchain_core.messages import ToolMessage
from tests.agents.langchain.mcp_example import in_turn, invoke

from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.tools.current_call import Call, keep_content_types, this_call
from trunkline.tools.langchain_call_id import CalledTool

SOUND: list[Any] = [{"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"}]


async def test_only_a_call_with_a_channel_and_an_id_has_an_event() -> None:
    assert Call(None, "c1").event_id is None

    async def act(channel: Channel) -> tuple[str | None, str | None]:
        channel.emitter.tool_started(None, "c1", "w", {})
        return Call(channel, None).event_id, Call(channel, "c1").event_id

    assert (await in_turn(act))[0] == (None, "c1")


async def test_a_tool_knows_the_id_of_its_call_until_it_returns() -> None:
    def show() -> str:
        """Show the id."""
        return str(this_call(None).tool_call_id)

    tool = CalledTool.from_function(show)
    assert (await invoke(tool, "c7")).content == "c7"
    assert tool.invoke({"type": "tool_call", "id": "c8", "name": "show", "args": {}}).content == "c8"
    assert this_call(None).tool_call_id is None


def test_content_that_a_tool_node_turned_into_text_is_restored() -> None:
    with keep_content_types() as restore:
        Call(None, "c1").answer(SOUND, None, "play")
        as_text, other = (ToolMessage(content, tool_call_id="c1") for content in (json.dumps(SOUND), "no"))
        assert restore(as_text).content == SOUND
        assert restore(other).content == "no"
