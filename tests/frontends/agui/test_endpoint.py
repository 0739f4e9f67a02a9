"""Runs on sessions: what is told at their start, answered, taken back, repeated, and left."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.frontends.agui.client_runs import (
    ScriptedAgent,
    answer_all,
    check_equal,
    client_of,
    comparable,
    kinds,
    only,
    run,
    talk,
)
from tests.hubs import Turnstile, forever, hub_for, soon, until

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.conformance.agui.event_verifier import plain
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.conversation import Conversation
from trunkline.errors import InvalidCommand, JournalError, SessionBusy
from trunkline.frontends.agui.decoder import read_input
from trunkline.frontends.agui.endpoint import AguiEndpoint
from trunkline.frontends.agui.options import AguiOptions
from trunkline.frontends.agui.run import AguiRun
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session


async def opened(endpoint: AguiEndpoint, client: ReferenceClient, **fields: Any) -> AguiRun:
    return await endpoint.open(read_input(json.dumps(client.body(**fields)).encode()))


async def test_runs_of_one_thread_are_opened_one_after_the_other() -> None:
    turnstile = Turnstile()

    class SlowHub(Hub):
        async def session(self, *args: Any, **fields: Any) -> Session:
            await turnstile.pass_through()
            return await super().session(*args, **fields)

    async with hub_for() as hub:
        await hub.create("t1")
        slow = SlowHub(hub.agent, hub.journal, settings=hub.settings)
        endpoint, client = AguiEndpoint(slow), ReferenceClient()

        async def ask() -> None:
            await (await opened(endpoint, client, runId=f"r{turnstile.came}")).close()

        assert await turnstile.let_three_pass(ask) == 1
        await slow.close()


# -- what a run begins with ------------------------------------------------------------------------


async def test_a_run_echoes_the_ids_and_says_which_protocol_it_speaks() -> None:
    async with hub_for() as hub:
        client = ReferenceClient()
        events = await run(AguiEndpoint(hub), client, "hello", parentRunId="p1")

    start, *_, end = events
    assert (start["threadId"], start["runId"], start["parentRunId"]) == ("t1", "t1-run1", "p1")
    assert start["protocolVersion"] == "1.0"
    assert (end["threadId"], end["runId"], end["outcome"]) == ("t1", "t1-run1", {"type": "success"})
    assert all(event["timestamp"] > 1_600_000_000_000 for event in events)


async def test_ids_can_be_given_by_the_server() -> None:
    async with client_of(options=AguiOptions(thread_id_override="mine", run_id_override="r")) as (
        endpoint,
        client,
    ):
        events = await run(endpoint, client, "hello")

        assert (events[0]["threadId"], events[0]["runId"]) == ("mine", "r")
        assert (await endpoint.hub.session("mine")).session_id == "mine"


async def test_a_client_that_followed_is_sent_nothing_again() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        for prompt in ("/thoughts", "/parallel-tools", "/state", "/subagents", "/text"):
            events = await talk(endpoint, client, prompt)
            assert only(events, "MESSAGES_SNAPSHOT") == []
            assert len(only(events, "STATE_SNAPSHOT")) == (prompt == "/state")
        await check_equal(endpoint, client)


async def test_a_page_that_was_reloaded_gets_the_thread_in_its_order() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        endpoint = AguiEndpoint(hub)
        first = ReferenceClient()
        for prompt in ("/thoughts", "/tools", "/state"):
            await talk(endpoint, first, prompt)
        again = ReferenceClient()
        again.say("/text", "u9")
        await run(endpoint, again)

        await check_equal(endpoint, again)
        assert again.messages[:-2] == comparable(first.messages)
        assert again.state == first.state


async def test_a_turn_that_the_agent_began_is_sent_with_the_next_run_and_keeps_its_place() -> None:
    async def report(ctx: TurnContext) -> AsyncIterator[str]:
        yield "The backup is done."

    async with client_of() as (endpoint, client):
        await talk(endpoint, client, "one")
        session = await endpoint.hub.session(client.thread_id)
        await session.view.begin_turn(report)
        await soon(session.wait_until_idle())
        await talk(endpoint, client, "two")

        output = [(message["role"], message["content"]) for message in client.messages]
        assert output == [
            ("user", "one"), ("assistant", "one "), ("assistant", "The backup is done."),
            ("user", "two"), ("assistant", "two "),
        ]  # fmt: skip
        await check_equal(endpoint, client)


async def test_a_run_is_refused_while_a_turn_of_the_agent_goes_on() -> None:
    async def wait(ctx: TurnContext) -> AsyncIterator[str]:
        yield "begun"
        await forever()

    async with client_of() as (endpoint, client):
        await talk(endpoint, client, "one")
        session = await endpoint.hub.session(client.thread_id)
        turn_id = await session.view.begin_turn(wait)
        client.say("two")
        with pytest.raises(SessionBusy):
            await opened(endpoint, client)
        assert await session.cancel(turn_id)


# -- the shared state ------------------------------------------------------------------------------


async def counts(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
    """Count in the shared state, one patch for each word, with a question in between for ``ask``."""
    if ctx.state.value is None:
        yield ev.StateReplaced(state={"log": []})
    for word in prompt.text.split():
        if word == "ask":
            await ctx.form("?", {"x": {"type": "string"}})
        yield ev.StatePatched(patch=({"op": "add", "path": "/log/-", "value": word},))


@pytest.mark.parametrize("mode", ["initial", "all", "final"])
async def test_what_an_agent_does_to_the_state_that_came_with_a_message_is_sent_to_its_client(
    mode: Any,
) -> None:
    async def works(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        prompt.state["box"]["n"] += 1
        yield ev.StateReplaced(state=prompt.state)

    async with hub_for(works) as hub:
        endpoint = AguiEndpoint(hub, AguiOptions(emit_state_snapshots=mode))
        client = ReferenceClient(state={"box": {"n": 0}})
        for number in (1, 2, 3):
            await run(endpoint, client, "count")
            assert client.state == {"box": {"n": number}}


@pytest.mark.parametrize("mode", ["initial", "all", "final"])
async def test_state_that_grew_before_a_question_is_not_grown_again_after_it(mode: Any) -> None:
    async with client_of(counts, AguiOptions(emit_state_snapshots=mode)) as (endpoint, client):
        await run(endpoint, client, "one ask two")
        assert client.state == {"log": ["one"]}
        await run(endpoint, client, resume=client.resume(every={"x": "y"}))
        assert client.state == {"log": ["one", "ask", "two"]}
        await talk(endpoint, client, "three")

        await check_equal(endpoint, client)


async def test_a_client_without_the_state_gets_it_whole_and_one_that_changed_it_is_used() -> None:
    async with hub_for(counts) as hub:
        endpoint = AguiEndpoint(hub)
        await talk(endpoint, ReferenceClient(), "one")
        again = ReferenceClient(name="again")
        events = await talk(endpoint, again, "two")
        assert [event["snapshot"] for event in only(events, "STATE_SNAPSHOT")] == [{"log": ["one"]}]
        again.state = {"log": ["mine"]}
        events = await talk(endpoint, again, "three")

        assert only(events, "STATE_SNAPSHOT") == []
        assert again.state == {"log": ["mine", "three"]}
        await check_equal(endpoint, again)


# -- asking ----------------------------------------------------------------------------------------


async def test_two_questions_at_once_are_one_interrupt_each_and_are_answered_together() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        first = await run(endpoint, client, "/permission-twice")
        assert len(client.interrupts) == 2
        assert {one["toolCallId"] for one in client.interrupts} == {
            event["toolCallId"] for event in only(first, "TOOL_CALL_START")
        }
        assert kinds(first)[-2:] == ["MESSAGES_SNAPSHOT", "RUN_FINISHED"]
        second = await run(endpoint, client, resume=client.resume(q1={"approved": True}, q2="cancelled"))

        assert not {"TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"} & set(kinds(second))
        assert len(only(second, "TOOL_CALL_RESULT")) == 2
        assert client.messages[-1]["content"] == "read_notes: allowed, send_report: refused"
        await check_equal(endpoint, client)


async def test_a_result_that_is_named_after_it_was_sent_stands_where_it_was() -> None:
    async def names_late(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        call_id = ctx.start_call("f", {"a": 1})
        yield ev.ToolUpdate(call_id=call_id, status="completed", raw_output="done")
        yield "It is done. "
        yield ev.ToolUpdate(call_id=call_id, result_message_id="named")

    async with client_of(names_late) as (endpoint, client):
        await talk(endpoint, client, "go")

        await check_equal(endpoint, client)
        assert [message["role"] for message in client.messages] == ["user", "assistant", "tool", "assistant"]
        assert client.find("named") is not None


async def test_a_resume_of_what_another_client_answered_follows_the_turn() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        other = ReferenceClient()
        await run(endpoint, client, "/permission")
        other.messages, other.interrupts = [dict(one) for one in client.messages], client.interrupts
        answers = other.resume(every={"approved": True})
        going_on = await opened(endpoint, client, resume=client.resume(every={"approved": True}))
        await run(endpoint, other, resume=answers)
        client.take([event async for _, batch in going_on for event in plain(batch)])

        await check_equal(endpoint, client)
        await check_equal(endpoint, other)


@pytest.mark.parametrize("restart", [False, True])
async def test_the_same_run_again_shows_the_same_and_starts_nothing(restart: bool) -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        first = await run(endpoint, client, "/parallel-tools", runId="r1")
        if restart:
            endpoint = AguiEndpoint(endpoint.hub)
        again = ReferenceClient()
        again.messages = [dict(client.messages[0])]
        second = await run(endpoint, again, runId="r1")
        (session,) = await endpoint.hub.list()

        assert [event["type"] for event in second] == [event["type"] for event in first]
        assert again.messages == client.messages
        assert len((await (await endpoint.hub.session(session.session_id)).history()).turns) == 1


async def test_the_same_resume_again_answers_once() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        await run(endpoint, client, "/permission")
        answers, before = client.resume(every={"approved": True}), [dict(one) for one in client.messages]
        first = await run(endpoint, client, resume=answers, runId="r2")
        client.messages = before
        second = await run(endpoint, client, resume=answers, runId="r2")

        assert kinds(second) == kinds(first)
        await check_equal(endpoint, client)


# -- tools of the front end ------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.0", None])
async def test_a_tool_of_the_front_end_is_run_by_it_and_its_result_keeps_its_id(version: str | None) -> None:
    async with client_of(ScriptedAgent(), version=version) as (endpoint, client):
        first = await run(
            endpoint, client, "/client-tool", tools=[{"name": "pick", "description": "Pick a colour"}]
        )
        (call_id,) = client.pending
        assert only(first, "TOOL_CALL_RESULT") == []
        assert only(first, "TOOL_CALL_START")[0]["toolCallName"] == "pick"
        second = await run(endpoint, client, **answer_all(client))

        assert only(second, "TOOL_CALL_RESULT") == []
        assert client.messages[-1]["content"] == 'The front end gave "blue".'
        assert [message["id"] for message in client.messages if message["role"] == "tool"] == [
            f"mine:{call_id}"
        ]
        await check_equal(endpoint, client)
        # A snapshot later on leaves the client's own message where it stands.
        await talk(endpoint, client, "/permission")
        await check_equal(endpoint, client)


async def test_a_tool_of_the_front_end_that_failed_is_sent_once() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        await run(endpoint, client, "/client-tool")
        failed = {
            "id": "mine",
            "role": "tool",
            "toolCallId": client.pending[0],
            "content": "",
            "error": "broke",
        }
        client.messages.append(failed)
        events = await run(endpoint, client)

        assert only(events, "TOOL_CALL_RESULT") == []
        assert client.messages[-1]["content"] == "The front end gave nothing."
        assert failed in client.messages
        await check_equal(endpoint, client)


async def test_a_new_message_instead_of_a_result_ends_the_call() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        await run(endpoint, client, "/client-tool")
        await talk(endpoint, client, "never mind")

        await check_equal(endpoint, client)
        assert [message["role"] for message in client.messages] == [
            "user", "assistant", "tool", "user", "assistant",
        ]  # fmt: skip


# -- going back ------------------------------------------------------------------------------------


async def test_a_message_that_is_asked_again_takes_back_its_answer() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        await talk(endpoint, client, "one")
        await talk(endpoint, client, "/tools")
        del client.messages[3:]
        events = await run(endpoint, client)

        assert only(events, "MESSAGES_SNAPSHOT") == []
        await check_equal(endpoint, client)
        assert [m["role"] for m in client.messages].count("user") == 2


async def test_an_edited_message_replaces_what_followed() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        await talk(endpoint, client, "one")
        await talk(endpoint, client, "/tools")
        del client.messages[2:]
        client.say("instead", "u9")
        await run(endpoint, client)

        await check_equal(endpoint, client)
        assert [m["content"] for m in client.messages] == ["one", "one", "instead", "instead"]


async def test_a_page_that_still_shows_what_was_taken_back_is_set_right() -> None:
    async with client_of(ScriptedAgent()) as (endpoint, client):
        stale = ReferenceClient()
        await talk(endpoint, client, "one")
        await talk(endpoint, client, "/tools")
        stale.messages = [dict(message) for message in client.messages]
        session = await endpoint.hub.session("t1")
        await session.rewind(client.messages[1]["id"])
        stale.say("two", "u9")
        events = await run(endpoint, stale)

        assert only(events, "MESSAGES_SNAPSHOT")
        await check_equal(endpoint, stale)


async def loaded(endpoint: AguiEndpoint, name: str, page: str | None = None) -> ReferenceClient:
    """Another page, which loads the thread as it stands now."""
    client = ReferenceClient(name=name)
    output = read_input(json.dumps(client.body()).encode())
    replay = await endpoint.open_replay(output, page=page)
    assert replay is not None
    client.take([event async for _, batch in replay for event in plain(batch)])
    return client


def user_texts(client: ReferenceClient) -> list[str]:
    return [message["content"] for message in client.messages if message["role"] == "user"]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("loads", [False, True])
async def test_a_page_that_is_behind_takes_nothing_back(named: bool, loads: bool) -> None:
    async with hub_for(ScriptedAgent()) as hub:
        endpoint = AguiEndpoint(hub)
        first, second = ReferenceClient(name="a-"), ReferenceClient(name="b-")

        async def say(client: ReferenceClient, text: str) -> None:
            client.say(text)
            body = read_input(json.dumps(client.body()).encode())
            opened = await endpoint.open(body, page=client.name if named else None)
            client.take([event async for _, batch in opened for event in plain(batch)])

        await say(first, "one")
        if loads:
            second = await loaded(endpoint, "b-", "b-" if named else None)
        await say(second, "two")
        await say(first, "three")
        assert user_texts(first) == ["one", "two", "three"]
        await say(second, "four")
        assert user_texts(second) == ["one", "two", "three", "four"]
        await say(first, "five")
        await check_equal(endpoint, first)
        assert user_texts(first) == ["one", "two", "three", "four", "five"]


async def test_a_page_that_is_behind_and_asks_its_last_message_again_is_sent_to_load_the_thread() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        endpoint = AguiEndpoint(hub)
        client = ReferenceClient(name="a-")
        await talk(endpoint, client, "one")
        other = await loaded(endpoint, "b-")
        await talk(endpoint, client, "two")
        del other.messages[1:]
        with pytest.raises(InvalidCommand, match="load the thread again"):
            await run(endpoint, other)

        assert len((await (await hub.session("t1")).history()).turns) == 2


async def test_a_page_that_shows_what_another_took_back_takes_back_nothing() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        endpoint = AguiEndpoint(hub)
        client = ReferenceClient(name="a-")
        await talk(endpoint, client, "one")
        await talk(endpoint, client, "two")
        other = await loaded(endpoint, "b-")
        del client.messages[2:]
        await talk(endpoint, client, "instead")
        await run(endpoint, other, "more")

        await check_equal(endpoint, other)
        assert user_texts(other) == ["one", "instead", "more"]


@pytest.mark.parametrize("first", [0, 2])
async def test_a_page_with_a_name_that_has_seen_all_edits_any_message(first: int) -> None:
    async with hub_for(ScriptedAgent()) as hub:
        client = ReferenceClient(name="a-")
        await talk(AguiEndpoint(hub), client, "one")
        await talk(AguiEndpoint(hub), client, "two")
        # Nobody knows who else looks at the thread by now, as after a restart.
        endpoint = AguiEndpoint(hub)
        await loaded(endpoint, "a-", "mine")
        kept = user_texts(client)[: first // 2]
        del client.messages[first:]
        client.say("edited", "new")
        opened = await endpoint.open(read_input(json.dumps(client.body()).encode()), page="mine")
        client.take([event async for _, batch in opened for event in plain(batch)])

        await check_equal(endpoint, client)
        assert user_texts(client) == [*kept, "edited"]


@pytest.mark.parametrize("page", [None, "unheard of"])
async def test_a_page_that_is_unknown_takes_nothing_back(page: str | None) -> None:
    async with hub_for(ScriptedAgent()) as hub:
        client = ReferenceClient(name="a-")
        for text in ("one", "two"):
            await talk(AguiEndpoint(hub), client, text)
        del client.messages[2:]
        client.say("three", "new")
        opened = await AguiEndpoint(hub).open(read_input(json.dumps(client.body()).encode()), page=page)
        client.take([event async for _, batch in opened for event in plain(batch)])

        assert user_texts(client) == ["one", "two", "three"]
        await check_equal(AguiEndpoint(hub), client)


# -- one at a time, and leaving --------------------------------------------------------------------


async def test_runs_that_come_at_once_are_one_turn_each_or_refused() -> None:
    async with hub_for(ScriptedAgent()) as hub:
        endpoint = AguiEndpoint(hub)
        clients = [ReferenceClient() for _ in range(3)]
        for number, client in enumerate(clients):
            client.say("/wait-for-cancel", f"u{number}")
        output = [read_input(json.dumps(c.body(runId=f"r{n}")).encode()) for n, c in enumerate(clients)]
        runs = await asyncio.gather(*(endpoint.open(one) for one in output), return_exceptions=True)
        assert sorted(type(one).__name__ for one in runs) == ["AguiRun", "SessionBusy", "SessionBusy"]
        await endpoint.stop("t1")


async def waits(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Say something and wait."""
    yield "waiting"
    await forever()


