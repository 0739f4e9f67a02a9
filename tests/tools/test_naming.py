from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.tools import BaseTool
from langchain_mcp_adapters import tools as adapters
from mcp.types import Tool, ToolAnnotations
from tests.agents.langchain.untyped_langchain import create_deep_agent

from trunkline import events as ev
from trunkline.content import DiffBlock
from trunkline.tools.naming import kind_of, locations_of, title_of
from trunkline.workspace.diffs import diff_of

# -- kinds -----------------------------------------------------------------------------------------

SEED = {
    "read": "read_file get_config list_dir read get list reader",
    "search": "search_files search searchCode",
    "edit": "write_file create_file update_row edit_content",
    "delete": "delete_file remove_dir",
    "move": "move_file rename_file",
    "execute": "run_command exec_script execute command_line",
    "think": "think_step reason_about analyze_problem",
    "fetch": "fetch_url get_url get_page_url download_file getUrl",
    "other": "frobnicate weather forget_user budget",
}
SEED_ROWS = [(name, kind) for kind, names in SEED.items() for name in names.split()]


@pytest.mark.parametrize(("name", "kind"), SEED_ROWS)
def test_a_name_says_the_kind_by_its_most_specific_pattern(name: str, kind: str) -> None:
    assert kind_of(name) == kind


BUILT_IN = {
    "ls": "read",
    "read_file": "read",
    "write_file": "edit",
    "edit_file": "edit",
    "delete": "delete",
    "glob": "search",
    "grep": "search",
    "execute": "execute",
    "write_todos": "think",
    "task": "think",
    "start_async_task": "other",
    "check_async_task": "read",
    "update_async_task": "edit",
    "cancel_async_task": "other",
    "list_async_tasks": "read",
    # What providers run themselves.
    "web_search": "search",
    "web_fetch": "fetch",
    "code_interpreter": "execute",
    "file_search": "search",
    # Editors in other frameworks.
    "str_replace_based_edit_tool": "edit",
    "find_and_replace": "edit",
    "apply_patch": "edit",
    "bash": "execute",
}


@pytest.mark.parametrize(("name", "kind"), BUILT_IN.items())
def test_built_in_tools_have_their_kind(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_every_tool_of_a_deep_agent_has_a_kind() -> None:
    agent: Any = create_deep_agent(model=FakeListChatModel(responses=["hi"]))
    tools: dict[str, BaseTool] = agent.nodes["tools"].bound.tools_by_name
    assert {name for name in tools if kind_of(name) == "other"} == set()
    assert tools.keys() >= {"ls", "read_file", "write_file", "edit_file", "glob", "grep", "task"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("filesystem_read_file", "read"),
        ("github__search_code", "search"),
        ("my-server.deleteFile", "delete"),
        ("memory_list_delete", "delete"),
        ("tavily_search", "search"),
    ],
)
def test_a_servers_name_in_front_does_not_hide_the_kind(name: str, kind: str) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("name", "hints", "kind"),
    [
        ("frobnicate", {"readOnlyHint": True}, "read"),
        ("delete_everything", {"readOnlyHint": True}, "read"),
        ("search_code", {"readOnlyHint": True, "destructiveHint": None}, "search"),
        ("get_url", {"readOnlyHint": True}, "fetch"),
        ("frobnicate", {"destructiveHint": True}, "edit"),
        ("get_rid_of_it", {"destructiveHint": True}, "edit"),
        ("delete_file", {"destructiveHint": True}, "delete"),
        ("run_query", {"readOnlyHint": False, "destructiveHint": True}, "execute"),
        ("list_add", {"readOnlyHint": False, "destructiveHint": False}, "edit"),
        ("read_file", {"readOnlyHint": None, "destructiveHint": None, "title": None}, "read"),
        ("read_file", {"destructiveHint": False}, "read"),
        ("frobnicate", {"team": "x"}, "other"),
    ],
)
def test_mcp_hints_come_before_the_name(name: str, hints: dict[str, Any], kind: str) -> None:
    assert kind_of(name, hints) == kind


def test_hints_are_where_the_mcp_adapters_put_them() -> None:
    described = Tool(
        name="frobnicate",
        inputSchema={"type": "object"},
        annotations=ToolAnnotations(readOnlyHint=True, title="Frobnicate it"),
    )
    made: Any = cast("Any", adapters).convert_mcp_tool_to_langchain_tool(
        None, described, connection={"transport": "stdio", "command": "x", "args": []}
    )
    assert kind_of(made.name, made.metadata) == "read"
    assert title_of(made.name, None, made.metadata) == "Frobnicate it"


