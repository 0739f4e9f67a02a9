"""AcpClient: seed 001's class against real programs: a scripted agent, and our own demo agents."""

import asyncio
import logging
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.scripted import received, scripted
from tests.hubs import soon, until
from trunkline.agents.acp import AcpClient, AgentCommandNotFound, PermissionRequest
from trunkline.content import TextBlock
from trunkline.errors import (
    AgentError,
    AgentExited,
    AuthenticationRequired,
    ConfigurationError,
    InvalidCommand,
    SessionBusy,
)
from trunkline.folding import fold
from trunkline.state_files import StateFile

Update = Mapping[str, Any]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the agent's sessions, and a state folder of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TRUNKLINE_JOURNAL", f"sqlite:{tmp_path / 'journal.db'}")
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    return tmp_path


def client_of(home: Path, *options: str, **settings: Any) -> AcpClient:
    """A client of the scripted agent; its command is the same whatever ``settings`` say."""
    command, args = scripted("--home", str(home / "home"), "--log", str(home / "log"), *options)
    return AcpClient(command, args, cwd=settings.pop("cwd", home / "work"), **settings)


def ours(*arguments: str, **settings: Any) -> AcpClient:
    """A client of our own command line."""
    return AcpClient(sys.executable, ["-m", "trunkline", "acp", *arguments], **settings)


def answers(choice: Any) -> Callable[[PermissionRequest], Any]:
    """A function that answers every permission so."""
    return lambda request: choice


def methods(home: Path) -> list[str]:
    """The requests and notifications that the scripted agent was sent."""
    return [message["method"] for message in received(home / "log") if "method" in message]


def text_of(updates: list[Update]) -> str:
    """The agent's text in some updates."""
    return "".join(u["content"]["text"] for u in updates if u["sessionUpdate"] == "agent_message_chunk")


# -- the seed's own example ------------------------------------------------------------------------


async def test_sends_prompt_and_receives_response(home: Path) -> None:
    client = ours("demo", cwd=home / "work")
    await soon(client.connect())
    await soon(client.ensure_session())
    updates: list[Update] = []
    client.set_update_callback(updates.append)
    result = await soon(client.prompt([{"type": "text", "text": "Hello"}]))
    assert any(update["sessionUpdate"] == "agent_message_chunk" for update in updates)
    assert text_of(updates) == "Hello"
    assert result.stop_reason == "end_turn"
    assert result.usage[0].input_tokens == 1
    await soon(client.disconnect())


async def test_a_command_that_is_not_there_is_named(home: Path) -> None:
    client = AcpClient("no-such-agent", cwd=home)
    with pytest.raises(AgentCommandNotFound, match=r"^Agent command not found: no-such-agent"):
        await soon(client.connect())
    with pytest.raises(AgentError, match="does not exist"):
        await soon(client_of(home, cwd=home / "nowhere").connect())


async def test_what_is_connected_is_described_and_connects_once(home: Path) -> None:
    client = client_of(home)
    assert client.initialize == {}
    async with client:
        await soon(client.connect())
        assert methods(home) == ["initialize"]
        assert client.card.title == "Scripted"
        assert [method.kind for method in client.card.auth_methods] == ["agent", "env_var", "terminal"]
        assert "elicitation" not in received(home / "log")[0]["params"]["clientCapabilities"]
        with pytest.raises(InvalidCommand, match="set the form callback before connect"):
            client.set_form_callback(lambda form: {})
        await soon(client.disconnect())
        client.set_form_callback(lambda form: {})
        await soon(client.connect())
        starts = [one["params"] for one in received(home / "log") if one.get("method") == "initialize"]
        assert starts[-1]["clientCapabilities"]["elicitation"] == {"form": {}}
    await soon(client.disconnect())


# -- ensure_session --------------------------------------------------------------------------------


