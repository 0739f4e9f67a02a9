"""BackendAdapter and BackendSession: any agent, in a program."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from tests.hubs import BRISK, make, soon

from trunkline.agents.acp import AcpAgent
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.demos.scripted import ScriptedAgent
from trunkline.errors import (
    AlreadyAnswered,
    AuthenticationRequired,
    ConfigurationError,
    InvalidCommand,
    OutsideRoots,
    SessionBusy,
    SessionClosed,
    SessionNotFound,
)
from trunkline.frontends.unified import BackendAdapter, BackendSession, UnifiedMessage, user_message
from trunkline.protocols.unified.wire import is_unified_message, to_dict
from trunkline.session.context import TurnContext
from trunkline.workspace import Terminals


@asynccontextmanager
async def adapter_for(agent: Any = None, **options: Any) -> AsyncGenerator[BackendAdapter]:
    chosen: dict[str, Any] = {"settings": BRISK, **options}
    async with BackendAdapter(agent or ScriptedAgent(), **chosen) as adapter:
        yield adapter


async def until(session: BackendSession, kind: str, **metadata: Any) -> list[UnifiedMessage]:
    """Read up to the next message of a type; the last is that one."""
    seen: list[UnifiedMessage] = []
    async with asyncio.timeout(30):
        async for message in session.messages:
            assert is_unified_message(to_dict(message))
            seen.append(message)
            if message.type == kind and all(message.metadata.get(k) == v for k, v in metadata.items()):
                return seen
    raise AssertionError(f"no {kind} came: {[message.type for message in seen]}")


async def idle(session: BackendSession) -> list[UnifiedMessage]:
    return await until(session, "status_change", status="idle")


def demo_process() -> AcpAgent:
    """The scripted agent as a child process that speaks ACP."""
    return AcpAgent(sys.executable, ["-m", "trunkline", "acp", "demo"])


def test_the_capabilities_are_those_of_the_mapping() -> None:
    adapter = BackendAdapter(ScriptedAgent())
    assert msgspec.to_builtins(adapter.capabilities) == {
        "streaming": True,
        "permissions": True,
        "slashCommands": True,
        "availability": "local",
        "teams": False,
    }
    assert adapter.name == ScriptedAgent().card.name
    assert BackendAdapter(ScriptedAgent(), name="mine", availability="remote").name == "mine"


async def test_a_turn_in_a_program() -> None:
    async with adapter_for() as adapter:
        session = await adapter.connect("s-1")
        assert session.session_id == "s-1"
        receipt = await session.send(user_message("one two"))
        seen = await idle(session)
        assert [seen[0].type, seen[1].type] == ["session_init", "status_change"]
        assert seen[0].metadata["capabilities"]["slashCommands"] is True
        (answer,) = [message for message in seen if message.type == "assistant"]
        assert "one two" in to_dict(answer)["content"][0]["text"]
        assert seen[-2].metadata["turn_id"] == receipt["turn_id"]
        await session.close()
        with pytest.raises(SessionClosed):
            await session.send(user_message("again"))


async def test_closing_ends_the_messages_and_cancels_what_runs() -> None:
    async with adapter_for() as adapter:
        session = await adapter.connect("s-1")
        await session.send(user_message("/wait-for-cancel"))
        await until(session, "status_change", status="running")
        await soon(session.close())
        await session.close()
        rest = [message async for message in session.messages]
        assert [message.type for message in rest[-2:]] == ["result", "status_change"]
        assert rest[-2].metadata["error_code"] == "aborted"


async def test_a_program_may_stop_reading_anywhere_and_read_on() -> None:
    async with adapter_for() as adapter:
        session = await adapter.connect("s-1")
        await session.send(user_message("one two three"))
        async for message in session.messages:
            if message.type == "stream_event":
                break
        assert "session_init" not in [message.type for message in await until(session, "result")]
        await until(session, "status_change", status="idle")
        with pytest.raises(TimeoutError):
            await soon(anext(session.messages), 0.01)
        await session.send(user_message("and on"))
        await until(session, "result")
        unread = await adapter.connect("s-1", resume=True)
        await session.close()
        assert [message.type async for message in session.messages][-1:] == ["status_change"]
        await adapter.stop()
        assert [message async for message in unread.messages] == []
        with pytest.raises(SessionClosed):
            await unread.send(user_message("x"))


async def test_two_connections_share_a_session_and_the_last_one_closes_it() -> None:
    async with adapter_for() as adapter:
        one = await adapter.connect("s-1")
        other = await adapter.connect("s-1", resume=True)
        await one.close()
        await other.send(user_message("still here"))
        await until(other, "result")
        await other.close()


async def test_a_permission_is_answered_once_by_kind() -> None:
    async with adapter_for() as adapter:
        session = await adapter.connect()
        await session.send(user_message("/permission"))
        requests = await session.permission_requests()
        request = await soon(anext(requests))
        request_id = request.metadata["request_id"]
        await session.respond_to_permission(request_id, "allow")
        with pytest.raises(AlreadyAnswered, match="unified:local"):
            await session.respond_to_permission(request_id, "deny")
        seen = await idle(session)
        (answered,) = [message for message in seen if message.type == "permission_response"]
        assert answered.metadata["option_kind"] == "allow_once"
        await session.close()
        with pytest.raises(StopAsyncIteration):
            await soon(anext(requests))


async def test_interrupt_model_mode_and_initialize() -> None:
    async with adapter_for() as adapter:
        session = await adapter.connect()
        assert await session.interrupt() is False
        await session.send(user_message("/wait-for-cancel"))
        await until(session, "status_change", status="running")
        assert await session.interrupt() is True
        assert (await until(session, "result"))[-1].metadata["stopReason"] == "cancelled"
        await session.set_model("demo-large")
        assert (await until(session, "configuration_change"))[-1].metadata["model"] == "demo-large"
        await session.set_permission_mode("plan")
        assert (await until(session, "configuration_change"))[-1].metadata["modeId"] == "plan"
        await session.initialize("r1")
        answer = (await until(session, "control_response"))[-1]
        assert answer.metadata["request_id"] == "r1"
        assert answer.metadata["response"]["commands"]
        with pytest.raises(InvalidCommand, match="has no value"):
            await session.set_model("none")


async def test_a_replay_gives_the_same_messages_from_any_record_on() -> None:
    async with adapter_for() as adapter:
        session = await adapter.connect()
        for text in ("one two", "/tools"):
            await session.send(user_message(text))
        seen = [*await idle(session), *await idle(session)][1:]
        whole = [message async for message in session.replay()]
        others = [message for message in seen if "event" not in message.metadata]
        assert [m for m in whole if "event" not in m.metadata] == others
        middle = whole[len(whole) // 2].metadata["seq"]
        tail = [message async for message in session.replay(middle)]
        assert tail == [message for message in whole if message.metadata["seq"] >= middle]


async def test_a_session_goes_on_after_a_restart_on_sqlite(tmp_path: Path) -> None:
    journal = f"sqlite:{tmp_path / 'journal.db'}"
    async with adapter_for(journal=journal) as adapter:
        session = await adapter.connect("s-1")
        await session.send(user_message("remember me"))
        first = (await idle(session))[1:]
    async with adapter_for(journal=journal) as adapter:
        with pytest.raises(SessionBusy, match="connect with resume=True"):
            await adapter.connect("s-1")
        session = await adapter.connect("s-1", resume=True)
        replayed = [message async for message in session.replay()]
        texts = [message for message in first if "event" not in message.metadata]
        assert [m for m in replayed if "event" not in m.metadata][: len(texts)] == texts
        await session.send(user_message("and on"))
        assert (await until(session, "result"))[-1].metadata["stopReason"] == "end_turn"
        with pytest.raises(SessionNotFound):
            await adapter.connect("s-2", resume=True)


async def test_a_missing_login_is_raised_and_told() -> None:
    class Locked:
        card = AgentCard(name="locked")

        async def open_session(self, session: Any) -> None:
            raise AuthenticationRequired("log in first")

        async def run(self, prompt: Prompt, ctx: Any) -> AsyncIterator[str]:
            yield ""

    async with adapter_for(Locked()) as adapter:
        session = await adapter.connect()
        with pytest.raises(AuthenticationRequired):
            await session.send(user_message("hi"))
        assert [m.type for m in await until(session, "control_response")] == [
            "session_init", "auth_status", "result", "control_response",
        ]  # fmt: skip


# -- options of the adapter ------------------------------------------------------------------------


class Memory:
    """Files of a program's own."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    async def read_text_file(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        return self.files[path]

    async def write_text_file(self, path: str, content: str) -> None:
        self.files[path] = content


