"""Scenarios that ask."""

import os
from pathlib import Path

import msgspec
import pytest
from tests.demos.scenario_runs import answer_of, meaning, play

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.folding import fold
from trunkline.testing import ScriptedAgent, accept_all, refuse_all, run_prompt


async def test_an_allowed_permission_writes_the_file(tmp_path: Path) -> None:
    output = await meaning("/permission", cwd=str(tmp_path))

    assert (tmp_path / "hello.txt").read_text() == "hello\n"
    (call,) = output.calls.values()
    assert call.status == "completed"
    assert call.kind == "edit"


async def test_a_refused_permission_writes_nothing(tmp_path: Path) -> None:
    output = await meaning("/permission", cwd=str(tmp_path), answers=refuse_all)

    assert os.listdir(tmp_path) == []
    (call,) = output.calls.values()
    assert call.status == "denied"
    assert "Nothing was written" in answer_of(output)


async def test_edited_arguments_are_used(tmp_path: Path) -> None:
    edited = {"path": "other.txt", "content": "bye\n"}

    def edit(asked: ev.Asked) -> Answer:
        return msgspec.structs.replace(accept_all(asked), input=edited)

    output = await meaning("/edit", cwd=str(tmp_path), answers=edit)

    assert (tmp_path / "other.txt").read_text() == "bye\n"
    (call,) = output.calls.values()
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
