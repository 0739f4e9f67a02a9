"""What a server says while its tools run: questions, progress and its log, to whom they are for."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agents.langchain.mcp_example import PATIENCE, STDIO, in_turn, invoke, named, patiently, text_in
from tests.hubs import only, until

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.tools.mcp_servers import McpServers
from trunkline.commands import Answer
from trunkline.questions import Form, Link

Act = Callable[[Channel, dict[str, Any]], Awaitable[Any]]


def with_tools(place: Any, act: Act) -> Callable[[Channel], Awaitable[Any]]:
    """Do something with the tools of a server that is held."""

    async def acting(channel: Channel) -> Any:
        servers = McpServers({"w": place})
        servers.start()
        try:
            await patiently(servers.ready())
            return await act(channel, named(servers.tools))
        finally:
            await servers.close()

    return acting


def calling(tool: str, **args: Any) -> Act:
    """Call one tool as call ``c1``."""

    async def act(channel: Channel, tools: dict[str, Any]) -> str:
        channel.emitter.tool_started(None, "c1", tool, args)
        return text_in(await patiently(invoke(tools[tool], "c1", **args)))

    return act


def answering(**answer: Any) -> dict[type[ev.Event], Callable[[Any, Any], Awaitable[Any]]]:
    """Settle every question like this."""

    async def settle(session: Any, asked: ev.Asked) -> None:
        await session.answer(Answer(question_id=asked.question_id, **answer))

    return {ev.Asked: settle}


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_mcp_elicitation_reaches_the_user_and_the_answer_the_server(
    transport: str, http: dict[str, Any], sse: dict[str, Any]
) -> None:
    place = {"http": http, "sse": sse}[transport]
    reaction = answering(outcome="accepted", content={"colour": "red", "shiny": True})
    seen_events, events = await in_turn(with_tools(place, calling("w__taste")), reaction)
    assert seen_events == "red True"
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, Form)
    assert (asked.question.message, asked.question.call_id) == ("w asks: Which colour?", "c1")
    assert asked.question.fields["properties"].keys() == {"colour", "shiny"}


@pytest.mark.parametrize(
    ("answer", "action"), [({"outcome": "declined"}, "decline"), ({"outcome": "expired"}, "cancel")]
)
async def test_refusals_reach_the_server_as_what_they_are(
    answer: dict[str, Any], action: str, http: dict[str, Any]
) -> None:
    events, _ = await in_turn(with_tools(http, calling("w__taste")), answering(**answer))
    assert events == action


@pytest.mark.parametrize(("outcome", "action"), [("accepted", "accept"), ("declined", "decline")])
async def test_an_address_to_visit_is_a_link(outcome: str, action: str, http: dict[str, Any]) -> None:
    seen_events, events = await in_turn(with_tools(http, calling("w__visit")), answering(outcome=outcome))
    assert seen_events == action
    (asked,) = only(events, ev.Asked)
    assert asked.question == Link(
        message="w asks: Please log in", url="https://example.org/login", call_id="c1"
    )


async def test_other_calls_go_on_while_a_question_is_open(http: dict[str, Any]) -> None:
    answered = asyncio.Event()

    async def act(channel: Channel, tools: dict[str, Any]) -> list[str]:
        for name in ("c1", "c2"):
            channel.emitter.tool_started(None, name, "w__taste", {})
        tasting = [asyncio.create_task(invoke(tools["w__taste"], name)) for name in ("c1", "c2")]
        assert text_in(await patiently(invoke(tools["w__add"], "c3", a=1, b=1))) == "2"
        assert not any(task.done() for task in tasting)
        answered.set()
        return [text_in(await patiently(task)) for task in tasting]

    async def settle(session: Any, asked: ev.Asked) -> None:
        await answered.wait()
        answer = Answer(question_id=asked.question_id, outcome="accepted", content={"colour": "red"})
        await session.answer(answer)

    seen_events, events = await in_turn(with_tools(http, act), {ev.Asked: settle})
    assert seen_events == ["red False", "red False"]
    # Which of the two calls asks is not said by MCP, so neither is named.
    assert {
        asked.question.call_id for asked in only(events, ev.Asked) if isinstance(asked.question, Form)
    } <= {None, "c1", "c2"}


async def test_a_question_outside_of_any_call_is_declined(tmp_path: Path) -> None:
    marker = tmp_path / "marker"

    async def act(channel: Channel, tools: dict[str, Any]) -> None:
        await patiently(invoke(tools["w__ask_later"], marker=str(marker)))
        marker.touch()
        await until(lambda: marker.read_text() != "", PATIENCE)

    _, events = await in_turn(with_tools(STDIO, act))
    assert marker.read_text() == "decline"
    assert only(events, ev.Asked) == []


async def test_what_a_server_logs_is_told_but_not_without_end(http: dict[str, Any]) -> None:
    seen_events, events = await in_turn(with_tools(http, calling("w__complain", times=30)))
    assert seen_events == "complained"
    notices = [notice for notice in only(events, ev.Notice) if notice.code == "mcp_log"]
    assert [notice.description for notice in notices[:-1]] == [f"complaint {n}" for n in range(19)]
    assert {notice.severity for notice in notices[:-1]} == {"warning"}
    assert {notice.title for notice in notices} == {"MCP server 'w'"}
    assert "says more than is shown" in (notices[-1].description or "")
