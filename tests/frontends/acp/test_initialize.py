"""The answer to initialize, and the cache that makes it quick."""

import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.frontends.acp.schema import find_fault, unknown_keys

from trunkline.agents.interface import AgentCard, AuthMethod, McpCapabilities
from trunkline.frontends.acp import initialize
from trunkline.frontends.acp.initialize import CardCache, initialize_result
from trunkline.testing import ScriptedAgent

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


def test_a_card_is_the_same_by_way_of_the_cache(tmp_path: Path) -> None:
    cache = CardCache("demo", tmp_path)
    card = msgspec.to_builtins(ScriptedAgent(authentication=True).card)
    cache.store(card)
    loaded = CardCache("demo", tmp_path).load()
    assert loaded is not None
    assert answer(loaded) == answer(card)


# -- the cache -------------------------------------------------------------------------------------


def test_a_card_is_known_for_as_long_as_its_file_stays_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, folder = tmp_path / "agent.py", tmp_path / "cards"
    source.write_text("one")
    assert CardCache("agent.py:hal", folder).load() is None
    CardCache("agent.py:hal", folder).store(CARD)
    assert CardCache("agent.py:hal", folder).load() == CARD
    assert CardCache("agent.py:other", folder).load() is None
    source.write_text("two")
    assert CardCache("agent.py:hal", folder).load() is None
    source.write_text("one")
    assert CardCache("agent.py:hal", folder).load() == CARD


def test_the_same_name_elsewhere_or_in_another_version_is_another_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cards"
    monkeypatch.chdir(tmp_path)
    CardCache("pkg:hal", folder).store(CARD)
    with monkeypatch.context() as moved:
        moved.chdir("/")
        assert CardCache("pkg:hal", folder).load() is None
    monkeypatch.setattr(initialize, "__version__", "0.0.0")
    assert CardCache("pkg:hal", folder).load() is None


def test_the_card_of_a_program_is_known_until_the_program_is_upgraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, folder = tmp_path / "coder", tmp_path / "cards"
    program.write_text("one")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"/nowhere:{tmp_path}")
    CardCache("acp:coder --acp", folder).store(CARD)
    assert CardCache("acp:coder --acp", folder).load() == CARD
    program.write_text("one and a half")
    assert CardCache("acp:coder --acp", folder).load() is None


def test_a_file_that_is_gone_has_a_place_in_the_cache_too(tmp_path: Path) -> None:
    cache = CardCache(f"{tmp_path}/gone.py:hal", tmp_path)
    assert cache.load() is None
    cache.store(CARD)
    assert cache.load() == CARD


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"7", b"{}", b"\xff", b'{"version": "1"}'])
def test_a_damaged_cache_is_no_cache(content: bytes, tmp_path: Path) -> None:
    cache = CardCache("demo", tmp_path)
    cache.store(CARD)
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert cache.load() is None
    cache.store(CARD)
    assert cache.load() == CARD


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = CardCache("demo", tmp_path / "file" / "cards")
    cache.store(CARD)
    assert cache.load() is None


def test_a_card_that_is_known_already_is_not_written_again(tmp_path: Path) -> None:
    cache = CardCache("demo", tmp_path)
    cache.store(CARD)
    (file,) = tmp_path.iterdir()
    before = file.stat()
    cache.store(CARD)
    assert file.stat().st_ino == before.st_ino
    cache.store({**CARD, "version": "10"})
    assert cache.load() == {**CARD, "version": "10"}
    assert list(tmp_path.iterdir()) == [file], "no partial file is left"


def test_the_folder_is_the_persons_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    CardCache("demo").store(CARD)
    folder = tmp_path / "xdg/trunkline/cards"
    assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    CardCache("demo").store(CARD)
    assert len(os.listdir(tmp_path / "home/.cache/trunkline/cards")) == 1
