"""The official schema as a judge."""

from typing import Any

from trunkline.conformance.acp.schema import find_fault, find_update_fault, unknown_keys


def test_a_valid_answer_has_no_fault() -> None:
    assert find_fault({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}, "initialize") is None


def test_a_fault_says_where_it_is() -> None:
    fault = find_fault({"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "done"}}, "session/prompt")
    assert fault is not None
    assert "stopReason" in fault


def test_methods_that_acp_does_not_have_are_faults_unless_they_are_extensions() -> None:
    assert find_fault({"jsonrpc": "2.0", "method": "session/sing", "params": {}}) is not None
    assert find_fault({"jsonrpc": "2.0", "method": "_sing", "params": {}}) is None


def test_an_update_without_its_content_is_a_fault() -> None:
    params = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk"}}
    assert find_update_fault(params) is not None


def test_keys_that_the_schema_does_not_name_are_found() -> None:
    result: dict[str, Any] = {"stopReason": "end_turn", "mood": "good", "_meta": {}}
    assert unknown_keys({"jsonrpc": "2.0", "id": 1, "result": result}, "session/prompt") == {"mood"}


def test_a_method_that_is_no_text_is_a_fault() -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": {"x": []}}
    assert find_fault(message) == "its method is not a text"
    assert unknown_keys(message) == set()
