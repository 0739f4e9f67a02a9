"""An ACP agent behind a hub: its card, its processes, logins, deleting and importing."""

import json
from pathlib import Path

import pytest

from tests.agents.acp.worlds import ask, world
from tests.hubs import soon
from tests.process_state import is_alive
from trunkline.agents.acp import AcpAgent
from trunkline.agents.interface import (
    Agent,
    Authenticates,
    Closes,
    ClosesSessions,
    DeletesSessions,
    Forks,
    HasHistory,
    ImportsSessions,
    LogsInByCommand,
    OpensSessions,
    Prepares,
    Rewinds,
    SetsConfig,
    Steers,
)
from trunkline.agents.targets import resolve_target
from trunkline.errors import (
    AgentError,
    AuthenticationRequired,
    ConfigurationError,
    InvalidCommand,
    TargetError,
)


def test_it_offers_every_hook_that_it_should() -> None:
    agent = AcpAgent("agent")
    hooks = (
        Agent, Authenticates, Closes, ClosesSessions, DeletesSessions, Forks, HasHistory, ImportsSessions,
        LogsInByCommand, OpensSessions, Prepares, Rewinds, SetsConfig, Steers,
    )  # fmt: skip
    assert all(isinstance(agent, hook) for hook in hooks)
    assert agent.card.name == "agent"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/bin/gemini --acp", "gemini"),
        ("npx -y @agentclientprotocol/claude-agent-acp@0.49.0", "claude-agent-acp"),
        ("python3.11 -I /tmp/my_agent.py", "my_agent"),
        ("npx", "npx"),
    ],
)
def test_until_it_says_its_name_it_has_that_of_its_command(command: str, name: str) -> None:
    program, *args = command.split()
    assert AcpAgent(program, args).card.name == name


def test_what_cannot_be_an_agent_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="command of an ACP agent is empty"):
        AcpAgent("")
    with pytest.raises(ConfigurationError, match="cwd='here' is not an absolute path"):
        AcpAgent("agent", cwd="here")
    with pytest.raises(ConfigurationError, match="there is no profile 'clod'; known profiles: claude-code"):
        AcpAgent("agent", profile="clod")
    with pytest.raises(ConfigurationError, match="env_allow='PATH' is one text"):
        AcpAgent("agent", env_allow="PATH")
    with pytest.raises(ConfigurationError, match="cancel_within=-1: give seconds above 0"):
        AcpAgent("agent", cancel_within=-1)
    with pytest.raises(ConfigurationError, match="permission is 'maybe'"):
        AcpAgent("agent", permission="maybe")  # pyright: ignore[reportArgumentType]


def test_a_target_names_a_command_and_its_arguments() -> None:
    agent = resolve_target("acp:npx -y 'my agent' --acp")
    assert isinstance(agent, AcpAgent)
    assert agent.command_line == ("npx", "-y", "my agent", "--acp")
    for empty in ("acp:", "acp:  ", "acp:''"):
        with pytest.raises(TargetError, match="acp: names no command"):
            resolve_target(empty)
    with pytest.raises(TargetError, match="cannot be read: No closing quotation"):
        resolve_target("acp:npx 'x")


