"""Arguments that a person edited: the card shows them, and the policy judges them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.frontends.acp.memory_editor import Editor, editing
from tests.hubs import forever, hub_for, soon, until

from trunkline.commands import Answer, Prompt
from trunkline.content import DiffBlock, TextBlock
from trunkline.questions import Permission
from trunkline.session.context import TurnContext
from trunkline.session.edited_arguments import EditedArguments
from trunkline.session.hub import Hub
from trunkline.testing import ScriptedAgent
from trunkline.workspace import Policy, Rule


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Write hello.txt?", "Write bye.md?"),
        ("hello.txt, and again hello.txt", "bye.md, and again bye.md"),
        ("othello.txt and hello.txts", "othello.txt and hello.txts"),
        ("nothing of it", "nothing of it"),
    ],
)
def test_a_sentence_names_the_new_arguments(text: str, wanted: str) -> None:
    before = {"path": "hello.txt", "mode": "a", "count": 1, "same": "nothing"}
    after = {"path": "bye.md", "mode": "b", "count": 2, "same": "nothing"}
    assert EditedArguments(before, after).sentence(text) == wanted


def test_paths_and_diffs_follow_the_arguments_whole_or_from_a_folder_on() -> None:
    edited = EditedArguments({"path": "a.txt", "text": "old"}, {"path": "b/c.txt", "text": "new"})
    assert [edited.path(path) for path in ("a.txt", "/x/a.txt", "/x/ba.txt")] == [
        "b/c.txt", "/x/b/c.txt", "/x/ba.txt",
    ]  # fmt: skip
    assert EditedArguments({"path": "a.txt"}, {"path": "/etc/b"}).path("/x/a.txt") == "/etc/b"
    diff = DiffBlock(path="/x/a.txt", old="was", new="old")
    assert edited.block(diff) == DiffBlock(path="/x/b/c.txt", old="was", new="new")
    assert edited.block(TextBlock(text="old")) == TextBlock(text="old")


@pytest.mark.parametrize(
    "values", [(None, {"a": "x"}), ({"a": "x"}, None), ("x", "y"), ({"a": 1}, {"a": "x"})]
)
def test_arguments_that_cannot_be_compared_change_nothing(values: Any) -> None:
    assert EditedArguments(*values).sentence("x and 1") == "x and 1"


async def edit(hub: Hub, editor: Editor, folder: Path, prompt: str, arguments: dict[str, Any]) -> Any:
    """Play a turn in which a person allows a call with other arguments; give the card at its end."""
    editor.answers["session/request_permission"] = lambda params: forever()
    session_id = await editor.open(folder)
    playing = asyncio.create_task(editor.prompt(session_id, prompt))
    await until(lambda: bool(editor.asked("session/request_permission")))
    session = await hub.session(session_id)
    (asked,) = session.open_questions.values()
    options = asked.question.options if isinstance(asked.question, Permission) else ()
    once = next(option.option_id for option in options if option.kind == "allow_once")
    await session.answer(Answer(question_id=asked.question_id, option_id=once, input=arguments))
    await soon(playing)
    card: dict[str, Any] = {}
    for update in editor.updates("tool_call", "tool_call_update"):
        card |= update
    return card


async def test_a_card_shows_what_was_edited(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        arguments = {"path": "bye.txt", "content": "bye\n"}
        card = await edit(hub, editor, tmp_path, "/edit", arguments)
        assert card["title"] == "Write bye.txt"
        assert card["locations"] == [{"path": str(tmp_path / "bye.txt")}]
        assert card["content"][0]["path"] == str(tmp_path / "bye.txt")


async def test_a_card_that_a_permission_made_shows_what_was_edited(tmp_path: Path) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        given = {"path": "hello.txt"}
        paths = ["hello.txt"]
        await ctx.permission("Write hello.txt?", tool="write", input=given, paths=paths, allows_edit=True)
        yield "done"

    async with hub_for(agent) as hub, editing(hub) as editor:
        card = await edit(hub, editor, tmp_path, "go", {"path": "bye.txt"})
        assert card["title"] == "Write bye.txt?"
        assert card["locations"] == [{"path": str(tmp_path / "bye.txt")}]


@pytest.mark.parametrize("apart", [True, False], ids=["apart", "among the arguments"])
async def test_an_edit_cannot_put_into_a_call_what_the_policy_denies(apart: bool, tmp_path: Path) -> None:
    decided: list[bool] = []

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        given = {"command": "ls", "path": "a"}
        about: dict[str, Any] = {"paths": ["a"], "command": "ls"} if apart else {}
        decided.append(bool(await ctx.permission("Run?", tool="run", input=given, allows_edit=True, **about)))
        yield "done"

    deny = Policy.ask().also(Rule(decision="deny", command="rm *"))
    async with hub_for(agent, policy=deny) as hub, editing(hub) as editor:
        card = await edit(hub, editor, tmp_path, "go", {"command": "rm -rf x", "path": "a"})
        assert (decided, card["status"]) == ([False], "failed")
