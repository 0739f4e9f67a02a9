"""Raw events: responses, items and the calls that a provider runs itself."""

from typing import Any

import pytest

from tests.agents.openai.stream_events import runs
from tests.agents.openai.stream_events.runs import added, completed, created, done, message, raw, response
from trunkline import content as c
from trunkline import events as ev

PNG = "iVBORw0KGgo="


def call(name: str, call_id: str, arguments: str = "") -> dict[str, Any]:
    return {
        "id": "__fake_id__",
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def test_arguments_that_interleave_are_kept_apart_by_their_output_index() -> None:
    delta = "response.function_call_arguments.delta"
    played = runs.translate(
        created(),
        *(added(call("a", "c1"), 0), added(call("b", "c2"), 1)),
        *(raw(delta, delta='{"x":', output_index=0), raw(delta, delta='{"y":', output_index=1)),
        *(raw(delta, delta="1}", output_index=0), raw(delta, delta="2}", output_index=1)),
        *(done(call("a", "c1", '{"x":1}'), 0), done(call("b", "c2", '{"y":2}'), 1)),
        completed(),
    )
    assert [(one.arguments, one.input) for one in played.folded.calls.values()] == [
        ('{"x":1}', {"x": 1}),
        ('{"y":2}', {"y": 2}),
    ]


def test_the_same_output_index_in_the_next_response_is_another_item() -> None:
    text = raw("response.output_text.delta", delta="a")
    played = runs.translate(created(), text, completed(), created(), text, completed())
    assert [runs.text_of(one) for one in played.folded.messages] == ["a", "a"]


def test_a_response_without_a_beginning_is_shown() -> None:
    text = raw("response.output_text.delta", delta="a")
    played = runs.translate(text, completed(), text, completed())
    assert [runs.text_of(one) for one in played.folded.messages] == ["a", "a"]


def test_arguments_that_come_before_the_name_wait_for_it() -> None:
    delta = raw("response.function_call_arguments.delta", delta='{"x":1}')
    played = runs.translate(created(), delta, done(call("a", "c1", '{"x":1}')))
    assert (played.call("c1").arguments, played.call("c1").input) == ('{"x":1}', {"x": 1})


def test_arguments_that_are_no_json_are_shown_as_they_are() -> None:
    assert runs.translate(created(), done(call("a", "c1", '{"x"'))).call("c1").input == '{"x"'


def test_a_call_without_arguments_has_none() -> None:
    assert runs.translate(created(), done(call("a", "c1"))).call("c1").input == {}


def test_a_step_is_a_response_and_names_its_message() -> None:
    played = runs.translate(created(), raw("response.output_text.delta", delta="a"), completed())
    (start,), (finish,) = played.of(ev.StepStarted), played.of(ev.StepFinished)
    assert (start.kind, start.step_id, finish.message_id) == ("model", finish.step_id, "m1")


@pytest.mark.parametrize(
    ("reason", "stop"), [("max_output_tokens", "max_tokens"), ("content_filter", "refusal")]
)
async def test_an_incomplete_response_says_why_it_stopped(reason: str, stop: str) -> None:
    part = response([message("half")], status="incomplete", incomplete_details={"reason": reason})
    events = [created().data, raw("response.incomplete", response=part).data]
    played = await runs.play(runs.agent(runs.ModelStep.stream(events)))
    assert played.error is not None
    assert (played.text, played.stop) == ("half", stop)


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        ("rate_limit_exceeded", "rate_limited"),
        ("server_error", "model_failed"),
        ("image_too_large", "input_refused"),
        ("invalid_prompt", "request_refused"),
    ],
)
async def test_a_failed_response_has_the_providers_code_and_text(code: str, ours: str) -> None:
    failed = response(status="failed", error={"code": code, "message": "too bad"})
    events = [created().data, raw("response.failed", response=failed).data]
    played = await runs.play(runs.agent(runs.ModelStep.stream(events)))
    assert played.terminal == ev.TurnFailed(code=ours, message="too bad", meta={"provider_code": code})


