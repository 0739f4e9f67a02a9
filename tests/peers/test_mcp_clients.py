"""Clients of the package mcp, versions 1 and 2, with `trunkline mcp` as their server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
TOOLS = ROOT / "tests/tools/mcp_server/bank_tools.py"
SERVER = [str(Path(sys.executable).parent / "trunkline"), "mcp"]


def python_of(client: str) -> str:
    """The Python that has a version of mcp: ours has version 1."""
    if client == "mcp 1":
        return sys.executable
    made = subprocess.run(
        [ROOT / "scripts/peer-venv", "mcp-2"], capture_output=True, text=True, check=True, timeout=300
    )
    return f"{made.stdout.strip()}/bin/python"


def drive(client: str, mode: str, forms: str, mark: Path, *target: str) -> Any:
    """Let a client drive the server; give what it saw."""
    driver = str(ROOT / "tests/peers/python/mcp_client.py")
    ran = subprocess.run(
        [python_of(client), "-W", "ignore", driver, mode, forms, *SERVER, *target],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "MARK": str(mark)},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def text_of(result: Any) -> str:
    """The text of a result."""
    return result["content"][0]["text"]


CLIENTS = [
    ("mcp 1", "handshake", "2025-11-25"),
    ("mcp 2", "handshake", "2025-11-25"),
    ("mcp 2", "auto", "2026-07-28"),
]


@pytest.mark.parametrize(("client", "mode", "version"), CLIENTS)
def test_a_client_lists_calls_is_asked_sees_progress_and_cancels(
    client: str, mode: str, version: str, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    seen = drive(client, mode, "allow_always", mark, f"{TOOLS}:registry")
    assert seen["version"] == version
    listed = {one["name"]: one for one in seen["tools"]}
    assert listed["spending"]["annotations"]["readOnlyHint"] is True
    assert listed["run_sql"]["annotations"]["destructiveHint"] is True
    assert seen["spending"]["structuredContent"] == {"columns": ["category", "months"], "rows": [["food", 1]]}
    assert seen["wrong"]["isError"]
    assert [text_of(one) for one in seen["sql"]] == ['{"rows":["SELECT 1"]}', '{"rows":["SELECT 2"]}']
    assert text_of(seen["rename"]) == "renamed"
    assert text_of(seen["plain"]) == '{"many":3}'
    assert seen["progress"] == [[1, "0\n"], [2, "1\n"]]
    assert seen["chart"]["content"][1]["type"] == "image"
    assert text_of(seen["broken"]) == "out of paper"
    assert "Unknown tool: nope" in seen["unknown"]
    assert len(seen["asked"]) == 3  # "Always allow SQL" was said to the first of two queries.
    assert mark.read_text(encoding="utf-8") == "cancelled"
    assert text_of(seen["after"]).startswith('{"columns"')


@pytest.mark.parametrize(("client", "mode", "version"), CLIENTS)
def test_without_forms_a_tool_that_asks_is_refused_or_goes_by_the_policy(
    client: str, mode: str, version: str, tmp_path: Path
) -> None:
    seen = drive(client, mode, "none", tmp_path / "mark", f"{TOOLS}:registry")
    assert all("--policy" in text_of(one) and one["isError"] for one in seen["sql"])
    allowed = drive(client, mode, "none", tmp_path / "mark", f"{TOOLS}:registry", "--policy", "allow-all")
    assert not any(one.get("isError") for one in allowed["sql"])


@pytest.mark.parametrize(("client", "mode", "version"), CLIENTS)
def test_every_page_of_a_long_list_is_read(client: str, mode: str, version: str, tmp_path: Path) -> None:
    seen = drive(client, mode, "none", tmp_path / "mark", f"{TOOLS}:many")
    assert len(seen["tools"]) == 120


@pytest.mark.parametrize("client", ["mcp 1", "mcp 2"])
def test_the_script_of_the_finance_agent_serves_its_tools(client: str, tmp_path: Path) -> None:
    program = """
import asyncio, importlib, json, os, sys
mcp, stdio = importlib.import_module("mcp"), importlib.import_module("mcp.client.stdio")
async def main():
    server = mcp.StdioServerParameters(command=sys.argv[1], args=[], env=dict(os.environ))
    async with stdio.stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
        hello = (await session.initialize()).model_dump(mode="json", by_alias=True)
        tools = [one.name for one in (await session.list_tools()).tools]
        asked = {"category": "groceries", "start": "2026-10-01", "end": "2026-10-31"}
        spent = (await session.call_tool("spending", asked)).model_dump(mode="json", by_alias=True)
        asked = {"query": "SELECT 1"}
        sql = (await session.call_tool("run_sql", asked)).model_dump(mode="json", by_alias=True)
        print(json.dumps([hello, tools, spent, sql]))
asyncio.run(main())
"""
    script = str(Path(sys.executable).parent / "trunkline-finance-mcp")
    own = {"DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}", "TRUNKLINE_TODAY": "2026-11-18"}
    ran = subprocess.run(
        [python_of(client), "-W", "ignore", "-c", program, script],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **own},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    hello, tools, spent, sql = json.loads(ran.stdout)
    assert hello["serverInfo"]["name"] == "trunkline-finance"
    assert hello["instructions"].startswith("You answer questions about a person's own money")
    assert {"spending", "run_sql", "set_budget", "undo_edit", "import_statement"} <= set(tools)
    assert "sync_transactions" not in tools, "no bank is linked"
    assert spent["structuredContent"]["totals"][0].endswith(" EUR")
    assert sql["isError"]
    assert "elicitation" in text_of(sql)
