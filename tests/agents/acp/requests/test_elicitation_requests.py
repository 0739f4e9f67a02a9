"""Forms and links of an ACP agent are questions of the session; answers are checked against the form."""

import asyncio
from typing import Any

import pytest

from tests.agents.acp.far_side import Far, ScriptedAgent, refused
from tests.hubs import collect, events_of, hub_for, only, soon, until
from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.errors import InvalidCommand
from trunkline.questions import Form, Link
from trunkline.session.session import Session

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "size": {
            "type": "string",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
    },
    "required": ["name"],
}
FORM: dict[str, Any] = {"mode": "form", "message": "Who are you?", "requestedSchema": SCHEMA}
LINK: dict[str, Any] = {
    "mode": "url",
    "message": "Log in",
    "url": "https://example.com/login?x=1",
    "elicitationId": "e1",
}


async def elicit(params: dict[str, Any], *answers: Answer) -> tuple[Any, list[ev.AnyEvent]]:
    """Ask once; gives what the agent got and the journal."""
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        got.append(await far.ask("elicitation/create", **params))

    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()

        async def answer(asked: ev.Asked) -> None:
            for given in answers:
                await session.answer(
                    Answer(
                        question_id=asked.question_id,
                        outcome=given.outcome,
                        content=given.content,
                    )
                )

        await collect(session, "go", {ev.Asked: answer})
        return (got or [None])[0], await events_of(session)


def given(outcome: Any, content: Any = None) -> Answer:
    return Answer(question_id="", outcome=outcome, content=content)


async def test_a_form_is_filled_in() -> None:
    got, events = await elicit(FORM, given("accepted", {"name": "Ada", "size": "l"}))
    assert got == {"action": "accept", "content": {"name": "Ada", "size": "l"}}
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, Form)
    assert (asked.question.message, asked.question.fields) == ("Who are you?", SCHEMA)


async def test_a_form_that_is_declined_is_declined() -> None:
    assert (await elicit(FORM, given("declined")))[0] == {"action": "decline"}


@pytest.mark.parametrize("content", [{}, {"name": "A"}, {"name": "Ada", "size": "xl"}, {"name": 7}])
async def test_an_answer_that_does_not_fit_the_form_leaves_it_open(content: Any) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        got.append(await far.ask("elicitation/create", **FORM))

    got: list[Any] = []
    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()

        async def answer(asked: ev.Asked) -> None:
            with pytest.raises(InvalidCommand, match=r"the form's field '(name|size)'"):
                await session.answer(
                    Answer(question_id=asked.question_id, outcome="accepted", content=content)
                )
            right = {"name": "Ada"}
            await session.answer(Answer(question_id=asked.question_id, outcome="accepted", content=right))

        await collect(session, "go", {ev.Asked: answer})
    assert got == [{"action": "accept", "content": {"name": "Ada"}}]


async def test_an_elicitation_of_a_call_names_the_call() -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        far.update("tool_call", toolCallId="c1", title="ask")
        for call_id in ("c1", "unknown", None):
            await far.ask("elicitation/create", **FORM, toolCallId=call_id)

    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()

        async def decline(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, outcome="declined"))

        shown = await collect(session, "go", {ev.Asked: decline})
    calls = [asked.question.call_id for asked in only(shown, ev.Asked) if isinstance(asked.question, Form)]
    assert calls == ["c1", None, None]


async def test_a_link_is_visited() -> None:
    got, events = await elicit(LINK, given("accepted"))
    assert got == {"action": "accept"}
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, Link)
    assert asked.question.url == LINK["url"]


async def test_a_link_whose_end_the_agent_reports_needs_no_answer() -> None:
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        asking = asyncio.create_task(far.ask("elicitation/create", **LINK))
        await soon(asked.wait())
        far.connection.notify("elicitation/complete", {"elicitationId": "another"})
        far.connection.notify("elicitation/complete", {"elicitationId": 7})
        far.connection.notify("elicitation/complete", {"elicitationId": "e1"})
        got.append(await asking)
        far.connection.notify("elicitation/complete", {"elicitationId": "e1"})

    asked = asyncio.Event()
    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()

        async def note(event: ev.Asked) -> None:
            asked.set()

        await collect(session, "go", {ev.Asked: note})
        assert session.questions.open == {}
        (answered,) = only(await events_of(session), ev.Answered)
    assert got == [{"action": "accept"}]
    assert answered.by == "trunkline"