async def test_the_card_comes_from_the_handshake_and_its_process_serves_the_first_session(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as here:
        await here.hub.prepare_agent()
        card = here.agent.card
        assert (card.name, card.title, card.version) == ("scripted-agent", "Scripted", "1.2.3")
        assert [method.kind for method in card.auth_methods] == ["agent", "env_var", "terminal"]
        session = await here.hub.create()
        assert await ask(session, "hello there") == "You said hello there"
        assert len(here.sent("initialize")) == 1
        other = await here.hub.create()
        await ask(other, "hello")
        assert len(here.sent("initialize")) == 2, "each session has a process of its own"


async def test_sessions_share_a_process_if_that_is_wished(tmp_path: Path) -> None:
    async with world(tmp_path, shared=True) as here:
        first, second = await here.hub.create(), await here.hub.create()
        pids = {await ask(first, "pid"), await ask(second, "pid")}
        assert len(pids) == 1
        await first.close()
        assert await ask(second, "pid") in pids
        assert len(here.sent("initialize")) == 1


async def test_a_login_is_wanted_done_and_then_the_session_opens_in_the_same_process(tmp_path: Path) -> None:
    async with world(tmp_path, "--login") as here:
        session = await here.hub.create()
        with pytest.raises(AuthenticationRequired, match="scripted-agent wants a login first"):
            await session.prepare()
        with pytest.raises(InvalidCommand, match="no way 'nothing' to log in; known: browser, key, shell"):
            await here.agent.authenticate("nothing")
        with pytest.raises(InvalidCommand, match="by variables: set SCRIPTED_KEY"):
            await here.agent.authenticate("key")
        await here.agent.authenticate("browser")
        assert await ask(session, "hello") == "You said hello"
        assert len(here.sent("initialize")) == 1
        login = here.agent.login_command("shell")
        assert login.argv[-1] == "login"
        assert login.env == {"A": "1"}
        with pytest.raises(InvalidCommand, match="no login in a terminal"):
            here.agent.login_command("key")
        await here.agent.logout()


async def test_a_login_that_the_agent_refuses_is_told_with_what_it_says_about_it(tmp_path: Path) -> None:
    async with world(tmp_path, "--login", "--no-authenticate") as here:
        with pytest.raises(AgentError, match=r"not implemented. It says of it: Run `scripted login` there$"):
            await here.agent.authenticate("browser")


async def test_a_deleted_session_is_deleted_at_the_agent_too(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        session = await here.hub.create()
        await ask(session, "hello")
        assert len(list((tmp_path / "home").iterdir())) == 1
        await here.hub.delete(session.session_id)
        assert list((tmp_path / "home").iterdir()) == []


async def test_sessions_of_the_agent_are_listed_and_linked(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        one, two = await here.hub.create(), await here.hub.create()
        await ask(one, "first")
        await ask(two, "second")
    async with world(tmp_path) as here:
        listed = await here.agent.list_sessions()
        assert len(listed) == 2
        assert listed[0].cwd == str(tmp_path)
        session = await here.hub.create()
        await here.agent.link_session(session.view, listed[0].session_id)
        await session.close()
        session = await here.hub.session(session.session_id)
        texts = [message.text for message in (await session.history()).messages]
        assert texts in (["first", "You said first"], ["second", "You said second"])
        assert ["user", texts[0]] in json.loads(await ask(session, "recall"))
    async with world(tmp_path, "--offer", "") as here:
        with pytest.raises(AgentError, match="does not offer a list of its sessions"):
            await here.agent.list_sessions()
        session = await here.hub.create()
        with pytest.raises(AgentError, match="does not offer to load sessions"):
            await here.agent.link_session(session.view, "x")


async def test_a_command_that_does_not_exist_is_named(tmp_path: Path) -> None:
    agent = AcpAgent("no-such-agent", cwd=tmp_path)
    with pytest.raises(AgentError, match=r"^Agent command not found: no-such-agent; looked in PATH="):
        await soon(agent.prepare())


async def test_closing_the_hub_ends_every_process(tmp_path: Path) -> None:
    async with world(tmp_path, "--stays") as here:
        pids = [int(await ask(await here.hub.create(), "pid")) for _ in range(3)]
        assert all(map(is_alive, pids))
    assert not any(map(is_alive, pids))


async def test_the_process_of_a_session_is_started_in_the_folder_of_the_session(tmp_path: Path) -> None:
    project, ours = tmp_path / "project", tmp_path / "ours"
    project.mkdir()
    ours.mkdir()
    async with world(tmp_path, cwd=str(ours)) as here:
        assert await ask(await here.hub.create(cwd=str(project)), "folder") == str(project)
        assert await ask(await here.hub.create(), "folder") == str(ours)
        gone = await here.hub.create(cwd=str(tmp_path / "gone"))
        assert await ask(gone, "folder") == str(ours)
    async with world(tmp_path, cwd=str(ours), shared=True) as here:
        assert await ask(await here.hub.create(cwd=str(project)), "folder") == str(ours)


def test_a_command_that_names_a_file_of_our_folder_is_started_there(tmp_path: Path) -> None:
    (tmp_path / "agent.py").touch()
    project = tmp_path / "project"
    project.mkdir()
    assert AcpAgent("python", ["agent.py"], cwd=tmp_path).folder_for(str(project)) == str(tmp_path)
    assert AcpAgent("python", ["other.py"], cwd=tmp_path).folder_for(str(project)) == str(project)
    (tmp_path / "package").mkdir()
    assert AcpAgent("python", ["-m", "package"], cwd=tmp_path).folder_for(str(project)) == str(tmp_path)
    assert AcpAgent("agent", ["--root", "."], cwd=tmp_path).folder_for(str(project)) == str(project)
    for words in (["-m", "agent"], ["-X", "dev", "-m", "agent"], ["--config=agent.py"], ["-c=./agent.py"]):
        assert AcpAgent("python", words, cwd=tmp_path).folder_for(str(project)) == str(tmp_path), words
    (tmp_path / "package/inner.py").touch()
    assert AcpAgent("python", ["-m", "package.inner"], cwd=tmp_path).folder_for(None) == str(tmp_path)
    for words in (["-m", "other"], ["--config=other.json"], ["--root=."], ["--acp"], ["--name=", "x"]):
        assert AcpAgent("python", words, cwd=tmp_path).folder_for(str(project)) == str(project), words
