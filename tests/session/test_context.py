"""The turn context: everything an agent can do besides yielding, seen through real sessions."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.hubs import collect, events_of, forever, hub_for, only, run_turn, session_for, soon, text_of, until

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.content import DiffBlock, TextBlock
from trunkline.errors import OutsideRoots, TurnCancelled
from trunkline.folding import fold
from trunkline.journal.memory import MemoryJournal
from trunkline.json_patch import PatchError
from trunkline.options import Choice, ConfigOption
from trunkline.questions import ClientCall, Form, Link, Option, Permission
from trunkline.session.context import Decision, SessionView, TurnContext
from trunkline.session.session import Session
from trunkline.workspace import Files, Policy, Rule, Terminals

Replies = Mapping[type[ev.Event], Callable[[Any], Any]]


def replying(session: Session, **fields: Any) -> Replies:
    """Answer every question in the same way."""

    async def reply(asked: ev.Asked) -> None:
        await session.answer(Answer(question_id=asked.question_id, **fields))

    return {ev.Asked: reply}


def choosing(session: Session, option_id: str, **fields: Any) -> Replies:
    """Press this button whenever a permission is asked for."""
    return replying(session, option_id=option_id, **fields)


async def run(function: Callable[..., Any], **fields: Any) -> list[ev.Event]:
    """Give all events of one turn, with these answers to its questions."""
    async with session_for(function) as session:
        return await collect(session, "go", replying(session, **fields) if fields else None)


def statuses(events: list[ev.Event]) -> list[tuple[str, str | None]]:
    """What became of every call, in order."""
    updates = [update for update in only(events, ev.ToolUpdate) if update.status]
    return [(str(update.status), update.reason) for update in updates]


# -- saying ------------------------------------------------------------------------------------------


async def test_an_agent_shows_its_plan_its_title_and_notices() -> None:
    async def show(ctx: TurnContext) -> None:
        ctx.plan(["look", ev.PlanEntry(content="leap", status="in_progress", priority="high")])
        ctx.title("A tale")
        ctx.notice("Mind the gap", "It is wide", severity="warning")
        ctx.notice("So far so good")

    events = await run(show)
    assert only(events, ev.Plan)[0].entries == (
        ev.PlanEntry(content="look"),
        ev.PlanEntry(content="leap", status="in_progress", priority="high"),
    )
    assert [info.title for info in only(events, ev.InfoChanged)] == ["A tale"]
    assert [(n.title, n.description, n.severity) for n in only(events, ev.Notice)] == [
        ("Mind the gap", "It is wide", "warning"),
        ("So far so good", None, "info"),
    ]


async def test_tokens_are_summed_per_provider_and_model() -> None:
    async def spend(prompt: Prompt, ctx: TurnContext) -> None:
        for model in ("small", "large", "small"):
            ctx.usage(
                ev.TokenUsage(
                    provider="p",
                    model=model,
                    input_tokens=10,
                    output_tokens=5,
                    reasoning_tokens=4,
                    cached_input_tokens=3,
                    cache_write_tokens=2,
                )
            )
        ctx.usage(ev.TokenUsage(input_tokens=1))
        if prompt.text == "fail":
            raise RuntimeError("broke")

    def account(model: str, times: int) -> ev.TokenUsage:
        return ev.TokenUsage(
            provider="p",
            model=model,
            input_tokens=10 * times,
            output_tokens=5 * times,
            reasoning_tokens=4 * times,
            cached_input_tokens=3 * times,
            cache_write_tokens=2 * times,
        )

    async with session_for(spend) as session:
        for prompt, terminal in (("go", ev.TurnFinished), ("fail", ev.TurnFailed)):
            last = (await collect(session, prompt))[-1]
            assert isinstance(last, terminal)
            assert last.usage == (account("small", 2), account("large", 1), ev.TokenUsage(input_tokens=1))


async def test_a_new_message_takes_the_text_that_follows() -> None:
    async def speak(ctx: TurnContext) -> AsyncIterator[str]:
        yield "one"
        second = ctx.new_message()
        assert second == ctx.message_id
        yield "two"
        ctx.emit(ev.Text(message_id=second, delta="!"))

    events = await run(speak)
    messages = [m for m in fold(events).messages if m.role == "agent"]
    assert [message.text for message in messages] == ["one", "two!"]
    assert len({message.message_id for message in messages}) == 2


async def test_text_after_a_call_or_an_answer_is_another_message() -> None:
    async def speak(ctx: TurnContext) -> AsyncIterator[str]:
        yield "Two calls, "
        yield "side by side."
        calls = [ctx.start_call("a"), ctx.start_call("b")]
        yield "Both "
        yield "run."
        for call_id in calls:
            ctx.emit(ev.ToolUpdate(call_id=call_id, status="completed"))
        yield " Done."
        await ctx.form("Well?", {"name": {"type": "string"}})
        yield "Answered."

    conversation = fold(await run(speak, outcome="declined"))
    messages = [m for m in conversation.messages if m.role == "agent"]
    assert [message.text for message in messages] == [
        "Two calls, side by side.",
        "Both run. Done.",
        "Answered.",
    ]
    assert {call.message_id for call in conversation.calls.values()} == {messages[0].message_id}


async def test_what_is_emitted_and_yielded_keeps_its_order() -> None:
    async def speak(ctx: TurnContext) -> AsyncIterator[str]:
        ctx.emit("a")
        yield "b"
        ctx.emit(TextBlock(text="c"))
        await ctx.ready()
        yield "d"

    assert text_of(await run(speak)) == "abcd"


async def test_what_is_emitted_after_the_turn_is_dropped() -> None:
    kept: list[TurnContext] = []

    async def keep(ctx: TurnContext) -> str:
        kept.append(ctx)
        return "said"

    async with session_for(keep) as session:
        await collect(session, "go")
        before = await events_of(session)
        kept[0].emit("late")
        await asyncio.to_thread(kept[0].emit, "later")
        kept[0].emit_text("latest", "m")
        kept[0].plan(["too late"])
        kept[0].state.replace({"late": True})
        assert await events_of(session) == before
        assert session.view.state is None


async def test_nothing_is_asked_allowed_or_run_after_the_turn() -> None:
    kept: list[TurnContext] = []

    async def keep(ctx: TurnContext) -> None:
        kept.append(ctx)

    async with session_for(keep, policy=Policy.allow_all()) as session:
        await collect(session, "go")
        before = await events_of(session)
        for late in (
            kept[0].permission("May I?", tool="write"),
            kept[0].form("Who?", {}),
            kept[0].link("", "x"),
        ):
            with pytest.raises(TurnCancelled, match="the turn is over"):
                await soon(late)
        with pytest.raises(TurnCancelled, match="the turn is over"):
            await asyncio.to_thread(kept[0].wait, forever())
        with pytest.raises(TurnCancelled, match="would not be stored"):
            async with kept[0].tool("rm"):
                pytest.fail("it runs")
        assert await events_of(session) == before


# -- tools -------------------------------------------------------------------------------------------


async def test_a_tool_is_shown_from_its_start_to_its_completion() -> None:
    async def search(ctx: TurnContext) -> AsyncIterator[str]:
        yield "looking"
        location = ev.Location(path="b.txt", line=3)
        async with ctx.tool(
            "grep", input={"q": "x"}, kind="search", title="Searching", locations=["a.txt", location]
        ) as call:
            call.output("one ")
            call.output("two")
            call.show("found", TextBlock(text="it"))
            call.result({"hits": 2})

    events = await run(search)
    (call,) = fold(events).calls.values()
    assert (call.name, call.title, call.kind, call.status) == ("grep", "Searching", "search", "completed")
    assert (call.input, call.output, call.raw_output) == ({"q": "x"}, "one two", {"hits": 2})
    assert call.locations == (ev.Location(path="a.txt"), ev.Location(path="b.txt", line=3))
    assert call.content == (TextBlock(text="found"), TextBlock(text="it"))
    assert call.message_id == only(events, ev.Text)[0].message_id
    assert statuses(events) == [("in_progress", None), ("completed", None)]


async def test_a_tool_that_runs_out_of_time_is_cancelled_while_the_turn_goes_on() -> None:
    async def search(ctx: TurnContext) -> AsyncIterator[str]:
        try:
            async with asyncio.timeout(0.01), ctx.tool("grep"):
                await forever()
        except TimeoutError:
            yield "too slow"

    events = await run(search)
    assert statuses(events)[-1] == ("cancelled", "the call was cancelled")
    assert text_of(events) == "too slow"
    assert only(events, ev.Notice) == [], "no rule was broken"


async def test_a_started_call_has_an_id_of_its_own_unless_one_is_given() -> None:
    async def call(ctx: TurnContext) -> None:
        ids = [ctx.start_call("a"), ctx.start_call("b"), ctx.start_call("c", call_id="mine")]
        assert len(set(ids)) == 3
        assert ids[2] == "mine"
        for call_id in ids:
            ctx.emit(ev.ToolUpdate(call_id=call_id, status="completed"))

    events = await run(call)
    assert [started.name for started in only(events, ev.ToolCall)] == ["a", "b", "c"]
    assert [call.status for call in fold(events).calls.values()] == ["completed"] * 3


# -- permission --------------------------------------------------------------------------------------


async def write(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Ask before writing, and say what was decided."""
    decision = await ctx.permission(
        "Write a.txt?",
        tool=prompt.text.split()[0],
        kind="edit",
        input={"path": "a.txt"},
        allows_edit="edit" in prompt.text,
        paths=["a.txt"],
    )
    yield f"{decision.allowed} {decision.input['path']} {decision.by} {decision.reason}"


