"""Calls of an agent as the policy judges them."""

from typing import Any

from tests.agents.acp.far_side import OPTIONS
from trunkline.agents.acp.requests.judged_calls import describe_request
from trunkline.protocols.acp.decoder import AcpDecoder


def test_a_call_is_described_by_what_it_names_and_shows() -> None:
    decoder = AcpDecoder()
    decoder.begin_turn("t")
    call: dict[str, Any] = {
        "toolCallId": "c",
        "name": "Edit",
        "kind": "edit",
        "rawInput": {"file_path": "/p/one"},
        "locations": [{"path": "/p/two"}],
        "content": [{"type": "diff", "path": "/p/three", "oldText": "", "newText": "x"}],
    }
    decoder.permission({"toolCall": call, "options": OPTIONS})
    state = decoder.call("c")
    assert state is not None
    request = describe_request(state)
    assert (request.tool, request.kind, request.also_kinds) == ("Edit", "edit", ())
    assert set(request.named_paths) == {"/p/one", "/p/two", "/p/three"}
