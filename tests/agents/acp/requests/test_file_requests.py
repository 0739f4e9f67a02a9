"""Files of an ACP agent: the session's files, with their folders, protection and policy."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.far_side import Far, ScriptedAgent, refused, run
from tests.hubs import collect, events_of, hub_for, only
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.content import DiffBlock
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.workspace import Policy, Rule


async def test_lines_are_counted_from_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    path = str(tmp_path / "a.txt")

    async def script(far: Far, prompt: Prompt) -> None:
        async def read(**lines: Any) -> str:
            return (await far.ask("fs/read_text_file", path=path, **lines))["content"]

        assert await read() == "one\ntwo\nthree\nfour\n"
        assert await read(line=None, limit=None) == "one\ntwo\nthree\nfour\n"
        assert await read(line=2, limit=2) == "two\nthree\n"
        assert await read(limit=1) == "one\n"
        assert await read(line=9) == ""

    await run(tmp_path, script)


async def test_a_file_is_written_and_extra_fields_are_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "new" / "b.txt"

    async def script(far: Far, prompt: Prompt) -> None:
        params = {"path": str(path), "content": "text", "_meta": {"bom": False}}
        assert await far.ask("fs/write_text_file", **params) == {}

    await run(tmp_path, script)
    assert path.read_text() == "text"


async def test_a_missing_file_is_not_found_in_the_words_that_agents_look_for(tmp_path: Path) -> None:
    path = str(tmp_path / "missing.txt")

    async def script(far: Far, prompt: Prompt) -> None:
        for missing in (path, str(tmp_path / "no" / "folder.txt")):
            with pytest.raises(RpcError) as caught:
                await far.ask("fs/read_text_file", path=missing)
            assert (caught.value.rpc_code, caught.value.message) == (-32002, f"Resource not found: {missing}")

    await run(tmp_path, script)


@pytest.mark.parametrize(
    ("method", "params", "reason"),
    [
        ("read", {}, "`path`"),
        ("read", {"path": "a.txt"}, "path must be an absolute path, not 'a.txt'"),
        ("write", {"path": "../a.txt", "content": ""}, "path must be an absolute path"),
        ("write", {"path": "/tmp/x"}, "`content`"),
        ("read", {"path": "/etc/passwd"}, "outside this session's folders"),
        ("write", {"path": "/etc/made-by-agent", "content": ""}, "outside this session's folders"),
        ("read", {"path": "{folder}/../other/x"}, "outside this session's folders"),
        ("read", {"path": "{folder}-evil/x"}, "outside this session's folders"),
        ("read", {"path": "{folder}/a\0b"}, "NUL"),
        ("read", {"path": "{folder}/a.txt", "line": "x"}, "Expected `int"),
        ("read", {"path": "{folder}/a.txt", "line": -1}, "must not be negative"),
        ("read", {"path": "{folder}"}, "is a folder"),
        ("read", {"path": "{folder}/link"}, "symbolic link"),
        ("write", {"path": "{folder}/link", "content": ""}, "symbolic link"),
        ("write", {"path": "{folder}/dangling", "content": ""}, "symbolic link"),
        ("write", {"path": "{folder}/.git/hooks/pre-commit", "content": ""}, "is protected"),
        ("write", {"path": "{folder}/.claude/settings.json", "content": ""}, "is protected"),
        ("write", {"path": "{folder}/trunkline.toml", "content": ""}, "is protected"),
    ],
)
async def test_what_may_not_be_touched_is_refused_with_the_reason(
    tmp_path: Path, method: str, params: dict[str, Any], reason: str
) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "dangling").symlink_to("/tmp/not-there-yet")
    given = {k: v.replace("{folder}", str(tmp_path)) if isinstance(v, str) else v for k, v in params.items()}

    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, reason):
            await far.ask(f"fs/{method}_text_file", **given)

    await run(tmp_path, script)


async def test_the_policy_decides_on_the_requested_and_the_resolved_path(tmp_path: Path) -> None:
    """CVE-2026-25724: a deny rule was skipped through a link."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("k")
    (tmp_path / "plain").symlink_to(tmp_path / "secrets")

    async def script(far: Far, prompt: Prompt) -> None:
        for name in ("secrets/key", "plain/key", "SECRETS/key", "x/../secrets/key"):
            with pytest.raises(RpcError, match=r"refused by policy|symbolic link|does not exist|not found"):
                await far.ask("fs/read_text_file", path=f"{tmp_path}/{name}")

    policy = Policy.allow_reads().also(Rule(decision="deny", path="secrets/**"))
    events = await run(tmp_path, script, policy=policy)
    assert [one.allowed for one in only(events, ev.Decided)] == [False, False, False, False]