async def test_an_allowed_call_runs_and_completes_when_the_agent_goes_on() -> None:
    async with session_for(write) as session:
        events = await collect(session, "write", choosing(session, "allow_once", by="ann"))
    assert text_of(events) == "True a.txt ann None"
    asked = only(events, ev.Asked)[0].question
    assert isinstance(asked, Permission)
    assert asked.message == "Write a.txt?"
    assert [option.kind for option in asked.options] == [
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
    ]
    (call,) = fold(events).calls.values()
    assert (call.call_id, call.name, call.title, call.kind) == (
        asked.call_id,
        "write",
        "Write a.txt?",
        "edit",
    )
    assert (call.input, call.locations) == ({"path": "a.txt"}, (ev.Location(path="a.txt"),))
    assert statuses(events) == [("in_progress", None), ("completed", None)]
    kinds = [type(event) for event in events]
    assert kinds.index(ev.Text) > max(i for i, kind in enumerate(kinds) if kind is ev.ToolUpdate)


async def test_an_allowed_call_completes_at_the_end_when_the_agent_emits_no_more() -> None:
    async def silent(ctx: TurnContext) -> None:
        assert await ctx.permission("May I?", tool="write")

    events = await run(silent, option_id="allow_once")
    assert statuses(events) == [("in_progress", None), ("completed", None)]
    assert [type(event) for event in events[-2:]] == [ev.ToolUpdate, ev.TurnFinished]


