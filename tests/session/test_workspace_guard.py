"""Files and terminals ask the policy; every decision without a question leaves a record."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import collect, events_of, hub_for, make, only, session_for

from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Answer, Prompt
from trunkline.errors import Denied
from trunkline.session.context import SessionView, TurnContext, current
from trunkline.workspace import Policy, Rule


async def work(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Do one thing with the workspace, and say how it went."""
    name, _, rest = prompt.text.partition(" ")
    try:
        if name == "read":
            yield await ctx.files.read(rest)
        elif name == "list":
            yield " ".join(await ctx.files.list())
        elif name == "write":
            await ctx.files.write(rest, "text")
            yield "written"
        elif name == "remove":
            await ctx.files.remove(rest)
            yield "removed"
        elif name == "allowed-write":
            if await ctx.permission("Write?", tool="write", kind="edit", input={"path": rest}):
                await ctx.files.write(rest, "text")
                yield "written"
        else:
            terminal = await ctx.terminals.create(rest.split())
            await terminal.wait()
            yield (await terminal.look()).text
            await terminal.release()
    except Denied as error:
        yield f"denied: {error}"


async def say(
    folder: Path, policy: Policy, *prompts: str, choose: str = "allow_once"
) -> tuple[str, list[ev.AnyEvent]]:
    """Run prompts in a folder under a policy; gives the text, and everything in the journal."""
    text = ""
    async with session_for(make(work), policy=policy, cwd=str(folder)) as session:

        async def answer(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, option_id=choose, by="person"))

        for prompt in prompts:
            shown = await collect(session, prompt, {ev.Asked: answer})
            text += "".join(event.delta for event in only(shown, ev.Text))
        return text, await events_of(session)


def decided(events: list[ev.AnyEvent]) -> list[tuple[Any, ...]]:
    return [(one.allowed, one.by, one.rule, one.tool) for one in only(events, ev.Decided)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("content of a")
    return tmp_path


async def test_a_policy_that_only_asks_leaves_files_to_the_agent(folder: Path) -> None:
    text, events = await say(folder, Policy.ask(), "read a.txt", "write b.txt")
    assert text == "content of awritten"
    assert decided(events) == []


async def test_what_a_rule_allows_goes_on_and_is_recorded(folder: Path) -> None:
    text, events = await say(folder, Policy.allow_reads(), "read a.txt", "list .")
    assert text == "content of aa.txt"
    (first, second) = only(events, ev.Decided)
    assert decided(events) == [(True, "policy", "allow kind read or search", "read_file")] * 2
    assert first.turn_id is not None
    assert first.paths == ("a.txt", str(folder / "a.txt"))
    assert second.paths[0] == "."


@pytest.mark.parametrize(("prompt", "tool"), [("write b.txt", "write_file"), ("remove a.txt", "delete_file")])
async def test_what_a_rule_denies_is_refused_and_recorded(folder: Path, prompt: str, tool: str) -> None:
    text, events = await say(folder, Policy.read_only(), prompt)
    assert text.startswith("denied: ")
    assert "refused by policy (the rule: deny kind" in text
    assert decided(events) == [(False, "policy", "deny kind edit or delete or move or execute", tool)]
    assert ((folder / "a.txt").exists(), (folder / "b.txt").exists()) == (True, False)


async def test_a_default_that_denies_has_no_rule_in_its_record(folder: Path) -> None:
    text, events = await say(folder, Policy.deny(), "read a.txt")
    assert "no rule fits, and the default is to deny" in text
    assert decided(events) == [(False, "policy", None, "read_file")]


async def test_commands_of_terminals_are_judged_too(folder: Path) -> None:
    policy = Policy(rules=(Rule(decision="deny", command="rm *"), Rule(decision="allow", command="echo *")))
    text, events = await say(folder, policy, "run rm a.txt", "run echo hello")
    assert text.startswith("denied: Run rm a.txt: refused by policy")
    assert text.endswith("hello\n")
    assert [(one.allowed, one.command) for one in only(events, ev.Decided)] == [
        (False, "rm a.txt"),
        (True, "echo hello"),
    ]
    assert (folder / "a.txt").exists()


MIGRATIONS = Policy(rules=(Rule(decision="ask", path="migrations/**"),))


@pytest.mark.parametrize(("choose", "text"), [("allow_once", "written"), ("reject_once", "denied")])
async def test_where_a_rule_asks_a_person_is_asked(folder: Path, choose: str, text: str) -> None:
    answer, events = await say(folder, MIGRATIONS, "write migrations/1.sql", choose=choose)
    assert answer.startswith(text)
    assert len(only(events, ev.Asked)) == 1
    assert (folder / "migrations/1.sql").exists() == (text == "written")


async def test_what_the_agent_was_just_allowed_is_not_asked_again(folder: Path) -> None:
    answer, events = await say(folder, MIGRATIONS, "allowed-write migrations/1.sql")
    assert answer == "written"
    assert len(only(events, ev.Asked)) == 1


EVERYTHING = Policy(rules=(Rule(decision="ask", kind=("read", "edit", "delete", "execute")),))


async def questions(agent: Callable[..., Any], folder: Path, policy: Policy) -> list[str]:
    """Run an agent whose questions are all answered yes, and give the questions."""
    async with session_for(make(agent), policy=policy, cwd=str(folder)) as session:

        async def allow(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, option_id="allow_once", by="person"))

        shown = await collect(session, "go", {ev.Asked: allow})
        assert isinstance(shown[-1], ev.TurnFinished)
        return [asked.question.message for asked in only(shown, ev.Asked)]