async def test_where_a_rule_asks_the_change_is_shown_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old\n")

    async def script(far: Far, prompt: Prompt) -> None:
        await far.ask("fs/write_text_file", path=str(path), content="new\n")

    policy = Policy(default="allow", rules=(Rule(decision="ask", kind="edit"),))
    events = await run(tmp_path, script, policy=policy)
    before = events[: [type(event) for event in events].index(ev.Asked)]
    shown = [block for update in only(before, ev.ToolUpdate) for block in update.content or ()]
    assert shown == [DiffBlock(path=str(path), old="old\n", new="new\n")]
    assert path.read_text() == "new\n"


async def test_a_policy_that_asks_by_default_asks_before_an_access_of_another_process(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")

    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, "refused by person"):
            await far.ask("fs/write_text_file", path=str(tmp_path / "a.txt"), content="b")

    events = await run(tmp_path, script, policy=Policy.ask(), answer="reject_once")
    assert len(only(events, ev.Asked)) == 1
    assert (tmp_path / "a.txt").read_text() == "a"


async def test_without_a_policy_nobody_is_asked_about_files_in_the_folder(tmp_path: Path) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        await far.ask("fs/write_text_file", path=str(tmp_path / "a.txt"), content="b")

    assert only(await run(tmp_path, script), ev.Asked) == []


async def test_a_change_that_a_person_approved_is_not_asked_about_again(tmp_path: Path) -> None:
    path = str(tmp_path / "a.txt")

    async def script(far: Far, prompt: Prompt) -> None:
        call = {"toolCallId": "w", "name": "Write", "kind": "edit", "rawInput": {"file_path": path}}
        await far.permission(title="Write a.txt", **call)
        await far.ask("fs/write_text_file", path=path, content="b")

    events = await run(tmp_path, script, policy=Policy.ask(), answer="proceed")
    assert len(only(events, ev.Asked)) == 1


async def test_between_turns_what_the_policy_asks_about_is_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("a")

    async def script(far: Far, prompt: Prompt) -> None:
        far.say("hello")

    policy = Policy.allow_reads().also(Rule(decision="ask", kind="edit"))
    agent = ScriptedAgent(script)
    async with hub_for(agent, policy=policy) as hub:
        session = await hub.create(cwd=str(tmp_path))
        await collect(session, "go")
        assert agent.far is not None
        read = await agent.far.ask("fs/read_text_file", path=str(tmp_path / "a.txt"))
        assert read == {"content": "a"}
        with refused(-32602, "no turn of its session runs to ask in"):
            await agent.far.ask("fs/write_text_file", path=str(tmp_path / "a.txt"), content="b")
        decided = only(await events_of(session), ev.Decided)
    assert [(one.allowed, one.turn_id) for one in decided] == [(True, None)]
    assert (tmp_path / "a.txt").read_text() == "a"


async def test_a_cancelled_turn_changes_no_file(tmp_path: Path) -> None:
    begun, done = asyncio.Event(), asyncio.Event()

    async def script(far: Far, prompt: Prompt) -> None:
        begun.set()
        await far.cancelled.wait()
        with refused(-32800, "the turn was cancelled"):
            await far.ask("fs/write_text_file", path=str(tmp_path / "a.txt"), content="b")
        done.set()

    async with hub_for(ScriptedAgent(script), detach_after=5.0) as hub:
        session = await hub.create(cwd=str(tmp_path))
        running = asyncio.create_task(collect(session, "go"))
        await begun.wait()
        await session.cancel()
        await running
    assert done.is_set()
    assert not (tmp_path / "a.txt").exists()


async def test_a_question_about_a_file_that_is_cancelled_is_an_error_for_the_agent(tmp_path: Path) -> None:
    done = asyncio.Event()

    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32800, "cancelled"):
            await far.ask("fs/write_text_file", path=str(tmp_path / "a.txt"), content="b")
        done.set()

    async with hub_for(ScriptedAgent(script), policy=Policy.ask(), detach_after=5.0) as hub:
        session = await hub.create(cwd=str(tmp_path))

        async def cancel(asked: ev.Asked) -> None:
            await session.cancel()

        await collect(session, "go", {ev.Asked: cancel})
    assert done.is_set()


async def test_a_session_without_a_folder_has_no_files() -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, "this session has no folder"):
            await far.ask("fs/read_text_file", path="/etc/passwd")

    async with hub_for(ScriptedAgent(script)) as hub:
        shown = await collect(await hub.create(), "go")
        assert only(shown, ev.TurnFailed) == []