async def test_an_allowed_call_fails_with_its_turn() -> None:
    async def breaking(ctx: TurnContext) -> None:
        await ctx.permission("May I?", tool="write")
        raise RuntimeError("disk full")

    events = await run(breaking, option_id="allow_once")
    assert [status for status, _ in statuses(events)] == ["in_progress", "failed"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"option_id": "reject_once", "by": "agui:local"}, "the user refused it"),
        ({"option_id": "reject_once"}, "the user refused it"),
        ({"option_id": "reject_once", "reason": "not today"}, "not today"),
        ({"outcome": "declined"}, "the user refused it"),
    ],
)
async def test_a_refused_call_is_denied_with_the_reason(fields: dict[str, Any], why: str) -> None:
    async with session_for(write) as session:
        events = await collect(session, "write", replying(session, **fields))
    assert text_of(events).startswith("False a.txt")
    assert statuses(events) == [("denied", why)]
    assert isinstance(events[-1], ev.TurnFinished)
    assert only(events, ev.Notice) == []


async def test_edited_arguments_are_what_the_agent_and_the_call_get() -> None:
    async with session_for(write) as session:
        edited = choosing(session, "allow_once", input={"path": "b.txt"})
        events = await collect(session, "write edit", edited)
    assert text_of(events).startswith("True b.txt")
    assert [call.input for call in fold(events).calls.values()] == [{"path": "b.txt"}]


@pytest.mark.parametrize("allowed", [True, False])
async def test_an_always_is_not_asked_again_not_even_after_a_restart(
    allowed: bool, journal: MemoryJournal
) -> None:
    choice = "allow_always" if allowed else "reject_always"
    async with session_for(write, journal=journal) as session:
        first = await collect(session, "write", choosing(session, choice))
        second = await collect(session, "write")
        other = await collect(session, "delete", choosing(session, "allow_once"))
    async with hub_for(write, journal=journal) as hub:
        third = await collect(await hub.session(session.session_id), "write")
    assert [len(only(events, ev.Asked)) for events in (first, second, other, third)] == [1, 0, 1, 0]
    for events in (second, third):
        assert text_of(events).startswith(f"{allowed} a.txt earlier answer an earlier answer was to always ")
        assert statuses(events)[-1][0] == ("completed" if allowed else "denied")