async def test_an_approval_is_for_one_kind_of_access_to_a_file(folder: Path) -> None:
    async def works(ctx: TurnContext) -> None:
        for _ in range(2):
            await ctx.files.read("a.txt")
            await ctx.files.write("a.txt", "text")
        await ctx.files.remove("a.txt")

    assert await questions(works, folder, EVERYTHING) == ["Read a.txt?", "Write a.txt?", "Delete a.txt?"]


async def test_an_approved_command_with_other_variables_is_asked_again(folder: Path) -> None:
    async def runs(ctx: TurnContext) -> None:
        for env in ({}, {}, {"MODE": "other"}, {"MODE": "other"}):
            terminal = await ctx.terminals.create(["echo", "hello"], env=env)
            await terminal.wait()
            await terminal.release()

    assert await questions(runs, folder, EVERYTHING) == ["Run echo hello?"] * 2


async def test_an_approved_command_in_another_folder_is_asked_again(folder: Path) -> None:
    (folder / "sub").mkdir()

    async def runs(ctx: TurnContext) -> None:
        assert await ctx.permission("Here?", tool="run", kind="execute", command=["echo", "hello"])
        assert await ctx.permission("There?", tool="run", input={"command": "echo bye", "cwd": "sub"})
        for argv, cwd in ((["echo", "hello"], None), (["echo", "hello"], "sub"), (["echo", "bye"], "sub")):
            terminal = await ctx.terminals.create(argv, cwd=cwd)
            await terminal.wait()
            await terminal.release()

    asked = ["Here?", "There?", f"Run echo hello in {folder / 'sub'}?"]
    assert await questions(runs, folder, EVERYTHING) == asked


async def test_what_the_policy_allowed_is_still_asked_where_another_rule_asks(folder: Path) -> None:
    async def writes(ctx: TurnContext) -> None:
        assert await ctx.permission("Write?", tool="save", kind="edit", paths=["a.txt"])
        await ctx.files.write("a.txt", "text")

    rules = (Rule(decision="allow", tool="save"), Rule(decision="ask", tool="write_file"))
    assert await questions(writes, folder, Policy(rules=rules)) == ["Write a.txt?"]


async def test_an_approval_ends_with_its_turn(folder: Path) -> None:
    over = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []

    async def writes(ctx: TurnContext) -> None:
        async def write_later() -> None:
            await over.wait()
            assert current() is None
            await ctx.files.write("a.txt", "unasked")

        await ctx.files.write("a.txt", "approved")
        tasks.append(asyncio.create_task(write_later()))

    assert await questions(writes, folder, EVERYTHING) == ["Write a.txt?"]
    over.set()
    with pytest.raises(Denied, match="the policy asks about it"):
        await asyncio.wait_for(tasks[0], 5)
    assert (folder / "a.txt").read_text() == "approved"