async def test_the_session_is_found_again_by_command_and_folder(home: Path) -> None:
    async with client_of(home) as client:
        session_id = await soon(client.ensure_session())
        assert await soon(client.ensure_session()) == session_id
        await soon(client.prompt("hello"))
    updates: list[Update] = []
    async with client_of(home) as again:
        # Set before the first await: nothing of the replay is lost.
        again.set_update_callback(updates.append)
        assert await soon(again.ensure_session()) == session_id
        conversation = fold(again.replayed)
        assert [m.text for m in conversation.messages] == ["hello", "You said hello"]
        assert [update["sessionUpdate"] for update in updates] == [
            "user_message_chunk",
            "agent_message_chunk",
        ]
    (home / "other").mkdir()
    async with client_of(home, cwd=home / "other") as elsewhere:
        assert await soon(elsewhere.ensure_session()) != session_id
        assert elsewhere.replayed == []


async def test_a_session_that_cannot_be_loaded_is_resumed_with_a_warning(
    home: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with client_of(home, "--refuse", "load") as client:
        session_id = await soon(client.ensure_session())
    async with client_of(home, "--refuse", "load") as client:
        assert await soon(client.ensure_session()) == session_id
        assert client.replayed == []
    assert methods(home)[-3:] == ["initialize", "session/load", "session/resume"]
    assert f"session/load of {session_id} failed: Resource not found" in caplog.text


async def test_a_session_that_is_lost_is_replaced_by_a_new_one(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refusals = ("--refuse", "load", "--refuse", "resume")
    async with client_of(home, *refusals) as client:
        session_id = await soon(client.ensure_session())
    async with client_of(home, *refusals) as client:
        new = await soon(client.ensure_session())
        assert new != session_id
        assert (await soon(client.prompt("hi"))).stop_reason == "end_turn"
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [("load" in w.message, "resume" in w.message) for w in warnings] == [(True, False), (False, True)]
    async with client_of(home, *refusals) as client:
        assert await soon(client.ensure_session()) != session_id


async def test_only_what_the_agent_offers_is_tried(home: Path) -> None:
    async with client_of(home, "--offer", "list") as client:
        await soon(client.ensure_session())
    async with client_of(home, "--offer", "list") as client:
        await soon(client.ensure_session())
        with pytest.raises(AgentError, match="cannot load sessions"):
            await soon(client.replay("x"))
    assert methods(home)[2:] == ["initialize", "session/new"]


async def test_an_agent_that_refuses_every_way_is_an_error_with_the_cause(home: Path) -> None:
    async with client_of(home, "--refuse", "new") as client:
        with pytest.raises(AgentError, match=r"failed in session/new: .*Internal error"):
            await soon(client.ensure_session())
        assert client.session_id is None


async def test_the_id_is_stored_for_the_user_alone(home: Path) -> None:
    async with client_of(home) as client:
        session_id = await soon(client.ensure_session())
    (stored,) = (home / "state/trunkline/acp-sessions").iterdir()
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    assert session_id in stored.read_text()


async def test_a_state_folder_that_cannot_be_written_is_only_a_warning(
    home: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "file"))
    async with client_of(home) as client:
        assert await soon(client.ensure_session())
    assert "the session cannot be remembered" in caplog.text


async def test_a_damaged_memory_is_like_none(home: Path) -> None:
    client = client_of(home)
    StateFile("acp-sessions", *client.command_line, "in", client.cwd).store({"session_id": 7})
    async with client:
        assert await soon(client.ensure_session())
    assert "session/load" not in methods(home)


async def test_a_new_session_can_be_begun_on_purpose(home: Path) -> None:
    async with client_of(home, session_meta={"claudeCode": {"options": {"model": "x"}}}) as client:
        first = await soon(client.ensure_session())
        second = await soon(client.new_session())
        assert second != first
        assert await soon(client.ensure_session()) == second
    made = [m["params"] for m in received(home / "log") if m.get("method") == "session/new"]
    assert made[0]["_meta"] == {"claudeCode": {"options": {"model": "x"}}}
    assert made[0]["cwd"] == str(home / "work")


# -- prompts ---------------------------------------------------------------------------------------


async def test_a_prompt_opens_the_session_by_itself_and_counts_tokens(home: Path) -> None:
    async with client_of(home) as client:
        result = await soon(client.prompt("count"))
    assert (result.stop_reason, result.answer["stopReason"]) == ("end_turn", "end_turn")
    assert (result.usage[0].input_tokens, result.usage[0].output_tokens) == (7, 5)


async def test_content_may_be_text_dicts_or_blocks(home: Path) -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a", "_meta": {"x": 1}}
    async with client_of(home) as client:
        updates: list[Update] = []
        client.set_update_callback(updates.append)
        await soon(client.prompt([TextBlock(text="blocks"), link]))
        assert text_of(updates) == (
            '[{"type": "text", "text": "blocks"}, {"type": "resource_link", "uri": "file:///a", '
            '"name": "a", "_meta": {"x": 1}}]'
        )
        updates.clear()
        await soon(client.prompt(TextBlock(text="hello")))
        await soon(client.prompt({"type": "text", "text": "you"}))
        assert text_of(updates) == "You said helloYou said you"


async def test_every_update_is_delivered_in_order_before_the_prompt_returns(home: Path) -> None:
    seen: list[str] = []

    async def take(update: Update) -> None:
        await asyncio.sleep(0)
        seen.append(update["content"]["text"])

    async with client_of(home) as client:
        client.set_update_callback(take)
        await soon(client.prompt("flood 300"))
        assert seen == [f"{number} " for number in range(300)]


async def test_an_error_of_the_agent_is_raised_with_its_code(home: Path) -> None:
    async with client_of(home) as client:
        with pytest.raises(AgentError, match=r"failed in the prompt: .*quota is used up.*code -32603"):
            await soon(client.prompt("fail"))
        assert (await soon(client.prompt("hi"))).stop_reason == "end_turn"


async def test_a_second_prompt_is_refused_while_one_runs(home: Path) -> None:
    async with client_of(home) as client:
        running = asyncio.create_task(client.prompt("silent"))
        await until(lambda: "session/prompt" in methods(home))
        with pytest.raises(SessionBusy, match="wait for it, or cancel"):
            await soon(client.prompt("hi"))
        with pytest.raises(SessionBusy):
            await soon(client.new_session())
        await client.cancel()
        assert (await soon(running)).stop_reason == "cancelled"


# -- cancelling ------------------------------------------------------------------------------------


async def test_cancel_is_sent_once_and_only_while_a_prompt_runs(home: Path) -> None:
    async with client_of(home) as client:
        await client.cancel()
        await soon(client.ensure_session())
        await client.cancel()
        assert "session/cancel" not in methods(home)
        running = asyncio.create_task(client.prompt("silent"))
        await until(lambda: "session/prompt" in methods(home))
        await client.cancel()
        await client.cancel()
        assert (await soon(running)).stop_reason == "cancelled"
        assert (await soon(client.prompt("hi"))).stop_reason == "end_turn"
    assert methods(home).count("session/cancel") == 1


async def test_a_prompt_whose_task_is_cancelled_is_cancelled_at_the_agent(home: Path) -> None:
    async with client_of(home) as client:
        running = asyncio.create_task(client.prompt("silent"))
        await until(lambda: "session/prompt" in methods(home))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await soon(running)
        # The next one waits for the end of that.
        assert (await soon(client.prompt("hi"))).stop_reason == "end_turn"
    assert methods(home).count("session/cancel") == 1


async def test_after_a_cancel_that_the_agent_ignores_the_error_says_what_ends_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trunkline.agents.acp.client.CANCEL_WITHIN", 0.1)
    async with client_of(home) as client:
        running = asyncio.create_task(client.prompt("deaf"))
        await until(lambda: "session/prompt" in methods(home))
        await client.cancel()
        with pytest.raises(SessionBusy, match=r"disconnect\(\) ends it"):
            await soon(client.prompt("hi"))
        await soon(client.disconnect())
        with pytest.raises(AgentExited):
            await soon(running)
        assert (await soon(client.prompt("hi"))).stop_reason == "end_turn"


async def test_a_permission_that_is_open_when_the_prompt_is_cancelled_is_cancelled(home: Path) -> None:
    asked = asyncio.Event()

    async def never(request: PermissionRequest) -> bool:
        asked.set()
        await asyncio.Event().wait()
        return True

    async with client_of(home, permission=never) as client:
        running = asyncio.create_task(client.prompt("ask"))
        await soon(asked.wait())
        await client.cancel()
        await soon(running)
        await until(lambda: any("result" in message for message in received(home / "log")))
    answers = [message["result"] for message in received(home / "log") if "result" in message]
    assert answers == [{"outcome": {"outcome": "cancelled"}}]


# -- permissions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("permission", "chosen"),
    [
        ("allow", "y"),
        ("refuse", "n"),
        ("ask", "n"),
        (answers(True), "y"),
        (answers("reject_once"), "n"),
        (answers("y"), "y"),
        (answers(None), "n"),
    ],
)
async def test_a_permission_is_answered_by_an_option_of_the_agent(
    home: Path, permission: Any, chosen: str
) -> None:
    async with client_of(home, permission=permission) as client:
        updates: list[Update] = []
        client.set_update_callback(updates.append)
        await soon(client.prompt("ask"))
    assert text_of(updates) == f"got {chosen}"