async def test_an_error_event_has_the_providers_code_and_text() -> None:
    error = raw("error", code="context_length_exceeded", message="too long", param=None)
    played = await runs.play(runs.agent(runs.ModelStep.stream([created().data, error.data])))
    assert isinstance(played.terminal, ev.TurnFailed)
    assert (played.terminal.code, played.terminal.message) == ("context_overflow", "too long")


def test_usage_that_is_missing_or_empty_is_no_failure() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3,
             "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 7},
             "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    half = {"type": "raw_response_event", "data": {"type": "response.completed", "response": {
        "model": "anthropic/claude", "usage": {"input_tokens": None, "output_tokens": 2}}}}  # fmt: skip
    played = runs.translate(completed(usage=usage), completed(), half)
    assert played.usage == [
        ev.TokenUsage(model="gpt", input_tokens=1, output_tokens=2, cache_write_tokens=7),
        ev.TokenUsage(provider="anthropic", model="claude", output_tokens=2),
    ]


# -- tools that the provider runs ---------------------------------------------------------------------


def test_a_web_search_shows_its_query_and_the_pages_that_it_found() -> None:
    item = {"id": "ws", "type": "web_search_call", "status": "in_progress",
            "action": {"type": "search", "query": "rain"}}  # fmt: skip
    sources = [{"type": "url", "url": "https://a.example"}]
    action = {"type": "search", "query": "rain", "sources": sources}
    found = {**item, "status": "completed", "action": action}
    played = runs.translate(
        *(created(), added(item), raw("response.web_search_call.in_progress")),
        *(raw("response.web_search_call.searching"), raw("response.web_search_call.completed"), done(found)),
    )
    one = played.call("ws")
    assert (one.name, one.kind, one.title) == ("web_search", "search", "Web search rain")
    assert played.statuses("ws") == ["in_progress", "completed"]
    assert one.content == (c.SourceBlock(source_id="https://a.example", url="https://a.example"),)


def test_a_page_that_is_opened_is_fetched() -> None:
    item = {"id": "ws", "type": "web_search_call", "status": "completed",
            "action": {"type": "open_page", "url": "https://a.example"}}  # fmt: skip
    one = runs.translate(created(), done(item)).call("ws")
    assert (one.kind, one.title) == ("fetch", "Web search https://a.example")


def test_the_code_of_an_interpreter_is_streamed_before_it_runs() -> None:
    item = {
        "id": "ci",
        "type": "code_interpreter_call",
        "status": "in_progress",
        "container_id": "k",
        "code": "",
    }
    outputs = [{"type": "logs", "logs": "2"}, {"type": "image", "url": "https://a.example/p.png"}]
    whole = {**item, "status": "completed", "code": 'print("1")\n', "outputs": outputs}
    code = "response.code_interpreter_call_code"
    played = runs.translate(
        *(created(), added(item), raw("response.code_interpreter_call.in_progress")),
        *(raw(f"{code}.delta", delta='print("'), raw(f"{code}.delta", delta='1")\n')),
        *(raw(f"{code}.done", code='print("1")\n'), raw("response.code_interpreter_call.interpreting")),
        *(raw("response.code_interpreter_call.completed"), done(whole)),
    )
    one = played.call("ci")
    assert (one.kind, one.input) == ("execute", {"code": 'print("1")\n'})
    assert one.arguments == '{"code":"print(\\"1\\")\\n"}'
    assert played.statuses("ci") == ["in_progress", "completed"]
    assert one.content == (
        c.TextBlock(text="2"),
        c.ImageBlock(mime_type="image/*", url="https://a.example/p.png"),
    )


def test_passages_that_a_file_search_found_are_resources() -> None:
    item = {"id": "fs", "type": "file_search_call", "status": "completed", "queries": ["a", "b"],
            "results": [{"file_id": "f", "filename": "a.md", "text": "found", "score": 0.5}]}  # fmt: skip
    one = runs.translate(created(), added({**item, "results": None}), done(item)).call("fs")
    assert (one.title, one.status) == ("File search a, b", "completed")
    assert one.content == (c.ResourceBlock(uri="file:a.md", text="found"),)


