"""Where an agent's files are: real paths in editors, nothing outside of the root, old text of overwrites."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from deepagents.backends import CompositeBackend, FilesystemBackend, LocalShellBackend, StateBackend
from deepagents.middleware.filesystem import FilesystemMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from tests.agents.langchain.graphs import calls_of, run_turn
from tests.agents.langchain.permission_helpers import ask, chooses
from tests.agents.langchain.untyped_langchain import create_deep_agent
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import hub_for, only
from tests.session.test_edited_arguments import edit

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.langchain.agent import LangChainAgent
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.agents.langchain.tools.deepagents_files import call_files_of
from trunkline.content import TextBlock
from trunkline.folding import fold
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.tools.call_files import CallFiles
from trunkline.workspace import Policy

_middleware: Any = FilesystemMiddleware


def files_of(backend: Any, *folders: str) -> CallFiles:
    return call_files_of([_middleware(backend=backend)], folders)


def located(found: CallFiles, path: str, tool: str = "read_file") -> list[str]:
    return [one.path for one in found.locations(tool, {"file_path": path})]


@pytest.mark.parametrize("kind", [FilesystemBackend, LocalShellBackend])
def test_a_virtual_path_is_placed_in_its_root(kind: Any, tmp_path: Path) -> None:
    found = files_of(kind(root_dir=tmp_path, virtual_mode=True))
    assert located(found, "/a/b.py") == located(found, "a/b.py") == [str(tmp_path / "a/b.py")]
    assert located(found, "/", "ls") == [str(tmp_path)]


@pytest.mark.parametrize("path", ["/../x", "/a/../../x", "~/x", "/out/x", "/out"])
def test_no_virtual_path_is_placed_outside_of_its_root(path: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "x").write_text("secret")
    (root / "out").symlink_to(tmp_path)
    found = files_of(FilesystemBackend(root_dir=root, virtual_mode=True))
    assert located(found, path) == []
    (shown,) = found.changes("write_file", {"file_path": path, "content": "new"})
    assert isinstance(shown, TextBlock)
    assert "secret" not in shown.text


def test_a_path_of_a_real_backend_is_its_own(tmp_path: Path) -> None:
    found = files_of(FilesystemBackend(root_dir=tmp_path, virtual_mode=False))
    assert located(found, "/etc/hosts") == ["/etc/hosts"]
    assert located(found, "a.py") == [str(tmp_path / "a.py")]


def test_a_route_counts_before_the_rest_and_what_is_on_no_disk_has_no_place(tmp_path: Path) -> None:
    notes, deep = tmp_path / "notes", tmp_path / "deep"
    routes: dict[str, Any] = {
        "/notes/": FilesystemBackend(root_dir=notes, virtual_mode=True),
        "/notes/deep/": FilesystemBackend(root_dir=deep, virtual_mode=True),
        "/state/": StateBackend(),
    }
    found = files_of(CompositeBackend(FilesystemBackend(root_dir=tmp_path, virtual_mode=True), routes=routes))
    assert located(found, "/a.py") == [str(tmp_path / "a.py")]
    assert located(found, "/notes/a.md") == [str(notes / "a.md")]
    assert located(found, "/notes/deep/a.md") == [str(deep / "a.md")]
    assert located(found, "/notes", "ls") == [str(notes)]
    assert located(found, "/notesy/a.md") == [str(tmp_path / "notesy/a.md")]
    assert located(found, "/state/a.md") == []


def test_what_is_on_no_disk_is_shown_as_text() -> None:
    found = files_of(StateBackend())
    (written,) = found.changes("write_file", {"file_path": "/a.md", "content": "one\ntwo"})
    (edited,) = found.changes("edit_file", {"file_path": "/a.md", "old_string": "one", "new_string": "1"})
    assert isinstance(written, TextBlock)
    assert isinstance(edited, TextBlock)
    assert "/a.md" in written.text
    assert "+one\n+two" in written.text
    assert "-one\n+1" in edited.text


def test_the_tools_of_others_keep_their_paths(tmp_path: Path) -> None:
    found = files_of(FilesystemBackend(root_dir=tmp_path, virtual_mode=True))
    assert located(found, "/abs/a.py", "my_reader") == ["/abs/a.py"]


def test_a_middleware_without_a_backend_is_no_obstacle() -> None:
    assert located(call_files_of([SimpleNamespace(tools=())], ()), "/a") == ["/a"]


async def test_an_editor_is_asked_with_the_real_path_and_the_old_text(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("IMPORTANT = 1\n")
    model = ScriptedChatModel(
        [call("write_file", {"file_path": "/old.py", "content": "x = 2\n"}, "w1")], "Done."
    )
    graph = create_deep_agent(
        model,
        backend=FilesystemBackend(root_dir=tmp_path, virtual_mode=True),
        interrupt_on={"write_file": True},
        checkpointer=InMemorySaver(),
    )
    path = str(tmp_path / "old.py")
    diff = {"type": "diff", "path": path, "oldText": "IMPORTANT = 1\n", "newText": "x = 2\n"}
    async with hub_for(LangChainAgent(graph)) as hub, editing(hub, ABLE) as editor:
        editor.permit("approve")
        await editor.prompt(await editor.open(tmp_path), "go")
        (asked,) = editor.asked("session/request_permission")
        assert asked["toolCall"]["locations"] == [{"path": path}]
        assert asked["toolCall"]["content"] == [diff]
        assert last(editor, "content") == [diff], "the result keeps it"
        assert last(editor, "status") == "completed"
    assert (tmp_path / "old.py").read_text() == "x = 2\n"


async def test_after_an_edit_of_the_arguments_the_card_has_the_new_title_place_and_diff(
    tmp_path: Path,
) -> None:
    model = ScriptedChatModel([call("write_file", {"file_path": "/a.py", "content": "1"}, "w1")], "Done.")
    graph = create_deep_agent(
        model,
        backend=FilesystemBackend(root_dir=tmp_path, virtual_mode=True),
        interrupt_on={"write_file": True},
        checkpointer=InMemorySaver(),
    )
    async with hub_for(LangChainAgent(graph)) as hub, editing(hub) as editor:
        card = await edit(hub, editor, tmp_path, "go", {"file_path": "/b.py", "content": "2"})
        path = str(tmp_path / "b.py")
        assert card["title"] == "Write /b.py"
        assert card["locations"] == [{"path": path}]
        assert card["content"] == [{"type": "diff", "path": path, "newText": "2"}]
    assert (tmp_path / "b.py").read_text() == "2"


def last(editor: Editor, field: str) -> Any:
    """What the editor was told last of a field of its calls."""
    output = editor.updates("tool_call", "tool_call_update")
    return [update[field] for update in output if field in update][-1]


@pytest.mark.parametrize("rule", ["secrets/**", "{root}/secrets/**"], ids=["relative", "absolute"])
@pytest.mark.parametrize(
    "path", ["/secrets/x", "secrets/x", "/link/x", "//link//x", "/./" + "./" * 2100 + "secrets/x"]
)
async def test_the_policy_judges_a_virtual_path_where_it_is_on_disk(
    rule: str, path: str, tmp_path: Path
) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/x").write_text("KEY")
    (tmp_path / "link").symlink_to("secrets")
    backend = FilesystemBackend(root_dir=tmp_path, virtual_mode=True)
    model = ScriptedChatModel([call("read_file", {"file_path": path}, "r1")], "Done.")
    middleware: list[Any] = [PermissionMiddleware({"*": Rule()})]
    graph = create_deep_agent(model, backend=backend, middleware=middleware)
    deny = [{"decision": "deny", "path": rule.format(root=tmp_path)}]
    policy = Policy.from_dict({"base": "allow-all", "rules": deny})
    events = await ask(graph, chooses("allow_once"), policy=policy)
    (read,) = fold(events).calls.values()
    assert read.status == "denied"
    assert "KEY" not in str(read)


async def test_a_session_shows_files_lines_diffs_and_results_of_file_tools(tmp_path: Path) -> None:
    model = ScriptedChatModel(
        [call("write_file", {"file_path": "/a.txt", "content": "one\ntwo\n"}, "w1")],
        [call("edit_file", {"file_path": "/a.txt", "old_string": "two", "new_string": "2"}, "e1")],
        [call("read_file", {"file_path": "/a.txt", "offset": 1}, "r1")],
        "Done.",
    )
    backend = FilesystemBackend(root_dir=tmp_path, virtual_mode=True)
    events = await run_turn(LangChainAgent(create_deep_agent(model, backend=backend)))
    made = calls_of(events)
    file = str(tmp_path / "a.txt")
    for call_id in ("w1", "e1", "r1"):
        updates = [event for event in only(events, ev.ToolUpdate) if event.call_id == call_id]
        assert [event.status for event in updates if event.status] == ["in_progress", "completed"]
        assert [place.path for place in made[call_id].locations] == [file]
        assert made[call_id].raw_output
    assert made["w1"].content == (c.DiffBlock(path=file, new="one\ntwo\n"),)
    assert made["e1"].content == (c.DiffBlock(path=file, old="two", new="2"),)
    assert made["r1"].locations[0].line == 2
    assert [(one.kind, one.title) for one in made.values()] == [
        ("edit", "Write /a.txt"),
        ("edit", "Edit /a.txt"),
        ("read", "Read /a.txt"),
    ]
