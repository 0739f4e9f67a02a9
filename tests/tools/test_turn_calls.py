"""Calls in a turn: edited arguments, files that a policy judges, and what a call shows."""

from pathlib import Path
from typing import Any, Literal

import pytest
from tests.hubs import collect, only, session_for

from trunkline import events as ev
from trunkline.commands import Answer
from trunkline.content import ImageBlock
from trunkline.tools import ToolContext, ToolDenied, ToolError, ToolRegistry, tool
from trunkline.workspace import Policy, Rule

PNG = b"\x89PNG\r\n\x1a\n..."


@tool(kind="edit", permission="ask", allows_edit=True, locations="{name}.md")
def write_note(name: str, lines: int = 1) -> dict[str, Any]:
    """Write a note."""
    return {"name": name, "lines": lines}


@tool(shows="image")
def chart() -> bytes:
    """Draw a chart."""
    return PNG


@tool
async def deny_self(*, ctx: ToolContext) -> str:
    """Go on although the person said no."""
    assert not await ctx.permission("Go on?")
    return "did something else"


def pay_rule(arguments: dict[str, Any], ctx: ToolContext) -> Literal["ask", "deny"]:
    return "deny" if arguments["amount"] > 100 else "ask"


@tool(kind="execute", permission=pay_rule, allows_edit=True)
def pay(amount: int) -> int:
    """Pay an amount."""
    return amount


REGISTRY = ToolRegistry([write_note, chart, deny_self, pay])


async def call(
    name: str, arguments: Any = None, policy: Policy | None = None, **answer: Any
) -> tuple[list[ev.Event], list[Any]]:
    """Call a tool in a turn; give the events, and its result or error."""
    results: list[Any] = []

    async def agent() -> None:
        try:
            results.append(await REGISTRY.call(name, arguments))
        except ToolError as error:
            results.append(error)

    async with session_for(agent, policy=policy) as session:

        async def reply(asked: ev.Asked) -> None:
            await session.answer(Answer(question_id=asked.question_id, **answer))

        return await collect(session, "go", {ev.Asked: reply}), results


async def test_edited_arguments_are_checked_and_run() -> None:
    note = {"name": "todo", "lines": 2}
    events, results = await call("write_note", {"name": "x"}, option_id="allow_once", input=note)
    assert results == [note]
    assert note in [update.input for update in only(events, ev.ToolUpdate)]
    events, results = await call("write_note", {"name": "x"}, option_id="allow_once", input={"lines": 2})
    assert "the argument 'name' is missing" in str(results)
    assert only(events, ev.ToolUpdate)[-1].status == "failed"


async def test_edited_arguments_that_the_tools_own_rule_denies_do_not_run() -> None:
    events, results = await call("pay", {"amount": 5}, option_id="allow_once", input={"amount": 500})
    assert [type(one) for one in results] == [ToolDenied]
    assert only(events, ev.ToolUpdate)[-1].status == "denied"
    _, results = await call("pay", {"amount": 5}, option_id="allow_once", input={"amount": 50})
    assert results == [50]


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_policy_judges_the_files_that_a_tool_declares(allowed: bool) -> None:
    rule = Rule(decision="deny", path="secret.md")
    arguments = {"name": "open" if allowed else "secret"}
    events, results = await call("write_note", arguments, Policy.allow_all().also(rule))
    (_, update, *_) = [event for event in events if isinstance(event, ev.ToolCall | ev.ToolUpdate)]
    assert isinstance(update, ev.ToolUpdate)
    assert [Path(one.path).name for one in update.locations or ()] == [f"{arguments['name']}.md"]
    assert isinstance(results[0], ToolDenied) is not allowed
    assert not only(events, ev.Asked)


async def test_an_image_is_shown_as_one() -> None:
    events, _ = await call("chart")
    shown = only(events, ev.ToolUpdate)[-1].content
    assert shown is not None
    (image,) = shown
    assert isinstance(image, ImageBlock)
    assert image.mime_type == "image/png"


async def test_a_call_that_was_denied_stays_so_whatever_the_tool_does_then() -> None:
    events, results = await call("deny_self", option_id="reject_once")
    assert results == ["did something else"]
    assert [update.status for update in only(events, ev.ToolUpdate) if update.status] == [
        "in_progress",
        "denied",
    ]
    assert not only(events, ev.Notice)
