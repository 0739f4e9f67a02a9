import asyncio
import importlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from trunkline import Prompt, TurnContext, open_journal
from trunkline.errors import TrunklineDeprecation, WorkspaceError
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.testing import AcpEditor, ScriptedAgent

DONE = {"stopReason": "end_turn"}


def kinds(client: AcpEditor) -> list[str]:
    return [update["sessionUpdate"] for update in client.updates]


async def hello(prompt: Prompt) -> AsyncIterator[str]:
    yield f"You said {prompt.text}."


async def test_a_prompt_is_answered_as_an_editor_sees_it() -> None:
    async with AcpEditor(hello) as client:
        session = await client.new_session("/tmp")
        assert await client.prompt(session, "hi") == DONE
        assert client.text == "You said hi."
        assert kinds(client) == ["session_info_update", "agent_message_chunk"]
        assert client.greeting["agentInfo"]["name"] == "hello"


async def test_blocks_can_be_sent_too() -> None:
    async with AcpEditor(ScriptedAgent()) as client:
        session = await client.new_session()
        link = {"type": "resource_link", "uri": "file:///notes.txt", "name": "notes"}
        await client.prompt(session, [{"type": "text", "text": "see"}, link])
        assert client.text == "see [link file:///notes.txt]"


async def test_everything_is_allowed_once_unless_told_otherwise(tmp_path: Path) -> None:
    async with AcpEditor(ScriptedAgent()) as client:
        session = await client.new_session(str(tmp_path))
        await client.prompt(session, "/permission")
    assert (tmp_path / "hello.txt").exists()
    (asked,) = client.asked
    assert asked.method == "session/request_permission"


async def test_permissions_are_answered_in_turn_by_id_or_by_kind(tmp_path: Path) -> None:
    async with AcpEditor(ScriptedAgent(), permissions=["reject_once", "cancelled"]) as client:
        session = await client.new_session(str(tmp_path))
        await client.prompt(session, "/permission")
        assert client.text.endswith("Nothing was written.")
        assert await client.prompt(session, "/permission") == {"stopReason": "cancelled"}


async def test_a_permission_that_nobody_foresaw_fails_the_test(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one permission more than were answered"):
        async with AcpEditor(ScriptedAgent(), permissions=[]) as client:
            await client.prompt(await client.new_session(str(tmp_path)), "/permission")


async def test_an_answer_that_fits_no_option_fails_the_test(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'perhaps' was queued, but the options are allow_once"):
        async with AcpEditor(ScriptedAgent(), permissions=["perhaps"]) as client:
            await client.prompt(await client.new_session(str(tmp_path)), "/permission")


async def test_a_client_with_files_reads_and_writes_them(tmp_path: Path) -> None:
    async def copy(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield await ctx.files.read("notes.txt", line=2, limit=1)
        await ctx.files.write("copy.txt", "written")
        try:
            await ctx.files.read("missing.txt")
        except WorkspaceError as error:
            yield str(error)

    files = {str(tmp_path / "notes.txt"): "one\ntwo\nthree\n"}
    async with AcpEditor(copy, files=files) as client:
        session = await client.new_session(str(tmp_path))
        await client.prompt(session, "go")
    assert client.text.startswith("two\nthe editor could not read 'missing.txt': there is no file")
    assert files[str(tmp_path / "copy.txt")] == "written"
    assert not (tmp_path / "copy.txt").exists()


async def test_a_client_with_a_terminal_runs_commands_as_scripted(tmp_path: Path) -> None:
    ran: list[list[str]] = []

    def run(argv: list[str]) -> tuple[str, int]:
        ran.append(argv)
        return "line 1\n", 3

    async with AcpEditor(ScriptedAgent(), terminal=run) as client:
        session = await client.new_session(str(tmp_path))
        await client.prompt(session, "/terminal")
    ((program, *_),) = ran
    assert program == sys.executable
    assert [sent.method for sent in client.asked][-1] == "terminal/release"
    (*_, last) = [update for update in client.updates if update["sessionUpdate"] == "tool_call_update"]
    assert last["rawOutput"] == {"exit_code": 3}


async def test_a_client_with_forms_fills_them_in_or_declines() -> None:
    order = {"name": "Ada", "colour": "red"}
    async with AcpEditor(ScriptedAgent(), forms=[order, None, {}]) as client:
        session = await client.new_session()
        await client.prompt(session, "/form")
        await client.prompt(session, "/form")
        await client.prompt(session, "/link")
        assert '"name": "Ada"' in client.text
        assert "No order, then." in client.text
        assert client.text.endswith("the device is confirmed.")
    assert client.asked[-1].method == "elicitation/complete"


async def test_a_form_that_nobody_foresaw_fails_the_test() -> None:
    with pytest.raises(ValueError, match="asked for elicitation/create"):
        async with AcpEditor(ScriptedAgent(), forms=[]) as client:
            await client.prompt(await client.new_session(), "/form")


async def test_a_turn_is_cancelled() -> None:
    async with AcpEditor(ScriptedAgent()) as client:
        session = await client.new_session()
        running = asyncio.create_task(client.prompt(session, "/wait-for-cancel"))
        while "tool_call" not in kinds(client):
            await asyncio.sleep(0)
        client.cancel(session)
        assert await running == {"stopReason": "cancelled"}


async def test_a_session_is_loaded_by_another_client_of_the_same_journal() -> None:
    journal = await open_journal("memory:")
    async with AcpEditor(hello, journal=journal) as first:
        session = await first.new_session()
        await first.prompt(session, "hi")
    async with AcpEditor(hello, journal=journal) as second:
        await second.load_session(session)
        assert kinds(second)[:2] == ["user_message_chunk", "agent_message_chunk"]
    await journal.close()


async def test_an_error_of_the_agent_is_raised_and_leaves_nothing_behind() -> None:
    with pytest.raises(RpcError, match="no session 'nobody'"):
        async with AcpEditor(hello) as client:
            await client.prompt("nobody", "hi")


async def test_a_turn_that_does_not_end_is_not_waited_for() -> None:
    with pytest.raises(TimeoutError):
        async with AcpEditor(ScriptedAgent(), timeout=0.1) as client:
            await client.prompt(await client.new_session(), "/wait-for-cancel")


async def test_capabilities_can_be_announced_besides_those_that_are_scripted() -> None:
    able: dict[str, Any] = {"session": {"notices": {}}}
    async with AcpEditor(ScriptedAgent(), capabilities=able) as client:
        await client.prompt(await client.new_session(), "/notice")
        assert kinds(client).count("notice") == 3


async def test_an_update_that_is_not_legal_fails_the_test() -> None:
    with pytest.raises(ValueError, match="no update 'nonsense'"):
        async with AcpEditor(hello) as client:
            client.handle_notification(
                "session/update", {"sessionId": "s", "update": {"sessionUpdate": "nonsense"}}
            )


@pytest.mark.parametrize("module", ["trunkline.testing", "trunkline.testing.acp"])
def test_the_old_name_still_works_and_its_warning_says_the_new_one(module: str) -> None:
    with pytest.warns(
        TrunklineDeprecation, match="is called AcpEditor now.*removed in trunkline 1.0"
    ) as seen:
        old = importlib.import_module(module).AcpClient
    assert old is AcpEditor
    assert seen[0].filename == __file__, "the warning shows the line that uses the name"
    assert "AcpClient" not in dir(importlib.import_module("trunkline.testing"))


def test_an_unknown_name_of_the_module_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        importlib.import_module("trunkline.testing.acp").Nothing  # noqa: B018
