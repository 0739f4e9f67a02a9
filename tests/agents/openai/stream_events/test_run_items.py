"""Items that the SDK makes of a response and of what follows it."""

from typing import Any

import pytest
from agents.testing import assistant_message, function_call
from openai.types.responses import ResponseOutputItem
from pydantic import TypeAdapter

from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    HostedMCPTool,
    ShellTool,
    function_tool,
)
from tests.agents.openai.stream_events import runs
from trunkline import content as c
from trunkline import events as ev
from trunkline.agents.openai.stream_events import hook_facts as f

_items: TypeAdapter[Any] = TypeAdapter(ResponseOutputItem)


def item(**fields: Any) -> Any:
    """An output item in OpenAI's own type."""
    return _items.validate_python(fields)


REQUEST = item(id="apr", type="mcp_approval_request", server_label="docs", name="read_page", arguments="{}")


def run_item(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "run_item_stream_event", "name": name, "item": fields}


async def test_a_shell_call_of_the_sdk_runs_and_shows_what_it_printed() -> None:
    call = item(
        id="s", type="shell_call", call_id="c1", status="completed", action={"commands": ["ls", "pwd"]}
    )
    agent = runs.agent(
        runs.step(call), [assistant_message("done")], tools=[ShellTool(executor=lambda request: "a.py")]
    )
    played = await runs.play(agent)
    one = played.call("c1")
    assert (one.title, one.status, c.text_of(one.content)) == ("Run ls && pwd", "completed", "a.py")


async def test_a_patch_that_the_sdk_applied_keeps_its_diff() -> None:
    class Editor:
        def update_file(self, operation: Any) -> None:
            assert operation.path == "a.py"

        create_file = delete_file = update_file

    operation = {"type": "update_file", "path": "a.py", "diff": "-old\n+new"}
    call = item(id="p", type="apply_patch_call", call_id="c1", status="completed", operation=operation)
    tool: Any = ApplyPatchTool(editor=Editor())
    one = (await runs.play(runs.agent(runs.step(call), [assistant_message("done")], tools=[tool]))).call("c1")
    assert (one.status, one.content) == ("completed", (c.DiffBlock(path="a.py", old="old", new="new"),))


async def test_a_patch_that_could_not_be_applied_has_failed() -> None:
    class Editor:
        def update_file(self, operation: Any) -> None:
            raise OSError("read-only")

        create_file = delete_file = update_file

    operation = {"type": "update_file", "path": "a.py", "diff": "-old\n+new"}
    call = item(id="p", type="apply_patch_call", call_id="c1", status="completed", operation=operation)
    tool: Any = ApplyPatchTool(editor=Editor())
    one = (await runs.play(runs.agent(runs.step(call), [assistant_message("done")], tools=[tool]))).call("c1")
    assert one.status == "failed"
    assert "read-only" in str(one.reason)


async def test_a_custom_tool_answers_with_text() -> None:
    async def upper(context: Any, text: str) -> str:
        return text.upper()

    tool = CustomTool(name="shout", description="Shout.", on_invoke_tool=upper)
    call = item(type="custom_tool_call", call_id="c1", name="shout", input="hello")
    one = (await runs.play(runs.agent(runs.step(call), [assistant_message("done")], tools=[tool]))).call("c1")
    assert (one.input, c.text_of(one.content)) == ({"input": "hello"}, "HELLO")


async def test_a_hosted_mcp_call_that_was_asked_about_goes_on_under_the_same_id() -> None:
    answer = item(id="mcp", type="mcp_call", server_label="docs", name="read_page", arguments="{}",
                  approval_request_id="apr", output="page", status="completed")  # fmt: skip
    tool = HostedMCPTool(
        tool_config={"type": "mcp", "server_label": "docs", "server_url": "https://a.example"},
        on_approval_request=lambda asked: {"approve": True},
    )
    agent = runs.agent(runs.step(REQUEST), runs.step(answer, assistant_message("done")), tools=[tool])
    played = await runs.play(agent)
    assert list(played.folded.calls) == ["apr"]
    assert played.statuses("apr") == ["in_progress", "completed"]
    assert c.text_of(played.call("apr").content) == "page"


async def test_a_hosted_mcp_call_that_was_refused_is_denied() -> None:
    tool = HostedMCPTool(
        tool_config={"type": "mcp", "server_label": "docs", "server_url": "https://a.example"},
        on_approval_request=lambda asked: {"approve": False, "reason": "private"},
    )
    played = await runs.play(runs.agent(runs.step(REQUEST), [assistant_message("done")], tools=[tool]))
    assert (played.call("apr").status, played.call("apr").reason) == ("denied", "private")


async def test_tools_of_a_hosted_mcp_server_are_listed() -> None:
    listed = item(id="l", type="mcp_list_tools", server_label="docs",
                  tools=[{"name": "read_page", "input_schema": {}}])  # fmt: skip
    played = await runs.play(runs.agent(runs.step(listed, assistant_message("done"))))
    (custom,) = played.of(ev.Custom)
    assert (custom.name, custom.value) == ("mcp_list_tools", {"server": "docs", "tools": ["read_page"]})


