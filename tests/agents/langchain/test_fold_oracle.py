"""The oracle: what an ACP client folds from its updates is what the agent's thread holds.

Whatever a model streams, in whatever chunks, and whatever its tools, interrupts and subagents do: the
messages have the same ids, text and thoughts in the same order, and the calls the same arguments, ends
and results. The truth comes from the thread itself, by one more prompt.
"""

import asyncio
import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.langchain import oracle
from tests.agents.langchain.model_scripts import FORM, choose, conversations
from tests.agents.seen_updates import Pieces, Seen, Update, add_piece, see
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import hub_for
from tests.peers.client_plans import Stage
from trunkline import adapt
from trunkline.protocols.jsonrpc.messages import RpcError

# -- what the thread holds -------------------------------------------------------------------------


def pieces_of(message: Update) -> Pieces:
    """What a message says, in order; thoughts beside its content come last."""
    pieces: Pieces = []
    content = message["content"]
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            add_piece(pieces, "text", block)
        elif block["type"] == "text":
            add_piece(pieces, "text", block["text"])
        elif block["type"] == "reasoning":
            add_piece(pieces, "thought", block["reasoning"])
    if aside := message["additional_kwargs"].get("reasoning_content"):
        pieces.append(("aside", aside))
    return pieces


def text_of(content: Any) -> str:
    """The text of a tool's message, or of a call's content on the wire."""
    if isinstance(content, str):
        return content
    inner = [block.get("content", block) for block in content]
    return "".join(block["text"] for block in inner if block["type"] == "text")


def forget_broken(seen: Seen, prompts: list[str]) -> None:
    """Leave out what a thread does not hold of an answer that broke off: all but its text."""
    broken = [answer for prompt in prompts for answer in json.loads(prompt) if answer.get("raises")]
    for first, *others in (answer["chunks"] for answer in broken):
        text = _text_of(seen.messages.pop(first["id"], []), "text")
        if text:
            seen.messages[first["id"]] = [("text", text)]
        for delta in (delta for chunk in (first, *others) for delta in chunk.get("tool_call_chunks", ())):
            if delta["id"] in seen.calls:
                assert seen.calls.pop(delta["id"])["status"] == "failed"
    known = {*seen.messages, *seen.calls}
    seen.order = [came for came in seen.order if came[1] in known]


def compare(seen: Seen, messages: list[Update], lane: str | None) -> None:
    """Hold what was seen in a lane against the messages it ended with."""
    answers = [message for message in messages if message["type"] == "ai"]
    results = {message["tool_call_id"]: message for message in messages if message["type"] == "tool"}
    suffix = "" if lane is None else f"@{lane}"

    # Every message with its id, in order, and nothing else.
    speaking = {message["id"]: pieces_of(message) for message in answers}
    speaking = {message_id: pieces for message_id, pieces in speaking.items() if pieces}
    assert sorted(seen.messages) == sorted(speaking)
    for message_id, pieces in speaking.items():
        shown = seen.messages[message_id]
        if pieces[-1][0] != "aside":
            assert shown == pieces
            continue
        # Where a thought beside the content stood among the pieces, the finished message does not say.
        *inside, (_, aside) = pieces
        assert _text_of(shown, "text") == _text_of(inside, "text")
        assert sorted(_text_of(shown, "thought")) == sorted(_text_of(inside, "thought") + aside)

    # Every call with its arguments, its end and its result.
    called = [call for message in answers for call in message["tool_calls"]]
    broken = [call for message in answers for call in message["invalid_tool_calls"]]
    ids = [call["id"] + suffix for call in called]
    assert [call_id for call_id in seen.calls if call_id in ids] == ids
    assert set(seen.calls) == {*ids, *(call["id"] + suffix for call in broken)}
    for call in called:
        shown, result = seen.calls[call["id"] + suffix], results[call["id"]]
        assert shown["name"] == call["name"]
        assert shown["rawInput"] == call["args"]
        assert shown["status"] == {"success": "completed", "error": "failed"}[result["status"]]
        if call["name"] != "guarded" or result["status"] == "success":
            # What the model is told of a refusal is not what the person is shown of it.
            assert text_of(shown["content"]) == text_of(result["content"])
            assert shown["rawOutput"] == result["content"]
    for call in broken:
        assert seen.calls[call["id"] + suffix]["status"] == "failed"
    check_order(seen, answers, suffix)


def _text_of(pieces: Pieces, kind: str) -> str:
    return "".join(text for one, text in pieces if one == kind)


def check_order(seen: Seen, answers: list[Update], suffix: str) -> None:
    """What belongs to a message comes before anything of the next one, the ends of its calls included."""
    places: dict[str, int] = {}
    for place, message in enumerate(answers):
        places[message["id"]] = place
        for call in [*message["tool_calls"], *message["invalid_tool_calls"]]:
            places[call["id"] + suffix] = place
    came = [places[about] for _, about in seen.order]
    assert came == sorted(came), seen.order


def check(prompts: list[str], updates: list[Update], truth: Update) -> None:
    """Hold everything that was seen in a session against what its thread holds."""
    lanes = see(updates)
    forget_broken(lanes[None], prompts)
    compare(lanes[None], truth["messages"], None)
    for lane, seen in lanes.items():
        # A subagent that failed has no end to be held against.
        if lane is not None and (ended := truth["lanes"].get(lane.rpartition("/")[2])) is not None:
            compare(seen, ended, lane)


# -- in one process --------------------------------------------------------------------------------


def answer_permission(params: Update) -> Update:
    chosen = choose(params["toolCall"]["rawInput"]["text"])
    return {"outcome": {"outcome": "selected", "optionId": chosen}}


