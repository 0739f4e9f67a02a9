"""The user's own ``Session`` of the SDK: complete after whatever happened, rewound and copied."""

from pathlib import Path
from typing import Any

import pytest
from agents.testing import ModelStep

from agents import SQLiteSession
from tests.agents.openai.sdk_agents import (
    PAY,
    Payments,
    WaitingTool,
    agent_of,
    call,
    ended,
    say,
    sent,
    started,
    stopped,
    weather,
)
from tests.hubs import collect, hub_for, only, session_for, soon
from trunkline import events as ev
from trunkline.agents.openai.sdk_session import conversation_of
from trunkline.commands import Prompt
from trunkline.errors import AgentError


def kinds(items: list[Any]) -> list[str]:
    return [str(item.get("role") or item.get("type")) for item in items]


class Sessions:
    """The sessions of the SDK in one file, by the ids of ours."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "sdk.db"
        self.made: dict[str, SQLiteSession] = {}

    def __call__(self, view: Any) -> SQLiteSession:
        return self.made.setdefault(view.session_id, SQLiteSession(view.session_id, self.path))

    async def items(self, session_id: str) -> list[Any]:
        return list(await self.made[session_id].get_items())


async def test_the_users_session_has_the_history_and_the_model_gets_it_once(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    agent, model = agent_of("One.", "Two.", session=sessions)
    async with session_for(agent, session_id="s") as session:
        await collect(session, "First")
        await collect(session, "Second")
    assert sent(model) == [("user", "First"), ("assistant", "One."), ("user", "Second")]
    assert kinds(await sessions.items("s")) == ["user", "assistant"] * 2


async def test_after_a_cancel_the_history_has_the_answer_so_far_and_every_call_its_output(
    tmp_path: Path,
) -> None:
    sessions, waiting = Sessions(tmp_path), WaitingTool()
    agent, _ = agent_of(
        [*say("Let me see."), call("weather", "w1", city="Rome"), call("wait", "x1")],
        "Here.",
        tools=[weather, waiting.tool],
        session=sessions,
    )
    async with session_for(agent, session_id="s") as session:
        await started(session, "Look.")
        await soon(waiting.begun.wait())
        await session.cancel()
        await ended(session)
        items = await sessions.items("s")
        assert kinds(items) == [
            "user", "assistant", "function_call", "function_call_output", "function_call",
            "function_call_output",
        ]  # fmt: skip
        await collect(session, "Go on.")


async def test_a_new_prompt_instead_of_an_answer_finds_no_open_call(tmp_path: Path) -> None:
    sessions, payments = Sessions(tmp_path), Payments()
    agent, model = agent_of(PAY, "Fine.", tools=[payments.tool, weather], session=sessions)
    async with session_for(agent, session_id="s") as session:
        await started(session)
        await stopped(session, 2)
        await collect(session, Prompt.of("Never mind.", busy="interrupt"))
    given = sent(model)
    calls = {kind.removeprefix("call ") for kind, _ in given if kind.startswith("call ")}
    assert calls == {kind.removeprefix("output ") for kind, _ in given if kind.startswith("output ")}
    assert given[-1] == ("user", "Never mind.")
    assert payments.paid == []


async def test_a_failed_turn_leaves_a_history_that_can_go_on(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    agent, model = agent_of(
        [call("weather", "w1", city="Rome")],
        ModelStep.raise_error(ValueError("x")),
        "Again.",
        session=sessions,
    )
    async with session_for(agent, session_id="s") as session:
        await collect(session, "Look.")
        await collect(session, "Go on.")
    assert [kind for kind, _ in sent(model)] == ["user", "call w1", "output w1", "user"]


async def test_rewinding_forgets_what_came_after_a_message(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    agent, model = agent_of("One.", "Two.", "Other.", session=sessions)
    async with session_for(agent, session_id="s") as session:
        events = await collect(session, Prompt.of("First", message_id="u1"))
        answer = only(events, ev.Text)[0].message_id
        await collect(session, Prompt.of("Second", message_id="u2"))
        await session.rewind(answer)
        await collect(session, "Third")
        assert sent(model) == [("user", "First"), ("assistant", "One."), ("user", "Third")]
        await session.rewind(None)
    assert await sessions.items("s") == []


async def test_a_fork_begins_with_the_same_history_and_a_deleted_session_has_none(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    agent, model = agent_of("One.", "Two.", session=sessions)
    async with hub_for(agent) as hub:
        origin = await hub.create("s")
        await collect(origin, "First")
        copy = await hub.fork(origin, "c")
        await collect(copy, "Second")
        assert sent(model) == [("user", "First"), ("assistant", "One."), ("user", "Second")]
        await hub.delete("s")
    assert await sessions.items("s") == []


async def test_a_session_that_only_the_sdk_knows_is_shown_when_it_is_opened(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    agent, _ = agent_of("One.", session=sessions)
    async with session_for(agent, session_id="s") as session:
        await collect(session, "First")
    again, model = agent_of("Two.", session=sessions)
    async with session_for(again, session_id="s") as session:
        await collect(session, "Second")
    assert [kind for kind, _ in sent(model)] == ["user", "assistant", "user"]


def test_items_are_read_as_a_conversation() -> None:
    items: list[Any] = [
        {"role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "seen"},
        {"type": "function_call", "call_id": "b", "name": "look", "arguments": "{}"},
        {"type": "reasoning", "summary": []},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ]
    shown = conversation_of(items)
    assert [(message.role, message.text) for message in shown.messages if message.text] == [
        ("user", "Go."),
        ("agent", "Done."),
    ]
    assert [(call.status, call.raw_output) for call in shown.calls.values()] == [
        ("completed", "seen"),
        ("cancelled", None),
    ]


async def test_a_message_that_the_history_has_no_mark_of_is_not_guessed(tmp_path: Path) -> None:
    agent, _ = agent_of("One.", session=Sessions(tmp_path))
    async with session_for(agent, session_id="s") as session:
        await collect(session, "First")
        with pytest.raises(AgentError, match="does not know"):
            await agent.rewind(session.view, "nowhere")
