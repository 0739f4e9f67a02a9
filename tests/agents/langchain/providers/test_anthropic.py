"""Anthropic's own class on its own wire: thoughts, what it runs itself, documents and their citations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.langchain.graphs import calls_of, converse, run_turn, stop_of, weather
from tests.agents.langchain.providers import anthropic_messages, wires
from tests.agents.langchain.providers.anthropic_messages import (
    call,
    kinds_of,
    page,
    parts_of,
    result,
    say,
    served,
    text,
    the_call,
    thought,
)
from tests.agents.langchain.providers.conftest import Make
from tests.agents.langchain.providers.model_server import ModelServer, Reply
from tests.agents.langchain.providers.wires import PROOF
from tests.hubs import collect, hub_for, only, text_of
from trunkline import content as c
from trunkline import events as ev
from trunkline.commands import Prompt

pytestmark = pytest.mark.asyncio(loop_scope="module")

WIRE = wires.Anthropic()
SKY = "https://example.org/sky"
BLUE = "https://example.org/blue"


# -- thoughts ----------------------------------------------------------------------------------------


async def test_thoughts_between_calls_stay_where_they_were(
    server: ModelServer, make: Make, settings: dict[str, Any]
) -> None:
    asking = say(
        thought("First, ", "Paris."),
        anthropic_messages.hidden_thought("c2VjcmV0"),
        text("I ask."),
        call("toolu_1", "weather", '{"city": "Paris"}'),
        thought("Then Rome."),
        call("toolu_2", "weather", '{"city": ', '"Rome"}'),
        stop="tool_use",
    )
    server.play(asking, say(text(), text("Sunny.")))
    events = await run_turn(make(WIRE, server, weather, settings=settings), "How is the weather?")
    assert parts_of(events) == ["thought", "thought", "text", "call", "thought", "call"]
    assert [event.signature for event in only(events, ev.Thought) if event.signature] == [
        PROOF,
        "c2VjcmV0",
        PROOF,
    ]
    assert not only(events, ev.Raw)
    assert text_of(events) == "I ask.Sunny."
    assert all(event.delta for event in only(events, ev.Text))
    assert kinds_of(anthropic_messages.blocks_of(server.asked[1])[1]) == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
        "thinking",
        "tool_use",
    ]


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


@pytest.mark.parametrize("play", [say, anthropic_messages.whole], ids=["streamed", "whole"])
async def test_a_search_of_the_providers_own_is_a_call_with_pages(
    server: ModelServer,
    make: Make,
    settings: dict[str, Any],
    memory: dict[str, Any],
    play: Callable[..., Reply],
) -> None:
    settings = settings | ({} if play is say else {"disable_streaming": True})
    server.play(play(*SEARCHED, stop="tool_use"), play(text("And sunny.")), play(text("I said: blue.")))
    async with hub_for(
        make(WIRE, server, weather, anthropic_messages.SEARCH, settings=settings, **memory)
    ) as hub:
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
        anthropic_messages.check_history(asked)


async def test_what_a_journal_tells_of_a_search_stands_before_what_rests_on_it(
    server: ModelServer, make: Make
) -> None:
    server.play(say(*SEARCHED, stop="tool_use"), say(text("And sunny.")), say(text("Blue.")))
    await converse(
        make(WIRE, server, weather, anthropic_messages.SEARCH), "How is the sky?", "What did you say?"
    )
    output = [block for blocks in anthropic_messages.blocks_of(server.asked[2]) for block in blocks]
    assert [(block["type"], block.get("text")) for block in output] == [
        ("text", "How is the sky?"),
        ("text", "I look."),
        ("tool_use", None),
        ("tool_result", None),
        ("text", "The sky is blue."),
        ("tool_use", None),
        ("tool_result", None),
        ("text", "And sunny."),
        ("text", "What did you say?"),
    ]
    found = [block["text"] for block in output[3]["content"]]
    assert found == [f"[Sky]({SKY})", f"[Blue]({BLUE})"]


async def test_a_search_beside_a_call_ends_in_the_next_answer(
    server: ModelServer, make: Make, settings: dict[str, Any]
) -> None:
    searching = served("srvtoolu_1", "web_search", '{"query": "sky"}')
    asking = call("toolu_1", "weather", '{"city": "Paris"}')
    found = result("web_search", "srvtoolu_1", [page(SKY, "Sky")])
    server.play(say(searching, asking, stop="tool_use"), say(found, text("Blue.")), say(text("Well.")))
    events, _ = await converse(
        make(WIRE, server, weather, anthropic_messages.SEARCH, settings=settings), "How is the sky?", "And?"
    )
    calls = calls_of(events)
    assert [one.status for one in calls.values()] == ["completed", "completed"]
    assert calls["srvtoolu_1"].content == (c.SourceBlock(source_id=SKY, url=SKY, title="Sky"),)
    assert json.loads(calls["srvtoolu_1"].arguments) == {"query": "sky"}
    assert not only(events, ev.Notice)
    anthropic_messages.check_history(server.asked[2])


async def test_a_search_that_failed_says_why(
    server: ModelServer, make: Make, settings: dict[str, Any]
) -> None:
    why = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    searched = served("srvtoolu_1", "web_search", '{"query": "sky"}')
    server.play(say(searched, result("web_search", "srvtoolu_1", why), text("I do not know.")))
    events = await run_turn(
        make(WIRE, server, anthropic_messages.SEARCH, settings=settings), "How is the sky?"
    )
    assert (the_call(events).status, the_call(events).reason) == ("failed", "max_uses_exceeded")
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
RUNS: dict[str, tuple[anthropic_messages.Block, anthropic_messages.Block, str, list[Any]]] = {
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
    server: ModelServer, make: Make, settings: dict[str, Any], memory: dict[str, Any], made: Any
) -> None:
    asking, answer, title, shown = made
    server.play(say(asking, answer, text("Done.")), say(text("Well.")))
    events, _ = await converse(
        make(WIRE, server, anthropic_messages.SEARCH, settings=settings, **memory), "Go on!", "And?"
    )
    run = the_call(events)
    assert not only(events, ev.Notice)
    assert run.status == "completed"
    assert str(run.title).startswith(title)
    assert [text_in(block) for block in run.content] == shown
    anthropic_messages.check_history(server.asked[1])


def text_in(block: Any) -> str:
    return block.uri if isinstance(block, c.LinkBlock) else block.text


async def test_a_servers_tool_that_failed_says_why(
    server: ModelServer, make: Make, settings: dict[str, Any]
) -> None:
    asked = call("mcptoolu_1", "echo", '{"a": 1}', kind="mcp_tool_use", server_name="mine")
    output = result("mcp", "mcptoolu_1", [{"type": "text", "text": "no echo here"}], is_error=True)
    server.play(say(asked, output, text("Nothing.")))
    failed = the_call(await run_turn(make(WIRE, server, settings=settings), "Hello?"))
    assert (failed.name, failed.status, failed.reason) == ("echo", "failed", "no echo here")


# -- documents ---------------------------------------------------------------------------------------


def quoted(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "cited_text": "Grass is green.", **fields}


async def test_documents_that_are_cited_are_sources_each_by_itself(server: ModelServer, make: Make) -> None:
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
    events = await run_turn(make(WIRE, server), Prompt(content=(c.TextBlock(text="Is it?"), *papers)))
    sources = only(events, ev.Source)
    assert [(one.document, one.url) for one in sources] == [
        ("a.pdf", None),
        ("b.pdf", None),
        ("a.pdf", None),
        (None, SKY),
    ]
    assert len({one.source_id for one in sources}) == 3
    assert parts_of(events) == ["source", "source", "source", "text"]
    (sent,) = anthropic_messages.blocks_of(server.asked[0])
    assert [block.get("title") for block in sent] == [None, "a.pdf", "b.pdf"]


PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
PROMPTS: dict[str, tuple[c.Content, dict[str, Any]]] = {
    "paper": (
        c.ResourceBlock(uri="file:///a.pdf", data="JVBERi0=", mime_type="application/pdf"),
        {"type": "document", "source": PDF, "title": "a.pdf"},
    ),
    "text": (
        c.ResourceBlock(uri="file:///a.txt", text="Hey.", mime_type="text/plain"),
        {"type": "text", "text": '<resource uri="file:///a.txt">\nHey.\n</resource>'},
    ),
    "data that is text": (
        c.ResourceBlock(uri="file:///a.json", data="e30=", mime_type="application/json"),
        {"type": "text", "text": '<resource uri="file:///a.json">\n{}\n</resource>'},
    ),
    "data that only says so": (
        c.ResourceBlock(uri="file:///a.txt", data="/w==", mime_type="text/plain"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "text/plain", "data": "/w=="},
            "title": "a.txt",
        },
    ),
    "address of an image": (
        c.ImageBlock(url="https://example.org/a.png", mime_type="image/png"),
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
    ),
    "link": (c.LinkBlock(uri="file:///b.md", name="b.md"), {"type": "text", "text": "[b.md](file:///b.md)"}),
}


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
async def test_what_a_person_sends_reaches_the_model(
    server: ModelServer, make: Make, memory: dict[str, Any], prompt: tuple[c.Content, dict[str, Any]]
) -> None:
    given, sent = prompt
    server.play(say(text("I see.")), say(text("Still.")))
    async with hub_for(make(WIRE, server, **memory)) as hub:
        session = await hub.create()
        await collect(session, Prompt(content=(c.TextBlock(text="What is it?"), given)))
        await collect(session, "And now?")
        (first, *_) = (await session.history()).messages
    assert [anthropic_messages.blocks_of(asked)[0][1] for asked in server.asked] == [sent, sent]
    assert first.content[1] == given
