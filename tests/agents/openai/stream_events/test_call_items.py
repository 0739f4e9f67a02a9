"""Items that are calls, in OpenAI's own types: the tools that the program itself runs."""

from typing import Any

import pytest

from tests.agents.openai.stream_events import runs
from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.stream_events.call_items import CALL_TYPES, read_call
from trunkline.folding import fold


def show(item: dict[str, Any], call_id: str = "c1") -> Any:
    """A call as it stands after its item, before it ran."""
    return fold(runs.translate(runs.created(), runs.done(item), close=False).events).calls[call_id]


def test_a_function_call_has_its_arguments() -> None:
    one = show({"id": "f", "type": "function_call", "call_id": "c1", "name": "read_file",
                "arguments": '{"path":"a.py","line":3}'})  # fmt: skip
    assert (one.kind, one.title, one.input) == ("read", "Read a.py", {"path": "a.py", "line": 3})
    assert one.locations == (ev.Location(path="a.py", line=3),)


def test_a_local_shell_call_shows_its_command() -> None:
    action: Any = {"type": "exec", "command": ["ls", "a b"], "env": {}}
    one = show(
        {"id": "l", "type": "local_shell_call", "call_id": "c1", "status": "completed", "action": action}
    )
    assert (one.kind, one.title) == ("execute", "Run ls 'a b'")


def test_a_computer_call_shows_its_actions_and_safety_checks() -> None:
    checks = [{"id": "s", "code": "malicious", "message": "look"}]
    one = show({"id": "x", "type": "computer_call", "call_id": "c1", "status": "completed",
                "action": {"type": "click", "button": "left", "x": 1, "y": 2},
                "pending_safety_checks": checks})  # fmt: skip
    assert (one.kind, one.title) == ("execute", "Computer click")
    assert one.input["pending_safety_checks"] == checks


@pytest.mark.parametrize(
    ("operation", "kind", "diff"),
    [
        (
            {"type": "update_file", "path": "a.py", "diff": "@@\n keep\n-old\n+new"},
            "edit",
            c.DiffBlock(path="a.py", old="keep\nold", new="keep\nnew"),
        ),
        (
            {"type": "create_file", "path": "b.py", "diff": "+one\n+two"},
            "edit",
            c.DiffBlock(path="b.py", old=None, new="one\ntwo"),
        ),
        ({"type": "delete_file", "path": "c.py"}, "delete", c.DiffBlock(path="c.py", old="", new=None)),
    ],
)
def test_a_patch_shows_what_it_changes(operation: Any, kind: str, diff: c.DiffBlock) -> None:
    one = show({"id": "p", "type": "apply_patch_call", "call_id": "c1", "status": "completed",
                "operation": operation})  # fmt: skip
    assert (one.kind, one.title, one.content) == (kind, f"Apply patch {diff.path}", (diff,))
    assert one.locations == (ev.Location(path=diff.path),)


def test_a_request_for_an_approval_is_a_call_that_waits() -> None:
    one = show({"id": "apr", "type": "mcp_approval_request", "server_label": "docs", "name": "delete_page",
                "arguments": '{"url":"x"}'}, "apr")  # fmt: skip
    assert (one.kind, one.status, one.input) == ("delete", "pending", {"url": "x"})


@pytest.mark.parametrize("kind", sorted(CALL_TYPES))
def test_an_item_without_any_field_is_still_a_call(kind: str) -> None:
    found = read_call({"type": kind})
    assert found is not None
    assert read_call({"type": kind}, whole=False) is not None


def test_an_item_that_is_no_call_is_none() -> None:
    assert read_call({"type": "message"}) is None
    assert read_call(None) is None
