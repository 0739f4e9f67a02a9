from trunkline import events as ev
from trunkline.frontends.agui.tool_calls import CallView
from trunkline.protocols.agui import wire
from trunkline.protocols.agui.results import OUTPUT_TAIL


def test_a_call_ends_once_with_its_arguments_if_they_were_not_streamed() -> None:
    call = CallView("c1", "l1")
    call.apply(ev.ToolUpdate(call_id="c1", input={"a": 1}))

    args, end = call.end(7)
    assert args == wire.ToolCallArgs(timestamp=7, subagent_run_id="l1", tool_call_id="c1", delta='{"a":1}')
    assert end == wire.ToolCallEnd(timestamp=7, subagent_run_id="l1", tool_call_id="c1")
    assert call.end(8) == []
    assert call.sent_arguments_match()


def test_a_field_that_an_update_leaves_out_stays_as_it_was() -> None:
    call = CallView("c1", None)
    call.apply(
        ev.ToolUpdate(call_id="c1", status="failed", reason="no", result_message_id="r1", raw_output=1)
    )
    call.apply(ev.ToolUpdate(call_id="c1"))

    result = call.result(7, 0, {}, modern=True)
    assert (result.message_id, result.content) == ("r1", "1")
    assert result.metadata == {"trunkline": {"status": "failed", "error": "no"}}


def test_only_the_end_of_long_output_is_kept() -> None:
    call = CallView("c1", None)
    for piece in ("x" * OUTPUT_TAIL, "yz"):
        call.apply(ev.ToolUpdate(call_id="c1", output=piece))

    assert len(call.output) == OUTPUT_TAIL
    assert call.output.endswith("xyz")