def test_an_image_is_shown_while_it_is_made_and_is_part_of_the_answer_at_the_end() -> None:
    item = {"id": "ig", "type": "image_generation_call", "status": "in_progress", "result": None}
    whole = {**item, "status": "completed", "result": PNG, "output_format": "webp", "revised_prompt": "a cat"}
    partial = raw(
        "response.image_generation_call.partial_image", partial_image_b64="AA==", partial_image_index=0
    )
    made = c.ImageBlock(mime_type="image/webp", data=PNG)
    played = runs.translate(
        *(created(), added(item), raw("response.image_generation_call.in_progress")),
        *(raw("response.image_generation_call.generating"), partial, done(whole)),
    )
    partials = [event.content for event in played.of(ev.ToolUpdate) if event.status is None and event.content]
    assert partials == [(c.ImageBlock(mime_type="image/png", data="AA=="),)]
    assert [event.content for event in played.of(ev.Media)] == [made]
    assert (played.call("ig").content, played.call("ig").title) == ((made,), "Image generation a cat")


def test_an_image_that_moderation_refused_has_failed() -> None:
    item = {"id": "ig", "type": "image_generation_call", "status": "failed",
            "error": {"message": "not allowed", "type": "moderation_blocked"}}  # fmt: skip
    played = runs.translate(created(), done(item))
    assert (played.call("ig").status, played.call("ig").reason) == ("failed", "not allowed")
    assert played.of(ev.Media) == []


MCP = {"id": "mcp_1", "type": "mcp_call", "server_label": "docs", "name": "read_page", "arguments": ""}