async def command(prompt: Prompt, ctx: TurnContext) -> str:
    """Run the prompt, if a person lets it."""
    return str(bool(await ctx.permission("Run it?", tool="run", kind="execute", command=prompt.text)))


async def test_where_a_rule_asks_always_is_neither_offered_nor_learnt() -> None:
    policy = Policy.ask().also(Rule(decision="ask", command="rm *"))
    async with session_for(command, policy=policy) as session:
        events = await collect(session, "rm -rf build", choosing(session, "allow_once"))
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, Permission)
    assert [option.kind for option in asked.question.options] == ["allow_once", "reject_once"]


async def test_the_person_sees_the_command_and_what_is_written() -> None:
    async def show(prompt: Prompt, ctx: TurnContext) -> str:
        await ctx.permission(
            "Run it?", tool="run", kind="execute", command=["rm", "-rf", "a b"], env={"A": "b c"}
        )
        diff = DiffBlock(path="a.txt", new="hi")
        return str(bool(await ctx.permission("Write?", tool="write", kind="edit", content=diff)))

    async with session_for(show) as session:
        events = await collect(session, "go", choosing(session, "allow_once"))
    run, write = fold(events).calls.values()
    assert run.content == (TextBlock(text="$ A='b c' rm -rf 'a b'"),)
    assert write.content == (DiffBlock(path="a.txt", new="hi"),)
    at = [index for index, event in enumerate(events) if isinstance(event, ev.Asked)]
    assert any(isinstance(event, ev.ToolUpdate) and event.content for event in events[: at[0]])


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [
        (Policy.allow_all(), True),
        (Policy.deny(), False),
        (Policy.ask().also(Rule(decision="allow", kind="edit")), True),
        (Policy.allow_all().also(Rule(decision="deny", path="**/a.txt")), False),
        (Policy.allow_all().also(Rule(decision="deny", tool="write")), False),
    ],
)
async def test_the_policy_answers_before_anyone_is_asked(policy: Policy, allowed: bool) -> None:
    events = await run_turn(write, policy=policy, prompt="write")
    assert only(events, ev.Asked) == []
    assert text_of(events).startswith(f"{allowed} a.txt policy ")
    assert statuses(events)[-1][0] == ("completed" if allowed else "denied")


async def test_a_permission_that_names_no_tool_is_asked_for_every_time() -> None:
    forever_options = (Option(option_id="yes", name="Yes, always", kind="allow_always"),)

    async def ask(prompt: Prompt, ctx: TurnContext) -> str:
        options = forever_options if prompt.text == "own buttons" else None
        return str(bool(await ctx.permission("Sure?", options=options)))

    async with session_for(ask) as session:
        for _ in range(2):
            events = await collect(session, "own buttons", choosing(session, "yes"))
            assert len(only(events, ev.Asked)) == 1
        events = await collect(session, "plain", choosing(session, "allow_once"))
        question = only(events, ev.Asked)[0].question
        assert isinstance(question, Permission)
        assert [option.kind for option in question.options] == ["allow_once", "reject_once"]


async def test_a_call_of_the_agents_own_is_asked_about_by_its_id() -> None:
    async def work(ctx: TurnContext) -> AsyncIterator[str]:
        async with ctx.tool("write", input={"path": "a"}) as call:
            if not await ctx.permission("May I?", call_id=call.call_id):
                return
            call.output("written")
        yield "done"

    async with session_for(work) as session:
        events = await collect(session, "go", choosing(session, "reject_once"))
        assert [status for status, _ in statuses(events)] == ["in_progress", "denied"]
        assert only(events, ev.Notice) == [], "a denied call stays denied and no error is reported"
        events = await collect(session, "go", choosing(session, "allow_always"))
        assert [status for status, _ in statuses(events)] == ["in_progress", "in_progress", "completed"]
        assert len(only(events, ev.ToolCall)) == 1
        events = await collect(session, "go")
        assert only(events, ev.Asked) == [], "the always is for the tool of that call"
        assert text_of(events) == "done"


async def test_a_call_that_an_adapter_announced_is_asked_about_under_its_tool() -> None:
    async def work(ctx: TurnContext) -> AsyncIterator[Any]:
        yield ev.ToolCall(call_id="native", name="write")
        yield str(bool(await ctx.permission("May I?", call_id="native", tool="write")))
        yield ev.ToolUpdate(call_id="native", status="completed")

    async with session_for(work) as session:
        events = await collect(session, "go", choosing(session, "allow_always"))
        assert text_of(events) == "True"
        assert [call.name for call in only(events, ev.ToolCall)] == ["write"]
        assert only(await collect(session, "go"), ev.Asked) == []


