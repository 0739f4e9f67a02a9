"""The answer to initialize."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from trunkline.agents.interface import AgentCard, AuthMethod, McpCapabilities
from trunkline.conformance.acp.schema import find_fault, unknown_keys
from trunkline.frontends.acp.card_cache import CardCache
from trunkline.frontends.acp.initialize import initialize_result

CARD: dict[str, Any] = {"name": "hal", "version": "9", "title": "HAL"}
LOGINS = [
    {"method_id": "a", "name": "A", "description": "by hand"},
    {"method_id": "t", "name": "T", "kind": "terminal", "args": ["--login"], "env": {"K": "v"}},
]


def answer(card: dict[str, Any], client: dict[str, Any] | None = None) -> dict[str, Any]:
    """Greet, and check the answer against the schema."""
    result = initialize_result(card, client or {})
    message = {"jsonrpc": "2.0", "id": 1, "result": result}
    assert find_fault(message, "initialize") is None
    assert unknown_keys(message, "initialize") == set()
    return result


def test_the_trunk_guarantees_and_the_card_adds() -> None:
    assert answer({**CARD, "prompt": {"image": True, "embedded_context": False}}) == {
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": False},
            "mcpCapabilities": {"http": False, "sse": False},
            "sessionCapabilities": {
                "additionalDirectories": {}, "close": {}, "delete": {}, "fork": {}, "list": {}, "resume": {},
            },
        },
        "authMethods": [],
        "agentInfo": {"name": "hal", "title": "HAL", "version": "9"},
        "_meta": {"steering": {"supported": True}},
    }  # fmt: skip


@pytest.mark.parametrize(("http", "sse"), [(True, True), (True, False), (False, True), (False, False)])
def test_an_agent_says_which_mcp_servers_it_can_reach_also_from_the_cache(
    http: bool, sse: bool, tmp_path: Path
) -> None:
    card = AgentCard(name="hal", mcp=McpCapabilities(http=http, sse=sse))
    cache = CardCache("hal", tmp_path)
    cache.store(msgspec.to_builtins(card))
    loaded = cache.load()
    assert loaded is not None
    assert answer(loaded)["agentCapabilities"]["mcpCapabilities"] == {"http": http, "sse": sse}


def test_an_agent_that_could_not_be_loaded_is_greeted_for_too() -> None:
    greeted = answer({})
    assert greeted["agentInfo"] == {"name": "agent", "title": "agent", "version": "0"}
    assert greeted["agentCapabilities"]["promptCapabilities"]["embeddedContext"] is True


@pytest.mark.parametrize(
    "client", [{}, {"auth": {}}, {"auth": {"terminal": False}}, {"auth": None}, {"auth": 1}]
)
def test_a_login_in_a_terminal_is_offered_only_to_those_who_have_one(client: dict[str, Any]) -> None:
    card = {**CARD, "auth_methods": LOGINS}
    greeted = answer(card, client)
    assert greeted["authMethods"] == [{"id": "a", "name": "A", "description": "by hand"}]
    assert greeted["agentCapabilities"]["auth"] == {"logout": {}}
    assert answer(card, {"auth": {"terminal": True}})["authMethods"][1] == {
        "id": "t", "name": "T", "type": "terminal", "args": ["--login"], "env": {"K": "v"},
    }  # fmt: skip


def test_a_login_by_variables_says_which_to_set() -> None:
    way = AuthMethod(method_id="k", name="Key", kind="env_var", variables=("A_KEY", "B_KEY"))
    (output,) = answer(msgspec.to_builtins(AgentCard(name="hal", auth_methods=(way,))))["authMethods"]
    assert output["description"] == "Set A_KEY, B_KEY in the environment of the agent, and start it again."
