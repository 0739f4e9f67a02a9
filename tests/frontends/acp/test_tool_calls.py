"""A tool call as its client is told of it: whole content, complete arguments, honest endings."""

from typing import Any, get_args

import pytest

from trunkline import events as ev
from trunkline.content import DiffBlock, TerminalBlock, TextBlock
from trunkline.frontends.acp.known_words import tool_status
from trunkline.frontends.acp.tool_calls import CallView


def view(screens: dict[str, str] | None = None, **fields: Any) -> CallView:
    return CallView(ev.ToolCall(call_id="c1", name="search", **fields), {"theirs"}, screens or {})


def update(call: CallView, at: float = 0.0, **fields: Any) -> dict[str, Any] | None:
    output = call.update(ev.ToolUpdate(call_id="c1", **fields), at)
    if output is not None:
        assert output.pop("sessionUpdate") == "tool_call_update"
        assert output.pop("toolCallId") == "c1"
    return output


def as_text(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Run ls\n; rm", "Run ls ; rm"),
        ("Run \u202els", "Run \\u202els"),
        ("x" * 5000, "x" * 999 + "…"),
        ("ls" + " " * 9000 + "; rm", "ls…"),
    ],
)
def test_a_title_hides_nothing_unseen(title: str, shown: str) -> None:
    call = view(title=title)
    assert call.announce()["title"] == call.describe()["title"] == shown
    assert update(call, title=title) == {"title": shown}


def test_a_call_without_a_title_is_titled_by_its_name() -> None:
    assert view().announce()["title"] == "search"
    assert view(title="Search!").announce()["title"] == "Search!"


def test_an_update_tells_what_changed_and_nothing_else() -> None:
    call = view()
    assert update(call) is None
    assert update(call, title="T") == {"title": "T"}
    assert update(call, kind="read") == {"kind": "read"}
    assert update(call, input={"a": 1}) == {"rawInput": {"a": 1}}
    assert update(call, raw_output=0) == {"rawOutput": 0}
    assert update(call, locations=()) == {"locations": []}
    assert update(call, locations=(ev.Location(path="/a"), ev.Location(path="/b", line=3))) == {
        "locations": [{"path": "/a"}, {"path": "/b", "line": 3}]
    }
    assert update(call, status="in_progress") == {"status": "in_progress"}


def test_paths_are_absolute_as_acp_wants_them() -> None:
    call = CallView(ev.ToolCall(call_id="c1", name="edit"), (), {}, "/work")
    places = (ev.Location(path="a/../b.py", line=3), ev.Location(path="/c.py"))
    assert update(call, locations=places) == {
        "locations": [{"path": "/work/b.py", "line": 3}, {"path": "/c.py"}]
    }
    output = update(call, content=(DiffBlock(path="b.py", old="x", new="y"),))
    assert output is not None
    assert output["content"][0]["path"] == "/work/b.py"
    assert update(view(), locations=(ev.Location(path="b.py"),)) == {"locations": [{"path": "b.py"}]}


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (['{"q": ', '"x"}'], {"q": "x"}),
        (["[1", ", 2]"], [1, 2]),
        (["null"], None),
        (['{"q": '], '{"q": '),
        (["plain"], "plain"),
    ],
)
def test_arguments_are_sent_once_when_they_are_complete(pieces: list[str], expected: Any) -> None:
    call = view()
    for piece in pieces:
        call.add_argument(piece)
    assert update(call, status="in_progress") == {"status": "in_progress", "rawInput": expected}
    assert update(call, status="completed") == {"status": "completed"}


def test_arguments_given_whole_replace_those_that_were_streamed() -> None:
    call = view()
    call.add_argument('{"q": 1}')
    assert update(call, input={"q": 2}) == {"rawInput": {"q": 2}}
    assert update(call, status="completed") == {"status": "completed"}


def test_a_permission_shows_everything_known() -> None:
    call = view(title="T")
    call.add_argument('{"q": 1}')
    update(call, content=(TextBlock(text="b"),), locations=(ev.Location(path="/a"),))
    assert call.describe() == {
        "toolCallId": "c1",
        "title": "T",
        "kind": "other",
        "status": "pending",
        "rawInput": {"q": 1},
        "locations": [{"path": "/a"}],
        "content": [as_text("b")],
    }
    assert view().describe() == {
        "toolCallId": "c1", "title": "search", "kind": "other", "status": "pending",
    }  # fmt: skip


def test_arguments_that_a_permission_showed_are_sent_with_the_next_status() -> None:
    """The request is not an update: a client that keeps calls by updates must learn them too."""
    call = view()
    call.add_argument('{"q": 1}')
    call.describe()
    assert update(call, status="in_progress") == {"status": "in_progress", "rawInput": {"q": 1}}


def test_every_status_has_its_word() -> None:
    words = {tool_status(status) for status in get_args(ev.ToolStatus)}
    assert words == {"pending", "in_progress", "completed", "failed"}


@pytest.mark.parametrize("status", ["failed", "denied", "cancelled"])
def test_a_call_that_did_not_succeed_says_why(status: Any) -> None:
    call = view()
    update(call, content=(TextBlock(text="so far"),))
    output = update(call, status=status, reason="the disk is full")
    assert output == {
        "status": "failed",
        "content": [as_text("so far"), as_text(f"{status.capitalize()}: the disk is full")],
    }


def test_a_reason_before_the_end_waits_for_it() -> None:
    call = view()
    assert update(call, reason="slow") is None
    assert update(call, status="failed") == {"status": "failed", "content": [as_text("Failed: slow")]}


def test_a_reason_that_is_in_the_content_is_sent_once() -> None:
    output = update(view(), status="failed", content=(TextBlock(text="no disk: full"),), reason="no disk")
    assert output == {"status": "failed", "content": [as_text("no disk: full")]}


def test_content_output_and_terminals_stand_in_order() -> None:
    screens = {"ours": "printed"}
    call = view(screens)
    blocks = (TextBlock(text="a"), TerminalBlock(terminal_id="ours"), TerminalBlock(terminal_id="theirs"))
    output = update(call, content=blocks, output="out")
    assert output == {
        "content": [
            as_text("a"),
            as_text("printed"),
            {"type": "terminal", "terminalId": "theirs"},
            as_text("out"),
        ]
    }
    assert call.watches("ours")
    assert not call.watches("theirs")
    assert not call.watches("other")
    screens["ours"] = "printed more"
    output = call.refresh(at=1.0)
    assert output is not None
    assert output["content"][1] == as_text("printed more")


def test_flushing_tells_what_waits_and_then_nothing() -> None:
    call = view()
    update(call, at=1.0, output="a")
    assert update(call, at=1.01, output="b") is None
    output = call.flush()
    assert output is not None
    assert output["content"] == [as_text("ab")]
    assert call.flush() is None
