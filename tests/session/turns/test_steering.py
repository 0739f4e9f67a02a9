"""Steering: a message joins the running turn, or begins the next one; never lost, never twice."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.hubs import WAIT, collect, events_of, hub_for, only, session_for, soon, text_of

from trunkline import events as ev
from trunkline.agents.adapt import adapt
from trunkline.agents.interface import AgentCard
from trunkline.commands import Cancel, DropPrompt, Prompt
from trunkline.errors import InvalidCommand, SessionBusy
from trunkline.folding import fold
from trunkline.journal.memory import MemoryJournal
from trunkline.session.context import SessionView, TurnContext
from trunkline.session.session import Session


class Steered:
    """An agent that takes messages into its turn; what it answers is the test's to say."""

    card = AgentCard(name="steered")

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.offered = asyncio.Event()
        self.takes: asyncio.Future[bool] | None = None
        """What the next message is told; None: it is taken at once."""
        self.over = asyncio.Event()

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield f"began {prompt.text}. "
        await self.over.wait()
        yield f"did {', '.join(self.taken)}."

    async def steer(self, session: SessionView, prompt: Prompt) -> bool:
        self.offered.set()
        taken = self.takes is None or await self.takes
        if taken:
            self.taken.append(prompt.text)
        return taken


def said(events: list[ev.AnyEvent]) -> list[tuple[str, str]]:
    """Who said what, in order."""
    return [(message.role, message.text) for message in fold(events).messages]


async def shown(session: Session, text: str) -> None:
    """Wait until the agent has said this."""
    async with asyncio.timeout(WAIT):
        while text not in text_of(await events_of(session)):
            await asyncio.sleep(0.001)


async def begin(session: Session, text: str = "first") -> str:
    """Start a turn, and wait until its agent works."""
    receipt = await session.prompt(Prompt.of(text))
    await shown(session, "began")
    return receipt.turn_id or ""


@pytest.fixture
def steered() -> Steered:
    return Steered()


async def end(session: Session, agent: Steered) -> list[ev.AnyEvent]:
    agent.over.set()
    await soon(session.wait_until_idle())
    return await events_of(session)


async def test_a_message_joins_the_running_turn_of_an_agent_that_takes_it(steered: Steered) -> None:
    async with session_for(steered) as session:
        turn_id = await begin(session)
        receipt = await session.prompt(Prompt.of("more", busy="steer", message_id="m-2", key="k"))
        assert (receipt.turn_id, receipt.message_id, receipt.steered) == (turn_id, "m-2", True)
        events = await end(session, steered)
        assert len(only(events, ev.TurnStarted)) == 1
        assert said(events) == [
            ("user", "first"), ("agent", "began first. "), ("user", "more"), ("agent", "did more."),
        ]  # fmt: skip


async def test_a_message_that_the_agent_does_not_take_begins_the_next_turn(steered: Steered) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    steered.takes.set_result(False)
    async with session_for(steered) as session:
        await begin(session)
        receipt = await session.prompt(Prompt.of("later", busy="steer", key="k"))
        assert (receipt.turn_id, receipt.steered) == (None, False)
        events = await end(session, steered)
        assert said(events)[-2:] == [("user", "later"), ("agent", "began later. did .")]
        assert [turn.prompt_id for turn in only(events, ev.TurnStarted)][1:] == ["k"]


async def test_without_a_running_turn_a_message_starts_one(steered: Steered) -> None:
    async with session_for(steered) as session:
        receipt = await session.prompt(Prompt.of("first", busy="steer"))
        assert receipt.turn_id is not None
        assert not receipt.steered
        assert said(await end(session, steered))[0] == ("user", "first")
        assert not steered.offered.is_set()


async def test_the_setting_of_the_session_is_enough(steered: Steered) -> None:
    async with session_for(steered, busy="steer") as session:
        await begin(session)
        assert (await session.prompt("more")).steered
        await end(session, steered)


async def test_the_same_key_is_one_message_also_while_the_agent_decides(steered: Steered) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    async with session_for(steered) as session:
        await begin(session)
        prompt = Prompt.of("more", busy="steer", key="k")
        offers = [asyncio.create_task(session.prompt(prompt)) for _ in range(3)]
        await soon(steered.offered.wait())
        steered.takes.set_result(True)
        first, *others = [await soon(offer) for offer in offers]
        assert others == [first, first]
        assert await session.prompt(prompt) == first
        await end(session, steered)
        assert steered.taken == ["more"]


async def test_the_same_key_that_is_not_taken_waits_once(steered: Steered) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    async with session_for(steered) as session:
        await begin(session)
        prompt = Prompt.of("later", busy="steer", key="k")
        offers = [asyncio.create_task(session.prompt(prompt)) for _ in range(3)]
        await soon(steered.offered.wait())
        steered.takes.set_result(False)
        assert len({(await soon(offer)).prompt_id for offer in offers}) == 1
        events = await end(session, steered)
        assert [text for role, text in said(events) if role == "user"] == ["first", "later"]


