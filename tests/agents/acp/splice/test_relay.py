"""The splice between an editor and an agent: what passes, what is held back, and how it ends."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.splice.pairs import Pair, paired
from tests.hubs import WAIT, only, opened, soon, text_of, until
from trunkline import events as ev
from trunkline.agents.acp.splice import relay
from trunkline.commands import Prompt
from trunkline.content import TextBlock
from trunkline.conversation import Conversation
from trunkline.folding import fold
from trunkline.journal import Lease, Record
from trunkline.journal.memory import MemoryJournal

Json = dict[str, Any]

ODD = [
    b'{"jsonrpc":"2.0","method":"_x/odd","params":{"n":123456789012345678901234567890,"f":1e3,"n":-0}}',
    b'{ "jsonrpc" : "2.0" , "id" : 0 , "method" : "_x/ask" , "params" : { "t" : "\\u00e9\\ud800" } }',
    b'{"jsonrpc":"2.0","id":null,"method":"_x/ask"}',
    b'{"jsonrpc":"2.0","id":-7,"method":"_x/ask","params":[1.50,1E400]}',
    b'{"jsonrpc":"2.0","id":"s","method":"_x/ask","extra":{"a":1,"a":2}}',
    b'{"jsonrpc":"2.0","id":12345678901234567890123,"result":{"deep":' + b"[" * 300 + b"]" * 300 + b"}}",
    '{"jsonrpc":"2.0","id":true,"method":"_x/odd","params":"\u00e9","n":1e999}'.encode(),
    b'{"jsonrpc":"2.0","id":"gone","error":{"code":1.5,"message":7}}',
]


async def test_odd_lines_pass_both_ways_as_they_are(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        for line in ODD:
            pair.editor.write_line(line + b"\n")
        assert [await pair.agent.line() for _ in ODD] == ODD
        for line in ODD:
            pair.agent.write_line(line + b"\n")
        assert [await pair.editor.line() for _ in ODD] == ODD


async def test_what_the_editor_writes_passes_even_if_it_is_no_message(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.editor.write_line(b"garbage\n[1,2]\n")
        assert [await pair.agent.line(), await pair.agent.line()] == [b"garbage", b"[1,2]"]


async def test_a_banner_of_the_agent_is_not_forwarded(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.agent.write_line(b'Welcome!\n{"level":"info"}\n[{"jsonrpc":"2.0","method":"fs/x"}]\n')
        line = pair.agent.send(method="_x/hello")
        assert await pair.editor.line() == line


async def test_the_handshake_is_the_agents_own(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        asked = pair.editor.send(id="a", method="initialize", params={"protocolVersion": 1})
        assert await pair.agent.line() == asked
        answer = pair.agent.send(id="a", result={"agentInfo": {"name": "puppet"}, "_meta": {"steering": 1}})
        assert await pair.editor.line() == answer
        assert pair.splice.agent.card.name == "puppet"


async def say_and_end(pair: Pair, text: str, answer: str, **result: Any) -> Json:
    """A whole turn of the editor's."""
    editor_id, heard = await pair.prompt(text)
    line = pair.agent.say("native-1", answer)
    pair.agent.send(id=heard["id"], result={"stopReason": "end_turn", **result})
    assert await pair.editor.line() == line
    return await pair.editor.until(id=editor_id)


