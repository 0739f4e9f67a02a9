"""Scenarios that talk."""

import pytest
from tests.demos.scenario_runs import answer_of, is_waiting, meaning, on_a_hub

from trunkline import events as ev
from trunkline.content import ResourceBlock
from trunkline.conversation import MediaPart, SourcePart, TextPart, ThoughtPart
from trunkline.folding import fold
from trunkline.session.hub import Hub
from trunkline.testing import ScriptedAgent


async def test_text_and_thoughts_are_parts_of_one_message() -> None:
    output = await meaning("/text")
    assert "Καλημέρα" in answer_of(output)

    output = await meaning("/thoughts")
    thought, text = output.messages[-1].parts
    assert isinstance(thought, ThoughtPart)
    assert isinstance(text, TextPart)
    assert thought.signature == "demo-signature"


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


@pytest.mark.parametrize(("argument", "count"), [("7", 7), ("", 20_000), ("many", 20_000)])
async def test_a_long_answer_has_as_many_pieces_as_asked_for(argument: str, count: int) -> None:
    assert answer_of(await meaning(f"/long {argument}")).split() == [str(n + 1) for n in range(count)]


@pytest.mark.parametrize(("argument", "steps"), [("3 0", 3), ("2 -1", 2), ("1 soon", 1)])
async def test_slow_steps_are_started_and_finished(argument: str, steps: int) -> None:
    output = await meaning(f"/slow {argument}")
    assert output.steps == {f"step{number + 1}": True for number in range(steps)}


async def test_a_cancelled_wait_is_cleaned_up_and_the_session_goes_on() -> None:
    async def work(hub: Hub, agent: ScriptedAgent) -> None:
        session = await hub.create()
        events: list[ev.AnyEvent] = []
        async for event in session.stream("/wait-for-cancel"):
            events.append(event)
            if is_waiting(event):
                await session.cancel()
        assert session.view.memory["cleanups"] == [events[-1].turn_id]
        folded = fold(events)
        assert folded.turns[-1].stop_reason == "cancelled"
        assert [call.status for call in folded.calls.values()] == ["cancelled"]
        assert answer_of(fold([event async for event in session.stream("again")])) == "again"

    await on_a_hub(work)