async def test_a_key_that_joined_a_turn_is_known_after_a_restart(
    steered: Steered, journal: MemoryJournal
) -> None:
    async with session_for(steered, journal=journal) as session:
        await begin(session)
        receipt = await session.prompt(Prompt.of("more", busy="steer", key="k"))
        await end(session, steered)
    async with hub_for(Steered(), journal=journal) as hub:
        again = await hub.session(session.session_id)
        assert await again.prompt(Prompt.of("more", busy="steer", key="k")) == receipt
        assert not again.busy


async def test_a_turn_does_not_end_before_the_agent_has_said_that_it_took_the_message(
    steered: Steered,
) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    async with session_for(steered, finish_grace=5.0) as session:
        await begin(session)
        offer = asyncio.create_task(session.prompt(Prompt.of("just in time", busy="steer")))
        await soon(steered.offered.wait())
        steered.over.set()
        await shown(session, "did")
        assert session.busy, "it waits for the answer"
        steered.takes.set_result(True)
        assert (await soon(offer)).steered
        events = await end(session, steered)
        kinds = [type(event) for event in events if isinstance(event, ev.UserMessage | ev.TurnFinished)]
        assert kinds == [ev.UserMessage, ev.UserMessage, ev.TurnFinished]


async def test_a_message_that_comes_too_late_begins_the_next_turn(steered: Steered) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    async with session_for(steered, finish_grace=5.0) as session:
        first_turn = await begin(session)
        offer = asyncio.create_task(session.prompt(Prompt.of("too late", busy="steer")))
        await soon(steered.offered.wait())
        steered.over.set()
        await shown(session, "did")
        steered.takes.set_result(False)
        receipt = await soon(offer)
        assert not receipt.steered
        events = await end(session, steered)
        joined = [m.turn_id for m in only(events, ev.UserMessage)]
        assert len(joined) == 2
        assert joined[1] != first_turn


async def test_an_agent_that_does_not_say_whether_it_took_a_message_ends_as_undecided(
    steered: Steered,
) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    async with session_for(steered) as session:
        await begin(session)
        offer = asyncio.create_task(session.prompt(Prompt.of("lost?", busy="steer")))
        await soon(steered.offered.wait())
        steered.over.set()
        with pytest.raises(SessionBusy, match="did not say before the turn ended"):
            await soon(offer)
        assert [text for role, text in said(await end(session, steered)) if role == "user"] == ["first"]


async def test_an_agent_that_never_says_it_is_not_waited_for_for_ever(steered: Steered) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    async with session_for(steered, command_timeout=0.05) as session:
        await begin(session)
        with pytest.raises(SessionBusy, match=r"within 0\.05 s"):
            await soon(session.prompt(Prompt.of("lost?", busy="steer")))
        await end(session, steered)


async def test_a_message_is_decided_even_if_its_sender_is_gone(steered: Steered) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    async with session_for(steered) as session:
        turn_id = await begin(session)
        prompt = Prompt.of("more", busy="steer", key="k")
        offer = asyncio.create_task(session.prompt(prompt))
        await soon(steered.offered.wait())
        offer.cancel()
        again = asyncio.create_task(session.prompt(prompt))
        steered.takes.set_result(True)
        assert (await soon(again)).turn_id == turn_id
        await end(session, steered)
        assert steered.taken == ["more"]


async def test_cancelling_the_turn_ends_it_also_while_a_message_is_offered(steered: Steered) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    async with session_for(steered) as session:
        turn_id = await begin(session)
        offer = asyncio.create_task(session.prompt(Prompt.of("more", busy="steer")))
        await soon(steered.offered.wait())
        assert await soon(session.cancel(turn_id))
        with pytest.raises(SessionBusy, match="before the turn ended"):
            await soon(offer)
        assert only(await events_of(session), ev.TurnFinished)[0].stop_reason == "cancelled"


async def test_a_message_that_the_agent_refuses_is_refused_to_its_sender(steered: Steered) -> None:
    steered.takes = asyncio.get_running_loop().create_future()
    steered.takes.set_exception(InvalidCommand("this model takes no images"))
    async with session_for(steered) as session:
        await begin(session)
        with pytest.raises(InvalidCommand, match="no images"):
            await session.prompt(Prompt.of("more", busy="steer"))
        assert [text for role, text in said(await end(session, steered)) if role == "user"] == ["first"]


async def test_a_message_id_that_is_known_already_gets_another_one(steered: Steered) -> None:
    async with session_for(steered) as session:
        await session.prompt(Prompt.of("first", message_id="m"))
        await shown(session, "began")
        receipt = await session.prompt(Prompt.of("more", busy="steer", message_id="m"))
        assert receipt.message_id not in (None, "m")
        assert [text for role, text in said(await end(session, steered)) if role == "user"] == [
            "first", "more",
        ]  # fmt: skip


