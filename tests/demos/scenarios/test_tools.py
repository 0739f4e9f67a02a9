"""Scenarios with tool calls."""

import json
import os
from pathlib import Path

from tests.demos.scenario_runs import meaning, play

from trunkline import events as ev
from trunkline.content import DiffBlock, TerminalBlock
from trunkline.folding import fold


async def test_a_tool_call_streams_its_arguments_and_gives_a_result() -> None:
    output = await meaning("/tools")

    (call,) = output.calls.values()
    assert json.loads(call.arguments) == call.input == {"query": "trunkline", "limit": 2}
    assert call.status == "completed"
    assert call.output == "notes/design.md\nnotes/names.md\n"
    assert call.raw_output == {"hits": ["notes/design.md", "notes/names.md"]}
    assert call.result_message_id is not None
    assert call.result_message_id.endswith(".result1")
    assert [m.role for m in output.messages] == ["user", "agent", "agent"]


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
    output = await meaning("/terminal", cwd=str(tmp_path))

    (call,) = output.calls.values()
    (block,) = call.content
    assert isinstance(block, TerminalBlock)
    assert block.terminal_id.startswith("term_")
    shown = output.terminals[block.terminal_id]
    assert shown.data.split() == ["line", "1", "line", "2", "line", "3"]
    assert (shown.exited, shown.exit_code) == (True, 0)
    assert call.raw_output == {"exit_code": 0}