REFUSED: list[tuple[Any, str]] = [
    ({"mode": "form"}, "message must be text"),
    ({"mode": "form", "message": "m"}, "requestedSchema must be an object"),
    ({**FORM, "requestedSchema": {"properties": []}}, "requestedSchema must be an object"),
    ({**FORM, "requestedSchema": {"properties": {"a": 1}}}, "every property"),
    ({**FORM, "requestedSchema": {"properties": {}, "required": ["a"]}}, "required of requestedSchema"),
    ({**FORM, "requestedSchema": {"properties": {}, "required": [{}]}}, "required of requestedSchema"),
    ({**FORM, "mode": "_voice"}, "mode must be form or url, not '_voice'"),
    ({**LINK, "elicitationId": None}, "elicitationId must be text"),
    ({**LINK, "url": "javascript:alert(1)"}, "url must be an address"),
    ({**LINK, "url": "file:///etc/passwd"}, "url must be an address"),
    ({**LINK, "url": "https://"}, "url must be an address"),
    ({**LINK, "url": "http://[::1"}, "url must be an address"),
    ({**LINK, "url": 7}, "url must be an address"),
]


@pytest.mark.parametrize(("params", "reason"), REFUSED)
async def test_what_cannot_be_asked_is_refused_with_a_sentence(params: Any, reason: str) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, reason):
            await far.ask("elicitation/create", **params)

    async with hub_for(ScriptedAgent(script)) as hub:
        assert only(await collect(await hub.create(), "go"), ev.TurnFailed) == []


async def test_one_elicitation_is_not_open_twice() -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        first = asyncio.create_task(far.ask("elicitation/create", **LINK))
        await soon(asked.wait())
        with refused(-32602, "is open already"):
            await far.ask("elicitation/create", **LINK)
        far.connection.notify("elicitation/complete", {"elicitationId": "e1"})
        await first

    asked = asyncio.Event()
    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()

        async def note(event: ev.Asked) -> None:
            asked.set()

        assert only(await collect(session, "go", {ev.Asked: note}), ev.TurnFailed) == []


async def cancel_when_asked(session: Session) -> None:
    await until(lambda: bool(session.questions.open))
    await session.cancel()


@pytest.mark.parametrize("params", [FORM, LINK])
async def test_after_a_cancel_open_and_later_elicitations_are_cancelled(params: Any) -> None:
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        got.append(await far.ask("elicitation/create", **params))
        await soon(far.cancelled.wait())
        got.append(await far.ask("elicitation/create", **params))

    async with hub_for(ScriptedAgent(script), detach_after=5.0) as hub:
        session = await hub.create()
        running = asyncio.create_task(collect(session, "go"))
        await cancel_when_asked(session)
        await soon(running)
    assert got == [{"action": "cancel"}, {"action": "cancel"}]


async def test_a_form_that_expires_is_cancelled() -> None:
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        got.append(await far.ask("elicitation/create", **FORM))

    async with hub_for(ScriptedAgent(script), question_ttl=0.05) as hub:
        await collect(await hub.create(), "go")
    assert got == [{"action": "cancel"}]


async def test_between_turns_nothing_is_asked_and_a_notice_says_so() -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        far.say("hello")

    agent = ScriptedAgent(script)
    async with hub_for(agent) as hub:
        session = await hub.create()
        await collect(session, "go")
        assert agent.far is not None
        assert await agent.far.ask("elicitation/create", **FORM) == {"action": "cancel"}
        (notice,) = only(await events_of(session), ev.Notice)
    assert notice.code == "elicitation_out_of_turn"
