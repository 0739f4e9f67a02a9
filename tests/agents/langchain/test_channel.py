"""Tests of the channel: what is decided without a question, and what a question does to the run."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.agents.langchain.agui_client import ASK, Page, ainvoke, model
from tests.agents.langchain.graphs import weather
from tests.agents.langchain.mcp_example import in_turn
from tests.agents.langchain.recorded_updates import PROMPT, on_thread
from tests.hubs import only, soon
from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel, current_channel, use_channel
from trunkline.agents.langchain.hosted.agui import agui_agent
from trunkline.agents.langchain.hosted.run_channels import OwnRuns
from trunkline.frontends.agui.hosted import AguiHosted
from trunkline.questions import Form
from trunkline.session.context import Decision
from trunkline.testing.chat import ScriptedChatModel, call

WHO = Form(message="Who?", fields={"type": "object", "properties": {}})


def channel_on(page: Page) -> Channel:
    channel = OwnRuns(AguiHosted(), page).open(None, on_thread("t1"))
    assert channel is not None
    return channel


def test_a_channel_is_current_inside_its_block_only() -> None:
    outer, inner = channel_on(Page()), channel_on(Page())
    with use_channel(outer):
        with use_channel(inner):
            assert current_channel() is inner
        assert current_channel() is outer
    assert current_channel() is None


async def test_a_question_that_was_answered_in_an_earlier_process_is_not_asked_again() -> None:
    known = ev.Answered(question_id="k", outcome="accepted", content={})

    async def act(channel: Channel) -> ev.Answered:
        resumed = Channel(channel.ctx, channel.emitter, durable=True, answers={"k": known})
        return await resumed.ask(WHO, durable_key="k")

    answered, events = await in_turn(act)
    assert answered == known
    assert only(events, ev.Asked) == []


def test_an_always_is_remembered_by_tool_and_kind() -> None:
    channel = channel_on(Page())
    call = {"id": "c1", "name": "write_file"}
    assert channel.decide(call, "edit", durable_key="k") is None
    channel.remember(channel.covers(call, "edit"), Decision(allowed=True, call_id="c1"))
    assert channel.decide(call, "edit", durable_key="k") is None
    channel.remember(channel.covers(call, "edit"), Decision(allowed=False, call_id="c1", always=True))
    decision = channel.decide(call, "edit", durable_key="k")
    assert decision is not None
    assert not decision
    assert decision.reason == "an earlier answer was to always refuse write_file"
    assert channel.decide(call, "execute", durable_key="k") is None


def test_an_always_for_one_command_allows_no_other() -> None:
    channel = channel_on(Page())
    ls, rm = ({"id": "c", "name": "bash", "args": {"command": line}} for line in ("ls", "rm -rf /"))
    channel.remember(channel.covers(ls, "execute"), Decision(allowed=True, call_id="c", always=True))
    assert channel.decide(ls, "execute", durable_key="k")
    assert channel.decide(rm, "execute", durable_key="k") is None


async def test_what_is_asked_in_the_middle_of_something_is_declined() -> None:
    channel = channel_on(Page())
    answered = await soon(channel.ask(WHO))
    assert answered.outcome == "declined"
    assert channel.ask_sync(WHO).outcome == "declined"


async def test_an_always_holds_for_the_thread(page: Page) -> None:
    script = ScriptedChatModel(call("weather", {"city": "Oslo"}), "Done.", each_turn=True)
    agent = agui_agent(script, [weather], policy=ASK, checkpointer=InMemorySaver(), transport=page)
    await ainvoke(agent, page.request("go"))
    always = {"approved": True, "optionId": "allow_always"}
    await ainvoke(agent, page.request(resume=page.resume(every=always)))
    await ainvoke(agent, page.request("again"))
    assert page.outcome == "success"


async def test_a_permission_is_refused_where_nothing_can_be_kept(page: Page) -> None:
    script = model()
    await ainvoke(agui_agent(script, [weather], policy=ASK, transport=page), page.request("go"))
    assert page.outcome == "success"
    assert "nobody can be asked in this run: give the agent a checkpointer" in page.call("call_1")["result"]


@pytest.mark.parametrize(
    "given",
    [
        True,
        {"approved": True},
        {"outcome": "selected", "option_id": "allow_once", "option_kind": "allow_once"},
    ],
)
async def test_our_own_question_takes_a_plain_answer_from_langgraph(given: Any, page: Page) -> None:
    agent = agui_agent(model(), [weather], policy=ASK, transport=page, checkpointer=InMemorySaver())
    await ainvoke(agent, PROMPT, on_thread("t1"))
    await ainvoke(agent, Command(resume=given), on_thread("t1"))
    assert page.call("call_1")["result"] == "It is sunny in Paris."
