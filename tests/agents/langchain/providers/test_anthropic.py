"""Anthropic's own class on its own wire: thoughts, what it runs itself, documents and their citations."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.langchain.graphs import calls_of, converse, only_call, parts_of, run_turn, stop_of, weather
from tests.agents.langchain.providers.conftest import Options
from tests.agents.langchain.providers.model_server import ModelServer, Reply
from tests.agents.langchain.providers.wires import anthropic
from tests.agents.langchain.providers.wires.anthropic import call, page, result, say, served, text, thought
from tests.agents.langchain.providers.wires.parts import PROOF
from tests.hubs import collect, hub_for, only, text_of
from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")

WIRE = anthropic.Anthropic()
SKY = "https://example.org/sky"
BLUE = "https://example.org/blue"


# -- thoughts ----------------------------------------------------------------------------------------


async def test_thoughts_between_calls_stay_where_they_were(server: ModelServer, settings: Options) -> None:
    asking = say(
        thought("First, ", "Paris."),
        anthropic.hidden_thought("c2VjcmV0"),
        text("I ask."),
        call("toolu_1", "weather", '{"city": "Paris"}'),
        thought("Then Rome."),
        call("toolu_2", "weather", '{"city": ', '"Rome"}'),
        stop="tool_use",
    )
    server.play(asking, say(text(), text("Sunny.")))
    events = await run_turn(server.agent(WIRE, weather, settings=settings), "How is the weather?")
    assert parts_of(events) == ["thought", "thought", "text", "call", "thought", "call"]
    signatures = [event.signature for event in only(events, ev.Thought) if event.signature]
    assert signatures == [PROOF, "c2VjcmV0", PROOF]
    assert not only(events, ev.Raw)
    assert text_of(events) == "I ask.Sunny."
    assert all(event.delta for event in only(events, ev.Text))
    sent = [block["type"] for block in anthropic.blocks_of(server.asked[1])[1]]
    assert sent == ["thinking", "redacted_thinking", "text", "tool_use", "thinking", "tool_use"]


# -- what Anthropic runs itself ----------------------------------------------------------------------

CITED = {
    "type": "web_search_result_location",
    "url": BLUE,
    "title": "Blue",
    "cited_text": "It is blue.",
    "encrypted_index": "aW5kZXg=",
}
SEARCHED = (
    thought("Hm."),
    text("I look."),
    served("srvtoolu_1", "web_search", '{"que', 'ry": "sky"}'),
    result("web_search", "srvtoolu_1", [page(SKY, "Sky"), page(BLUE, "Blue")]),
    text("The sky "),
    text("is blue", citations=(CITED,)),
    text("."),
    call("toolu_1", "weather", '{"city": "Paris"}'),
)


@pytest.mark.parametrize("play", [say, anthropic.whole], ids=["streamed", "whole"])
async def test_a_search_of_the_providers_own_is_a_call_with_pages(
    server: ModelServer, settings: Options, memory: Options, play: Callable[..., Reply]
) -> None:
    settings = settings | ({} if play is say else {"disable_streaming": True})
    server.play(play(*SEARCHED, stop="tool_use"), play(text("And sunny.")), play(text("I said: blue.")))
    async with hub_for(server.agent(WIRE, weather, anthropic.SEARCH, settings=settings, **memory)) as hub:
        session = await hub.create()
        events = await collect(session, "How is the sky?")
        assert text_of(await collect(session, "What did you say?")) == "I said: blue."
    assert not only(events, ev.Notice)
    assert parts_of(events) == ["thought", "text", "call", "text", "source", "text", "call"]
    search = calls_of(events)["srvtoolu_1"]
    assert (search.name, search.title, search.kind) == ("web_search", "Web search sky", "search")
    assert (search.input, search.status, search.reason) == ({"query": "sky"}, "completed", None)
    assert search.content == (
        c.SourceBlock(source_id=SKY, url=SKY, title="Sky"),
        c.SourceBlock(source_id=BLUE, url=BLUE, title="Blue"),
    )
    (source,) = only(events, ev.Source)
    assert (source.url, source.title) == (BLUE, "Blue")
    assert stop_of(events) == "end_turn"
    for asked in server.asked[1:]:
        WIRE.check(asked)


async def test_what_a_journal_tells_of_a_search_stands_before_what_rests_on_it(server: ModelServer) -> None:
    server.play(say(*SEARCHED, stop="tool_use"), say(text("And sunny.")), say(text("Blue.")))
    await converse(server.agent(WIRE, weather, anthropic.SEARCH), "How is the sky?", "What did you say?")
    output = [block for blocks in anthropic.blocks_of(server.asked[2]) for block in blocks]
    assert [block.get("text", block["type"]) for block in output] == [
        *("How is the sky?", "I look.", "tool_use", "tool_result", "The sky is blue."),
        *("tool_use", "tool_result", "And sunny.", "What did you say?"),
    ]
    found = [block["text"] for block in output[3]["content"]]
    assert found == [f"[Sky]({SKY})", f"[Blue]({BLUE})"]


async def test_a_search_beside_a_call_ends_in_the_next_answer(server: ModelServer, settings: Options) -> None:
    searching = served("srvtoolu_1", "web_search", '{"query": "sky"}')
    asking = call("toolu_1", "weather", '{"city": "Paris"}')
    found = result("web_search", "srvtoolu_1", [page(SKY, "Sky")])
    server.play(say(searching, asking, stop="tool_use"), say(found, text("Blue.")), say(text("Well.")))
    events, _ = await converse(
        server.agent(WIRE, weather, anthropic.SEARCH, settings=settings), "How is the sky?", "And?"
    )
    calls = calls_of(events)
    assert [one.status for one in calls.values()] == ["completed", "completed"]
    assert calls["srvtoolu_1"].content == (c.SourceBlock(source_id=SKY, url=SKY, title="Sky"),)
    assert json.loads(calls["srvtoolu_1"].arguments) == {"query": "sky"}
    assert not only(events, ev.Notice)
    WIRE.check(server.asked[2])


FAILURES: dict[str, tuple[anthropic.Block, anthropic.Block, str]] = {
    "search": (
        served("srvtoolu_1", "web_search", '{"query": "sky"}'),
        result(
            "web_search",
            "srvtoolu_1",
            {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        ),
        "max_uses_exceeded",
    ),
    "server": (
        call("mcptoolu_1", "echo", '{"a": 1}', kind="mcp_tool_use", server_name="mine"),
        result("mcp", "mcptoolu_1", [{"type": "text", "text": "no echo here"}], is_error=True),
        "no echo here",
    ),
}


@pytest.mark.parametrize("made", FAILURES.values(), ids=FAILURES)
async def test_what_the_provider_ran_and_failed_says_why(
    server: ModelServer, settings: Options, made: Any
) -> None:
    asking, answer, why = made
    server.play(say(asking, answer, text("I do not know.")))
    events = await run_turn(server.agent(WIRE, anthropic.SEARCH, settings=settings), "How is the sky?")
    assert (only_call(events).status, only_call(events).reason) == ("failed", why)
    assert text_of(events) == "I do not know."


def ran(kind: str, stdout: str, stderr: str, code: int, *files: str) -> dict[str, Any]:
    made = [{"type": kind.replace("_result", "_output"), "file_id": file} for file in files]
    return {"type": kind, "stdout": stdout, "stderr": stderr, "return_code": code, "content": made}


PAGE = {
    "type": "document",
    "title": "Sky",
    "source": {"type": "text", "media_type": "text/plain", "data": "Blue."},
}
VIEW = {"file_type": "text", "content": "a = 1", "num_lines": 1, "start_line": 1, "total_lines": 1}
RUNS: dict[str, tuple[anthropic.Block, anthropic.Block, str, list[Any]]] = {
    "code": (
        served("srvtoolu_1", "code_execution", '{"code": "print(4)"}'),
        result("code_execution", "srvtoolu_1", ran("code_execution_result", "4\n", "", 0, "file_1")),
        "Code",
        ["4\n", "file-id:file_1"],
    ),
    "shell": (
        served("srvtoolu_1", "bash_code_execution", '{"command": "ls x"}'),
        result("bash_code_execution", "srvtoolu_1", ran("bash_code_execution_result", "", "no x", 2)),
        "Run ls x",
        ["no x"],
    ),
    "editor": (
        served("srvtoolu_1", "text_editor_code_execution", '{"command": "view", "path": "a.py"}'),
        result(
            "text_editor_code_execution",
            "srvtoolu_1",
            {"type": "text_editor_code_execution_view_result", **VIEW},
        ),
        "Text editor code execution a.py",
        ["a = 1"],
    ),
    "page": (
        served("srvtoolu_1", "web_fetch", json.dumps({"url": SKY})),
        result("web_fetch", "srvtoolu_1", {"type": "web_fetch_result", "url": SKY, "content": PAGE}),
        f"Web fetch {SKY}",
        ["Blue."],
    ),
    "server": (
        call("mcptoolu_1", "echo", '{"query": "hey"}', kind="mcp_tool_use", server_name="mine"),
        result("mcp", "mcptoolu_1", [{"type": "text", "text": "hey"}], is_error=False),
        "Echo hey",
        ["hey"],
    ),
    "no arguments": (
        call("mcptoolu_1", "echo", kind="mcp_tool_use", server_name="mine"),
        result("mcp", "mcptoolu_1", [], is_error=False),
        "Echo",
        [],
    ),
}


@pytest.mark.parametrize("made", RUNS.values(), ids=RUNS)
async def test_what_the_provider_ran_is_shown_as_what_it_printed_and_found(
    server: ModelServer, settings: Options, memory: Options, made: Any
) -> None:
    asking, answer, title, shown = made
    server.play(say(asking, answer, text("Done.")), say(text("Well.")))
    events, _ = await converse(
        server.agent(WIRE, anthropic.SEARCH, settings=settings, **memory), "Go on!", "And?"
    )
    run = only_call(events)
    assert not only(events, ev.Notice)
    assert run.status == "completed"
    assert str(run.title).startswith(title)
    assert [text_in(block) for block in run.content] == shown
    WIRE.check(server.asked[1])


def text_in(block: Any) -> str:
    return block.uri if isinstance(block, c.LinkBlock) else block.text


# -- documents ---------------------------------------------------------------------------------------


def quoted(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "cited_text": "Grass is green.", **fields}


async def test_documents_that_are_cited_are_sources_each_by_itself(server: ModelServer) -> None:
    ends = {"start_char_index": 0, "end_char_index": 5}
    pages = {"start_page_number": 1, "end_page_number": 2}
    here = {"start_block_index": 0, "end_block_index": 1, "search_result_index": 0}
    citations = (
        quoted("char_location", document_index=0, document_title="a.pdf", **ends),
        quoted("page_location", document_index=1, document_title="b.pdf", **pages),
        quoted("char_location", document_index=0, document_title="a.pdf", **ends),
        quoted("search_result_location", source=SKY, title="Sky", **here),
    )
    server.play(say(text("Grass ", "is green.", citations=citations)))
    papers = [
        c.ResourceBlock(uri=f"file:///{name}", data="JVBERi0=", mime_type="application/pdf")
        for name in ("a.pdf", "b.pdf")
    ]
    events = await run_turn(server.agent(WIRE), Prompt(content=(c.TextBlock(text="Is it?"), *papers)))
    sources = only(events, ev.Source)
    assert [one.document or one.url for one in sources] == ["a.pdf", "b.pdf", "a.pdf", SKY]
    assert len({one.source_id for one in sources}) == 3
    assert parts_of(events) == ["source", "source", "source", "text"]
    (sent,) = anthropic.blocks_of(server.asked[0])
    assert [block.get("title") for block in sent] == [None, "a.pdf", "b.pdf"]
