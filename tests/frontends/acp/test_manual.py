"""ACP by hand, in a process of its own with real pipes."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from trunkline import stdio_transport
from trunkline.conformance.acp.stdio_client import Line, StdioClient, text


@pytest.fixture
def talk() -> Iterator[StdioClient]:
    with StdioClient([sys.executable, "-m", "tests.frontends.acp.manual_agent"]) as talk:
        yield talk
        assert talk.finish() == 0, talk.stderr


@pytest.fixture
def served() -> Iterator[StdioClient]:
    """An agent that leaves everything but its prompts to ``serve``."""
    with StdioClient([sys.executable, "-m", "tests.frontends.acp.manual_agent", "serve"]) as talk:
        yield talk
        assert talk.finish() == 0, talk.stderr
        assert talk.faults() == []


def params_of(talk: StdioClient, method: str) -> dict[str, Any]:
    """Wait for a notification and give its params."""

    def is_it(line: Line) -> bool:
        return line.message is not None and line.message.get("method") == method

    line = talk.until(is_it)
    assert line is not None, talk.stderr
    assert line.message is not None
    return line.message["params"]


def prompt(words: str) -> dict[str, Any]:
    return {"sessionId": "by-hand", "prompt": text(words)}


def test_a_message_without_a_callback_is_read_and_answered_by_hand(talk: StdioClient) -> None:
    assert talk.initialize() == {"protocolVersion": 1}
    talk.notify("_hint", {})
    assert params_of(talk, "_heard")["method"] == "_hint"


def test_a_prompt_is_answered_by_its_callback_after_what_it_said(talk: StdioClient) -> None:
    assert talk.result("session/prompt", prompt("hello")) == {"stopReason": "end_turn"}
    assert talk.message_text("by-hand") == "hello", "the session's id was put in"
    assert talk.faults() == []


def test_a_stop_reason_alone_is_a_result_and_other_words_are_not(talk: StdioClient) -> None:
    assert talk.result("session/prompt", prompt("max_tokens")) == {"stopReason": "max_tokens"}
    assert talk.result("session/prompt", prompt("nothing")) == {"stopReason": "end_turn"}
    assert (
        "session/prompt gave 'nonsense': give" in talk.error("session/prompt", prompt("nonsense"))["message"]
    )


def test_what_is_printed_goes_to_stderr(talk: StdioClient) -> None:
    talk.result("session/prompt", prompt("hello"))
    assert talk.finish() == 0
    assert "printed by an agent" in talk.stderr
    assert all(line.message is not None for line in talk.log)


def test_cancel_mode_and_load_have_callbacks_too(talk: StdioClient) -> None:
    talk.notify("session/cancel", {"sessionId": "another"})
    assert params_of(talk, "_cancelled") == {"sessionId": "another"}
    assert talk.result("session/set_mode", {"sessionId": "by-hand", "modeId": "code"}) == {}
    params: dict[str, Any] = {"sessionId": "by-hand", "cwd": "/tmp", "mcpServers": []}
    assert talk.result("session/load", params) == {"_meta": {"cwd": "/tmp"}}


def test_what_a_callback_raises_is_answered_as_an_error(talk: StdioClient) -> None:
    error = talk.error("session/prompt", prompt("raise"))
    assert (error["code"], error["data"]) == (-32603, {"details": error["message"]})
    assert error["message"] == "internal error: LookupError: the words are gone"
    refused = talk.error("session/prompt", prompt("refuse"))
    assert refused == {"code": -32099, "message": "not today", "data": {"why": "it is Sunday"}}
    assert talk.error("session/prompt", {"sessionId": "by-hand"})["code"] == -32602
    talk.notify("session/cancel", {"sessionId": "broken"})
    assert talk.result("session/prompt", prompt("hello")) == {"stopReason": "end_turn"}


def test_a_request_that_is_no_longer_wanted_ends_its_callback(talk: StdioClient) -> None:
    request_id = talk.start("session/prompt", prompt("wait"))
    talk.notify("$/cancel_request", {"requestId": request_id})
    reply = talk.wait(request_id)
    assert reply is not None
    assert reply["error"]["code"] == -32800


def test_the_editor_is_asked_and_answers(talk: StdioClient) -> None:
    talk.answer["_question"] = lambda params: {"session": params["sessionId"]}
    assert talk.result("_ask", {"timeout": 20}) == {"got": {"session": "by-hand"}}


def test_an_answer_that_does_not_come_in_time_is_taken_back(talk: StdioClient) -> None:
    talk.answer["_question"] = lambda params: None
    assert talk.result("_ask", {"timeout": 0.5}) == {"got": "nothing in time"}
    methods = [line.message["method"] for line in talk.log if line.message and "method" in line.message]
    assert methods == ["_question", "$/cancel_request"]


def test_an_error_is_sent_for_a_request_or_for_nothing_in_particular(talk: StdioClient) -> None:
    error = talk.error("_nonsense", {})
    assert error == {"code": -32601, "message": "nobody does that", "data": "_nonsense"}
    first, _ = (line.message for line in talk.log)
    assert first == {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "what was that?"}}


def test_a_request_is_answered_once(talk: StdioClient) -> None:
    assert talk.result("_twice", {}) == {}
    assert "no request 1 is open" in params_of(talk, "_refused")["why"]
    assert "no request 1 is open" in params_of(talk, "_refused")["why"]


def test_the_end_of_the_editor_ends_the_reading_and_misuse_says_what_to_do(talk: StdioClient) -> None:
    talk.initialize()
    assert talk.finish() == 0
    lines = talk.stderr.splitlines()
    assert lines.count("this transport was not started: call start() first") == 2
    assert "this transport was started already; a process has one stdin and stdout" in lines
    assert "the editor closed the connection" in lines


def test_messages_that_nobody_reads_are_bounded(talk: StdioClient) -> None:
    talk.notify("_stop_reading", {})
    for _ in range(1024):
        talk.notify("_more", {})
    talk.notify("_dropped", {})
    error = talk.error("_one_too_many", {})
    assert error == {"code": -32603, "message": "1024 messages wait to be read by the agent"}
    assert talk.result("session/prompt", prompt("hello")) == {"stopReason": "end_turn"}
    assert talk.finish() == 0
    assert "_dropped was dropped" in talk.stderr


def test_serving_answers_what_every_client_asks_first_and_refuses_the_rest(served: StdioClient) -> None:
    greeting = served.initialize()
    assert (greeting["protocolVersion"], greeting["agentCapabilities"]["loadSession"]) == (1, False)
    assert served.open() != served.open()
    assert served.prompt("by-hand", "hello") == {"stopReason": "end_turn"}
    assert served.message_text("by-hand") == "hello"
    error = served.error("session/load", {"sessionId": "by-hand", "cwd": "/", "mcpServers": []})
    assert error == {"code": -32601, "message": "there is no method session/load"}
    refused = served.error("session/set_mode", {"sessionId": "by-hand", "modeId": "code"})
    assert "session/set_mode is not async: write it with async def" in refused["message"]


@pytest.mark.parametrize("words", ["wait", "wait and fail", "wait and return", "dismiss"])
def test_a_cancelled_prompt_is_answered_with_its_stop_reason(served: StdioClient, words: str) -> None:
    request_id = served.start("session/prompt", prompt(words))
    served.notify("session/cancel", {"sessionId": "by-hand"})
    reply = served.wait(request_id)
    assert reply is not None
    assert reply["result"] == {"stopReason": "cancelled"}
    served.notify("session/cancel", {"sessionId": "of nobody"})
    assert served.prompt("by-hand", "hello") == {"stopReason": "end_turn"}


def test_a_transport_has_no_loop_before_it_starts() -> None:
    assert stdio_transport().loop is None
