"""One tool call on the wire: its names, its metadata, its output."""

import hashlib
from typing import Any

import pytest

from trunkline import events as ev
from trunkline.content import ImageBlock, TextBlock
from trunkline.frontends.aisdk.tool_calls import OUTPUT_TAIL, Approval, CallView


def call(**fields: Any) -> CallView:
    return CallView("c1", "read", **fields)


def applied(view: CallView, **fields: Any) -> CallView:
    event = ev.ToolUpdate(call_id="c1", **fields)
    view.apply(event)
    view.apply_meta(event)
    return view


def test_a_title_is_shown_without_hidden_characters() -> None:
    assert call(title="a\u202eb\nc").start()["title"] == "a\\u202eb c"
    assert call(title="`ls`\u202e", is_bare=True).start()["title"] == "`ls`\u202e"


def test_the_metadata_of_a_call_says_its_kind_and_places() -> None:
    view = applied(call(kind="read", meta={"agent": {"a": 1}}), locations=(ev.Location(path="/a", line=2),))

    assert view.available()["providerMetadata"] == {
        "agent": {"a": 1},
        "trunkline": {"kind": "read", "locations": [{"path": "/a", "line": 2}]},
    }


def test_a_bare_call_has_only_what_its_agent_said() -> None:
    view = call(is_bare=True)

    assert view.start() == {
        "type": "tool-input-start",
        "toolCallId": "c1",
        "toolName": "read",
        "dynamic": True,
    }


@pytest.mark.parametrize(
    ("pieces", "given", "expected"),
    [([], None, {}), (['{"a":', "1}"], None, {"a": 1}), (["oh no"], None, "oh no"), (["x"], [1], [1])],
)
def test_the_input_is_what_the_agent_says_or_what_was_streamed(
    pieces: list[str], given: Any, expected: Any
) -> None:
    view = call()
    view.arguments = pieces

    assert applied(view, input=given).available()["input"] == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"raw_output": 0, "content": (TextBlock(text="t"),)}, 0),
        ({"content": (TextBlock(text="t"),), "output": "printed"}, "t"),
        ({"output": "printed"}, "printed"),
        (
            {"content": (TextBlock(text="t"), ImageBlock(mime_type="image/png", data="AA=="))},
            [
                {"type": "text", "text": "t"},
                {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="},
            ],
        ),
        ({}, None),
    ],
)
def test_the_output_is_the_value_or_else_what_is_shown_or_else_what_was_printed(
    fields: Any, expected: Any
) -> None:
    assert applied(call(), **fields).result(0)["output"] == expected


def test_what_a_call_shows_beside_its_value_is_metadata_of_the_result() -> None:
    view = applied(call(), raw_output={"hits": 2}, content=(TextBlock(text="2 hits"),))

    assert view.result(0)["providerMetadata"] == {"trunkline": {"content": "2 hits"}}


def test_the_metadata_of_a_result_has_what_was_not_told_before() -> None:
    view = call(meta={"agent": {"name": "Read", "x": 1}})
    view.start()
    applied(view, meta={"agent": {"name": "Read", "x": 2, "response": "out"}}, raw_output="out")

    assert view.result(0)["providerMetadata"] == {"agent": {"x": 2}}
    assert view.error("no")["providerMetadata"] == {"agent": {"x": 2, "response": "out"}}


def test_an_output_that_is_too_large_is_cut_and_says_so() -> None:
    view = applied(call(), raw_output={"text": "é" * 100}, content=(TextBlock(text="x" * 100),))
    chunk = view.result(50)

    whole = ('{"text":"' + "é" * 100 + '"}').encode()
    assert chunk["output"].startswith('{"text":"éé')
    assert chunk["output"].endswith(f"[cut here: {len(whole)} bytes in all]")
    about = chunk["providerMetadata"]["trunkline"]
    assert about["truncated"] is True
    assert about["sha256"] == hashlib.sha256(whole).hexdigest()
    assert about["content"].endswith("[cut here: 100 bytes in all]")
    assert about["content_bytes"] == 100


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": "failed", "reason": "no disk"}, "no disk"),
        ({"status": "failed", "content": (TextBlock(text="no file"),)}, "no file"),
        ({"status": "failed", "output": "printed"}, "printed"),
        ({"status": "cancelled"}, "cancelled"),
    ],
)
def test_an_error_says_why(fields: Any, expected: str) -> None:
    assert applied(call(), **fields).error()["errorText"] == expected


def test_what_is_printed_is_kept_to_its_last_characters() -> None:
    view = applied(call(), output="a" * OUTPUT_TAIL)

    assert applied(view, output="b").printed()["output"] == "a" * (OUTPUT_TAIL - 1) + "b"


def test_a_call_of_a_subagent_that_a_page_answers_for_says_whose_it_is() -> None:
    view = applied(call(title="T", kind="edit"), input={"a": 1})
    view.arguments = ["{"]
    own = view.promoted("lane1")

    assert own.available()["input"] == {"a": 1}
    assert own.available()["providerMetadata"]["trunkline"] == {"kind": "edit", "subagent": "lane1"}
    assert own.arguments is not view.arguments


def test_a_response_has_a_reason_only_if_there_is_one() -> None:
    assert "reason" not in call().response(Approval("q1", approved=True))
    assert call().response(Approval("q1", approved=False, reason="no"))["reason"] == "no"
