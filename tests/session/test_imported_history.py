from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hubs import collect, events_of, forever, hub_for, only, reopened, until
from tests.strategies import sloppy_streams

from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Answer, Prompt
from trunkline.conversation import CallPart, Conversation, Message, QuestionState, TextPart
from trunkline.errors import SessionNotFound
from trunkline.folding import fold
from trunkline.grammar import Grammar
from trunkline.journal import SessionInfo, open_journal
from trunkline.questions import Form
from trunkline.session.context import SessionView, TurnContext
from trunkline.session.imported_history import as_events, named, unknown_to


def talk(*texts: str) -> Conversation:
    """A conversation in which a person and an agent take turns; an id may be given as ``id=text``."""
    messages: list[Message] = []
    for number, item in enumerate(texts):
        message_id, _, text = item.rpartition("=")
        message_id = message_id or text
        if number % 2:
            part = TextPart(part_id=f"{message_id}:0", text=text)
            messages.append(Message(message_id=message_id, role="agent", parts=[part]))
        else:
            content = (c.TextBlock(text=text),)
            messages.append(Message(message_id=message_id, role="user", content=content))
    return Conversation(messages=messages)


class Rememberer:
    """An agent that answers with its memory's size, and whose memory a test may change."""

    def __init__(self) -> None:
        self.card = AgentCard(name="rememberer", authoritative_history=True)
        self.memory: dict[str, Conversation | Exception] = {}
        self.asked: list[str] = []

    async def history(self, session: SessionView) -> Conversation | None:
        self.asked.append(session.session_id)
        held = self.memory.get(session.session_id)
        if isinstance(held, Exception):
            raise held
        return held

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "Yes."


# -- what is new -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "remembered", "news", "back_to"),
    [
        ((), ("a", "b"), ["a", "b"], None),
        (("a", "b"), ("a", "b"), [], None),
        (("a", "b"), ("a", "b", "c", "d"), ["c", "d"], None),
        (("a", "b", "c", "d"), ("a", "b"), [], None),
        (("a", "b", "c", "d"), ("a", "b", "x", "y"), ["x", "y"], "b"),
        # A summary took the place of the beginning.
        (("a", "b", "c", "d"), ("c", "d", "e", "f"), ["e", "f"], None),
        # Another program gave the answer its id.
        (("a", "1=b"), ("a", "2=b", "c"), ["c"], None),
        (("1=a", "2=b"), ("3=a", "4=b", "c"), ["c"], None),
        # Saying the same thing twice is saying two things.
        (("1=a", "2=yes"), ("1=a", "2=yes", "3=a", "4=yes"), ["3", "4"], None),
        # Nothing in common takes nothing away.
        (("a", "b"), ("x", "y"), ["x", "y"], None),
        (("a",), (), [], None),
    ],
)
def test_only_what_comes_after_the_last_common_message_is_new(
    known: tuple[str, ...], remembered: tuple[str, ...], news: list[str], back_to: str | None
) -> None:
    found, rewound = unknown_to(talk(*known), talk(*remembered))
    assert [message.message_id for message in found] == news
    assert (rewound.to_message_id if rewound else None) == back_to


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6), st.integers(0, 6))
def test_what_is_shown_after_an_import_ends_as_the_memory_does(
    first: list[int], second: list[int], common: int
) -> None:
    known = talk(*(f"k{n}={word}" for n, word in enumerate(first)))
    shared = first[:common]
    remembered = talk(
        *(f"k{n}={word}" for n, word in enumerate(shared)),
        *(f"r{n}={word}" for n, word in enumerate(second, len(shared))),
    )
    news, rewound = unknown_to(known, remembered)
    texts = [message.text for message in known.messages]
    if rewound is not None:
        texts = texts[
            : [message.message_id for message in known.messages].index(str(rewound.to_message_id)) + 1
        ]
    texts += [message.text for message in news]
    held = [message.text for message in remembered.messages]
    if news:
        assert texts[-len(held) :] == held


# -- as events --------------------------------------------------------------------------------------


