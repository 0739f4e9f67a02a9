"""What the agent asks in a splice: the policy, the editor, and other clients."""

import asyncio
from pathlib import Path

import pytest

from tests.agents.acp.splice.pairs import Json, begin, finish, paired, rules, selected
from tests.hubs import only, soon, text_of, until
from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.content import TextBlock
from trunkline.errors import AlreadyAnswered
from trunkline.session.session import Session

OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]
CALL: Json = {"toolCallId": "t1", "title": "rm x", "kind": "execute", "rawInput": {"command": "rm x"}}
PARAMS: Json = {"sessionId": "native-1", "toolCall": CALL, "options": OPTIONS}


async def asked_in(session: Session) -> str:
    """The question that is open in a session."""
    await until(lambda: bool(session.questions.open))
    return next(iter(session.questions.open))


async def test_the_editors_answer_reaches_the_agent_as_it_is_and_settles_the_question(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        line = pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        assert await pair.editor.line() == line
        await asked_in(session)
        answer = (
            b'{"jsonrpc":"2.0", "id":7, "result":{"outcome":{"outcome":"selected","optionId":"y"},"n":1e3}}'
        )
        pair.editor.write_line(answer + b"\n")
        assert await pair.agent.line() == answer
        events = await finish(pair, editor_id, agent_id)
        (answered,) = only(events, ev.Answered)
        assert (answered.option_id, answered.by) == ("y", "acp")
        assert pair.editor.is_quiet


async def test_a_question_that_comes_before_its_text_and_its_call_is_journalled_behind_them(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        await pair.handshake(agentInfo={"name": "claude-agent-acp", "version": "1"})
        session = await pair.new()
        editor_id, heard = await pair.prompt("Work")
        pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        pair.agent.say("native-1", "Now ")
        pair.agent.update("native-1", "tool_call", toolCallId="t1", title="rm x")
        await pair.editor.until(id=7)
        await asked_in(session)
        pair.editor.send(id=7, result=selected("y"))
        await pair.agent.until(id=7)
        events = await finish(pair, editor_id, heard["id"])
    kinds = [type(event) for event in events if isinstance(event, ev.Text | ev.ToolCall | ev.Asked)]
    assert kinds == [ev.Text, ev.ToolCall, ev.Asked]


async def test_an_answer_that_is_faster_than_the_journal_is_journalled_all_the_same(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        _, editor_id, agent_id = await begin(pair)
        journal = pair.splice.journal_of("native-1")
        assert journal is not None
        hold = asyncio.Event()
        journal.put(hold.wait)
        pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        await pair.editor.until(id=7)
        pair.editor.send(id=7, result=selected("n"))
        await pair.agent.until(id=7)
        hold.set()
        events = await finish(pair, editor_id, agent_id)
        (answered,) = only(events, ev.Answered)
        assert answered.option_id == "n"
        assert [one.status for one in only(events, ev.ToolUpdate)][-1] == "denied"


async def test_a_question_that_comes_just_before_the_end_of_the_turn_is_left_to_the_editor(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        _, editor_id, agent_id = await begin(pair)
        pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        pair.agent.send(id=agent_id, result={"stopReason": "end_turn"})
        await pair.editor.until(id=7)
        await pair.editor.until(id=editor_id)
        events = await pair.events()
        pair.editor.send(id=7, result=selected("y"))
        assert (await pair.agent.until(id=7))["result"] == selected("y")
        assert only(events, ev.TurnFinished)


@pytest.mark.parametrize("policy", [None, "allow-all"])
async def test_a_message_with_bytes_that_are_no_utf_8_passes_unless_the_policy_would_have_to_read_it(
    tmp_path: Path, policy: str | None
) -> None:
    async with paired(tmp_path, policy=rules(policy) if policy else None) as pair:
        _, editor_id, agent_id = await begin(pair)
        text = b'"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"caf\xe9"}}'
        line = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"native-1",' + text + b"}}"
        pair.agent.write_line(line + b"\n")
        assert await pair.editor.line() == line
        given = b'"params":{"sessionId":"native-1","command":"\xe9"}'
        line = b'{"jsonrpc":"2.0","id":7,"method":"terminal/create",' + given + b"}"
        pair.agent.write_line(line + b"\n")
        if policy is None:
            assert await pair.editor.line() == line
        else:
            assert "no UTF-8" in (await pair.agent.until(id=7))["error"]["message"]
        assert text_of(await finish(pair, editor_id, agent_id)) == "caf\ufffd"


async def test_an_always_that_the_session_does_not_offer_counts_there_once(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        nameless = {"toolCallId": "t1", "title": "work"}
        params = {**PARAMS, "toolCall": nameless}
        pair.agent.send(id=7, method="session/request_permission", params=params)
        await asked_in(session)
        pair.editor.send(id=7, result=selected("always"))
        assert (await pair.agent.until(id=7))["result"] == selected("always")
        (answered,) = only(await finish(pair, editor_id, agent_id), ev.Answered)
        assert answered.option_id in ("always", "y")


async def test_another_client_that_answers_first_wins_and_the_editors_request_is_withdrawn(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        pair.agent.send(id="p-1", method="session/request_permission", params=PARAMS)
        await pair.editor.until(id="p-1")
        await session.answer(Answer(question_id=await asked_in(session), option_id="y", by="page"))
        assert await pair.agent.until(id="p-1") == {"jsonrpc": "2.0", "id": "p-1", "result": selected("y")}
        withdrawn = await pair.editor.next()
        assert (withdrawn["method"], withdrawn["params"]) == ("$/cancel_request", {"requestId": "p-1"})
        pair.editor.send(id="p-1", result=selected("n"))  # Too late: the agent never hears of it.
        events = await finish(pair, editor_id, agent_id)
        (answered,) = only(events, ev.Answered)
        assert (answered.option_id, answered.by) == ("y", "page")
        assert pair.agent.is_quiet


async def test_after_the_editor_another_client_learns_who_was_first(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        pair.agent.send(id=0, method="session/request_permission", params=PARAMS)
        question_id = await asked_in(session)
        pair.editor.send(id=0, result=selected("y"))
        await pair.agent.until(id=0)
        with pytest.raises(AlreadyAnswered):
            await session.answer(Answer(question_id=question_id, option_id="n", by="page"))
        await finish(pair, editor_id, agent_id)


async def test_a_cancelled_turn_settles_the_question_as_the_editor_does(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        await pair.editor.until(id=7)
        await asked_in(session)
        pair.editor.send(method="session/cancel", params={"sessionId": "native-1"})
        pair.editor.send(id=7, result={"outcome": {"outcome": "cancelled"}})
        assert (await pair.agent.next())["method"] == "session/cancel"
        assert (await pair.agent.next())["result"] == {"outcome": {"outcome": "cancelled"}}
        pair.agent.send(id=agent_id, result={"stopReason": "cancelled"})
        await pair.editor.until(id=editor_id)
        events = await pair.events()
        assert [one.outcome for one in only(events, ev.Answered)] == ["cancelled"]
        assert [one.stop_reason for one in only(events, ev.TurnFinished)] == ["cancelled"]
        assert pair.agent.is_quiet


async def test_a_question_that_outlives_its_turn_is_left_to_the_editor(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        line = pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        assert await pair.editor.line() == line
        await asked_in(session)
        await finish(pair, editor_id, agent_id)
        await soon(session.wait_until_idle())
        assert not session.questions.open
        answer = pair.editor.send(id=7, result=selected("y"))
        assert await pair.agent.line() == answer
        assert pair.editor.is_quiet


async def test_a_question_of_the_next_turn_is_not_left_to_the_editor(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        pair.agent.send(id=agent_id, result={"stopReason": "end_turn"})
        pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        await pair.editor.until(id=editor_id)
        assert (await pair.editor.next())["id"] == 7
        await session.answer(Answer(question_id=await asked_in(session), option_id="y", by="page"))
        assert (await pair.agent.next())["result"] == selected("y")


async def test_a_request_that_the_agent_withdraws_is_withdrawn_everywhere(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        await asked_in(session)
        line = pair.agent.send(method="$/cancel_request", params={"requestId": 7})
        await pair.editor.until(id=7)
        assert await pair.editor.line() == line
        pair.editor.send(id=7, error={"code": -32800, "message": "cancelled"})
        assert (await pair.agent.next())["error"]["code"] == -32800
        await until(lambda: not session.questions.open)
        await finish(pair, editor_id, agent_id)


async def test_the_permission_of_another_clients_turn_is_not_asked_at_the_editor(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.handshake()
        session = await pair.new()
        await session.submit(Prompt(content=(TextBlock(text="From a page"),)))
        heard = await pair.agent.until(method="session/prompt")
        pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        await session.answer(Answer(question_id=await asked_in(session), option_id="n", by="page"))
        assert (await pair.agent.until(id=7))["result"] == selected("n")
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await soon(session.wait_until_idle())
        assert pair.editor.is_quiet


@pytest.mark.parametrize(("policy", "option"), [("deny", "n"), ("allow-all", "y")])
async def test_what_the_policy_decides_is_recorded_and_the_editor_never_sees_it(
    tmp_path: Path, policy: str, option: str
) -> None:
    async with paired(tmp_path, policy=rules(policy)) as pair:
        _, editor_id, agent_id = await begin(pair)
        pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        assert (await pair.agent.until(id=7))["result"] == selected(option)
        assert pair.editor.is_quiet
        events = await finish(pair, editor_id, agent_id)
        (decided,) = only(events, ev.Decided)
        assert decided.by == "policy"


async def test_what_the_policy_leaves_open_is_asked_at_the_editor(tmp_path: Path) -> None:
    async with paired(tmp_path, policy=rules("ask")) as pair:
        _, editor_id, agent_id = await begin(pair)
        line = pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        assert await pair.editor.line() == line
        pair.editor.send(id=7, result=selected("y"))
        assert (await pair.agent.until(id=7))["result"] == selected("y")
        await finish(pair, editor_id, agent_id)


async def test_our_own_question_at_the_editor_is_withdrawn_when_another_client_answers(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path, policy=rules("ask")) as pair:
        session, editor_id, agent_id = await begin(pair)
        params = {"sessionId": "native-1", "path": "/tmp/x"}
        pair.agent.send(id=7, method="fs/read_text_file", params=params)
        ours = await pair.editor.next()
        question_id = await asked_in(session)
        await session.answer(Answer(question_id=question_id, option_id="allow_once", by="page"))
        assert (await pair.editor.until(method="$/cancel_request"))["params"] == {"requestId": ours["id"]}
        pair.editor.send(id=ours["id"], result=selected("reject_once"))
        pair.editor.send(id=7, result={"content": "y"})
        assert (await pair.agent.next())["result"] == {"content": "y"}
        await finish(pair, editor_id, agent_id)


async def test_without_a_session_a_policy_cannot_decide_and_the_request_is_refused(tmp_path: Path) -> None:
    async with paired(tmp_path, policy=rules("allow-all")) as pair:
        pair.agent.send(id=7, method="fs/read_text_file", params={"sessionId": "none", "path": "/x"})
        assert "there is no session 'none'" in (await pair.agent.until(id=7))["error"]["message"]
    (tmp_path / "b").mkdir()
    async with paired(tmp_path / "b") as pair:
        line = pair.agent.send(id=7, method="session/request_permission", params={"sessionId": "none"})
        assert await pair.editor.line() == line


@pytest.mark.parametrize("policy", [None, "allow-all"])
async def test_without_a_journal_the_editor_decides_unless_there_is_a_policy(
    tmp_path: Path, policy: str | None
) -> None:
    async with paired(tmp_path, policy=None if policy is None else rules(policy)) as pair:
        session, editor_id, agent_id = await begin(pair)
        journal = pair.splice.journal_of("native-1")
        assert journal is not None
        journal.session = None
        line = pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        if policy is None:
            assert await pair.editor.line() == line
        else:
            assert "cannot be recorded" in (await pair.agent.until(id=7))["error"]["message"]
        journal.session = session
        await finish(pair, editor_id, agent_id)


# -- forms and links ---------------------------------------------------------------------------------

FORM: Json = {
    "sessionId": "native-1",
    "mode": "form",
    "message": "Which colour?",
    "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string"}}},
}
LINK: Json = {
    "sessionId": "native-1",
    "mode": "url",
    "message": "Log in",
    "url": "https://example.com/login",
    "elicitationId": "e1",
}


@pytest.mark.parametrize("policy", [None, "ask"])
async def test_a_form_is_asked_everywhere_and_the_editors_answer_reaches_the_agent_as_it_is(
    tmp_path: Path, policy: str | None
) -> None:
    async with paired(tmp_path, policy=rules(policy) if policy else None) as pair:
        session, editor_id, agent_id = await begin(pair)
        line = pair.agent.send(id=7, method="elicitation/create", params=FORM)
        assert await pair.editor.line() == line
        question_id = await asked_in(session)
        answer = b'{"jsonrpc":"2.0", "id":7, "result":{"action":"accept","content":{"colour":"red"}}}'
        pair.editor.write_line(answer + b"\n")
        assert await pair.agent.line() == answer
        with pytest.raises(AlreadyAnswered):
            await session.answer(Answer(question_id=question_id, outcome="declined", by="page"))
        (answered,) = only(await finish(pair, editor_id, agent_id), ev.Answered)
        assert (answered.outcome, answered.content, answered.by) == ("accepted", {"colour": "red"}, "acp")


async def test_another_client_that_fills_a_form_in_first_wins(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        pair.agent.send(id="f", method="elicitation/create", params=FORM)
        await pair.editor.until(id="f")
        answer = Answer(
            question_id=await asked_in(session), outcome="accepted", content={"colour": "blue"}, by="page"
        )
        await session.answer(answer)
        assert (await pair.agent.until(id="f"))["result"] == {
            "action": "accept",
            "content": {"colour": "blue"},
        }
        assert (await pair.editor.next())["params"] == {"requestId": "f"}
        pair.editor.send(id="f", result={"action": "decline"})  # Too late: it is discarded.
        (answered,) = only(await finish(pair, editor_id, agent_id), ev.Answered)
        assert answered.by == "page"
        assert pair.agent.is_quiet


@pytest.mark.parametrize(
    ("result", "outcome"), [({"action": "decline"}, "declined"), ({"action": "cancel"}, "cancelled")]
)
async def test_a_form_that_the_editor_does_not_fill_in_is_settled(
    tmp_path: Path, result: Json, outcome: str
) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        pair.agent.send(id=7, method="elicitation/create", params=FORM)
        await asked_in(session)
        pair.editor.send(id=7, result=result)
        assert (await pair.agent.until(id=7))["result"] == result
        (answered,) = only(await finish(pair, editor_id, agent_id), ev.Answered)
        assert answered.outcome == outcome


async def test_a_form_of_another_clients_turn_is_not_asked_at_the_editor(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.handshake()
        session = await pair.new()
        await session.prompt(Prompt(content=(TextBlock(text="From a page"),), by="page"))
        heard = await pair.agent.until(method="session/prompt")
        pair.agent.send(id=6, method="elicitation/create", params={**FORM, "mode": "hologram"})
        assert (await pair.agent.until(id=6))["error"]["code"] == -32602
        pair.agent.send(id=7, method="elicitation/create", params=FORM)
        await session.answer(Answer(question_id=await asked_in(session), outcome="declined", by="page"))
        assert (await pair.agent.until(id=7))["result"] == {"action": "decline"}
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await soon(session.wait_until_idle())
        assert pair.editor.is_quiet


async def test_a_form_that_we_cannot_read_and_one_of_no_session_are_the_editors(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        _, editor_id, agent_id = await begin(pair)
        for number, changes in enumerate(({"mode": "hologram"}, {"sessionId": None})):
            line = pair.agent.send(id=number, method="elicitation/create", params={**FORM, **changes})
            assert await pair.editor.line() == line
            pair.editor.send(id=number, result={"action": "accept"})
            assert (await pair.agent.until(id=number))["result"] == {"action": "accept"}
        assert only(await finish(pair, editor_id, agent_id), ev.Asked) == []


async def test_an_answer_that_does_not_fit_the_form_reaches_the_agent_and_is_not_journalled_as_one(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        pair.agent.send(id=7, method="elicitation/create", params=FORM)
        await asked_in(session)
        pair.editor.send(id=7, result={"action": "accept", "content": {"colour": 7}})
        assert (await pair.agent.until(id=7))["result"]["content"] == {"colour": 7}
        (answered,) = only(await finish(pair, editor_id, agent_id), ev.Answered)
        assert (answered.outcome, "colour" in (answered.reason or "")) == ("cancelled", True)


async def test_a_question_of_another_clients_turn_that_the_agent_withdraws_is_refused(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        await pair.handshake()
        session = await pair.new()
        await session.prompt(Prompt(content=(TextBlock(text="From a page"),), by="page"))
        heard = await pair.agent.until(method="session/prompt")
        pair.agent.send(id=7, method="session/request_permission", params=PARAMS)
        await asked_in(session)
        pair.agent.send(method="$/cancel_request", params={"requestId": 7})
        assert (await pair.agent.until(id=7))["error"]["code"] == -32800
        unknown = pair.agent.send(method="$/cancel_request", params={"requestId": "never"})
        assert await pair.editor.line() == unknown
        pair.agent.send(id=heard["id"], result={"stopReason": "end_turn"})
        await soon(session.wait_until_idle())


async def test_an_always_about_a_tool_without_a_name_counts_once_in_the_session(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        call = {"toolCallId": "t1", "kind": "other"}
        pair.agent.send(id=7, method="session/request_permission", params={**PARAMS, "toolCall": call})
        await asked_in(session)
        pair.editor.send(id=7, result=selected("always"))
        assert (await pair.agent.until(id=7))["result"] == selected("always")
        (answered,) = only(await finish(pair, editor_id, agent_id), ev.Answered)
        assert answered.option_id == "y"


async def test_a_link_that_the_agent_calls_done_is_withdrawn_everywhere(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        session, editor_id, agent_id = await begin(pair)
        pair.agent.send(id=7, method="elicitation/create", params=LINK)
        await pair.editor.until(id=7)
        await asked_in(session)
        pair.agent.send(method="elicitation/complete", params={"elicitationId": "e1"})
        assert (await pair.agent.until(id=7))["result"] == {"action": "accept"}
        await pair.editor.until(method="elicitation/complete")
        assert (await pair.editor.until(method="$/cancel_request"))["params"] == {"requestId": 7}
        await finish(pair, editor_id, agent_id)
        assert not session.questions.open