async def test_the_agent_of_a_factory_is_steered() -> None:
    made: list[Steered] = []

    def make_one(session: SessionView) -> Steered:
        made.append(Steered())
        return made[-1]

    async with session_for(adapt(make_one)) as session:
        await begin(session)
        assert (await session.prompt(Prompt.of("more", busy="steer"))).steered
        await end(session, made[0])
        assert made[0].taken == ["more"]


# -- agents that look for messages themselves --------------------------------------------------------


async def look_twice(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    if prompt.text != "first":
        yield f"answer to {prompt.text}"
        return
    yield "began. "
    while not (messages := await ctx.steered()):
        await asyncio.sleep(0.001)
    yield f"also {', '.join(message.text for message in messages)}"


async def test_a_function_takes_the_messages_that_wait_for_its_turn() -> None:
    async with session_for(look_twice) as session:
        turn_id = await begin(session)
        receipt = await session.prompt(Prompt.of("more", busy="steer", key="k", message_id="m-2"))
        assert receipt.turn_id is None
        await soon(session.wait_until_idle())
        events = await events_of(session)
        assert said(events) == [
            ("user", "first"), ("agent", "began. "), ("user", "more"), ("agent", "also more"),
        ]  # fmt: skip
        assert fold(events).queued == []
        known = await session.prompt(Prompt.of("more", busy="steer", key="k"))
        assert (known.turn_id, known.message_id, known.steered) == (turn_id, "m-2", True)


async def test_a_plain_function_takes_them_too() -> None:
    def plain(prompt: Prompt, ctx: TurnContext) -> Iterator[str]:
        yield "began. "
        while not (messages := ctx.wait(ctx.steered())):
            ctx.wait(asyncio.sleep(0.001))
        yield f"also {messages[0].text}"

    async with session_for(plain) as session:
        await begin(session)
        await session.prompt(Prompt.of("more", busy="steer"))
        await soon(session.wait_until_idle())
        assert said(await events_of(session))[-1] == ("agent", "also more")


async def test_a_function_takes_no_prompt_that_is_to_wait_for_its_own_turn() -> None:
    async with session_for(look_twice) as session:
        await begin(session)
        await session.prompt(Prompt.of("own turn", busy="queue"))
        await session.prompt(Prompt.of("more", busy="steer"))
        await soon(session.wait_until_idle())
        assert said(await events_of(session))[-3:] == [
            ("agent", "also more"), ("user", "own turn"), ("agent", "answer to own turn"),
        ]  # fmt: skip


async def test_a_message_that_no_function_takes_begins_the_next_turn_and_can_be_withdrawn() -> None:
    go_on = asyncio.Event()

    async def deaf(prompt: Prompt) -> AsyncIterator[str]:
        yield f"began {prompt.text}"
        await go_on.wait()

    async with session_for(deaf) as session:
        await begin(session)
        await session.prompt(Prompt.of("second", busy="steer"))
        third = await session.prompt(Prompt.of("third", busy="steer"))
        await session.submit(DropPrompt(prompt_id=third.prompt_id))
        go_on.set()
        await soon(session.wait_until_idle())
        users = [text for role, text in said(await events_of(session)) if role == "user"]
        assert users == ["first", "second"]


async def test_a_cancelled_turn_takes_no_messages() -> None:
    taken: list[list[Prompt]] = []

    async def stubborn(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        if prompt.text == "more":
            return
        yield "began"
        try:
            await asyncio.Event().wait()
        finally:
            taken.append(await ctx.steered())

    async with session_for(stubborn) as session:
        await begin(session)
        await session.prompt(Prompt.of("more", busy="steer"))
        await session.submit(Cancel())
        await soon(session.wait_until_idle())
        assert taken == [[]]
        assert [text for role, text in said(await events_of(session)) if role == "user"] == ["first", "more"]


async def test_the_stream_of_a_message_that_joined_is_the_turn_that_took_it(steered: Steered) -> None:
    async with session_for(steered) as session:
        turn_id = await begin(session)
        collecting = asyncio.create_task(collect(session, Prompt.of("more", busy="steer")))
        await soon(steered.offered.wait())
        steered.over.set()
        events = await soon(collecting)
        assert {event.turn_id for event in events} == {turn_id}
        assert isinstance(events[-1], ev.TurnFinished)


async def test_another_process_steers_the_turn_of_the_owner(steered: Steered, journal: MemoryJournal) -> None:
    async with session_for(steered, journal=journal) as session, hub_for(Steered(), journal=journal) as hub:
        turn_id = await begin(session)
        elsewhere = await hub.session(session.session_id)
        prompt = Prompt.of("from elsewhere", busy="steer", key="k")
        first, again = await soon(elsewhere.prompt(prompt)), await soon(elsewhere.prompt(prompt))
        assert first == again
        assert (first.turn_id, first.steered) == (turn_id, True)
        await end(session, steered)
        assert steered.taken == ["from elsewhere"]