def test_a_decision_is_true_when_the_call_may_run() -> None:
    assert Decision(allowed=True, call_id="c")
    assert not Decision(allowed=False, call_id="c")


# -- other questions ---------------------------------------------------------------------------------

FIELDS = {"name": {"type": "string"}}


async def fill_in(prompt: Prompt, ctx: TurnContext) -> str:
    return str(await ctx.form("Who are you?", FIELDS))


async def visit(prompt: Prompt, ctx: TurnContext) -> str:
    return str(await ctx.link("Log in", "https://example.org/login"))


async def call_client(prompt: Prompt, ctx: TurnContext) -> str:
    return str(await ctx.client_call("pick_colour", {"from": ["red"]}))


ACCEPTED: dict[str, Any] = {"outcome": "accepted", "content": {"name": "Ann"}}
DECLINED: dict[str, Any] = {"outcome": "declined", "reason": "not now"}


@pytest.mark.parametrize(
    ("function", "fields", "expected"),
    [
        (fill_in, ACCEPTED, "{'name': 'Ann'}"),
        (fill_in, DECLINED, "None"),
        (visit, {"outcome": "accepted"}, "True"),
        (visit, DECLINED, "False"),
        (call_client, ACCEPTED, "{'name': 'Ann'}"),
        (call_client, DECLINED, "None"),
    ],
)
async def test_forms_links_and_client_calls_give_what_the_person_answers(
    function: Callable[..., Any], fields: dict[str, Any], expected: str
) -> None:
    assert text_of(await run(function, **fields)) == expected


async def test_a_form_may_be_a_whole_schema_or_just_its_fields() -> None:
    whole = {"type": "object", "properties": FIELDS, "required": ["name"]}

    async def ask(ctx: TurnContext) -> None:
        await ctx.form("Fields?", FIELDS)
        await ctx.form("Schema?", whole)

    asked = only(await run(ask, **ACCEPTED), ev.Asked)
    assert [a.question for a in asked] == [
        Form(message="Fields?", fields={"type": "object", "properties": FIELDS}),
        Form(message="Schema?", fields=whole),
    ]


async def test_questions_say_what_they_are_about() -> None:
    async def ask(ctx: TurnContext) -> None:
        await ctx.link("Log in", "https://example.org")
        await ctx.client_call("pick", 1)

    events = await run(ask, **DECLINED)
    link, call = (asked.question for asked in only(events, ev.Asked))
    assert link == Link(message="Log in", url="https://example.org")
    assert isinstance(call, ClientCall)
    assert (call.name, call.input, call.call_id) == ("pick", 1, only(events, ev.ToolCall)[0].call_id)
    assert statuses(events) == [("failed", "not now")]


async def test_a_client_call_that_was_run_is_completed_with_its_result() -> None:
    events = await run(call_client, outcome="accepted", content=["red"])
    (call,) = fold(events).calls.values()
    assert (call.status, call.raw_output, call.input) == ("completed", ["red"], {"from": ["red"]})


async def test_a_question_carries_its_key_its_group_and_its_lane() -> None:
    async def ask(ctx: TurnContext) -> None:
        ctx.emit(ev.SubagentStarted(lane="sub", name="helper"))
        await ctx.ask(Link(url="x"), durable_key="k", group="g", expires_in=60, lane="sub")
        ctx.emit(ev.SubagentFinished(lane="sub"))
        await ctx.permission("May I?", tool="t", durable_key="k2", group="g2")

    async with session_for(ask) as session:

        async def reply(asked: ev.Asked) -> None:
            kind = "allow_once" if isinstance(asked.question, Permission) else None
            outcome: Any = "selected" if kind else "accepted"
            await session.answer(Answer(question_id=asked.question_id, option_id=kind, outcome=outcome))

        events = await collect(session, "go", {ev.Asked: reply})
    asked = only(events, ev.Asked)
    assert [(a.durable_key, a.group, a.lane) for a in asked] == [("k", "g", "sub"), ("k2", "g2", None)]
    assert asked[0].expires_at is not None
    assert asked[1].expires_at is not None
    assert asked[0].expires_at < asked[1].expires_at
    assert len({a.question_id for a in asked}) == 2


