"""The turns of a spliced session: cancelled, steered, and those of other clients."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.splice.pairs import Pair, paired
from tests.hubs import only, soon, text_of, until
from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.content import TextBlock
from trunkline.folding import fold


async def test_what_another_client_sends_is_told_as_the_agent_takes_it(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.handshake()
        session = await pair.new()
        await session.submit(
            Prompt(content=(TextBlock(text="Hi"),), context=({"description": "D", "value": 1},))
        )
        heard = await pair.agent.until(method="session/prompt")
        assert [block["text"] for block in heard["params"]["prompt"]] == ["D: 1", "Hi"]
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await soon(session.wait_until_idle())


async def test_an_agent_that_ignores_a_cancel_is_left_to_the_editor_and_the_session_says_so(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path, agent_options={"cancel_within": 0.1}) as pair:
        session = await pair.new()
        editor_id, heard = await pair.prompt("Work")
        await pair.session()
        cancelling = asyncio.create_task(session.cancel(by="page"))
        await pair.agent.until(method="session/cancel")
        await soon(cancelling)
        late = pair.agent.say("native-1", "I go on.")
        assert await pair.editor.line() == late
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        assert (await pair.editor.until(id=editor_id))["result"] == {"stopReason": "end_turn"}
        events = await pair.events()
        assert [end.stop_reason for end in only(events, ev.TurnFinished)] == ["cancelled"]
        assert text_of(events) == ""
        await until_told(pair, "goes on with a cancelled prompt")
        editor_id, heard = await pair.prompt("Again")
        pair.agent.say("native-1", "Yes.")
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await pair.editor.until(id=editor_id)
        assert text_of(await pair.events()) == "Yes."


async def until_told(pair: Pair, text: str) -> None:
    """Wait for a notice."""
    async with asyncio.timeout(10):
        while not any(text in one.title for one in only(await pair.events(), ev.Notice)):
            await asyncio.sleep(0.01)


STEERING = {"sessionId": "native-1", "prompt": [{"type": "text", "text": "And blue"}]}


async def test_a_message_that_the_editor_gives_to_the_running_turn_is_journalled_in_it(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        editor_id, heard = await pair.prompt("Paint it red")
        red = pair.agent.say("native-1", "Red.")
        assert await pair.editor.line() == red
        pair.editor.send(id="s", method="_session/steering", params=STEERING)
        steering = await pair.agent.until(method="_session/steering")
        pair.agent.update(
            "native-1", "user_message_chunk", content={"type": "text", "text": "And blue"}
        )  # The echo.
        pair.agent.say("native-1", "Blue.")
        pair.agent.send(id=steering["id"], result={"outcome": "injected"})
        assert (await pair.editor.until(id="s"))["result"] == {"outcome": "injected"}
        pair.agent.say("native-1", " Done.")
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await pair.editor.until(id=editor_id)
        session = await pair.session()
        await until(lambda: not session.busy)
        events = await pair.events()
        conversation = fold(events)
        assert [(one.role, one.text) for one in conversation.messages] == [
            ("user", "Paint it red"),
            ("agent", "Red."),
            ("user", "And blue"),
            ("agent", "Blue. Done."),
        ]
        assert len(only(events, ev.TurnFinished)) == 1


@pytest.mark.parametrize(
    "answer", [{"result": {"outcome": "promptRequired"}}, {"error": {"code": 1, "message": "no"}}]
)
async def test_a_message_that_the_agent_does_not_take_is_not_journalled(tmp_path: Path, answer: Any) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        for text in ("One", "Two"):
            editor_id, heard = await pair.prompt(text)
            pair.editor.send(id="s", method="_session/steering", params=STEERING)
            steering = await pair.agent.until(method="_session/steering")
            pair.agent.say("native-1", f"{text}.")
            pair.agent.send(id=steering["id"], **answer)
            await pair.editor.until(id="s")
            pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
            await pair.editor.until(id=editor_id)
        # Between two turns there is none that it could join.
        pair.editor.send(id="s", method="_session/steering", params=STEERING)
        steering = await pair.agent.until(method="_session/steering")
        pair.agent.send(id=steering["id"], **answer)
        await pair.editor.until(id="s")
        # At once: a turn that is over waits for none after it.
        messages = fold(await soon(pair.events())).messages
        assert [one.text for one in messages] == ["One", "One.", "Two", "Two."]


async def test_a_message_with_which_an_idle_agent_begins_a_turn_stands_in_that_turn(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session = await pair.new()
        pair.editor.send(id="s", method="_session/steering", params=STEERING)
        steering = await pair.agent.until(method="_session/steering")
        pair.agent.send(id=steering["id"], result={"outcome": "startedNewTurn"})
        pair.agent.say("native-1", "Blue.")
        await pair.editor.until(id="s")
        await until(lambda: session.last_turn_id is not None and not session.busy)
        events = await pair.events()
        assert [(one.role, one.text) for one in fold(events).messages] == [
            ("user", "And blue"),
            ("agent", "Blue."),
        ]
        assert len(only(events, ev.TurnFinished)) == 1


async def test_another_client_gives_a_message_to_the_editors_turn(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.handshake(_meta={"steering": {"supported": True}})
        session = await pair.new()
        editor_id, heard = await pair.prompt("Work")
        await pair.session()
        prompting = asyncio.create_task(session.prompt(Prompt.of("And rest", busy="steer")))
        steering = await pair.agent.until(method="_session/steering")
        pair.agent.send(id=steering["id"], result={"outcome": "injected"})
        assert (await soon(prompting)).steered
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await pair.editor.until(id=editor_id)
        assert [one.text for one in fold(await pair.events()).messages] == ["Work", "And rest"]


async def test_an_agent_that_ends_while_the_editor_steers_leaves_nothing_open(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        await pair.prompt("Work")
        await pair.session()
        pair.editor.send(id="s", method="_session/steering", params=STEERING)
        await pair.agent.until(method="_session/steering")
        pair.agent.end()
        assert "error" in await pair.editor.until(id="s")
        await soon(pair.splice.ended.wait())
        assert [one.text for one in fold(await pair.events()).messages] == ["Work"]