@given(sloppy_streams())
def test_a_conversation_written_again_as_events_folds_to_the_same(events: list[ev.Event]) -> None:
    settled = Grammar("tester")
    before = fold([*(legal for event in events for legal in settled.feed(event)), *settled.close()])
    own = [message for message in before.messages if message.lane is None]
    numbers = iter(range(1000))
    written = list(as_events(own, before.calls, lambda: f"t{next(numbers)}"))
    after = fold(written)
    assert [facts(message, before) for message in own] == [
        facts(message, after) for message in after.messages
    ]
    # And nothing of it is against the rules.
    judge = Grammar("tester")
    assert [out for event in written for out in judge.feed(event)] == written


def facts(message: Message, conversation: Conversation) -> Any:
    parts = [
        (type(part).__name__, conversation.calls[part.call_id].status if isinstance(part, CallPart) else "")
        for part in message.parts
    ]
    return message.message_id, message.role, message.text, message.content, parts


def test_each_message_of_a_person_begins_a_turn() -> None:
    numbers = iter("12")
    events = list(as_events(talk("a", "b", "c").messages, {}, lambda: next(numbers)))
    assert [(type(event).__name__, event.turn_id) for event in events] == [
        ("TurnStarted", "1"),
        ("UserMessage", "1"),
        ("Text", "1"),
        ("TurnFinished", "1"),
        ("TurnStarted", "2"),
        ("UserMessage", "2"),
        ("TurnFinished", "2"),
    ]
    assert list(as_events([], {}, lambda: "1")) == []


def test_a_call_that_is_not_remembered_is_not_emitted() -> None:
    message = Message(message_id="a", role="agent", parts=[CallPart(part_id="a:0", call_id="gone")])
    assert [type(event) for event in as_events([message], {}, lambda: "1")] == [
        ev.TurnStarted,
        ev.TurnFinished,
    ]


# -- in a hub ----------------------------------------------------------------------------------------


async def test_a_session_that_only_the_agent_knows_is_opened_with_what_it_remembers() -> None:
    agent = Rememberer()
    agent.memory["s"] = talk("Hello\nthere", "Hi.")
    async with hub_for(agent) as hub:
        session = await hub.session("s")
        assert [message.text for message in (await session.history()).messages] == ["Hello\nthere", "Hi."]
        assert session.info.title == "Hello"
        assert not session.busy
        await collect(session, "More")
        await session.close()
        session = await hub.session("s")
        assert len(only(await events_of(session), ev.TurnStarted)) == 2


async def test_a_session_that_neither_journal_nor_agent_knows_is_not_found() -> None:
    agent = Rememberer()
    agent.memory["broken"] = OSError("no disk")
    async with hub_for(agent) as hub:
        for name in ("s", "broken"):
            with pytest.raises(SessionNotFound):
                await hub.session(name)
        assert await hub.list() == []


async def test_a_memory_that_fails_does_not_stop_the_session(caplog: pytest.LogCaptureFixture) -> None:
    agent = Rememberer()
    async with hub_for(agent) as hub:
        session = await hub.create("s")
        await collect(session, "Hello")
        await session.close()
        agent.memory["s"] = OSError("no disk")
        session = await hub.session("s")
        assert [message.text for message in (await session.history()).messages] == ["Hello", "Yes."]
    assert "no disk" in caplog.text


async def test_the_memory_wins_where_the_journal_went_another_way() -> None:
    agent = Rememberer()
    async with hub_for(agent) as hub:
        session = await hub.create("s")
        await collect(session, Prompt.of("Hello", message_id="1"))
        await collect(session, Prompt.of("Left", message_id="2"))
        answer = (await session.history()).messages[1].message_id
        await session.close()
        agent.memory["s"] = talk("1=Hello", f"{answer}=Yes.", "3=Right", "4=Fine.")
        session = await hub.session("s")
        shown = [message.text for message in (await session.history()).messages]
    assert shown == ["Hello", "Yes.", "Right", "Fine."]


async def test_a_new_session_asks_the_memory_only_if_it_was_given_its_id() -> None:
    agent = Rememberer()
    agent.memory["s"] = talk("Hello", "Hi.")
    async with hub_for(agent) as hub:
        await hub.create()
        assert agent.asked == []
        session = await hub.create("s")
        assert len((await session.history()).messages) == 2


class Replayer(Rememberer):
    """An agent whose memory is poorer than the journal."""

    def __init__(self) -> None:
        super().__init__()
        self.card = AgentCard(name="replayer")