async def test_files_and_terminals_of_the_program_are_used_inside_the_folder(tmp_path: Path) -> None:
    async def work(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        await ctx.files.write("a.txt", "hello")
        yield await ctx.files.read("a.txt")
        terminal = await ctx.terminals.create([sys.executable, "-c", "print('ran')"])
        await terminal.wait()
        yield (await terminal.look()).text
        with pytest.raises(OutsideRoots):
            await ctx.files.write("/etc/passwd", "no")

    memory, terminals = Memory(), Terminals((str(tmp_path),))
    async with adapter_for(make(work)) as adapter:
        given = {"cwd": str(tmp_path), "file_system": memory, "terminal": terminals}
        session = await adapter.connect(adapter_options=given)
        await session.send(user_message("go"))
        (answer,) = [message for message in await idle(session) if message.type == "assistant"]
        assert to_dict(answer)["content"][0]["text"].split() == ["helloran"]
    assert memory.files == {str(tmp_path / "a.txt"): "hello"}
    assert not (tmp_path / "a.txt").exists()


async def test_a_file_with_two_names_is_replaced_and_not_written_into(tmp_path: Path) -> None:
    async def work(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        await ctx.files.write("a.txt", "new")
        yield "done"

    (tmp_path / "b.txt").write_text("old")
    (tmp_path / "a.txt").hardlink_to(tmp_path / "b.txt")
    memory = Memory()
    async with adapter_for(make(work)) as adapter:
        session = await adapter.connect(adapter_options={"cwd": tmp_path, "file_system": memory})
        await session.send(user_message("go"))
        await idle(session)
    assert (memory.files, (tmp_path / "b.txt").read_text()) == ({}, "old")


async def test_a_session_that_is_resumed_may_move_to_another_folder(tmp_path: Path) -> None:
    async def where(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield str(ctx.session.cwd)

    (tmp_path / "other").mkdir()
    async with adapter_for(make(where)) as adapter:
        await adapter.connect("s-1", adapter_options={"cwd": tmp_path})
        session = await adapter.connect("s-1", resume=True, adapter_options={"cwd": tmp_path / "other"})
        await session.send(user_message("go"))
        (answer,) = [message for message in await idle(session) if message.type == "assistant"]
        assert to_dict(answer)["content"][0]["text"] == str(tmp_path / "other")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"cwdd": "/"}, "did you mean cwd"),
        ({"cwd": "relative"}, "not an absolute path"),
        ({"file_system": object()}, "read_text_file"),
        ({"terminal": object()}, "create_line"),
    ],
)
async def test_an_adapter_option_that_cannot_apply_is_refused(options: dict[str, Any], why: str) -> None:
    async with adapter_for() as adapter:
        with pytest.raises(ConfigurationError, match=why):
            await adapter.connect(adapter_options=options)