class SlowEnds(MemoryJournal):
    """Stores the end of a turn only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.free = asyncio.Event(), asyncio.Event()

    def append(
        self, lease: Lease, records: Sequence[Record], *, durable: bool = False
    ) -> asyncio.Future[None]:
        written = super().append(lease, records, durable=durable)
        if not any(isinstance(record.event, ev.TurnFinished) for record in records):
            return written
        self.reached.set()
        return asyncio.ensure_future(self._later(written))

    async def _later(self, written: asyncio.Future[None]) -> None:
        await self.free.wait()
        await written


async def test_the_end_of_a_turn_and_what_follows_it_pass_once_the_journal_has_it(tmp_path: Path) -> None:
    async with opened(SlowEnds()) as journal, paired(tmp_path, journal=journal) as pair:
        await pair.handshake()
        await pair.new()
        _, heard = await pair.prompt("Hi")
        answer = pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        after = pair.agent.say("native-1", "By the way")
        await soon(journal.reached.wait())
        assert pair.editor.is_quiet
        journal.free.set()
        assert [await pair.editor.line(), await pair.editor.line()] == [answer, after]


async def test_a_slow_journal_holds_the_end_of_a_turn_up_for_a_moment_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "STORED_WITHIN", 0.05)
    async with opened(SlowEnds()) as journal, paired(tmp_path, journal=journal) as pair:
        await pair.handshake()
        await pair.new()
        _, heard = await pair.prompt("Hi")
        answer = pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        assert await pair.editor.line() == answer
        journal.free.set()


async def test_a_session_and_its_turns_are_journalled_under_the_agents_id(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.handshake()
        session = await pair.new()
        assert (session.info.session_id, session.info.target, session.info.cwd) == (
            "native-1",
            "acp:puppet",
            "/",
        )
        assert session.view.client == {"name": "Ed", "version": "7", "protocol": "acp"}
        usage = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
        await say_and_end(pair, "Hi", "Hello.", usage=usage)
        events = await pair.events()
        assert [type(event).__name__ for event in events] == [
            "TurnStarted",
            "UserMessage",
            "Text",
            "TurnFinished",
        ]
        (end,) = only(events, ev.TurnFinished)
        assert (end.stop_reason, end.usage[0].output_tokens) == ("end_turn", 2)
        assert text_of(events) == "Hello."
        assert session.info.title == "Hi"


async def test_an_error_of_the_agent_fails_the_turn(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        _, heard = await pair.prompt("Hi")
        line = pair.agent.send(id=heard["id"], error={"code": -32603, "message": "no quota"})
        assert await pair.editor.line() == line
        (failed,) = only(await pair.events(), ev.TurnFailed)
        assert "no quota" in failed.message


async def test_two_prompts_at_once_pass_and_are_journalled_one_after_the_other(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        first, one = await pair.prompt("one")
        second, two = await pair.prompt("two")  # The agent has both.
        pair.agent.say("native-1", "first answer")
        pair.agent.send(id=one["id"], result={"stopReason": "end_turn"})
        pair.agent.say("native-1", "second answer")
        pair.agent.send(id=two["id"], result={"stopReason": "max_tokens"})
        await pair.editor.until(id=first)
        await pair.editor.until(id=second)
        conversation = fold(await pair.events())
        assert said(conversation) == ["one", "first answer", "two", "second answer"]
        assert [turn.stop_reason for turn in conversation.turns] == ["end_turn", "max_tokens"]


async def test_an_agent_that_answers_the_second_prompt_first_is_journalled_too(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        first, one = await pair.prompt("one")
        second, two = await pair.prompt("steer")
        pair.agent.send(id=two["id"], result={"stopReason": "end_turn"})
        pair.agent.say("native-1", "both")
        pair.agent.send(id=one["id"], result={"stopReason": "end_turn"})
        await pair.editor.until(id=second)
        await pair.editor.until(id=first)
        session = await pair.session()
        await until(lambda: not session.busy and len(session.receipts.turn_starts) == 2)
        assert said(fold(await pair.events())) == ["one", "both", "steer"]


def said(conversation: Conversation) -> list[str]:
    return [message.text for message in conversation.messages]


async def test_a_load_is_forwarded_and_not_journalled_again(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        await say_and_end(pair, "Hi", "Hello.")
        before = len(await pair.events())
        pair.editor.send(id=1, method="session/load", params={"sessionId": "native-1", "cwd": "/"})
        heard = await pair.agent.until(method="session/load")
        lines = replay(pair)
        pair.agent.send(id=heard["id"], result={})
        assert [await pair.editor.line() for _ in lines] == lines
        await pair.editor.until(id=1)
        events = await pair.events()
        assert said(fold(events)) == ["Hi", "Hello."]
        # Facts of the session count, also while it is replayed.
        assert [type(event).__name__ for event in events[before:]] == ["InfoChanged"]


def replay(pair: Pair) -> list[bytes]:
    chunk = {"type": "text", "text": "Hi"}
    return [
        pair.agent.update("native-1", "user_message_chunk", content=chunk),
        pair.agent.say("native-1", "Hello."),
        pair.agent.update("native-1", "session_info_update", title="Greeting"),
    ]


async def test_a_session_that_only_the_agent_knows_is_taken_over_from_its_replay(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        for _ in range(2):  # The second time it is known.
            pair.editor.send(id=1, method="session/load", params={"sessionId": "native-1", "cwd": "/"})
            heard = await pair.agent.until(method="session/load")
            replay(pair)
            pair.agent.send(id=heard["id"], result={})
            await pair.editor.until(id=1)
            assert said(fold(await pair.events())) == ["Hi", "Hello."]
        assert (await pair.session()).info.title == "Greeting"


async def test_a_load_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        error = {"code": -32002, "message": "Resource not found"}
        await pair.call("session/load", {"sessionId": "lost", "cwd": "/"}, None, error=error)
        assert pair.splice.journal_of("lost") is None
        assert await pair.journal.list("local") == []


async def test_a_fork_is_a_copy_in_the_journal_too(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        await say_and_end(pair, "Hi", "Hello.")
        await pair.call("session/fork", {"sessionId": "native-1", "cwd": "/"}, {"sessionId": "copy"})
        assert said(fold(await pair.events("copy"))) == ["Hi", "Hello."]
        assert (await pair.session("copy")).view.kept == {"acp": {"session_id": "copy"}}


async def test_options_that_the_editor_sets_are_journalled(tmp_path: Path) -> None:
    modes = {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "A"}, {"id": "code", "name": "C"}],
    }
    models = {
        "currentModelId": "s",
        "availableModels": [{"modelId": "s", "name": "S"}, {"modelId": "l", "name": "L"}],
    }
    async with paired(tmp_path) as pair:
        session = await pair.new(modes=modes, models=models)
        await pair.call("session/set_mode", {"sessionId": "native-1", "modeId": "code"}, {})
        await pair.call("session/set_model", {"sessionId": "native-1", "modelId": "l"}, {})
        await pair.session()
        assert session.view.config == {"mode": "code", "model": "l"}
        option = {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": False}
        params: Json = {"sessionId": "native-1", "configId": "loud", "value": True}
        await pair.call("session/set_config_option", params, {"configOptions": [option]})
        await pair.call("session/set_config_option", params, {})
        await pair.session()
        assert session.view.config["loud"] is True


async def test_what_comes_before_the_answer_to_session_new_is_of_that_session(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.editor.send(id=1, method="session/new", params={"cwd": "/", "mcpServers": []})
        heard = await pair.agent.next()
        pair.agent.update("native-1", "session_info_update", title="Early")
        pair.agent.send(id=heard["id"], result={"sessionId": "native-1"})
        await pair.editor.until(id=1)
        assert only(await pair.events(), ev.InfoChanged)[0].title == "Early"


async def test_what_comes_out_of_turn_gets_a_turn_of_the_agents(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session = await pair.new()
        pair.agent.say("native-1", "By the way.")
        await until(lambda: session.last_turn_id is not None and not session.busy)
        events = await pair.events()
        assert (only(events, ev.TurnStarted)[0].by, text_of(events)) == ("agent", "By the way.")


async def test_a_prompt_ends_the_turn_that_the_agent_began_and_what_follows_is_its_own(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        session = await pair.new()
        line = pair.agent.update("native-1", "tool_call", toolCallId="c1", title="W", status="in_progress")
        assert await pair.editor.line() == line
        await until(lambda: session.busy)
        await say_and_end(pair, "One", "First.")
        await say_and_end(pair, "Two", "Second.")
        events = await pair.events()
    assert said(fold(events)) == ["", "One", "First.", "Two", "Second."]
    assert [started.by for started in only(events, ev.TurnStarted)] == ["agent", None, None]
    assert only(events, ev.PromptDropped) == []


async def test_a_prompt_that_ends_the_agents_turn_waits_behind_that_of_another_client(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session = await pair.new()
        pair.agent.update("native-1", "tool_call", toolCallId="c1", title="W", status="in_progress")
        await until(lambda: session.busy)
        await session.submit(Prompt(content=(TextBlock(text="From a page"),), busy="queue"))
        editor_id, heard = await pair.prompt("Hi")
        own = await pair.agent.until(method="session/prompt")
        pair.agent.say("native-1", "For the page.")
        pair.agent.send(id=own["id"], result={"stopReason": "end_turn"})
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await pair.editor.until(id=editor_id)
        await soon(session.wait_until_idle(), WAIT / 3)
        assert said(fold(await pair.events())) == ["", "From a page", "For the page.", "Hi"]


async def test_a_prompt_that_was_answered_before_its_turn_is_not_said_to_have_had_no_word(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        session = await pair.new()
        await session.submit(Prompt(content=(TextBlock(text="From a page"),)))
        own = await pair.agent.until(method="session/prompt")
        editor_id, heard = await pair.prompt("Hi")
        pair.agent.say("native-1", "For the editor.")
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await pair.editor.until(id=editor_id)
        pair.agent.say("native-1", "For the page.")
        pair.agent.send(id=own["id"], result={"stopReason": "end_turn"})
        await pair.session()
        await soon(session.wait_until_idle())
        events = await pair.events()
        assert len(only(events, ev.TurnFinished)) == 2
        assert only(events, ev.Notice) == []


async def test_a_question_out_of_turn_is_left_to_the_editor_when_it_sends_a_prompt(tmp_path: Path) -> None:
    params = {
        "sessionId": "native-1",
        "toolCall": {"toolCallId": "c1", "title": "Go on"},
        "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
    }
    async with paired(tmp_path) as pair:
        session = await pair.new()
        line = pair.agent.send(id=7, method="session/request_permission", params=params)
        assert await pair.editor.line() == line
        await until(lambda: bool(session.questions.open))
        await say_and_end(pair, "Hi", "Hello.")
        answer = pair.editor.send(id=7, result={"outcome": {"outcome": "selected", "optionId": "y"}})
        assert await pair.agent.line() == answer
        events = await pair.events()
        assert pair.editor.is_quiet
    assert said(fold(events)) == ["", "Hi", "Hello."]
    assert not session.questions.open


# -- another client ----------------------------------------------------------------------------------


async def test_the_prompt_of_another_client_runs_at_the_same_agent_and_is_not_shown_to_the_editor(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        session = await pair.new()
        await session.submit(Prompt(content=(TextBlock(text="From a page"),)))
        heard = await pair.agent.until(method="session/prompt")
        assert str(heard["id"]).startswith("trunkline-")
        assert heard["params"]["prompt"] == [{"type": "text", "text": "From a page"}]
        pair.agent.say("native-1", "For the page.")
        fact = pair.agent.update("native-1", "session_info_update", title="Shown")
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        assert await pair.editor.line() == fact
        await soon(session.wait_until_idle())
        assert said(fold(await pair.events())) == ["From a page", "For the page."]
        await say_and_end(pair, "Hi", "For the editor.")
        assert pair.editor.is_quiet


async def test_another_client_can_cancel_the_editors_turn(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session = await pair.new()
        editor_id, heard = await pair.prompt("Work")
        await pair.session()
        cancelling = asyncio.create_task(session.cancel(by="page"))
        assert (await pair.agent.next())["method"] == "session/cancel"
        pair.agent.send(id=heard["id"], result={"stopReason": "cancelled"})
        assert (await pair.editor.until(id=editor_id))["result"] == {"stopReason": "cancelled"}
        await soon(cancelling)
        (end,) = only(await pair.events(), ev.TurnFinished)
        assert end.stop_reason == "cancelled"


async def test_a_turn_that_is_cancelled_or_writes_a_file_may_end_without_a_word(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        for event in ("session/cancel", "fs/write_text_file", None):
            editor_id, heard = await pair.prompt("Work")
            if event == "session/cancel":
                pair.editor.send(method=event, params={"sessionId": "native-1"})
                await pair.agent.until(method=event)
            elif event is not None:
                params = {"sessionId": "native-1", "path": str(tmp_path / "a"), "content": "b"}
                pair.agent.send(id=5, method=event, params=params)
                await pair.editor.until(method=event)
                pair.editor.send(id=5, result=None)
                await pair.agent.until(id=5)
            pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
            await pair.editor.until(id=editor_id)
            assert bool(only(await pair.events(), ev.Notice)) is (event is None), event


# -- ends --------------------------------------------------------------------------------------------


async def test_an_agent_that_ends_fails_the_open_requests_and_the_turn(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session = await pair.new()
        editor_id, _ = await pair.prompt("Work")
        pair.agent.say("native-1", "half")
        await pair.editor.until(method="session/update")
        pair.agent.end()
        answer = await pair.editor.until(id=editor_id)
        assert "is gone: it ended with code 0" in answer["error"]["message"]
        await soon(pair.splice.ended.wait())
        await soon(session.wait_until_idle())
        (failed,) = only(await pair.events(), ev.TurnFailed)
        assert "ended with code 0" in failed.message
        pair.editor.send(id=9, method="session/list", params={})
        assert "is gone" in (await pair.editor.until(id=9))["error"]["message"]


async def test_an_editor_that_reads_slowly_lets_the_agent_wait(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.editor.free.clear()
        pair.agent.send(method="_x/one")
        await pair.editor.line()
        for _ in range(20):
            pair.agent.send(method="_x/more", params={"text": "x" * 100_000})
        pair.agent.send(method="_x/last")
        await asyncio.sleep(0.2)
        assert pair.editor.lines.qsize() < 15
        pair.editor.free.set()
        await pair.editor.until(method="_x/last")


async def test_an_agent_that_reads_slowly_lets_the_editor_wait(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.agent.stop_reading()
        sent = 0
        while not pair.editor.paused:
            pair.editor.send(method="_x/more", params={"text": "x" * 100_000})
            sent += 1
            assert sent < 200
            await asyncio.sleep(0)
        pair.agent.read_on()
        await until(lambda: not pair.editor.paused)
        for _ in range(sent):
            assert (await pair.agent.next())["method"] == "_x/more"


async def test_a_line_of_the_editor_that_is_too_long_is_refused_by_its_id(tmp_path: Path) -> None:
    async with paired(tmp_path, max_line=1000) as pair:
        pair.editor.send(id=5, method="_x/long", params={"text": "x" * 2000})
        assert (await pair.editor.next())["error"]["code"] == -32600
        line = pair.editor.send(method="_x/short")
        assert await pair.agent.line() == line


async def test_a_journal_that_cannot_be_opened_does_not_break_the_pair(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        session = await pair.session()
        await session.close()
        await say_and_end(pair, "Hi", "Hello.")  # It is opened again.
        assert said(fold(await pair.events())) == ["Hi", "Hello."]


async def test_a_session_that_the_editor_deletes_is_deleted_in_the_journal(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.new()
        await pair.call("session/delete", {"sessionId": "native-1"}, {})
        journal = pair.splice.journal_of("native-1")
        assert journal is not None
        await journal.drained(5)
        assert await pair.journal.list("local") == []
