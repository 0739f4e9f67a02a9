"""What is loaded, and when: a light start is a promise, so it is measured in fresh processes."""

import importlib
import json
import os
import subprocess
import sys

import pytest

FRAMEWORKS = frozenset({"acp", "ag_ui", "agents", "deepagents", "fastapi", "langchain", "langgraph", "mcp"})
LIBRARIES = frozenset({"httpx", "langchain_core", "openai", "pydantic", "redis", "starlette", "websockets"})
HEAVY = FRAMEWORKS | LIBRARIES | {"prompt_toolkit", "rich"}
COMMAND = "import sys; from trunkline.cli import main; sys.exit(main())"
QUIET = (["--version"], ["exec", "demo", "hello", "--format", "json", "--journal", "memory:"])
CIRCLES = """
import builtins, importlib, json, pkgutil, sys, trunkline

names = [info.name for info in pkgutil.walk_packages(trunkline.__path__, "trunkline.")]
circles = []
plain_import = builtins.__import__

def is_begun(name):
    loaded = sys.modules.get(name)
    return loaded is not None and loaded.__spec__._initializing

def watched_import(name, globals=None, locals=None, fromlist=(), level=0):
    package = (globals or {}).get("__package__")
    base = importlib.util.resolve_name("." * level + name, package) if level else name
    below = [f"{base}.{one}" for one in fromlist or ()]
    wanted = below if below and set(below) <= set(names) else [base, *below]
    circles.extend((package, one) for one in wanted if one.partition(".")[0] == "trunkline" and is_begun(one))
    return plain_import(name, globals, locals, fromlist, level)

builtins.__import__ = watched_import
for name in [name for name in sys.modules if name.partition(".")[0] == "trunkline"]:
    del sys.modules[name]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(json.dumps([len(names), circles]))
"""

DOCUMENTED = (
    "trunkline", "trunkline.agents.langchain", "trunkline.content", "trunkline.cursor", "trunkline.errors",
    "trunkline.events", "trunkline.frontends.acp", "trunkline.frontends.agui", "trunkline.frontends.aisdk",
    "trunkline.options",
    "trunkline.testing", "trunkline.testing.chat",
)  # fmt: skip
"""What the documentation imports: these stay, wherever their contents live."""
GRAPH = """
import asyncio, json, sys
from langchain.agents import create_agent
from trunkline.agents.langchain import LangChainAgent
from trunkline.testing.chat import chat_model, says

agent = LangChainAgent(create_agent(chat_model(says("hello")), tools=[]))
"""
ON_ACP = """
from trunkline.testing.acp import AcpEditor

async def answer():
    async with AcpEditor(agent) as client:
        await client.prompt(await client.new_session(), "hi")
"""
ON_AGUI = """
import trunkline
from trunkline.frontends.agui import AguiEndpoint, read_input

async def answer():
    body = {"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "hi"}]}
    async with trunkline.Hub(agent, await trunkline.open_journal("memory:")) as hub:
        run = await AguiEndpoint(hub).open(read_input(json.dumps(body).encode()))
        assert [events async for events in run]
        await run.close()
"""
LOADED = """
asyncio.run(answer())
print(json.dumps([name for name in sys.modules if name.startswith("trunkline")]))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in a child that is not measured: coverage would load modules of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250, check=True)


def loaded(*arguments: str) -> set[str]:
    """Give the top-level names that a program imports from start to end."""
    lines = run("-X", "importtime", *arguments).stderr.splitlines()
    return {
        line.rpartition("|")[2].strip().partition(".")[0] for line in lines if line.startswith("import time:")
    }


def test_importing_the_package_pulls_no_framework_and_nothing_that_draws() -> None:
    assert loaded("-c", "import trunkline") & (HEAVY | {"click", "sqlite3"}) == set()


@pytest.mark.parametrize("arguments", QUIET)
def test_a_command_that_draws_nothing_does_not_load_what_draws(arguments: list[str]) -> None:
    assert loaded("-c", COMMAND, *arguments) & HEAVY == set()


def test_an_editor_is_answered_before_agents_sessions_and_policies_are_loaded() -> None:
    program = "import sys, trunkline.cli.acp; print(*sys.modules)"
    rooms = {".".join(name.split(".")[:2]) for name in run("-c", program).stdout.split()}
    assert "trunkline.frontends" in rooms
    assert not rooms & {"trunkline.agents", "trunkline.session", "trunkline.workspace", "tomllib"}


def test_every_module_can_be_the_first_one_imported() -> None:
    """Only a circle of imports depends on which module is the first, and any first module runs into it."""
    count, circles = json.loads(run("-c", CIRCLES).stdout)
    assert count > 20
    assert circles == []


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_documented_import_works_and_so_do_its_names(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__all__
    for public in module.__all__:
        assert getattr(module, public) is not None


@pytest.mark.slow
@pytest.mark.parametrize(("program", "own", "other"), [(ON_ACP, "acp", "agui"), (ON_AGUI, "agui", "acp")])
def test_a_langchain_agent_loads_only_the_protocol_that_it_is_served_on(
    program: str, own: str, other: str
) -> None:
    loaded: list[str] = json.loads(run("-c", GRAPH + program + LOADED).stdout)
    assert f"trunkline.protocols.{own}.wire" in loaded
    assert [name for name in loaded if other in name.split(".")] == []