async def test_a_text_is_no_message_and_the_error_says_how_to_make_one() -> None:
    async with BackendAdapter(ScriptedAgent()) as adapter:
        session = await adapter.connect("s-1")
        with pytest.raises(InvalidCommand, match=r"user_message\("):
            await session.send(cast("UnifiedMessage", "hello"))


async def test_resuming_needs_to_know_what() -> None:
    async with adapter_for() as adapter:
        with pytest.raises(ConfigurationError, match="session_id"):
            await adapter.connect(resume=True)


# -- an agent in a child process -------------------------------------------------------------------


async def test_an_acp_agent_in_a_child_process(tmp_path: Path) -> None:
    async with adapter_for(demo_process()) as adapter:
        session = await soon(adapter.connect("s-1", adapter_options={"cwd": str(tmp_path)}), 30)
        await soon(session.send(user_message("/tools")), 30)
        seen = await idle(session)
        assert {
            "session_init",
            "stream_event",
            "tool_progress",
            "tool_use_summary",
            "assistant",
            "result",
        } <= {message.type for message in seen}
        await session.send(user_message("/permission"))
        request = (await until(session, "permission_request"))[-1]
        assert [one["kind"] for one in request.metadata["options"]][:1] == ["allow_once"]
        await session.respond_to_permission(request.metadata["request_id"], "deny", message="not now")
        denied = [m for m in await idle(session) if m.type == "tool_use_summary"]
        assert denied[-1].metadata["is_error"] is True
        await session.send(user_message("/wait-for-cancel"))
        await until(session, "stream_event")
        assert await soon(session.interrupt(), 30) is True
        assert (await until(session, "result"))[-1].metadata["error_code"] == "aborted"
        await session.set_permission_mode("plan")
        assert (await until(session, "configuration_change", currentModeId="plan"))[-1]
        await soon(session.close(), 30)


async def test_a_process_that_dies_in_a_turn_is_an_execution_error(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(
        "import os, trunkline\n"
        "@trunkline.agent(name='mortal')\n"
        "async def agent(prompt):\n"
        "    yield 'so far'\n"
        "    os._exit(3)\n"
    )
    dies = AcpAgent(sys.executable, ["-m", "trunkline", "acp", f"{program}:agent"])
    async with adapter_for(dies) as adapter:
        session = await soon(adapter.connect(adapter_options={"cwd": str(tmp_path)}), 30)
        await soon(session.send(user_message("hi")), 30)
        result = (await until(session, "result"))[-1]
        assert result.metadata["error_code"] == "execution_error"
        assert result.metadata["is_error"] is True
