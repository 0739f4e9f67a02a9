from typing import Any

from tests.agents.langchain.permission_helpers import Person, chooses, says
from tests.hubs import collect, session_for

from trunkline import events as ev
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.messages.emitter import Emitter
from trunkline.agents.langchain.permissions.decide import (
    PermissionRule,
    decide,
    decide_sync,
    discard_verdict,
)
from trunkline.agents.langchain.permissions.verdicts import Verdict
from trunkline.commands import Prompt
from trunkline.session.context import TurnContext


class Frank(Channel):
    """A channel that takes any answer, as one without a desk would."""

    async def ask(self, *args: Any, **options: Any) -> ev.Answered:
        answered = await super().ask(*args, **options)
        return ev.Answered(
            question_id=answered.question_id,
            outcome="selected",
            option_kind="allow_once",
            input={"path": "b"},
        )


async def verdicts(
    person: Person, *steps: Any, channels: type[Channel] = Channel
) -> tuple[list[Any], list[Any]]:
    """Take steps with the channel of a turn; give what they gave, and the events."""
    results: list[Any] = []

    async def agent(prompt: Prompt, ctx: TurnContext) -> Any:
        channel = channels(ctx, Emitter(ctx.emit, ctx.turn_id))
        for step in steps:
            results.append(await step(channel))
        yield "done"

    async with session_for(agent) as session:

        async def react(asked: ev.Asked) -> None:
            await session.answer(person(asked))

        events = await collect(session, "go", {ev.Asked: react})
    return results, events


def made(number: int = 1, **args: Any) -> dict[str, Any]:
    return {"name": "delete", "id": f"d{number}", "args": args or {"path": "a"}}


async def test_the_same_id_with_other_arguments_or_in_another_lane_is_another_call() -> None:
    async def first(channel: Channel) -> Verdict:
        return await decide(channel, made(), PermissionRule())

    async def other_arguments(channel: Channel) -> Verdict:
        return await decide(channel, made(path="b"), PermissionRule())

    async def other_lane(channel: Channel) -> Verdict:
        return await decide(channel, made(), PermissionRule(), "l1")

    results, _ = await verdicts(
        says(chooses("allow_once"), chooses("reject_once"), chooses("reject_once")),
        first,
        other_arguments,
        other_lane,
    )
    assert [bool(result) for result in results] == [True, False, False]


async def test_an_edit_that_was_not_offered_runs_nothing() -> None:
    async def ask(channel: Channel) -> Verdict:
        return await decide(channel, made(), PermissionRule(allowed_decisions=("approve", "reject")))

    results, _ = await verdicts(chooses("allow_once"), ask, channels=Frank)
    assert results == [Verdict(word="reject", message="The arguments of delete may not be edited.")]


async def test_what_was_decided_is_bounded() -> None:
    async def many(channel: Channel) -> None:
        for number in range(1100):
            await decide(channel, made(number), PermissionRule())

    async def oldest(channel: Channel) -> Verdict:
        return await decide(channel, made(0), PermissionRule())

    async def newest(channel: Channel) -> Verdict:
        return await decide(channel, made(1099), PermissionRule())

    class Quick(Channel):
        """A channel that says yes without asking."""

        asked = 0

        async def ask(self, *args: Any, **options: Any) -> ev.Answered:
            Quick.asked += 1
            return ev.Answered(question_id="", outcome="selected", option_kind="allow_once")

    await verdicts(chooses("allow_once"), many, newest, oldest, channels=Quick)
    assert Quick.asked == 1101


async def test_without_a_channel_a_rule_that_nobody_could_approve_refuses() -> None:
    never = PermissionRule(allowed_decisions=("reject",))
    assert not await decide(None, made(), never)
    assert not decide_sync(None, made(), never)
    assert await decide(None, made(), None)
    discard_verdict(None, made())
