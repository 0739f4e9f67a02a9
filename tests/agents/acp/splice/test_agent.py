"""The agent of spliced sessions, as the hub sees it."""

import asyncio
from pathlib import Path

from tests.agents.acp.splice.pairs import paired
from tests.hubs import soon
from trunkline.commands import SetConfig


async def test_the_sessions_of_a_splice_share_the_editors_process_and_never_end_it(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.handshake()
        first = await pair.new("native-1")
        second = await pair.new("native-2")
        agent = pair.splice.agent
        connection = agent.prompts(first.view).connection
        assert connection is not None
        assert agent.prompts(second.view).connection is connection
        assert agent.processes.users_of(connection) == 3  # The editor is the third.
        await first.close()
        await second.close()
        assert not connection.ended.is_set()
        assert pair.agent.is_quiet  # It was not told: the editor has its sessions open still.


async def test_another_client_sets_an_option_at_the_editors_agent(tmp_path: Path) -> None:
    modes = {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "A"}, {"id": "code", "name": "C"}],
    }
    async with paired(tmp_path) as pair:
        await pair.handshake()
        session = await pair.new(modes=modes)
        setting = session.submit(SetConfig(option_id="mode", value="code", by="page"))

        async def answer() -> None:
            heard = await pair.agent.until(method="session/set_mode")
            assert heard["params"] == {"sessionId": "native-1", "modeId": "code"}
            pair.agent.send(id=heard["id"], result={})

        await soon(asyncio.gather(setting, answer()))
        assert session.view.config == {"mode": "code"}