async def test_an_agent_can_say_that_its_framework_stopped() -> None:
    async def ask(ctx: TurnContext) -> str:
        asking = asyncio.ensure_future(ctx.form("Who?", FIELDS))
        await asyncio.sleep(0)
        ctx.suspend()
        return str(await asking)

    async with session_for(ask, suspend_after=60.0) as session:

        async def reply(suspended: ev.TurnSuspended) -> None:
            (question_id,) = suspended.question_ids
            await session.answer(Answer(question_id=question_id, **ACCEPTED))

        events = await collect(session, "go", {ev.TurnSuspended: reply})
    assert text_of(events) == "{'name': 'Ann'}"


async def test_a_question_goes_with_its_turn() -> None:
    seen: dict[str, str] = {}

    async def ask_here(ctx: TurnContext, where: str) -> None:
        try:
            async with ctx.tool(where):
                await ctx.form(where, FIELDS)
        except (TurnCancelled, asyncio.CancelledError) as error:
            seen[where] = type(error).__name__
            raise

    def ask_in_thread(ctx: TurnContext) -> None:
        try:
            ctx.wait(ctx.form("thread", FIELDS))
        except TurnCancelled as error:
            seen["thread"] = type(error).__name__

    async def ask(ctx: TurnContext) -> None:
        threading.Thread(target=ask_in_thread, args=(ctx,)).start()
        beside = asyncio.ensure_future(ask_here(ctx, "beside"))
        try:
            await ask_here(ctx, "turn")
        finally:
            await asyncio.wait({beside})
            beside.exception()

    async with session_for(ask) as session:
        await session.prompt("go")
        await until(lambda: len(session.open_questions) == 3)
        await soon(session.cancel())
        await until(lambda: len(seen) == 3)
        events = await events_of(session)
    assert seen == {"turn": "CancelledError", "beside": "TurnCancelled", "thread": "TurnCancelled"}
    assert {answered.outcome for answered in only(events, ev.Answered)} == {"cancelled"}
    assert {call.status for call in fold(events).calls.values()} == {"cancelled"}


# -- waiting from a thread ---------------------------------------------------------------------------


async def test_wait_gives_results_and_errors_to_the_thread() -> None:
    async def fail() -> None:
        raise KeyError("x")

    def work(ctx: TurnContext) -> str:
        with pytest.raises(KeyError):
            ctx.wait(fail())
        return ctx.wait(asyncio.sleep(0, "slept"))

    assert text_of(await run(work)) == "slept"


async def test_wait_in_async_code_is_refused_instead_of_hanging() -> None:
    async def work(ctx: TurnContext) -> str:
        with pytest.raises(RuntimeError, match="write await instead"):
            ctx.wait(asyncio.sleep(0))
        future = asyncio.get_running_loop().create_future()
        with pytest.raises(RuntimeError, match="write await instead"):
            ctx.wait(future)
        return "still alive"

    assert text_of(await run(work)) == "still alive"


async def test_wait_for_something_that_is_cancelled_is_a_cancelled_turn_for_the_thread() -> None:
    async def vanish() -> None:
        raise asyncio.CancelledError

    def work(ctx: TurnContext) -> str:
        with pytest.raises(TurnCancelled, match="was cancelled"):
            ctx.wait(vanish())
        return "ok"

    assert text_of(await run(work)) == "ok"


# -- shared state ------------------------------------------------------------------------------------


def change_in_thread(ctx: TurnContext) -> str:
    """Change the state in every way."""
    shared = ctx.state
    shared.update(count=1)
    shared.update(count=1)
    shared.update(count=2, name="x")
    shared.patch([{"op": "add", "path": "/list", "value": [1]}])
    with pytest.raises(PatchError):
        shared.patch([{"op": "replace", "path": "/missing", "value": 1}])
    before = f"{shared.value}"
    shared.replace([1, 2])
    shared.update(fresh=True)
    return before


async def change_in_the_loop(ctx: TurnContext) -> str:
    return change_in_thread(ctx)


@pytest.mark.parametrize("function", [change_in_the_loop, change_in_thread])
async def test_state_is_shared_as_it_changes_and_only_as_it_changes(function: Callable[..., Any]) -> None:
    async with session_for(function) as session:
        events = await collect(session, "go")
        assert session.view.state == {"fresh": True}
    assert text_of(events) == "{'count': 2, 'name': 'x', 'list': [1]}"
    changes = [event for event in events if isinstance(event, ev.StateReplaced | ev.StatePatched)]
    assert [event.state if isinstance(event, ev.StateReplaced) else event.patch for event in changes] == [
        {"count": 1},
        ({"op": "replace", "path": "/count", "value": 2}, {"op": "add", "path": "/name", "value": "x"}),
        ({"op": "add", "path": "/list", "value": [1]},),
        [1, 2],
        {"fresh": True},
    ]
    assert fold(events).state == {"fresh": True}