async def test_the_default_asks_the_callback(home: Path) -> None:
    asked: list[PermissionRequest] = []

    async def allow(request: PermissionRequest) -> str:
        asked.append(request)
        return "allow_once"

    async with client_of(home) as client:
        client.set_permission_callback(allow)
        updates: list[Update] = []
        client.set_update_callback(updates.append)
        await soon(client.prompt("ask"))
        assert text_of(updates) == "got y"
        assert (asked[0].title, asked[0].kind, asked[0].input) == ("rm -rf", "execute", {"command": "rm"})
        assert asked[0].session_id == client.session_id


def test_a_permission_that_means_nothing_is_refused(home: Path) -> None:
    with pytest.raises(ConfigurationError, match="permission is 'perhaps'"):
        client_of(home, permission="perhaps")


# -- logins ----------------------------------------------------------------------------------------


async def test_a_login_that_is_missing_says_how_to_log_in(home: Path) -> None:
    async with client_of(home, "--login") as client:
        with pytest.raises(
            AuthenticationRequired,
            match=r"it offers: Browser, API key \(set SCRIPTED_KEY\), Shell \(in a terminal\)",
        ) as caught:
            await soon(client.ensure_session())
        assert "log in with: trunkline login 'acp:" in str(caught.value)
        with pytest.raises(InvalidCommand, match="it can by: browser"):
            await soon(client.authenticate("shell"))
        await soon(client.authenticate("browser"))
        assert await soon(client.ensure_session())


