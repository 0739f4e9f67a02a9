"""The scripted agent: each scenario is legal, means what it says, and says the same every time.

The transcripts are in tests/transcripts. TRUNKLINE_UPDATE_TRANSCRIPTS=1 writes them anew.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from tests.grammar.legality import breaches

from trunkline import events as ev
from trunkline.agents.interface import Agent, Authenticates, OpensSessions
from trunkline.commands import Answer, Prompt
from trunkline.content import DiffBlock, ImageBlock, LinkBlock, ResourceBlock, TerminalBlock, TextBlock
from trunkline.conversation import Conversation, MediaPart, SourcePart, TextPart, ThoughtPart
from trunkline.demos.scenarios import SCENARIOS
from trunkline.errors import AuthenticationRequired, InvalidCommand
from trunkline.folding import fold
from trunkline.grammar import Grammar
from trunkline.grammar.table import RULES
from trunkline.journal.memory import MemoryJournal
from trunkline.session.hub import Hub
from trunkline.testing import Answers, ScriptedAgent, accept_all, normalize, refuse_all, run_prompt

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"
UPDATE = bool(os.environ.get("TRUNKLINE_UPDATE_TRANSCRIPTS"))
NAMES = [
    "text", "thoughts", "tools", "parallel-tools", "diff", "terminal", "permission", "permission-twice",
    "edit", "form", "link", "plan", "modes", "subagents", "media", "sources", "state", "activity",
    "client-tool", "long", "slow", "wait-for-cancel", "fails", "raises", "breaks-grammar", "compaction",
    "notice",
]  # fmt: skip
ARGUMENTS = {"long": " 25", "slow": " 3 0"}
FAILING = {"fails", "raises"}


def is_waiting(event: ev.AnyEvent) -> bool:
    return isinstance(event, ev.ToolUpdate) and event.status == "in_progress"


async def play(name: str) -> list[ev.AnyEvent]:
    cancel_on = is_waiting if name == "wait-for-cancel" else None
    return await run_prompt(ScriptedAgent(), f"/{name}{ARGUMENTS.get(name, '')}", cancel_on=cancel_on)


async def meaning(prompt: str, *, cwd: str | None = None, answers: Answers = accept_all) -> Conversation:
    return fold(await run_prompt(ScriptedAgent(), prompt, cwd=cwd, answers=answers))


def answer_of(told: Conversation) -> str:
    return "".join(m.text for m in told.messages if m.role == "agent" and m.lane is None)


# -- every scenario --------------------------------------------------------------------------------


def test_the_scenarios_are_those_that_front_ends_rely_on() -> None:
    assert list(SCENARIOS) == NAMES
    commands = ScriptedAgent().card.commands
    assert [command.name for command in commands] == NAMES
    assert all(command.description for command in commands)


@pytest.mark.parametrize("name", NAMES)
async def test_a_scenario_is_legal_and_says_the_same_every_time(name: str) -> None:
    events = await play(name)

    assert breaches(list(events), ended=True) == []
    grammar = Grammar("demo")
    assert [out for event in events for out in grammar.feed(event)] == events
    assert grammar.violations == []
    told = fold(events)
    assert told.turns[-1].status == ("failed" if name in FAILING else "finished")

    lines = [json.dumps(line, ensure_ascii=False) for line in normalize(events)]
    path = TRANSCRIPTS / f"{name}.jsonl"
    if UPDATE:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", sorted(set(NAMES) - FAILING - {"wait-for-cancel", "breaks-grammar"}))
async def test_an_ordinary_turn_is_titled_and_accounted_for(name: str) -> None:
    told = fold(await play(name))

    assert told.title == f"Demo: {name}"
    assert told.turns[-1].stop_reason == "end_turn"
    (usage,) = told.turns[-1].usage
    assert (usage.provider, usage.model) == ("demo", "demo-small")
    assert usage.input_tokens >= 1
    assert told.usage is not None
    assert 0 < told.usage.used <= told.usage.size


def test_no_transcript_is_left_of_a_scenario_that_is_gone() -> None:
    assert sorted(path.stem for path in TRANSCRIPTS.glob("*.jsonl")) == sorted(NAMES)


# -- the card --------------------------------------------------------------------------------------


def test_the_card_shows_every_kind_of_option_and_prompt() -> None:
    agent = ScriptedAgent()
    card = agent.card

    assert isinstance(agent, Agent)
    assert isinstance(agent, OpensSessions)
    assert isinstance(agent, Authenticates)
    assert card.name == "demo"
    assert (card.prompt.image, card.prompt.audio, card.prompt.embedded_context) == (True, True, True)
    mode, model, switch = card.options
    assert mode.category == "mode"
    assert {"ask", "code", "plan"} <= set(mode.values())
    assert model.category == "model"
    assert len(model.groups) == 2
    assert switch.is_switch
    assert card.auth_methods == ()


# -- echoing ---------------------------------------------------------------------------------------


async def test_anything_else_is_echoed_word_by_word() -> None:
    events = await run_prompt(ScriptedAgent(), "one  two\nthree")

    assert [event.delta for event in events if isinstance(event, ev.Text)] == ["one  ", "two\n", "three"]
    assert fold(events).title == "one  two"


@pytest.mark.parametrize("prompt", ["/no-such-scenario x", "/", "tools"])
async def test_a_command_nobody_knows_is_echoed_too(prompt: str) -> None:
    assert answer_of(await meaning(prompt)) == prompt


async def test_an_empty_prompt_gets_a_hint() -> None:
    assert "/tools" in answer_of(await meaning(" "))


async def test_an_attachment_is_mentioned() -> None:
    image = ImageBlock(mime_type="image/png", data="aGk=")
    link = LinkBlock(uri="file:///a.txt", name="a")
    both = Prompt.of([TextBlock(text="look"), image, link])

    assert answer_of(fold(await run_prompt(ScriptedAgent(), both))) == (
        "look [image image/png] [link file:///a.txt]"
    )
    assert answer_of(fold(await run_prompt(ScriptedAgent(), Prompt.of(image)))) == " [image image/png]"


# -- what the scenarios mean -----------------------------------------------------------------------


async def test_text_and_thoughts_are_parts_of_one_message() -> None:
    told = await meaning("/text")
    assert "Καλημέρα" in answer_of(told)

    told = await meaning("/thoughts")
    thought, text = told.messages[-1].parts
    assert isinstance(thought, ThoughtPart)
    assert isinstance(text, TextPart)
    assert thought.signature == "demo-signature"


async def test_a_tool_call_streams_its_arguments_and_gives_a_result() -> None:
    told = await meaning("/tools")

    (call,) = told.calls.values()
    assert json.loads(call.arguments) == call.input == {"query": "trunkline", "limit": 2}
    assert call.status == "completed"
    assert call.output == "notes/design.md\nnotes/names.md\n"
    assert call.raw_output == {"hits": ["notes/design.md", "notes/names.md"]}
    assert call.result_message_id is not None
    assert call.result_message_id.endswith(".result1")
    assert [m.role for m in told.messages] == ["user", "agent", "agent"]


async def test_parallel_calls_end_in_the_other_order_and_one_fails() -> None:
    events = await play("parallel-tools")
    paris, oslo = fold(events).calls.values()

    inputs = [event.call_id for event in events if isinstance(event, ev.ToolInput)]
    assert inputs == [paris.call_id, oslo.call_id] * 2
    ended = [e.call_id for e in events if isinstance(e, ev.ToolUpdate) and e.status in ev.FINAL_STATUSES]
    assert ended == [oslo.call_id, paris.call_id]
    assert (paris.status, oslo.status) == ("failed", "completed")
    assert (json.loads(paris.arguments), json.loads(oslo.arguments)) == ({"city": "Paris"}, {"city": "Oslo"})


async def test_a_diff_has_both_sides_and_a_place(tmp_path: Path) -> None:
    (call,) = (await meaning("/diff", cwd=str(tmp_path))).calls.values()

    (block,) = call.content
    assert isinstance(block, DiffBlock)
    assert block.path == str(tmp_path / "greeting.py")
    assert block.old != block.new
    assert call.kind == "edit"
    assert call.locations == (ev.Location(path=block.path, line=2),)
    assert os.listdir(tmp_path) == []


async def test_a_terminal_really_runs_where_there_is_a_folder(tmp_path: Path) -> None:
    told = await meaning("/terminal", cwd=str(tmp_path))

    (call,) = told.calls.values()
    (block,) = call.content
    assert isinstance(block, TerminalBlock)
    assert block.terminal_id.startswith("term_")
    shown = told.terminals[block.terminal_id]
    assert shown.data.split() == ["line", "1", "line", "2", "line", "3"]
    assert (shown.exited, shown.exit_code) == (True, 0)
    assert call.raw_output == {"exit_code": 0}


async def test_an_allowed_permission_writes_the_file(tmp_path: Path) -> None:
    told = await meaning("/permission", cwd=str(tmp_path))

    assert (tmp_path / "hello.txt").read_text() == "hello\n"
    (call,) = told.calls.values()
    assert call.status == "completed"
    assert call.kind == "edit"


async def test_a_refused_permission_writes_nothing(tmp_path: Path) -> None:
    told = await meaning("/permission", cwd=str(tmp_path), answers=refuse_all)

    assert os.listdir(tmp_path) == []
    (call,) = told.calls.values()
    assert call.status == "denied"
    assert "Nothing was written" in answer_of(told)


async def test_edited_arguments_are_used(tmp_path: Path) -> None:
    edited = {"path": "other.txt", "content": "bye\n"}

    def edit(asked: ev.Asked) -> Answer:
        return msgspec.structs.replace(accept_all(asked), input=edited)

    told = await meaning("/edit", cwd=str(tmp_path), answers=edit)

    assert (tmp_path / "other.txt").read_text() == "bye\n"
    (call,) = told.calls.values()
    assert call.input == edited


async def test_two_permissions_are_open_at_once_as_a_group() -> None:
    events = await play("permission-twice")

    kinds = [type(event) for event in events if isinstance(event, ev.Asked | ev.Answered)]
    assert kinds == [ev.Asked, ev.Asked, ev.Answered, ev.Answered]
    assert len({event.group for event in events if isinstance(event, ev.Asked)}) == 1
    assert answer_of(fold(events)) == "read_notes: allowed, send_report: allowed"
    refused = fold(await run_prompt(ScriptedAgent(), "/permission-twice", answers=refuse_all))
    assert {call.status for call in refused.calls.values()} == {"denied"}


@pytest.mark.parametrize(
    ("name", "accepted", "declined"),
    [
        ("form", '"colour": "red"', "No order"),
        ("link", "is confirmed", "was not confirmed"),
        ("client-tool", '{"ok": true}', "gave nothing"),
    ],
)
async def test_a_question_is_answered_either_way(name: str, accepted: str, declined: str) -> None:
    assert accepted in answer_of(await meaning(f"/{name}"))
    assert declined in answer_of(await meaning(f"/{name}", answers=refuse_all))


async def test_a_client_tool_is_one_the_front_end_offers() -> None:
    prompt = Prompt.of("/client-tool", tools=({"name": "open_door"},))
    (call,) = fold(await run_prompt(ScriptedAgent(), prompt)).calls.values()

    assert (call.name, call.status, call.raw_output) == ("open_door", "completed", {"ok": True})


async def test_a_plan_goes_through_three_states() -> None:
    plans = [event for event in await play("plan") if isinstance(event, ev.Plan)]

    assert [[entry.status[:2] for entry in plan.entries] for plan in plans] == [
        ["in", "pe", "pe"], ["co", "in", "pe"], ["co", "co", "co"],
    ]  # fmt: skip


async def test_subagents_are_nested_and_bring_their_own_calls() -> None:
    told = await meaning("/subagents")

    outer, inner = told.lanes.values()
    assert (outer.name, inner.name) == ("researcher", "checker")
    assert inner.parent_lane == next(iter(told.lanes))
    assert {lane.outcome for lane in told.lanes.values()} == {"completed"}
    assert [call.lane for call in told.calls.values()] == [None, inner.parent_lane, inner.parent_lane]
    assert outer.parent_call_id in told.calls
    assert answer_of(told) == "The tower is 330 metres high."


async def test_media_and_sources_are_parts_of_the_answer() -> None:
    parts = (await meaning("/media")).messages[-1].parts
    blocks = [part.content for part in parts if isinstance(part, MediaPart)]
    assert [type(block).__name__ for block in blocks] == [
        "ImageBlock", "AudioBlock", "LinkBlock", "ResourceBlock",
    ]  # fmt: skip
    assert isinstance(blocks[-1], ResourceBlock)

    parts = (await meaning("/sources")).messages[-1].parts
    web, book = (part for part in parts if isinstance(part, SourcePart))
    assert web.url
    assert book.document == "physics.pdf"


async def test_state_activity_compaction_and_notices_arrive() -> None:
    assert (await meaning("/state")).state == {"counter": 1, "items": ["first"], "done": True}
    assert list((await meaning("/activity")).activities.values()) == [{"title": "Copying files", "done": 100}]
    (compaction,) = (await meaning("/compaction")).compactions.values()
    assert (compaction.status, bool(compaction.summary)) == ("completed", True)
    notices = (await meaning("/notice")).notices
    assert [notice.severity for notice in notices] == ["info", "warning", "error"]


@pytest.mark.parametrize(("argument", "count"), [("7", 7), ("", 20_000), ("many", 20_000)])
async def test_a_long_answer_has_as_many_pieces_as_asked_for(argument: str, count: int) -> None:
    assert answer_of(await meaning(f"/long {argument}")).split() == [str(n + 1) for n in range(count)]


@pytest.mark.parametrize(("argument", "steps"), [("3 0", 3), ("2 -1", 2), ("1 soon", 1)])
async def test_slow_steps_are_started_and_finished(argument: str, steps: int) -> None:
    told = await meaning(f"/slow {argument}")
    assert told.steps == {f"step{number + 1}": True for number in range(steps)}


async def test_failures_keep_what_was_said_and_name_the_cause() -> None:
    told = await meaning("/fails")
    assert answer_of(told) == "This goes well until "
    assert (told.turns[-1].code, told.turns[-1].fault) == ("agent_failed", "agent")
    assert "on purpose" in (told.turns[-1].message or "")

    told = await meaning("/raises")
    assert (told.turns[-1].message or "").startswith("RuntimeError:")
    assert [call.status for call in told.calls.values()] == ["failed"]


async def test_every_rule_can_be_broken_and_is_reported() -> None:
    told = await meaning("/breaks-grammar")

    broken = {notice.meta["rule"] for notice in told.notices if notice.meta is not None}
    assert broken == set(RULES) - {"ended-call"}, "that one takes an earlier turn"
    assert told.turns[-1].stop_reason == "end_turn"
    assert answer_of(told) == "I never learned the rules. But I mean well."


# -- sessions --------------------------------------------------------------------------------------


async def on_a_hub(
    work: Callable[[Hub, ScriptedAgent], Awaitable[None]], *, authentication: bool = False
) -> None:
    agent, journal = ScriptedAgent(authentication), MemoryJournal()
    await journal.open()
    try:
        async with asyncio.timeout(20), Hub(agent, journal) as hub:
            await work(hub, agent)
    finally:
        await journal.close()


async def test_a_cancelled_wait_is_cleaned_up_and_the_session_goes_on() -> None:
    async def work(hub: Hub, agent: ScriptedAgent) -> None:
        session = await hub.create()
        events: list[ev.AnyEvent] = []
        async for event in session.stream("/wait-for-cancel"):
            events.append(event)
            if is_waiting(event):
                await session.cancel()
        assert session.view.memory["cleanups"] == [events[-1].turn_id]
        told = fold(events)
        assert told.turns[-1].stop_reason == "cancelled"
        assert [call.status for call in told.calls.values()] == ["cancelled"]
        assert answer_of(fold([event async for event in session.stream("again")])) == "again"

    await on_a_hub(work)


async def test_only_the_first_prompt_gives_the_title_and_usage_grows() -> None:
    async def work(hub: Hub, agent: ScriptedAgent) -> None:
        session = await hub.create()
        first = fold([event async for event in session.stream("hello there")])
        second = fold([event async for event in session.stream("/plan")])
        assert (first.title, second.title) == ("hello there", None)
        assert first.usage is not None
        assert second.usage is not None
        assert second.usage.used > first.usage.used

    await on_a_hub(work)


async def test_modes_say_the_mode_and_change_it() -> None:
    async def work(hub: Hub, agent: ScriptedAgent) -> None:
        session = await hub.create()
        said: list[str] = []
        for prompt in ("/modes", "/modes plan", "/modes nonsense"):
            said.append(answer_of(fold([event async for event in session.stream(prompt)])))
        assert said == [
            "The mode is ask. Now it is code.",
            "The mode is code. Now it is plan.",
            "The mode is plan. Now it is ask.",
        ]
        assert session.view.mode == "ask"

    await on_a_hub(work)


async def test_thinking_aloud_is_a_switch() -> None:
    async def work(hub: Hub, agent: ScriptedAgent) -> None:
        session = await hub.create()
        await session.set_config("think_aloud", True)
        told = fold([event async for event in session.stream("hello")])
        assert [type(part) for part in told.messages[-1].parts] == [ThoughtPart, TextPart]

    await on_a_hub(work)


async def test_the_demo_behind_a_login_works_after_it() -> None:
    async def work(hub: Hub, agent: ScriptedAgent) -> None:
        assert [method.kind for method in agent.card.auth_methods] == ["agent", "terminal"]
        session = await hub.create()
        with pytest.raises(AuthenticationRequired, match="demo-login"):
            await session.prompt("hello")
        with pytest.raises(InvalidCommand, match="known methods: demo-login"):
            await agent.authenticate("demo-terminal")
        await agent.authenticate("demo-login")
        assert answer_of(fold([event async for event in session.stream("hello")])) == "hello"
        await agent.logout()
        with pytest.raises(AuthenticationRequired):
            await (await hub.create()).prompt("hello")

    await on_a_hub(work, authentication=True)


async def test_without_authentication_there_is_nothing_to_log_in_or_out_of() -> None:
    async def work(hub: Hub, agent: ScriptedAgent) -> None:
        await agent.logout()
        with pytest.raises(InvalidCommand, match="known methods: none"):
            await agent.authenticate("demo-login")
        session = await hub.create()
        assert answer_of(fold([event async for event in session.stream("hello")])) == "hello"

    await on_a_hub(work)