async def test_state_that_an_agent_changes_in_place_is_emitted_as_it_was() -> None:
    async def work(ctx: TurnContext) -> None:
        mine: dict[str, Any] = {"box": {"n": 0}, "list": (1, 2)}
        ctx.state.replace(mine)
        mine["box"]["n"] = 9
        box = ctx.state.value["box"]
        box["n"] += 1
        ctx.state.update(box=box)
        box["n"] += 1
        ctx.state.update(box=box)
        ctx.session.state["box"]["n"] = 99
        ctx.state.update(box={"n": True})
        ctx.state.update(box={"n": 1})

    events = await run_turn(work)
    changes = [
        end for end, one in enumerate(events, 1) if isinstance(one, ev.StateReplaced | ev.StatePatched)
    ]
    states = [fold(events[:end]).state for end in changes]
    assert [state["box"]["n"] for state in states] == [0, 1, 2, True, 1]
    assert states[-1]["list"] == [1, 2]


async def test_state_outlives_its_turn_and_its_process(journal: MemoryJournal) -> None:
    async def count(ctx: TurnContext) -> str:
        ctx.state.update(count=(ctx.state.value or {"count": 0})["count"] + 1)
        return str(ctx.state.value["count"])

    async with session_for(count, journal=journal) as session:
        assert [text_of(await collect(session, "go")) for _ in range(2)] == ["1", "2"]
    async with hub_for(count, journal=journal) as hub:
        assert text_of(await collect(await hub.session(session.session_id), "go")) == "3"


# -- looking around ----------------------------------------------------------------------------------


async def test_history_is_what_came_before_this_turn() -> None:
    async def recall(prompt: Prompt, ctx: TurnContext) -> str:
        return "|".join(message.text for message in (await ctx.history()).messages)

    async with session_for(recall) as session:
        assert text_of(await collect(session, "one")) == ""
        assert text_of(await collect(session, "two")) == "one"
        assert text_of(await collect(session, "three")) == "one|two|one"


async def test_files_and_terminals_work_in_the_sessions_folder_and_nowhere_else(tmp_path: Path) -> None:
    inside, extra, outside = tmp_path / "in", tmp_path / "extra", tmp_path / "out"
    for folder in (inside, extra, outside):
        folder.mkdir()
    (outside / "secret.txt").write_text("secret")

    async def work(ctx: TurnContext) -> AsyncIterator[str]:
        await ctx.files.write("note.txt", "one\ntwo\n")
        await ctx.files.write(str(extra / "more.txt"), "more")
        yield await ctx.files.read("note.txt", line=2)
        for path in ("../out/secret.txt", str(outside / "secret.txt")):
            with pytest.raises(OutsideRoots):
                await ctx.files.read(path)
        terminal = await ctx.terminals.create(["cat", "note.txt"])
        await soon(terminal.wait())
        yield terminal.output().text
        await terminal.release()

    async with hub_for(work) as hub:
        session = await hub.create(cwd=str(inside), roots=[str(extra)])
        assert text_of(await collect(session, "go")) == "two\none\ntwo\n"
    assert (inside / "note.txt").read_text() == "one\ntwo\n"
    assert (extra / "more.txt").read_text() == "more"


async def test_terminals_left_open_end_with_their_session(tmp_path: Path) -> None:
    started: list[Any] = []

    async def work(ctx: TurnContext) -> None:
        started.append(await ctx.terminals.create(["sleep", "600"]))

    async with hub_for(work) as hub:
        session = await hub.create(cwd=str(tmp_path))
        await collect(session, "go")
    assert (await soon(started[0].wait())).signal is not None