def test_a_hosted_mcp_server_that_lists_nothing_is_named() -> None:
    raw: Any = {"type": "mcp_list_tools", "server_label": "docs", "tools": [], "error": "401"}
    (notice,) = runs.translate(run_item("mcp_list_tools", raw_item=raw)).of(ev.Notice)
    assert ("docs" in notice.title, notice.severity, notice.description) == (True, "warning", "401")


async def test_the_title_of_a_tool_is_shown() -> None:
    @function_tool
    def get_x(query: str) -> str:
        """Get it."""
        return query

    agent = runs.agent(
        [function_call("get_x", {"query": "rain"}, call_id="c1")], [assistant_message("ok")], tools=[get_x]
    )
    assert (await runs.play(agent)).call("c1").title == "Get x rain"
    call = {"type": "function_call", "call_id": "c1", "name": "get_x", "arguments": '{"query":"rain"}'}
    titled = run_item("tool_called", raw_item=call, title="Look up")
    assert runs.translate(titled).call("c1").title == "Look up rain"


async def test_a_message_that_an_error_handler_gives_is_shown() -> None:
    def explain(data: Any) -> Any:
        return "I had to stop."

    agent: Agent[Any] = runs.agent([function_call("again", {}, call_id="c1")], tools=[again])
    played = await runs.play(agent, max_turns=1, error_handlers={"max_turns": explain})
    assert played.text == "I had to stop."


@function_tool
def again() -> str:
    """Say it again."""
    return "again"


def test_two_equal_messages_of_a_response_are_both_shown_once() -> None:
    one = runs.message("same")
    items = [run_item("message_output_created", raw_item=one)] * 2
    played = runs.translate(runs.created(), runs.done(one), runs.done(one, 1), runs.completed(), *items)
    assert [runs.text_of(message) for message in played.folded.messages] == ["same", "same"]


def test_an_output_of_a_call_that_nothing_announced_is_shown() -> None:
    raw = {"type": "function_call_output", "call_id": "c1", "output": "x"}
    one = runs.translate(run_item("tool_output", raw_item=raw, output="x")).call("c1")
    assert (one.name, one.status) == ("tool", "completed")


def test_an_output_without_an_id_is_kept() -> None:
    raw = {"type": "function_call_output", "output": "x"}
    (kept,) = runs.translate(run_item("tool_output", raw_item=raw)).of(ev.Raw)
    assert kept.payload == raw


def test_an_item_that_is_not_known_is_kept() -> None:
    (kept,) = runs.translate(run_item("hologram", raw_item={"a": 1})).of(ev.Raw)
    assert kept.payload == {"name": "hologram", "item": {"a": 1}}
    (kept,) = runs.translate(run_item("tool_called", raw_item={"type": "hologram"})).of(ev.Raw)
    assert kept.payload == {"type": "hologram"}


def test_a_compaction_item_is_a_compaction() -> None:
    (one,) = runs.translate(run_item("compacted", type="compaction_item")).of(ev.Compaction)
    assert one.status == "completed"


def test_what_people_see_of_a_result_may_be_given_beside_it() -> None:
    raw = {"type": "function_call_output", "call_id": "c1", "output": "[1]"}
    call = {"type": "function_call", "call_id": "c1", "name": "rows", "arguments": "{}"}
    data = {"trunkline": {"content": [{"type": "text", "text": "| 1 |"}]}}
    items = [run_item("tool_called", raw_item=call), run_item("tool_output", raw_item=raw, custom_data=data)]
    assert c.text_of(runs.translate(*items).call("c1").content) == "| 1 |"


@pytest.mark.parametrize("fresh", [False, True])
async def test_what_was_said_before_an_approval_is_not_said_again_after_it(fresh: bool) -> None:
    @function_tool(needs_approval=True)
    def send(text: str) -> str:
        """Send it."""
        return f"sent {text}"

    calls = [function_call("again", {}, call_id="c1"), function_call("send", {"text": "hi"}, call_id="c2")]
    agent = runs.agent([assistant_message("wait"), *calls], [assistant_message("ok")], tools=[send, again])
    made = runs.translator()
    played = await runs.play(agent, made=made)
    state = await runs.sdk.RunState.from_json(agent, played.result.to_state().to_json())
    state.approve(state.get_interruptions()[0])
    if fresh:
        made = runs.translator(first=10)
        made.restore(runs.fold([ev.TurnStarted(turn_id=runs.TURN), *played.events]))
    played.events += (await runs.play(agent, state, made=made)).events
    assert played.text == "waitok"
    assert [played.call(one).raw_output for one in ("c1", "c2")] == ["again", "sent hi"]


async def test_a_call_that_waits_for_an_approval_stays_open() -> None:
    @function_tool(needs_approval=True)
    def send(text: str) -> str:
        """Send it."""
        return f"sent {text}"

    agent = runs.agent(
        [function_call("send", {"text": "hi"}, call_id="c1")], [assistant_message("ok")], tools=[send]
    )
    made = runs.translator()
    played = await runs.play(agent, made=made)
    assert played.statuses("c1") == []
    state = played.result.to_state()
    state.reject(played.result.interruptions[0])
    assert made.feed(f.ToolDenied(call_id="c1", reason="no")) == []
    again = await runs.play(agent, state, made=made)
    played.events += again.events
    assert (played.call("c1").status, again.stop) == ("denied", "end_turn")
    assert played.text == "ok"