async def play(editor: Editor, prompts: list[str]) -> tuple[list[Update], Update]:
    """Send the prompts one after the other; give the updates, and what the thread holds."""
    session = await editor.open()
    editor.answers["session/request_permission"] = answer_permission
    editor.answers["elicitation/create"] = lambda params: FORM
    for prompt in prompts:
        may_break = any(answer.get("raises") for answer in json.loads(prompt))
        with contextlib.suppress(RpcError) if may_break else contextlib.nullcontext():
            await editor.prompt(session, prompt)
    updates = take_updates(editor)
    await editor.call("session/load", sessionId=session, cwd="/", mcpServers=[])
    assert see(take_updates(editor)) == see(updates), "a load shows what was seen live"
    await editor.prompt(session, oracle.TRUTH)
    return updates, json.loads(editor.text)


def take_updates(editor: Editor) -> list[Update]:
    """The updates since the last time."""
    updates = [item for item in editor.log if "sessionUpdate" in item]
    editor.log.clear()
    return updates


def hold(agent: Any, prompts: list[str]) -> None:
    """Play a conversation with an agent in this process, and hold it against its thread."""

    async def run() -> None:
        async with hub_for(adapt(agent)) as hub, editing(hub, ABLE) as editor:
            check(prompts, *await play(editor, prompts))

    asyncio.run(run())


@settings(max_examples=60)
@given(conversations(nested=False))
def test_what_a_client_folds_is_what_the_thread_holds(prompts: list[str]) -> None:
    hold(oracle.agent, prompts)


@settings(max_examples=30)
@given(conversations())
def test_the_fold_is_right_in_the_lanes_of_subagents_too(prompts: list[str]) -> None:
    hold(oracle.agent, prompts)


@settings(max_examples=20)
@given(conversations())
def test_the_fold_is_right_when_calls_are_reviewed_in_one_batch(prompts: list[str]) -> None:
    hold(oracle.batched, prompts)


@settings(max_examples=20)
@given(conversations())
def test_the_fold_is_right_for_a_model_that_does_not_stream(prompts: list[str]) -> None:
    hold(oracle.whole, prompts)


# -- what the oracle found ----------------------------------------------------------------------------


def calling(*calls: tuple[str, str, str], text: str = "") -> Update:
    """An answer that calls tools: their ids, names and arguments."""
    deltas = [
        {"id": call_id, "name": name, "args": args, "index": index}
        for index, (call_id, name, args) in enumerate(calls)
    ]
    return {"chunks": [{"content": text, "tool_call_chunks": deltas}]}


END: Update = {"chunks": [{"content": "."}]}


def test_a_call_with_broken_arguments_is_not_shown_again_when_a_later_turn_answers_it() -> None:
    broken = calling(("a", "echo", "{"), ("b", "now", ""), ("c", "echo", "text"))
    breaks = {"chunks": [{"content": ".", "id": "m"}], "raises": "overloaded"}
    for first in ([broken, breaks], [broken, END]):
        hold(
            oracle.agent,
            [json.dumps(first), json.dumps([calling(("d", "now", ""), ("e", "echo", "{")), END])],
        )


def test_an_image_that_a_subagents_tool_gave_is_shown_as_it_was_given() -> None:
    inner = json.dumps([calling(("i", "draw", '{"text": "x"}'), ("j", "ask", '{"text": "y"}')), END])
    hold(oracle.agent, [json.dumps([calling(("o", "delegate", json.dumps({"script": inner}))), END])])


async def test_a_model_that_gives_all_its_calls_one_id_has_each_of_them_shown() -> None:
    turn = json.dumps([calling(("c", "echo", json.dumps({"text": text}))) for text in "xyz"] + [END])
    async with hub_for(adapt(oracle.agent)) as hub, editing(hub, ABLE) as editor:
        session = await editor.open()
        for _ in range(2):
            await editor.prompt(session, turn)
        seen = see(take_updates(editor))[None]
    assert [(call["rawInput"]["text"], call["status"]) for call in seen.calls.values()] == [
        (text, "completed") for text in "xyzxyz"
    ]


# -- in a process of its own, with a client that is not ours -----------------------------------------


@pytest.mark.slow
@settings(max_examples=2)
@given(st.lists(conversations(nested=False), min_size=6, max_size=12))
def test_the_official_client_folds_what_the_thread_of_trunkline_acp_holds(
    root: Path, talks: list[list[str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), ("node", str(root / "tests/peers/node/drive_client.mjs")))
        steps: list[Update] = []
        for talk, prompts in enumerate(talks):
            steps.append(stage.new(f"s{talk}"))
            for turn, prompt in enumerate(prompts):
                steps.append(stage.prompt(f"{talk}.{turn}", f"s{talk}", prompt, answers=replies_to(prompt)))
            steps.append(stage.prompt(f"truth {talk}", f"s{talk}", oracle.TRUTH))
        report = stage.play(steps, target=f"{oracle.__file__}:agent")
    for talk, prompts in enumerate(talks):
        heard = [
            item for turn, _ in enumerate(prompts) for item in report["steps"][f"{talk}.{turn}"]["heard"]
        ]
        output = report["steps"][f"truth {talk}"]["heard"]
        truth = "".join(item["update"]["content"]["text"] for item in output if "update" in item)
        check(prompts, [item["update"] for item in heard if "update" in item], json.loads(truth))


def replies_to(prompt: str) -> list[Any]:
    """What the person says in a turn, in the order of the questions."""
    replies: list[Any] = []
    for answer in json.loads(prompt):
        if answer.get("raises"):
            break
        replies += answer["replies"]
    return replies
