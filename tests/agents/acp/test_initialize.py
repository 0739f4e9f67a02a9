"""The handshake: our params, and the card of the agent's answer."""

from typing import Any

from trunkline.agents.acp.initialize import capability, card_of, initialize_params
from trunkline.agents.interface import AuthMethod
from trunkline.conformance.acp.schema import find_fault


def test_our_params_are_what_the_official_schema_wants() -> None:
    sent = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize_params()}
    assert find_fault(sent) is None
    assert initialize_params(fs=False)["clientCapabilities"]["fs"] == {
        "readTextFile": False,
        "writeTextFile": False,
    }


def test_a_card_says_what_the_agent_said() -> None:
    answer: dict[str, Any] = {
        "protocolVersion": 1,
        "agentInfo": {"name": "coder", "title": "The Coder", "version": "2.0"},
        "agentCapabilities": {
            "promptCapabilities": {"image": True, "audio": False},
            "mcpCapabilities": {"http": True, "sse": False},
            "sessionCapabilities": {"fork": {}, "resume": None},
        },
        "authMethods": [
            {"id": "web", "name": "Web", "description": "Opens a page"},
            {"id": "key", "name": "Key", "type": "env_var", "vars": [{"name": "A_KEY"}, {"name": "B_KEY"}]},
            {"id": "old", "name": "Old key", "type": "env_var", "varName": "OLD_KEY"},
            {"id": "tui", "name": "TUI", "type": "terminal", "args": ["login"], "env": {"TERM": "dumb"}},
            {"id": "own", "name": "Own", "_meta": {"type": "terminal"}},
            {"name": "has no id"},
        ],
    }
    card = card_of(answer, "fallback")
    assert (card.name, card.title, card.version) == ("coder", "The Coder", "2.0")
    assert (card.prompt.image, card.prompt.audio, card.mcp.http, card.mcp.sse) == (True, False, True, False)
    assert card.foreign_words
    assert not card.authoritative_history
    assert card.auth_methods == (
        AuthMethod(method_id="web", name="Web", description="Opens a page"),
        AuthMethod(method_id="key", name="Key", kind="env_var", variables=("A_KEY", "B_KEY")),
        AuthMethod(method_id="old", name="Old key", kind="env_var", variables=("OLD_KEY",)),
        AuthMethod(method_id="tui", name="TUI", kind="terminal", args=("login",), env={"TERM": "dumb"}),
        AuthMethod(method_id="own", name="Own", kind="terminal"),
    )
    assert capability(answer, "sessionCapabilities", "fork")
    assert not capability(answer, "sessionCapabilities", "resume")
    assert not capability(answer, "sessionCapabilities", "fork", "deeper")


def test_an_answer_of_few_words_or_odd_ones_makes_a_card_too() -> None:
    assert card_of({}, "python").name == "python"
    odd: dict[str, Any] = {"agentInfo": [], "agentCapabilities": 1, "authMethods": {"id": "x"}}
    assert card_of(odd, "python").auth_methods == ()
    assert card_of({"agentInfo": {"name": 5}, "authMethods": ["x", {"id": 3}]}, "python").title == "python"