def test_an_explicit_mapper_comes_first() -> None:
    def mapper(name: str) -> ev.ToolKind | None:
        return "switch_mode" if name == "read_file" else None

    assert kind_of("read_file", {"destructiveHint": True}, mapper) == "switch_mode"
    assert kind_of("delete_file", None, mapper) == "delete"


def test_a_mapper_that_invents_a_kind_is_not_followed() -> None:
    invented: Any = "teleport"
    assert kind_of("read_file", None, lambda name: invented) == "read"


# -- titles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "args", "title"),
    [
        ("read_file", {"file_path": "/src/a.py", "offset": 3}, "Read /src/a.py"),
        ("edit_file", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, "Edit a.py"),
        ("ls", {"path": "/src"}, "List /src"),
        ("glob", {"pattern": "**/*.py"}, "Find **/*.py"),
        ("grep", {"pattern": "TODO", "path": "src"}, "Search for TODO in src"),
        ("execute", {"command": "make\ntest"}, "Run make test"),
        ("run_shell", {"command": "ls"}, "Run ls"),
        ("text_editor", {"command": "view", "path": "a.py"}, "Text editor a.py"),
        ("write_todos", {"todos": []}, "Update the plan"),
        ("task", {"subagent_type": "researcher", "description": "find it"}, "Researcher: find it"),
        ("task", {"subagent_type": "researcher"}, "Researcher: at work"),
        ("github__create_issue", {"title": "It broke"}, "github: Create issue It broke"),
        ("getWeather", {"city": "Bonn"}, "Get weather"),
        ("get_weather", None, "Get weather"),
        ("get_weather", "{}", "Get weather"),
        ("__", {}, "__"),
        ("read_file", {"file_path": "  "}, "Read file"),
    ],
)
def test_a_title_says_what_happens_to_what(name: str, args: Any, title: str) -> None:
    assert title_of(name, args) == title


def test_a_servers_own_title_is_preferred() -> None:
    assert title_of("x__frob", {"path": "a"}, {"title": "Frobnicate"}) == "Frobnicate a"


@pytest.mark.parametrize("gap", ["\n", " " * 3000, "\n\n\t"])
def test_a_title_never_ends_where_the_command_does_not(gap: str) -> None:
    title = title_of("execute", {"command": f"ls{gap}; rm -rf ~"})
    assert title in ("Run ls ; rm -rf ~", "Run ls…")


def test_a_title_stays_short() -> None:
    title = title_of("execute", {"command": "x" * 1000})
    assert len(title) == 80
    assert title.endswith("…")


# -- places ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "places"),
    [
        ({"file_path": "/a.py"}, [("/a.py", None)]),
        ({"path": "/a.py", "line": 7}, [("/a.py", 7)]),
        ({"path": "/a.py", "offset": 9}, [("/a.py", 10)]),
        ({"path": "/a.py", "offset": 0}, [("/a.py", None)]),
        ({"path": "/a.py", "view_range": [3, 9]}, [("/a.py", 3)]),
        ({"path": "/a.py", "view_range": []}, [("/a.py", None)]),
        ({"path": "/a.py", "line": True}, [("/a.py", None)]),
        ({"path": "/a.py", "line": -1}, [("/a.py", None)]),
        ({"paths": ["/a", "/b", "/a", 3]}, [("/a", None), ("/b", None)]),
        ({"files": [{"path": "/a"}, {"file_path": "/b"}]}, [("/a", None), ("/b", None)]),
        ({"source": "/a", "destination": "/b"}, [("/a", None), ("/b", None)]),
        ({"source": "wikipedia"}, []),
        ({"path": "file:///a%20b.py"}, [("/a b.py", None)]),
        ({"path": "https://x/a.py"}, []),
        ({"file": "one\ntwo"}, []),
        ({"path": ""}, []),
        ({"path": 3}, []),
        ("a.py", []),
        (None, []),
    ],
)
def test_places_are_read_from_the_arguments(args: Any, places: list[tuple[str, int | None]]) -> None:
    assert [(place.path, place.line) for place in locations_of(args)] == places


def test_places_are_bounded() -> None:
    assert len(locations_of({"paths": [f"/{number}" for number in range(5000)]})) == 100


KEYS = st.sampled_from(
    [
        "path", "paths", "edits", "line", "view_range", "patch", "old_str", "new_str", "content", "command",
        "query",
    ]
)  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@given(st.text(max_size=20), values)
def test_whatever_a_model_writes_is_read_without_an_error(name: str, args: Any) -> None:
    assert title_of(name, args) == title_of(name, args).strip()
    assert all(place.path for place in locations_of(args))
    assert all(isinstance(diff, DiffBlock) for diff in diff_of(name, args))