async def test_our_own_agent_behind_a_login_lets_the_client_in(home: Path) -> None:
    async with ours("demo-auth", cwd=home / "work") as client:
        with pytest.raises(AuthenticationRequired):
            await soon(client.ensure_session())
        await soon(client.authenticate("demo-login"))
        assert (await soon(client.prompt("hi"))).stop_reason == "end_turn"


# -- the end of the agent --------------------------------------------------------------------------


async def test_an_agent_that_dies_fails_the_prompt_and_is_back_with_the_next_one(home: Path) -> None:
    async with client_of(home) as client:
        await soon(client.prompt("hello"))
        session_id = client.session_id
        with pytest.raises(AgentExited, match="it went boom"):
            await soon(client.prompt("crash"))
        updates: list[Update] = []
        client.set_update_callback(updates.append)
        await soon(client.prompt("again"))
        assert client.session_id == session_id
        assert text_of(updates).endswith("You said again")
        assert [m.text for m in fold(client.replayed).messages][:2] == ["hello", "You said hello"]


async def test_a_client_that_was_disconnected_connects_again(home: Path) -> None:
    client = client_of(home)
    await soon(client.prompt("hello"))
    await soon(client.disconnect())
    assert client.stderr == ""
    await soon(client.authenticate("browser"))
    await soon(client.prompt("stderr 3"))
    await until(lambda: client.stderr == "eee")
    await soon(client.disconnect())
    assert methods(home).count("session/load") == 1