async def test_a_poorer_memory_is_asked_for_no_unknown_id_and_never_replaces_the_journal() -> None:
    agent, journal = Replayer(), await open_journal("memory:")
    agent.memory = {name: talk("x", "y", "z") for name in ("made", "unknown", "listed")}
    async with hub_for(agent, journal=journal) as hub:
        with pytest.raises(SessionNotFound):
            await hub.session("unknown")
        made = await hub.create("made")
        assert agent.asked == [], "a caller can make up any id"
        await collect(made, "a")
        await journal.create(SessionInfo(principal="local", session_id="listed"))
    async with hub_for(agent, journal=journal) as hub:
        kept = await (await hub.session("made")).history()
        assert [message.text for message in kept.messages] == ["a", "Yes."]
        assert agent.asked == []
        filled = await (await hub.session("listed")).history()
        assert [message.text for message in filled.messages] == ["x", "y", "z"]
        assert agent.asked == ["listed"]
    await journal.close()


async def test_another_targets_sessions_are_left_alone() -> None:
    agent = Rememberer()
    agent.memory["s"] = talk("Hello", "Hi.")
    async with hub_for(agent, target="theirs") as hub:
        session = await hub.create("s")
        await session.close()
        agent.memory["s"] = talk("Hello", "Hi.", "More")
        asked = len(agent.asked)
        async with hub_for(agent, journal=hub.journal, target="mine") as other:
            assert len((await (await other.session("s")).history()).messages) == 2
        assert len(agent.asked) == asked


async def test_a_turn_that_runs_elsewhere_is_not_disturbed() -> None:
    class Busy(Rememberer):
        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            yield "Well"
            await forever()

    agent = Busy()
    async with hub_for(agent) as hub:
        session = await hub.create("s")
        await session.prompt("Hello")
        await session.durable()
        agent.memory["s"] = talk("Other", "Things")
        async with hub_for(agent, journal=hub.journal) as other:
            await other.session("s")
        assert agent.asked == ["s"]
        await session.cancel()


# -- what it waits for -------------------------------------------------------------------------------


FIELDS = {"type": "object", "properties": {"answer": {"type": "string"}}}


def test_a_durable_question_is_named_by_its_key_and_counted_where_the_key_comes_again() -> None:
    asked = ev.Asked(question_id="t.q1", question=Form(message="?", fields=FIELDS), durable_key="key#0")
    assert named(asked, ()).question_id == "key#0"
    assert named(asked, {"key#0"}).question_id == "key#0.2"
    assert named(asked, {"key#0", "key#0.2"}).question_id == "key#0.3"
    plain = ev.Asked(question_id="t.q1", question=Form(message="?", fields=FIELDS))
    assert named(plain, ()) is plain


async def test_a_question_that_is_remembered_is_asked_and_its_answer_reaches_the_agent() -> None:
    class Asker(Rememberer):
        """An agent that goes on with an answer."""

        async def resume(self, answers: Any, ctx: TurnContext) -> AsyncIterator[str]:
            yield f"You said {answers['key'].content['answer']}."

    agent, held = Asker(), talk("a", "b", "c")
    asked = ev.Asked(question_id="any", question=Form(message="Which?", fields=FIELDS), durable_key="key")
    held.questions["any"] = QuestionState(asked=asked)
    agent.memory["s"] = held
    async with reopened("s", agent) as session:
        assert session.busy
        assert list(session.open_questions) == ["key"]
        assert [turn.status for turn in (await session.history()).turns] == ["finished", "suspended"]
        given = Answer(question_id="key", outcome="accepted", content={"answer": "this"})
        await session.answer(given)
        await until(lambda: session.turn is None)
        history = await session.history()
    assert [message.text for message in history.messages] == ["a", "b", "c", "You said this."]
    assert [turn.status for turn in history.turns] == ["finished", "finished"]


async def test_a_question_of_an_agent_that_takes_no_answer_after_a_restart_is_not_asked() -> None:
    agent, held = Rememberer(), talk("a")
    asked = ev.Asked(question_id="any", question=Form(message="Which?", fields=FIELDS), durable_key="key")
    held.questions["any"] = QuestionState(asked=asked)
    agent.memory["s"] = held
    async with reopened("s", agent) as session:
        assert not session.open_questions
        assert (await session.history()).turns[-1].code == "interrupted"
        assert isinstance((await collect(session, "on"))[-1], ev.TurnFinished)