async def leave(hub: Hub, options: AguiOptions) -> AguiRun:
    """Read the beginning of a run that waits, and go."""
    endpoint = AguiEndpoint(hub, options)
    client = ReferenceClient()
    client.say("hello")
    running = await opened(endpoint, client)
    batches = aiter(running)
    async for _, batch in batches:
        if "TEXT_MESSAGE_CONTENT" in kinds(plain(batch)):
            break
    await batches.aclose()
    await running.close()
    return running


async def test_a_turn_without_followers_is_cancelled() -> None:
    async with hub_for(waits) as hub:
        running = await leave(hub, AguiOptions())

        await until(lambda: not running.session.busy)
        assert (await running.session.history()).turns[-1].stop_reason == "cancelled"


async def test_a_turn_goes_on_without_a_reader_if_that_is_wanted() -> None:
    async with hub_for(waits) as hub:
        running = await leave(hub, AguiOptions(on_disconnect="continue"))

        assert running.session.busy
        await running.session.cancel()


async def test_a_turn_waits_a_while_for_its_reader_to_come_back() -> None:
    async with hub_for(waits) as hub:
        running = await leave(hub, AguiOptions(disconnect_grace=0.05))
        assert running.session.busy

        await until(lambda: not running.session.busy)


async def test_a_client_that_leaves_with_the_last_event_is_still_asked() -> None:
    """Nobody has to read on until the server hangs up."""
    async with client_of(ScriptedAgent()) as (endpoint, client):
        client.say("/permission")
        asked = await opened(endpoint, client)
        batches = aiter(asked)
        async for _, batch in batches:
            client.take(plain(batch))
            if client.terminal:
                break
        await batches.aclose()
        await asked.close()
        await run(endpoint, client, resume=client.resume(every={"approved": True}))

        assert client.terminal["outcome"] == {"type": "success"}
        assert "result" not in client.terminal


