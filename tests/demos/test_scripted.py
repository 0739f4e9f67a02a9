"""The scripted agent: each scenario is legal, means what it says, and says the same every time.

The transcripts are in tests/transcripts. TRUNKLINE_UPDATE_TRANSCRIPTS=1 writes them anew.
"""

import json
import os
from pathlib import Path

import pytest
from tests.demos.scenario_runs import answer_of, meaning, on_a_hub, play
from tests.grammar.legality import breaches

from trunkline import events as ev
from trunkline.agents.interface import Agent, Authenticates, OpensSessions
from trunkline.commands import Prompt
from trunkline.content import ImageBlock, LinkBlock, TextBlock
from trunkline.conversation import TextPart, ThoughtPart
from trunkline.demos.scenarios import SCENARIOS
from trunkline.errors import AuthenticationRequired, InvalidCommand
from trunkline.folding import fold
from trunkline.grammar import Grammar
from trunkline.session.hub import Hub
from trunkline.testing import ScriptedAgent, normalize, run_prompt

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"
UPDATE = bool(os.environ.get("TRUNKLINE_UPDATE_TRANSCRIPTS"))
NAMES = [
    "text", "thoughts", "tools", "parallel-tools", "diff", "terminal", "permission", "permission-twice",
    "edit", "form", "link", "plan", "modes", "subagents", "media", "sources", "state", "activity",
    "client-tool", "long", "slow", "wait-for-cancel", "fails", "raises", "breaks-grammar", "compaction",
    "notice",
]  # fmt: skip
FAILING = {"fails", "raises"}


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
    folded = fold(events)
    assert folded.turns[-1].status == ("failed" if name in FAILING else "finished")

    lines = [json.dumps(line, ensure_ascii=False) for line in normalize(events)]
    path = TRANSCRIPTS / f"{name}.jsonl"
    if UPDATE:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", sorted(set(NAMES) - FAILING - {"wait-for-cancel", "breaks-grammar"}))
async def test_an_ordinary_turn_is_titled_and_accounted_for(name: str) -> None:
    folded = fold(await play(name))

    assert folded.title == f"Demo: {name}"
    assert folded.turns[-1].stop_reason == "end_turn"
    (usage,) = folded.turns[-1].usage
    assert (usage.provider, usage.model) == ("demo", "demo-small")
    assert usage.input_tokens >= 1
    assert folded.usage is not None
    assert 0 < folded.usage.used <= folded.usage.size


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


# -- sessions --------------------------------------------------------------------------------------


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


async def test_thinking_aloud_is_a_switch() -> None:
    async def work(hub: Hub, agent: ScriptedAgent) -> None:
        session = await hub.create()
        await session.set_config("think_aloud", True)
        folded = fold([event async for event in session.stream("hello")])
        assert [type(part) for part in folded.messages[-1].parts] == [ThoughtPart, TextPart]

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