async def test_a_prompt_that_runs_when_the_client_disconnects_fails(home: Path) -> None:
    client = client_of(home)
    running = asyncio.create_task(client.prompt("silent"))
    await until(lambda: "session/prompt" in methods(home))
    await soon(client.disconnect())
    with pytest.raises(AgentExited):
        await soon(running)


# -- replay ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [(), ("--replays-late",)], ids=["before its answer", "after its answer"])
async def test_any_session_of_the_agent_can_be_replayed(home: Path, late: tuple[str, ...]) -> None:
    async with client_of(home, *late) as client:
        await soon(client.prompt("hello"))
        first = client.session_id
        assert first is not None
        await soon(client.new_session())
        await soon(client.prompt("other"))
        heard: list[Update] = []
        client.set_update_callback(heard.append)
        events = await soon(client.replay(first))
        assert [m.text for m in fold(events).messages] == ["hello", "You said hello"]
        assert heard == []
        assert methods(home)[-2:] == ["session/load", "session/close"]
        assert client.session_id is not None
        own = await soon(client.replay(client.session_id))
        assert [m.text for m in fold(own).messages] == ["other", "You said other"]
        await soon(client.prompt("more"))
        assert text_of(heard) == "You said more"
        with pytest.raises(AgentError, match="Resource not found"):
            await soon(client.replay("nothing"))


async def test_a_replay_counts_although_the_agent_does_not_close_the_session(home: Path, caplog: Any) -> None:
    async with client_of(home, "--refuse", "close") as client:
        await soon(client.prompt("hello"))
        first = client.session_id
        assert first is not None
        await soon(client.new_session())
        events = await soon(client.replay(first))
        assert [m.text for m in fold(events).messages] == ["hello", "You said hello"]
    assert f"keeps the session {first} open" in caplog.text


# -- files and terminals ---------------------------------------------------------------------------


async def test_our_own_agent_uses_the_files_of_the_folder(home: Path, root: Path) -> None:
    (home / "work/notes.txt").write_text("milk")
    target = f"{root}/tests/peers/agents.py:copies"
    async with ours(target, cwd=home / "work", permission="allow") as client:
        updates: list[Update] = []
        client.set_update_callback(updates.append)
        await soon(client.prompt("copy"))
    assert text_of(updates) == "milk"
    assert (home / "work/copy.txt").read_text() == "milk"


async def test_our_own_agent_uses_a_terminal_in_the_folder(home: Path) -> None:
    async with ours("demo", cwd=home / "work", permission="allow") as client:
        updates: list[Update] = []
        client.set_update_callback(updates.append)
        await soon(client.prompt("/terminal"))
    ended = [u for u in updates if u["sessionUpdate"] == "tool_call_update" and u.get("status")]
    assert ended[-1]["status"] == "completed"


async def test_a_file_outside_of_the_folder_is_not_read(home: Path, root: Path) -> None:
    (home / "secret.txt").write_text("secret")
    (home / "work/notes.txt").symlink_to(home / "secret.txt")
    async with ours(f"{root}/tests/peers/agents.py:copies", cwd=home / "work") as client:
        updates: list[Update] = []
        client.set_update_callback(updates.append)
        with pytest.raises(AgentError, match="links are not followed"):
            await soon(client.prompt("copy"))
    assert text_of(updates) == ""
