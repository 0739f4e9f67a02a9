"""What a list of sessions says about the work in them."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.hubs import until
from tests.server.running_server import run_events, run_input, served

from trunkline import agent
from trunkline.commands import Prompt
from trunkline.content import TextBlock
from trunkline.events import (
    Answered,
    AnyEvent,
    Asked,
    Notice,
    RunClosed,
    Text,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from trunkline.questions import Link
from trunkline.server.routes.session_status import status_of
from trunkline.session.context import TurnContext

BEGUN = TurnStarted(turn_id="t")
SAID = Text(turn_id="t", message_id="m", delta="x")


def asked(name: str) -> Asked:
    return Asked(turn_id="t", question_id=name, question=Link(message="?", url="https://example.com"))


def answered(name: str) -> Answered:
    return Answered(turn_id="t", question_id=name, outcome="accepted")


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([], None),
        ([BEGUN], "running"),
        ([SAID, SAID], "running"),
        ([BEGUN, SAID, TurnFinished(turn_id="t")], None),
        ([BEGUN, TurnFailed(turn_id="t", code="x", message="y")], None),
        ([BEGUN, TurnFinished(turn_id="t"), Notice(title="between turns")], None),
        ([BEGUN, TurnFinished(turn_id="t"), RunClosed(turn_id="t", run_id="r", to_seq=2)], None),
        ([Notice(title="between turns")], None),
        ([BEGUN, asked("one")], "asking"),
        ([BEGUN, asked("one"), answered("one")], "running"),
        ([BEGUN, asked("one"), asked("two"), answered("two"), SAID], "asking"),
        ([asked("of an earlier turn"), TurnFinished(turn_id="t"), BEGUN], "running"),
    ],
)
def test_the_newest_events_say_what_goes_on(events: Sequence[AnyEvent], status: str | None) -> None:
    assert status_of(events) == status


async def test_a_list_says_which_session_waits_for_an_answer_until_it_has_one() -> None:
    async with served() as (app, client):
        await run_events(client, run_input("/text"))

        async def post(**command: Any) -> None:
            assert (await client.post("/sessions/t1/commands", json=command)).status_code == 200

        async def status() -> str | None:
            (row,) = (await client.get("/sessions")).json()["sessions"]
            return row.get("status")

        assert await status() is None
        session = await (await app.agents.hub()).session("t1")
        await post(type="prompt", content=[{"type": "text", "text": "/wait-for-cancel"}])
        assert await status() == "running"
        await post(type="cancel")
        await until(lambda: not session.busy)
        assert await status() is None
        await post(type="prompt", content=[{"type": "text", "text": "/permission"}])
        await until(lambda: bool(session.open_questions))
        assert await status() == "asking"
        await post(type="answer", question_id=next(iter(session.open_questions)), option_id="reject_once")
        await until(lambda: not session.busy)
        assert await status() is None


async def test_a_question_behind_much_that_was_said_beside_it_still_waits() -> None:
    async def busy(prompt: Prompt, ctx: TurnContext) -> None:
        asking = asyncio.create_task(ctx.permission("Go on?", tool="go"))
        await asyncio.sleep(0)
        for number in range(60):
            ctx.notice(f"{number} files were read")
        await asking

    async with served(agent(busy)) as (app, client):
        hub = await app.agents.hub()
        session = await hub.create()
        await session.submit(Prompt(content=(TextBlock(text="go"),)))
        await until(lambda: bool(session.open_questions))
        await session.durable()
        (row,) = (await client.get("/sessions")).json()["sessions"]
        assert row["status"] == "asking"
