"""One agent process: its start, its handshake, messages both ways, and its end."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.scripted import RefusesAll, connected, received, scripted, talk
from tests.hubs import soon, until
from tests.process_state import is_alive
from trunkline.agents.acp import connection as module
from trunkline.agents.acp.connection import AgentConnection, command_line
from trunkline.agents.acp.errors import AgentCommandNotFound, HandshakeFailed
from trunkline.errors import AgentError, AgentExited, ConfigurationError
from trunkline.protocols.jsonrpc.messages import RpcError


async def test_the_handshake_says_who_we_are_and_offers_forms_terminals_and_files(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with connected("--log", str(log)) as connection:
        assert connection.initialize["agentInfo"]["name"] == "scripted-agent"
        assert connection.exit is None
    (sent,) = received(log)
    assert sent["params"]["protocolVersion"] == 1
    assert sent["params"]["clientInfo"]["name"] == "trunkline"
    capabilities = sent["params"]["clientCapabilities"]
    assert capabilities["elicitation"] == {"form": {}, "url": {}}
    assert capabilities["terminal"] is True
    assert capabilities["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert capabilities["session"]["configOptions"] == {"boolean": {}}
    assert capabilities["auth"] == {"terminal": True}


async def test_a_command_that_is_not_there_is_named_with_the_path() -> None:
    with pytest.raises(
        AgentCommandNotFound, match=r"^Agent command not found: no-such-agent; looked in PATH="
    ):
        await soon(AgentConnection("no-such-agent").start())
    with pytest.raises(AgentCommandNotFound, match=r"^Agent command not found: /no/such/agent\. Install"):
        await soon(AgentConnection("/no/such/agent").start())
    with pytest.raises(AgentCommandNotFound, match="looked in PATH=/nowhere"):
        await soon(AgentConnection("no-such-agent", env={"PATH": "/nowhere"}).start())


async def test_a_folder_that_is_not_there_is_named_and_so_is_what_cannot_run(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"the folder '/no/such/folder' of the agent .* does not exist"):
        await soon(AgentConnection(sys.executable, cwd="/no/such/folder").start())
    plain = tmp_path / "plain"
    plain.write_text("no program")
    with pytest.raises(AgentError, match=r"plain cannot be started: .*Permission denied"):
        await soon(AgentConnection(str(plain)).start())


async def test_another_version_of_the_protocol_is_refused_with_both_versions() -> None:
    command, args = scripted("--version", "2")
    connection = AgentConnection(command, args)
    with pytest.raises(HandshakeFailed, match="speaks version 2 of ACP, and trunkline speaks version 1"):
        await soon(connection.start())
    assert connection.ended.is_set()


async def test_who_ends_before_the_handshake_is_quoted() -> None:
    connection = AgentConnection(sys.executable, ["-Ic", "import sys; sys.exit('no key is set')"])
    with pytest.raises(
        HandshakeFailed, match=r"initialize was not answered: .* it ended with code 1: no key is set$"
    ):
        await soon(connection.start())


async def test_who_does_not_answer_the_handshake_is_given_up_in_time() -> None:
    command, args = scripted("--mute")
    connection = AgentConnection(command, args, handshake_within=0.5)
    with pytest.raises(HandshakeFailed, match=r"did not answer initialize within 0.5 s; does this command"):
        await soon(connection.start())
    assert connection.exit is not None


async def test_who_takes_long_to_answer_is_told_of_before_it_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "SLOW_AFTER", 0.05)
    command, args = scripted("--mute")
    starting = asyncio.create_task(AgentConnection(command, args, handshake_within=60).start())
    await until(lambda: "to answer initialize (it may be downloading" in caplog.text)
    starting.cancel()
    await asyncio.wait({starting})


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no","data":"licence"}}',
            "refused initialize: .*licence$",
        ),
        (
            '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown method"}}',
            "refused initialize: unknown method; does this command speak ACP",
        ),
        ('{"jsonrpc":"2.0","id":1,"result":[]}', "something that is no object"),
    ],
)
async def test_a_handshake_that_is_refused_or_odd_says_so(answer: str, why: str) -> None:
    connection = AgentConnection(sys.executable, ["-Ic", f"input(); print({answer!r}, flush=True); input()"])
    with pytest.raises(HandshakeFailed, match=why):
        await soon(connection.start())


async def test_a_banner_is_skipped_and_noted() -> None:
    heard: list[str] = []
    async with connected("--banner", on_noise=heard.append) as connection:
        assert list(connection.noise) == heard
        assert heard[0] == "Welcome to the agent!"
        assert "a log line in JSON" in heard[1]
        session = await talk(connection)
        assert await session.prompt("hello") == {"stopReason": "end_turn"}


async def test_a_message_with_a_number_that_is_none_is_taken_all_the_same() -> None:
    async with connected() as connection:
        session = await talk(connection)
        assert await session.prompt("nan") == {"stopReason": "end_turn"}
        assert session.requests.asked == ["craft/drain"]
        assert session.updates[0]["rawOutput"] == {"mean": None}
        assert list(connection.noise) == []


async def test_an_answer_without_a_newline_before_the_end_counts() -> None:
    async with connected() as connection:
        session = await talk(connection)
        assert await session.prompt("farewell") == {"stopReason": "end_turn"}
        await soon(connection.ended.wait())


async def test_what_comes_before_the_answer_that_names_the_session_is_kept_for_it() -> None:
    async with connected("--early") as connection:
        session = await talk(connection)
        assert [update["sessionUpdate"] for update in session.updates] == ["available_commands_update"]
        assert session.notifications == ["_scripted/status"]


async def test_unknown_methods_are_refused_at_once_also_with_the_id_zero() -> None:
    async with connected() as connection:
        session = await talk(connection)
        await session.prompt("unknown")
        assert session.requests.asked == ["craft/drain"]
        assert session.text == "got -32601"
        connection.detach(session.session_id)
        with pytest.raises(RpcError, match="method not found: craft/drain"):
            await connection.handle("craft/drain", {})
        with pytest.raises(RpcError, match="there is no session 'x' here"):
            await connection.handle("fs/read_text_file", {"sessionId": "x"})


async def test_updates_come_in_order_and_lines_may_be_long() -> None:
    async with connected() as connection:
        session = await talk(connection)
        await session.prompt("flood 3000")
        assert session.text.split() == [str(number) for number in range(3000)]
        await session.prompt("big 600000")
        assert session.text.endswith("x" * 600_000)


async def test_a_line_without_end_ends_at_the_limit() -> None:
    async with connected(max_line=1_000_000) as connection:
        session = await talk(connection)
        with pytest.raises(AgentExited, match="it wrote a line of more than 1000000 bytes"):
            await session.prompt("endless")
        assert connection.ended.is_set()


async def test_the_agent_waits_while_what_it_said_is_not_taken() -> None:
    async with connected() as connection:
        session = await talk(connection)
        gate, seen = asyncio.Event(), 0

        def take(_: Any) -> Any:
            nonlocal seen
            seen += 1
            return gate.wait() if seen == 1 else None

        connection.attach(session.session_id, take, RefusesAll())
        prompting = asyncio.create_task(session.prompt("flood 50000"))
        await until(lambda: seen > 0)
        held = seen
        # Only what was read in one piece comes through.
        done, _ = await asyncio.wait({prompting}, timeout=0.1)
        assert not done
        assert seen - held < 5000
        gate.set()
        await soon(prompting)
        assert seen == 50_000


async def test_stderr_is_always_read_and_its_end_can_be_read_meanwhile() -> None:
    async with connected() as connection:
        session = await talk(connection)
        await session.prompt("stderr 2000000")
        await until(lambda: len(connection.stderr) == module.STDERR_KEPT)
        assert connection.exit is None


async def test_an_exit_is_noticed_at_once_with_the_code_and_the_end_of_stderr() -> None:
    told: list[str | None] = []
    async with connected() as connection:
        connection.on_end.append(lambda: told.append(connection.exit))
        session = await talk(connection)
        with pytest.raises(AgentExited, match="is gone: it ended with code 3: it went boom"):
            await session.prompt("crash")
        assert told == ["it ended with code 3: it went boom"]
        with pytest.raises(AgentExited, match="it went boom"):
            await connection.request("session/list", {})
        with pytest.raises(AgentExited, match="it went boom"):
            connection.ask("session/list", {})


async def test_a_signal_that_ended_it_is_named() -> None:
    async with connected() as connection:
        session = await talk(connection)
        await session.prompt("pid")
        prompting = asyncio.create_task(session.prompt("silent"))
        await until(lambda: "waiting" in session.text)
        os.kill(int(session.text.removesuffix("waiting")), signal.SIGKILL)
        with pytest.raises(AgentExited, match="it was ended by SIGKILL"):
            await soon(prompting)


async def test_who_closes_stdout_and_goes_on_is_ended() -> None:
    answer = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
    code = f"import os, time; input(); print({answer!r}, flush=True); input(); os.close(1); time.sleep(600)"
    connection = AgentConnection(sys.executable, ["-Ic", code])
    await soon(connection.start())
    with pytest.raises(AgentExited, match="it closed its stdout and went on running"):
        await soon(connection.request("session/new", {}))
    await soon(connection.close())


async def test_who_closes_stdin_and_goes_on_is_ended_when_it_is_asked_something() -> None:
    answer = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
    code = f"import os, time; input(); os.close(0); print({answer!r}, flush=True); time.sleep(600)"
    connection = AgentConnection(sys.executable, ["-Ic", code])
    await soon(connection.start())
    with pytest.raises(AgentExited, match="it closed its stdin and went on running"):
        await soon(connection.request("session/new", {}))
    await soon(connection.close())


async def test_who_never_reads_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_UNREAD", 1_000_000)
    code = "import time; print(input() and 'up', flush=True); time.sleep(600)"
    connection = AgentConnection(sys.executable, ["-Ic", code])
    await soon(connection.spawn())
    asking = [asyncio.create_task(connection.request("x", {"a": "b" * 500_000})) for _ in range(4)]
    for request in asking:
        with pytest.raises(AgentExited, match="it does not read its stdin"):
            await soon(request)
    await soon(connection.close())


async def test_the_environment_is_the_users_without_ours_and_an_allow_list_narrows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRUNKLINE_TOKEN", "s3cret")
    monkeypatch.setenv("MY_KEY", "mine")
    for allow, seen in ((("*",), "None mine added "), (("PATH",), "None None added ")):
        async with connected(env={"EXTRA": "added"}, env_allow=allow) as connection:
            session = await talk(connection)
            for name in ("TRUNKLINE_TOKEN", "MY_KEY", "EXTRA"):
                await session.prompt(f"env {name}")
                session.updates.append(
                    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": " "}}
                )
            assert session.text == seen


async def test_an_idle_agent_ends_by_itself_when_its_stdin_is_closed() -> None:
    async with connected() as connection:
        before = time.monotonic()
        await soon(connection.close())
        assert time.monotonic() - before < module.EXIT_AFTER_EOF
        assert connection.exit == "it ended with code 0"


async def test_who_ignores_everything_is_killed_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EXIT_AFTER_INTERRUPT", 0.2)
    child = tmp_path / "child"
    async with connected("--stays", "--ignore", "INT,TERM", "--setsid", str(child)) as connection:
        session = await talk(connection)
        await session.prompt("pid")
        agent, setsid = int(session.text), int(child.read_text())
        assert is_alive(setsid)
        await soon(connection.close(interrupt=True, grace=0.2))
        assert connection.exit == "it was ended by SIGKILL"
        await until(lambda: not is_alive(agent) and not is_alive(setsid))


class _Files:
    """Gives a large file, and counts how many are held at once."""

    def __init__(self) -> None:
        self.most = self.running = self.given = 0

    async def handle(self, method: str, params: Any) -> Any:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        self.given += 1
        return {"content": "x" * 4_000_000}


async def test_an_agent_that_asks_for_many_files_at_once_gets_a_few_at_a_time() -> None:
    async with connected() as connection:
        files = _Files()
        connection.attach("s", lambda _: None, files)
        asked = [
            asyncio.create_task(connection.handle("fs/read_text_file", {"sessionId": "s"}))
            for _ in range(100)
        ]
        await soon(asyncio.gather(*asked))
        assert (files.given, files.most) == (100, 4)


async def test_a_tap_sees_every_line_and_may_take_it() -> None:
    lines: list[bytes] = []

    def take(line: bytes) -> bool:
        lines.append(line)
        return b"agent_message_chunk" in line

    async with connected(on_line=take) as connection:
        session = await talk(connection)
        await session.prompt("hello")
        assert session.updates == []
        assert any(b"You said hello" in line for line in lines)
        connection.send_line(b'{"jsonrpc":"2.0","id":"mine","method":"session/list"}')
        await until(lambda: any(b'"mine"' in line for line in lines))


@pytest.mark.parametrize(("command", "args"), [("", []), ("gemini", "--acp")])
def test_a_command_that_cannot_be_one_is_refused(command: str, args: Sequence[str]) -> None:
    with pytest.raises(ConfigurationError):
        command_line(command, args)
    assert command_line("gemini", ["--acp"]) == ("gemini", "--acp")