def test_a_call_of_a_hosted_mcp_server_streams_its_arguments() -> None:
    whole = {**MCP, "arguments": '{"url":"x"}', "output": "text", "status": "completed"}
    delta = "response.mcp_call_arguments"
    played = runs.translate(
        *(
            created(),
            added(MCP),
            raw("response.mcp_call.in_progress"),
            raw(f"{delta}.delta", delta='{"url":"x"}'),
        ),
        *(raw(f"{delta}.done", arguments='{"url":"x"}'), raw("response.mcp_call.completed"), done(whole)),
    )
    one = played.call("mcp_1")
    assert (one.name, one.kind, one.title) == ("read_page", "read", "docs: Read page x")
    assert (one.arguments, one.raw_output) == ('{"url":"x"}', "text")
    assert played.statuses("mcp_1") == ["in_progress", "completed"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ({"type": "http_error", "code": 500, "message": "broken"}, "broken"),
        ({"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "no page"}]}, "no page"),
    ],
)
def test_a_call_of_a_hosted_mcp_server_fails_with_the_servers_reason(error: Any, reason: str) -> None:
    one = runs.translate(created(), done({**MCP, "error": error, "status": "failed"})).call("mcp_1")
    assert (one.status, one.reason) == ("failed", reason)


def test_a_call_that_was_not_finished_has_failed() -> None:
    item = {
        "id": "ci",
        "type": "code_interpreter_call",
        "status": "incomplete",
        "container_id": "k",
        "code": "1",
    }
    one = runs.translate(created(), done(item)).call("ci")
    assert (one.status, one.reason) == ("failed", "it was not finished")


def test_what_a_hosted_shell_prints_is_appended_to_its_call() -> None:
    shell = {"id": "sh", "type": "shell_call", "call_id": "c1", "status": "completed",
             "action": {"commands": ["ls"]}}  # fmt: skip
    ended = {"stdout": "a\n", "stderr": "b", "outcome": {"type": "exit", "exit_code": 2}}
    output = {"id": "so", "type": "shell_call_output", "call_id": "c1", "status": "completed",
              "output": [ended]}  # fmt: skip
    printed = "response.shell_call_output_content.delta"
    played = runs.translate(
        *(created(), added(shell), done(shell), added({**output, "output": []}, 1)),
        *(raw(printed, delta={"stdout": "a\n"}, command_index=0, output_index=1), done(output, 1)),
    )
    one = played.call("c1")
    assert (one.title, one.kind, one.output, one.status) == ("Run ls", "execute", "a\n", "completed")
    assert [c.text_of((block,)) for block in one.content] == ["a\n", "b", "exit code 2"]


def test_tools_that_a_search_found_answer_the_search() -> None:
    search = {"id": "ts", "type": "tool_search_call", "arguments": {"query": "sum"}, "execution": "server",
              "status": "completed"}  # fmt: skip
    tool: Any = {"type": "function", "name": "add", "parameters": {}, "strict": False}
    output = {"id": "to", "type": "tool_search_output", "execution": "server", "status": "completed",
              "tools": [tool]}  # fmt: skip
    one = runs.translate(created(), done(search), done(output, 1)).call("ts")
    assert (one.kind, one.title, one.status) == ("search", "Tool search sum", "completed")
    assert c.text_of(one.content) == "add"


def test_a_program_is_a_call_with_its_result() -> None:
    program = {"id": "p", "type": "program", "call_id": "c1", "code": "1 + 1", "fingerprint": "x"}
    output = {"id": "po", "type": "program_output", "call_id": "c1", "result": "2", "status": "completed"}
    one = runs.translate(created(), done(program), done(output, 1)).call("c1")
    assert (one.kind, one.input, c.text_of(one.content)) == ("execute", {"code": "1 + 1"}, "2")


def test_a_custom_tool_gets_text_and_its_patch_is_shown_as_a_diff() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n-old\n+new\n*** End Patch\n"
    item = {"id": "ct", "type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": ""}
    delta = "response.custom_tool_call_input"
    pieces = [raw(f"{delta}.delta", delta=patch[:20]), raw(f"{delta}.delta", delta=patch[20:])]
    played = runs.translate(
        created(), added(item), *pieces, raw(f"{delta}.done", input=patch), done({**item, "input": patch})
    )
    one = played.call("c1")
    assert (one.kind, one.input) == ("edit", {"input": patch})
    assert runs.msgspec.json.decode(one.arguments) == {"input": patch}
    assert one.content == (c.DiffBlock(path="a.py", old="old", new="new"),)
    assert one.locations == (ev.Location(path="a.py"),)


# -- compaction, and what is not known -----------------------------------------------------------------


def test_a_compaction_has_a_beginning_and_an_end() -> None:
    item = {"id": "cmp", "type": "compaction", "encrypted_content": "x"}
    compacting = raw("response.compaction.compacting", item_id="cmp")
    played = runs.translate(created(), added(item), compacting, done(item))
    assert [(one.compaction_id, one.status) for one in played.of(ev.Compaction)] == [
        ("cmp", "in_progress"),
        ("cmp", "completed"),
    ]


def test_a_compaction_that_breaks_off_has_failed() -> None:
    played = runs.translate(created(), raw("response.compaction.compacting", item_id="cmp"))
    assert [one.status for one in played.of(ev.Compaction)] == ["in_progress", "failed"]


def test_a_raw_event_that_is_not_known_is_kept() -> None:
    data = {"type": "response.hologram.delta", "delta": "x"}
    (kept,) = runs.translate({"type": "raw_response_event", "data": data}).of(ev.Raw)
    assert (kept.source, kept.payload) == ("openai", data)


def test_an_item_that_is_not_known_is_kept() -> None:
    item = {"type": "hologram", "id": "h"}
    event = {"type": "response.output_item.done", "output_index": 0, "item": item}
    (kept,) = runs.translate({"type": "raw_response_event", "data": event}).of(ev.Raw)
    assert kept.payload == item


def test_an_output_without_a_call_is_kept() -> None:
    item = {"type": "function_call_output", "call_id": "nobody", "output": "x"}
    event = {"type": "response.output_item.done", "output_index": 0, "item": item}
    (kept,) = runs.translate({"type": "raw_response_event", "data": event}).of(ev.Raw)
    assert kept.payload == item