async def test_a_session_shows_its_options_folders_and_place_for_the_agents_own_things(
    tmp_path: Path,
) -> None:
    view = SessionView(
        session_id="s",
        cwd=str(tmp_path),
        roots=["/r"],
        mcp_servers=[{"name": "m"}],
        client={"name": "editor"},
    )
    assert (view.folders, view.mode, view.config) == ((str(tmp_path), "/r"), None, {})
    assert (view.mcp_servers, view.client, view.meta) == (({"name": "m"},), {"name": "editor"}, {})
    choices = (Choice(value="ask", name="Ask"),)
    view.options = (
        ConfigOption(option_id="loud", name="Loud", value=True),
        ConfigOption(option_id="m", name="Mode", value="ask", category="mode", choices=choices),
    )
    assert (view.mode, view.config) == ("ask", {"loud": True, "m": "ask"})
    assert SessionView(session_id="s").folders == ()
    view.memory["mine"] = 1


async def test_text_of_a_named_message_is_emitted_from_any_thread() -> None:
    async def named(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        ctx.emit_text("one ", "m")
        await asyncio.to_thread(ctx.emit_text, "two \ud800", "m")
        yield "three"

    async with hub_for(named) as hub:
        events = only(await collect(await hub.create(), "go"), ev.Text)
    assert [(event.message_id, event.delta) for event in events[:2]] == [
        ("m", "one "),
        ("m", "two \N{REPLACEMENT CHARACTER}"),
    ]
    assert events[2].message_id != "m"


async def test_a_session_that_moves_has_the_files_of_its_new_folder(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "name.txt").write_text(name)
    view = SessionView(session_id="s", cwd=str(tmp_path / "old"), mcp_servers=[{"name": "m"}])
    assert await view.files.read("name.txt") == "old"
    view.move(str(tmp_path / "new"), [str(tmp_path)], [])
    assert await view.files.read("name.txt") == "new"
    assert (view.folders, view.mcp_servers) == ((str(tmp_path / "new"), str(tmp_path)), ())


async def test_an_editor_may_bring_its_own_files_and_terminals(tmp_path: Path) -> None:
    view = SessionView(session_id="s")
    files, terminals = Files([tmp_path]), Terminals([tmp_path])
    view.files, view.terminals = files, terminals
    assert (view.files, view.terminals) == (files, terminals)
    await view.close()
    await SessionView(session_id="unused").close()


async def test_a_permission_about_a_call_that_is_shown_shows_what_it_asks_for() -> None:
    asked_for = {"command": "rm -rf build"}
    at_the_question: list[Any] = []

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        async with ctx.tool("run", input={"command": "ls"}, kind="execute") as shown:
            await ctx.permission("Run?", call_id=shown.call_id, kind="execute", input=asked_for, paths=["b"])
        yield "done"

    async with session_for(agent) as session:

        async def reply(asked: ev.Asked) -> None:
            (card,) = fold(await events_of(session)).calls.values()
            at_the_question.append((card.input, [location.path for location in card.locations]))
            await session.answer(Answer(question_id=asked.question_id, option_id="allow_once"))

        await collect(session, "go", {ev.Asked: reply})
    assert at_the_question == [(asked_for, ["b"])]


@pytest.mark.parametrize("verb", ["permission", "form", "link"])
async def test_a_question_that_is_not_awaited_is_no_yes(verb: str) -> None:
    questions: dict[str, Callable[[TurnContext], object]] = {
        "permission": lambda ctx: ctx.permission("Delete everything?", tool="rm"),
        "form": lambda ctx: ctx.form("How many?", {"n": {"type": "integer"}}),
        "link": lambda ctx: ctx.link("Look", "https://example.org"),
    }

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "deleted" if questions[verb](ctx) else "kept"

    events = await run_turn(agent)
    (failed,) = only(events, ev.TurnFailed)
    assert f"write `await ctx.{verb}(...)`" in failed.message
    assert text_of(events) == ""


async def test_a_yielded_call_joins_the_message_of_the_text_before_it() -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        yield ev.ToolCall(call_id="first", name="look")
        yield "I read it. "
        yield ev.ToolCall(call_id="second", name="read")
        yield ev.ToolCall(call_id="third", name="read")
        yield ev.ToolCall(call_id="lane", name="read", lane="sub")
        yield ev.ToolCall(call_id="own", name="read", message_id="mine")
        yield "Done."

    conversation = fold(await run(agent))
    [asked, said, own, done] = conversation.messages
    calls = conversation.calls
    loose = conversation.calls_without_message()
    assert [one.call_id for one in loose[asked.message_id]] == ["first"]
    assert (calls["second"].message_id, calls["third"].message_id) == (said.message_id, said.message_id)
    assert (calls["lane"].message_id, calls["own"].message_id) == (None, "mine")
    assert (said.text, own.message_id, done.text) == ("I read it. ", "mine", "Done.")