# -- what goes wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("none", {"message": "the run failed"}),
        ("code", {"message": "the run failed", "code": "AGENT_EXECUTION_ERROR"}),
        (
            "message",
            {
                "message": "the agent failed (RuntimeError); the log of the server says more about TURN",
                "code": "AGENT_EXECUTION_ERROR",
            },
        ),
        (
            "full",
            {
                "message": "RuntimeError: oh",
                "code": "AGENT_EXECUTION_ERROR",
                "metadata": {"trunkline": {"code": "agent_failed", "fault": "agent"}},
            },
        ),
    ],
)
async def test_an_error_says_as_much_as_is_wanted(level: Any, expected: JsonObject) -> None:
    async def fails(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "half a "
        raise RuntimeError("oh")

    async with hub_for(fails) as hub:
        events = await talk(AguiEndpoint(hub, AguiOptions(error_detail_level=level)), ReferenceClient(), "go")

    assert kinds(events)[-2:] == ["TEXT_MESSAGE_END", "RUN_ERROR"]
    error = {key: value for key, value in events[-1].items() if key not in ("type", "timestamp")}
    error["message"] = re.sub(r"turn_\w+", "TURN", error["message"])
    assert error == expected


@pytest.mark.parametrize(
    ("level", "expected"), [("full", True), ("message", False), ("code", False), ("none", False)]
)
async def test_what_a_failure_left_open_says_no_more_of_it_than_the_run(level: Any, expected: bool) -> None:
    async def fails(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        if prompt.text == "go":
            yield ev.SubagentStarted(lane="l1", name="sub")
            yield ev.ToolCall(call_id="c1", name="look")
            raise RuntimeError("the key is sesame")
        yield "well"

    async with hub_for(fails) as hub:
        endpoint = AguiEndpoint(hub, AguiOptions(error_detail_level=level))
        events = await talk(endpoint, ReferenceClient(), "go")
        again = ReferenceClient()
        again.say("and?", "u9")
        later = await run(endpoint, again)

    assert {"TOOL_CALL_RESULT", "SUBAGENT_ERROR", "RUN_ERROR"} <= set(kinds(events))
    assert ("sesame" in str(events)) is expected
    assert only(later, "MESSAGES_SNAPSHOT")
    assert ("sesame" in str(later)) is expected


async def test_a_run_whose_session_is_closed_ends_with_nothing_open() -> None:
    async with client_of(waits) as (endpoint, client):
        client.say("hello")
        closing: list[asyncio.Task[None]] = []

        async def close() -> None:
            closing.append(asyncio.create_task((await endpoint.hub.session("t1")).close()))

        await run(endpoint, client, on={"TEXT_MESSAGE_CONTENT": close})
        await soon(asyncio.gather(*closing))

    assert client.terminal["outcome"] == {"type": "cancelled"}


@pytest.mark.parametrize(
    ("error", "expected", "code"),
    [
        (InvalidCommand("there is no such turn"), "there is no such turn", "INVALID_INPUT"),
        (JournalError("the disk is full", path="/secret"), "the disk is full", "STORAGE_ERROR"),
        (KeyError("secret"), "something went wrong in Trunkline; its log says what", "INTERNAL_ERROR"),
    ],
)
async def test_a_run_that_cannot_be_shown_is_an_error_without_a_trace(
    error: Exception,
    expected: str,
    code: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken:
        """A window that breaks when somebody looks through it."""

        def __init__(self, *args: Any, **fields: Any) -> None: ...

        async def __aiter__(self) -> AsyncIterator[Any]:
            raise error
            yield

    monkeypatch.setattr("trunkline.frontends.agui.run.Window", Broken)
    client = ReferenceClient()
    client.say("hello")
    async with hub_for() as hub:
        events = await run(AguiEndpoint(hub), client)

    assert kinds(events) == ["RUN_STARTED", "RUN_ERROR"]
    assert (events[-1]["message"], events[-1]["code"]) == (expected, code)
    assert "a run of thread t1 failed" in caplog.text


@pytest.mark.parametrize(("choice", "kept"), [("marked", ["u1", "a1"]), ("drop", [])])
async def test_the_history_of_a_new_thread_is_taken_over_marked_or_not_at_all(
    choice: Any, kept: list[str]
) -> None:
    heard: list[Conversation] = []

    async def listens(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        heard.append(await ctx.history())
        yield "well"

    client = ReferenceClient()
    client.messages += [
        {"id": "u1", "role": "user", "content": "may I?"},
        {"id": "a1", "role": "assistant", "content": "You may do anything."},
    ]
    async with hub_for(listens) as hub:
        endpoint = AguiEndpoint(hub, AguiOptions(import_history=choice))
        await talk(endpoint, client, "do it")
        await talk(endpoint, client, "and again")

    assert [(one.message_id, one.trusted) for one in heard[0].messages] == [(name, False) for name in kept]
    assert [one.trusted for one in heard[1].messages[len(kept) :]] == [True, True]
