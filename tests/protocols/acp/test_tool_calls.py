"""Tool calls as an ACP agent shows them."""

from typing import Any

from trunkline import events as ev
from trunkline.protocols.acp.decoder import AcpDecoder


def decoder() -> AcpDecoder:
    """Give a decoder in a turn."""
    made = AcpDecoder()
    made.begin_turn("t")
    return made


def call(**fields: Any) -> dict[str, Any]:
    """Give an update of the call c."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": "c", **fields}


def test_a_call_that_is_announced_twice_is_one_call() -> None:
    made = decoder()
    announced: dict[str, Any] = {
        "sessionUpdate": "tool_call",
        "title": "Terminal",
        "rawInput": {},
        "status": "pending",
    }
    [event] = made.feed(call(**announced))
    assert isinstance(event, ev.ToolCall)

    again = made.feed(call(**announced | {"title": "ls", "rawInput": {"command": "ls"}}))
    assert again == [ev.ToolUpdate(call_id="c", title="ls", input={"command": "ls"})]
