"""One client on one session: its first message, its own messages, and how it ends."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from tests.hubs import hub_for, session_for, soon, until

from trunkline.demos.scripted import ScriptedAgent
from trunkline.errors import AlreadyAnswered, InvalidCommand, JournalError, SessionBusy
from trunkline.frontends.unified.backend import user_message
from trunkline.frontends.unified.decoder import Initialize
from trunkline.frontends.unified.endpoint import UnifiedConnection, new_message_id
from trunkline.protocols.unified.wire import UnifiedMessage


async def connected(session: Any, **fields: Any) -> UnifiedConnection:
    return await UnifiedConnection.open(session, by="unified:me", **fields)


async def test_the_first_message_says_what_the_session_is() -> None:
    async with session_for(ScriptedAgent(), session_id="s1", cwd="/") as session:
        connection = await connected(session, capabilities={"streaming": True})
        init = connection.greeting()
        assert init == connection.greeting(), "it has the same id each time"
        metadata = init.metadata
        assert metadata["sessionId"] == metadata["session_id"] == session.session_id
        assert metadata["agentName"] == session.agent_name
        assert metadata["agentCapabilities"]["loadSession"] is True
        assert metadata["capabilities"] == {"streaming": True}
        assert (metadata["status"], metadata["cwd"]) == ("idle", "/")
        assert metadata["replay"] == {"from": 1, "gap": False}


async def test_what_one_client_is_told_no_other_one_sees() -> None:
    async with session_for(ScriptedAgent()) as session:
        one, other = await connected(session), await connected(session)
        message = user_message("hi")
        async with aclosing(one.messages()) as mine, aclosing(other.messages(keep_alive=0.01)) as theirs:
            assert [m.type for m in await soon(anext(mine))] == ["session_init"]
            assert [m.type for m in await soon(anext(theirs))] == ["session_init"]
            await one.tell(one.success(message, {"a": 1}))
            (told,) = await soon(anext(mine))
            assert told.metadata | {"a": 1, "subtype": "success", "request_id": message.id} == told.metadata
            assert told.parent_id == message.id
            (alive,) = await soon(anext(theirs))
            assert alive.metadata["subtype"] == "keep_alive"


async def test_messages_end_when_the_connection_or_the_session_closes() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        session = await hub.create()
        left, stays = await connected(session), await connected(session)

        async def read(connection: UnifiedConnection) -> list[UnifiedMessage]:
            return [message async for batch in connection.messages() for message in batch]

        reading, staying = asyncio.create_task(read(left)), asyncio.create_task(read(stays))
        await until(lambda: session.followers == 2)
        left.close()
        assert [m.type for m in await soon(reading)] == ["session_init"]
        assert session.followers == 1
        await stays.tell(stays.success(user_message("x"), {}))
        await session.prompt("/wait-for-cancel")
        await session.close()
        assert [m.type for m in await soon(staying)][-2:] == ["result", "status_change"]


async def test_commands_are_signed_by_the_client_and_options_can_be_asked_for() -> None:
    async with session_for(ScriptedAgent()) as session:
        connection = await connected(session)
        result = await connection.carry_out(connection.read(user_message("hi")))
        assert result["turn_id"]
        answer = await connection.carry_out(Initialize(request_id="r"))
        assert answer["request_id"] == "r"
        assert {one["value"] for one in answer["response"]["models"]} >= {"demo-small", "demo-large"}


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (InvalidCommand("do this instead"), "invalid_command", "do this instead"),
        (SessionBusy("wait"), "busy", "wait"),
        (JournalError("the disk is full"), "journal", "the disk is full"),
        (KeyError("/etc/secret"), "internal", "the log says what"),
    ],
)
async def test_an_error_is_told_in_words_that_a_client_may_read(
    error: Exception, code: str, text: str
) -> None:
    async with session_for(ScriptedAgent()) as session:
        (told,) = (await connected(session)).failure(None, error)
        assert told.type == "control_response"
        assert (told.metadata["error_code"], told.metadata["subtype"]) == (code, "error")
        assert text in told.metadata["error"]
        assert "request_id" not in told.metadata


async def test_who_comes_too_late_learns_who_was_first() -> None:
    async with session_for(ScriptedAgent()) as session:
        message = user_message("x")
        (told,) = (await connected(session)).failure(message, AlreadyAnswered("q1", "unified:anna"))
        assert told.metadata["answered_by"] == "unified:anna"
        assert told.metadata["request_id"] == message.id


async def test_what_is_told_twice_is_dropped_when_too_much_waits() -> None:
    async with session_for(ScriptedAgent()) as session:
        connection = await connected(session)
        told = connection.success(user_message("x"), {})
        for _ in range(64):
            await soon(connection.tell(told))
        connection.try_to_tell(told)
        with pytest.raises(TimeoutError):
            await soon(connection.tell(told), 0.01)


def test_ids_of_messages_without_a_record_are_never_the_same() -> None:
    assert new_message_id() != new_message_id()
