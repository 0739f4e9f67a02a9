import os
from pathlib import Path

import pytest
from tests.hubs import collect, hub_for

from trunkline.cli.chat.resume_line import ResumeLine
from trunkline.cli.journals import NAME_KEY


async def test_the_line_is_as_short_as_it_can_be(tmp_path: Path) -> None:
    line = ResumeLine("my agent.py:x", f"sqlite:{tmp_path / 'j.db'}")
    where = f"--journal sqlite:{tmp_path / 'j.db'}"
    async with hub_for() as hub:
        session = await hub.create(cwd=os.getcwd())
        assert await line.find(hub.journal, session) is None
        assert line.at_once(session) is None
        await collect(session, "hello")
        told = await line.find(hub.journal, session)
        assert told == f"resume: trunkline chat 'my agent.py:x' --continue {where}"
        assert line.at_once(session) == (
            f"resume: trunkline chat 'my agent.py:x' --session {session.session_id} {where}"
        )
        await collect(await hub.create(cwd=os.getcwd()), "newer")
        told = await line.find(hub.journal, session)
        assert told == f"resume: trunkline chat 'my agent.py:x' --session {session.session_id[:11]} {where}"
        await hub.journal.keep(session.key, NAME_KEY, "work")
        told = await line.find(hub.journal, session)
        assert told == f"resume: trunkline chat 'my agent.py:x' --session work {where}"


async def test_a_session_that_is_forgotten_has_no_line() -> None:
    async with hub_for() as hub:
        session = await hub.create(cwd=os.getcwd())
        await collect(session, "hello")
        line = ResumeLine("demo", "memory:")
        assert (line.at_once(session), await line.find(hub.journal, session)) == (None, None)


async def test_a_program_that_is_not_on_path_is_named_as_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [".venv/bin/trunkline", "chat", "finance"])
    monkeypatch.setenv("PATH", str(tmp_path))
    line = ResumeLine("finance", None)
    async with hub_for() as hub:
        session = await hub.create(cwd=os.getcwd())
        await collect(session, "hello")
        assert await line.find(hub.journal, session) == "resume: .venv/bin/trunkline chat finance --continue"
        (tmp_path / "trunkline").touch(mode=0o755)
        assert await line.find(hub.journal, session) == "resume: trunkline chat finance --continue"