@pytest.mark.parametrize("choose", ["deny", "ask"])
async def test_an_access_in_the_turn_of_another_session_is_out_of_turn(folder: Path, choose: Any) -> None:
    views: dict[str, SessionView] = {}

    async def crosses(prompt: Prompt, ctx: TurnContext) -> str:
        views[ctx.session.session_id] = ctx.session
        if prompt.text == "cross":
            with pytest.raises(Denied):
                await views["first"].files.write("b.txt", "text")
        return "done"

    policy = Policy(rules=(Rule(decision=choose, kind="edit"),))
    async with hub_for(make(crosses), policy=policy) as hub:
        first, second = (
            await hub.create("first", cwd=str(folder)),
            await hub.create("second", cwd=str(folder)),
        )
        await collect(first, "begin")
        shown = await collect(second, "cross")
        await first.durable()
        assert isinstance(shown[-1], ev.TurnFinished)
        assert only(shown, ev.Asked) == []
        assert decided(await events_of(second)) == []
        assert len(decided(await events_of(first))) == (choose == "deny")


async def test_a_decision_before_the_session_is_owned_is_recorded_once_it_is(folder: Path) -> None:
    class WritesAtOpen:
        card = AgentCard(name="writes")

        async def open_session(self, session: SessionView) -> None:
            with pytest.raises(Denied):
                await session.files.write("b.txt", "text")

        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            yield "done"

    async with session_for(WritesAtOpen(), policy=Policy.read_only(), cwd=str(folder)) as session:
        await session.prepare()
        await session.durable()
        assert [allowed for allowed, *_ in decided(await events_of(session))] == [False]


async def test_the_same_access_is_recorded_once_in_a_turn(folder: Path) -> None:
    async def twice(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield await ctx.files.read("a.txt")
        yield await ctx.files.read("a.txt")

    async with session_for(make(twice), policy=Policy.allow_reads(), cwd=str(folder)) as session:
        await collect(session, "go")
        assert len(only(await events_of(session), ev.Decided)) == 1


async def test_between_turns_the_policy_holds_and_is_recorded(folder: Path) -> None:
    rules = (Rule(decision="deny", kind="edit"), Rule(decision="ask", path="a.txt"))
    async with session_for(make(work), policy=Policy(rules=rules), cwd=str(folder)) as session:
        assert await session.own()
        with pytest.raises(Denied, match="refused by policy"):
            await session.view.files.write("b.txt", "text")
        with pytest.raises(Denied, match="no turn of its session runs to ask in"):
            await session.view.files.read("a.txt")
        await session.durable()
        assert decided(await events_of(session)) == [(False, "policy", "deny kind edit", "write_file")]


async def test_a_tool_call_that_the_policy_decides_is_recorded_with_its_call(folder: Path) -> None:
    async def asks(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "yes" if await ctx.permission("Look?", tool="look", kind="read") else "no"
        yield "yes" if await ctx.permission("Go?", tool="go", kind="execute") else "no"

    async with session_for(make(asks), policy=Policy.read_only(), cwd=str(folder)) as session:
        await collect(session, "go")
        events = await events_of(session)
    calls = [call.call_id for call in only(events, ev.ToolCall)]
    assert [(one.call_id, one.allowed) for one in only(events, ev.Decided)] == [
        (calls[0], True),
        (calls[1], False),
    ]


async def test_an_earlier_always_is_recorded_as_such(folder: Path) -> None:
    async def asks(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "yes" if await ctx.permission("Go?", tool="go") else "no"

    async with session_for(make(asks), cwd=str(folder)) as session:

        async def answer(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, option_id="allow_always", by="person"))

        await collect(session, "go", {ev.Asked: answer})
        await collect(session, "go")
        (record,) = only(await events_of(session), ev.Decided)
    assert (record.allowed, record.by, record.rule) == (True, "earlier answer", None)
    assert "always allow go" in record.reason


async def test_an_agent_cannot_write_such_a_record_itself() -> None:
    async def forges(prompt: Prompt) -> AsyncIterator[Any]:
        yield ev.Decided(allowed=True, by="policy", reason="made up")

    async with session_for(make(forges)) as session:
        await collect(session, "go")
        events = await events_of(session)
    assert decided(events) == []
    assert len(only(events, ev.Notice)) == 1
