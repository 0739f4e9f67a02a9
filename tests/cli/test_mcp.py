"""``trunkline mcp``: which tools a TARGET has, and a wire that nothing else reaches."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents import Agent
from trunkline.agents.interface import AgentCard
from trunkline.cli.mcp import load_tools, registry_of
from trunkline.errors import TargetError
from trunkline.tools import ToolRegistry, tool

TOOLS = "tests/tools/mcp_server/bank_tools.py"


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


class Bookkeeper:
    """An agent with tools."""

    card = AgentCard(name="books", title="Books", version="3", description="Ask about money.")
    tools = ToolRegistry([add])


def test_tools_are_those_of_a_registry_an_agent_or_a_list_of_a_framework() -> None:
    registry = ToolRegistry([add])
    assert registry_of(registry) is registry
    assert registry_of(Bookkeeper()) is Bookkeeper.tools
    made = registry_of(Agent[Any](name="a", tools=[*registry.for_openai()]))
    assert made is not None
    assert made["add"] is add
    for thing in (3, "text", Agent[Any](name="a"), add):
        assert registry_of(thing) is None


def test_the_server_has_the_name_of_the_target_or_of_the_agent(tmp_path: Path) -> None:
    registry, info = load_tools(f"{TOOLS}:many")
    assert (len(registry), info.name) == (120, "many")
    file = tmp_path / "books.py"
    file.write_text("from tests.cli.test_mcp import Bookkeeper\nagent = Bookkeeper()\n", encoding="utf-8")
    _, info = load_tools(f"{file}:agent")
    assert (info.name, info.title, info.version, info.instructions) == (
        "books",
        "Books",
        "3",
        "Ask about money.",
    )
    _, info = load_tools("finance")
    assert info.name == "trunkline-finance"
    # The data goes to the client's model: the card's "nothing leaves this machine" would be wrong.
    assert (info.instructions or "").startswith("You answer questions about a person's own money")
    with pytest.raises(TargetError, match="demo has no tools: name a"):
        load_tools("demo")


def speak(*lines: str, target: str = f"{TOOLS}:registry") -> tuple[list[Any], str, int]:
    """Write lines to the server and close its input; give its answers, its stderr and its exit code."""
    ran = subprocess.run(
        [Path(sys.executable).parent / "trunkline", "mcp", target],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr, ran.returncode


def test_what_tools_print_goes_to_stderr_and_bad_lines_get_errors() -> None:
    start: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {}}
    call = {"name": "spending", "arguments": {"category": "food"}}
    answers, printed, code = speak(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}),
        "this is no JSON",
        "[1, 2]",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    )
    assert code == 0
    assert "printed by a tool" in printed
    assert "written to the descriptor" in printed
    by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    assert by_id[2]["result"]["structuredContent"]["rows"] == [["food", 1]]
    assert [one["error"]["code"] for one in answers if one["id"] is None] == [-32700, -32600]


def test_a_target_that_cannot_be_loaded_is_a_sentence() -> None:
    answers, printed, code = speak(target=f"{TOOLS}:nothing")
    assert (answers, code) == ([], 2)
    assert "nothing" in printed
