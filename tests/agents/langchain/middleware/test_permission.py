import asyncio
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from tests.agents.langchain.graphs import calls_of, stop_of
from tests.agents.langchain.permission_helpers import Trace, ask, chooses, outlive, permissions, says
from tests.agents.langchain.untyped_langchain import create_agent
from tests.frontends.acp.memory_editor import ABLE, Editor, editing
from tests.hubs import collect, hub_for, only, run_turn, session_for, text_of
from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.agents.langchain.permissions.answer_file import AnswerFile
from trunkline.commands import Answer
from trunkline.errors import ConfigurationError
from trunkline.journal import open_journal
from trunkline.questions import Form
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.workspace import Policy
from trunkline.workspace import Rule as PolicyRule

EVERY = Rule(allowed_decisions=("approve", "edit", "reject", "respond"))


class Scene:
    """An agent that deletes a file when it is asked to, under a policy."""

    def __init__(
        self, policy: Mapping[str, Any], *answers: Any, middleware: Any = (), **options: Any
    ) -> None:
        graph_options = {key: options.pop(key) for key in ("checkpointer",) if key in options}
        self.trace = Trace()
        self.model = ScriptedChatModel(*(answers or ([call("delete", {"path": "a"}, "d1")], "Done.")))
        permission = PermissionMiddleware(policy, **options)
        self.graph = create_agent(
            self.model, self.trace.tools, middleware=[*middleware, permission], **graph_options
        )

    @property
    def told(self) -> Any:
        """The last message that the model was told."""
        return self.model.calls[-1].messages[-1]


# -- decisions -------------------------------------------------------------------------------------


async def test_an_approved_call_runs_and_the_question_is_about_the_announced_call() -> None:
    scene = Scene({"delete": EVERY})
    events = await ask(scene.graph, chooses("allow_once"))
    (question,) = permissions(events)
    announced = only(events, ev.ToolCall)[0].call_id
    assert (question.call_id, question.allows_edit) == (announced, True)
    assert [option.option_id for option in question.options] == [
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
        "respond",
    ]
    assert scene.trace.ran == ["a"]
    assert calls_of(events)["d1"].status == "completed"
    statuses = [event.status for event in only(events, ev.ToolUpdate) if event.status]
    assert statuses == ["in_progress", "completed"]
    assert events.index(only(events, ev.Answered)[0]) < events.index(
        next(event for event in only(events, ev.ToolUpdate) if event.status)
    )


async def test_an_edited_call_runs_with_the_edited_arguments_and_shows_them() -> None:
    scene = Scene({"delete": EVERY})
    events = await ask(scene.graph, chooses("allow_once", input={"path": "b"}))
    made = calls_of(events)["d1"]
    assert scene.trace.ran == ["b"]
    assert (made.input, made.title, made.status) == ({"path": "b"}, "Delete b", "completed")
    assert scene.told.content == "deleted b"


async def test_edited_arguments_that_fail_the_schema_are_a_failed_call_with_the_reason() -> None:
    scene = Scene({"delete": EVERY})
    events = await ask(scene.graph, chooses("allow_once", input={"road": "b"}))
    made = calls_of(events)["d1"]
    assert scene.trace.ran == []
    assert made.status == "failed"
    assert "path" in made.reason
    assert (scene.told.status, text_of(events)) == ("error", "Done.")


async def test_a_rejected_call_is_shown_as_denied_and_the_model_is_told_why() -> None:
    scene = Scene({"delete": Rule()})
    events = await ask(scene.graph, chooses("reject_once", reason="keep it"))
    made = calls_of(events)["d1"]
    assert scene.trace.ran == []
    assert (made.status, made.reason) == ("denied", "keep it")
    assert made.result_message_id == scene.told.id
    assert (scene.told.status, scene.told.content, scene.told.name) == ("error", "keep it", "delete")
    assert text_of(events) == "Done."


async def test_a_person_can_answer_in_the_tools_place() -> None:
    scene = Scene({"delete": EVERY})
    events = await ask(scene.graph, chooses("respond", reason="I did it myself"))
    assert scene.trace.ran == []
    assert calls_of(events)["d1"].status == "completed"
    assert (scene.told.status, scene.told.content) == ("success", "I did it myself")


async def test_a_person_who_wants_to_answer_and_gave_no_words_is_asked_for_them() -> None:
    scene = Scene({"delete": EVERY})

    def fill(asked: ev.Asked) -> Answer:
        assert isinstance(asked.question, Form)
        return Answer(question_id=asked.question_id, outcome="accepted", content={"answer": "Gone."})

    await ask(scene.graph, says(chooses("respond"), fill))
    assert (scene.told.status, scene.told.content) == ("success", "Gone.")


async def test_a_person_who_wants_to_answer_and_then_does_not_refuses_the_call() -> None:
    scene = Scene({"delete": EVERY})

    def decline(asked: ev.Asked) -> Answer:
        return Answer(question_id=asked.question_id, outcome="declined", reason="never mind")

    events = await ask(scene.graph, says(chooses("respond"), decline))
    assert (calls_of(events)["d1"].status, scene.told.content) == ("denied", "never mind")


async def test_a_question_that_runs_out_refuses_even_where_only_an_answer_was_wanted() -> None:
    scene = Scene({"delete": Rule(allowed_decisions=("approve", "respond"))})
    events = await run_turn(adapt(scene.graph), "go", question_ttl=0.01)
    assert scene.trace.ran == []
    assert (calls_of(events)["d1"].status, scene.told.status) == ("denied", "error")


async def test_a_person_can_decline_where_the_rule_offers_no_rejection() -> None:
    scene = Scene({"delete": Rule(allowed_decisions=("approve",))})
    events = await ask(
        scene.graph, lambda asked: Answer(question_id=asked.question_id, outcome="declined", reason="no")
    )
    assert [option.kind for option in permissions(events)[0].options] == ["allow_once", "allow_always"]
    assert (scene.trace.ran, calls_of(events)["d1"].status) == ([], "denied")


async def test_a_rule_that_wants_an_edit_runs_nothing_unedited() -> None:
    rule = Rule(allowed_decisions=("edit", "reject"))
    scene = Scene({"delete": rule})
    events = await ask(scene.graph, chooses("allow_once"))
    assert [option.kind for option in permissions(events)[0].options] == [
        "allow_once",
        "reject_once",
        "reject_always",
    ]
    assert scene.trace.ran == []
    assert "edited" in scene.told.content
    scene = Scene({"delete": rule})
    await ask(scene.graph, chooses("allow_once", input={"path": "b"}))
    assert scene.trace.ran == ["b"]


async def test_a_rule_under_which_nothing_can_be_approved_refuses_without_a_question() -> None:
    scene = Scene({"delete": Rule(allowed_decisions=("reject",))})
    events = await ask(scene.graph, chooses("allow_once"))
    assert permissions(events) == []
    assert (scene.trace.ran, calls_of(events)["d1"].status) == ([], "denied")


async def test_a_turn_cancelled_while_it_asks_ends_as_cancelled() -> None:
    scene = Scene({"delete": Rule()}, checkpointer=InMemorySaver())
    events = await ask(
        scene.graph, lambda asked: Answer(question_id=asked.question_id, outcome="cancelled", by="ann")
    )
    assert stop_of(events) == "cancelled"
    assert (scene.trace.ran, calls_of(events)["d1"].status) == ([], "cancelled")


# -- always ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("button", "ran"), [("allow_always", ["a", "b"]), ("reject_always", [])])
async def test_an_always_holds_for_that_tool_in_later_turns_of_the_session(button: str, ran: Any) -> None:
    scene = Scene(
        {"delete": Rule()},
        [call("delete", {"path": "a"}, "d1")],
        "Done.",
        [call("delete", {"path": "b"}, "d2")],
        "Again.",
    )
    events = await ask(scene.graph, says(chooses(button)), "go", "again")
    assert len(permissions(events)) == 1
    assert scene.trace.ran == ran
    assert calls_of(events)["d2"].status == ("completed" if ran else "denied")


async def test_a_once_is_asked_again_even_for_the_same_call_of_a_careless_model() -> None:
    again = [call("delete", {"path": "a"}, "d1")]
    scene = Scene({"delete": Rule()}, again, again, "Done.")
    events = await ask(scene.graph, says(chooses("allow_once"), chooses("reject_once")))
    assert len(permissions(events)) == 2
    assert scene.trace.ran == ["a"]


async def test_an_always_of_one_session_means_nothing_in_another() -> None:
    scene = Scene({"delete": Rule()}, *([[call("delete", {"path": "a"}, "d1")], "Done."] * 2))
    await ask(scene.graph, chooses("allow_always"))
    events = await ask(scene.graph, chooses("reject_once"))
    assert len(permissions(events)) == 1
    assert scene.trace.ran == ["a"]


@pytest.mark.parametrize(("button", "kept"), [("allow_always", "allow"), ("reject_always", "reject")])
async def test_a_persisted_always_holds_in_another_session_and_another_process(
    button: str, kept: str, tmp_path: Path
) -> None:
    place = tmp_path / "deep" / "answers.json"
    await ask(Scene({"delete": Rule()}, persist=place).graph, chooses(button))
    assert msgspec.json.decode(place.read_bytes()) == {'["delete","delete"]': kept}
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [file.name for file in place.parent.iterdir()] == ["answers.json"]
    scene = Scene({"delete": Rule()}, persist=str(place))
    events = await ask(scene.graph, chooses("never asked"))
    assert permissions(events) == []
    assert scene.trace.ran == (["a"] if kept == "allow" else [])
    if kept == "reject":
        assert "always reject delete" in calls_of(events)["d1"].reason


async def test_an_always_is_kept_in_a_mapping_and_a_once_is_not() -> None:
    kept: dict[str, str] = {}
    await ask(Scene({"delete": Rule()}, persist=kept).graph, chooses("allow_once"))
    assert kept == {}
    await ask(Scene({"delete": Rule()}, persist=kept).graph, chooses("allow_always"))
    assert kept == {'["delete","delete"]': "allow"}


async def test_a_persisted_always_of_one_principal_means_nothing_to_another() -> None:
    kept: dict[str, str] = {}
    for principal in ("ann", "bob", "local"):
        events = await ask(
            Scene({"delete": Rule()}, persist=kept).graph, chooses("allow_always"), principal=principal
        )
        assert len(permissions(events)) == 1
        again = Scene({"delete": Rule()}, persist=kept)
        assert permissions(await ask(again.graph, chooses("never asked"), principal=principal)) == []
        assert again.trace.ran == ["a"]
    assert list(kept) == ['"ann"["delete","delete"]', '"bob"["delete","delete"]', '["delete","delete"]']


async def test_an_answer_for_a_whole_tool_counts_unless_it_allows_commands() -> None:
    scene = Scene({"delete": Rule()}, persist={"delete": "allow"})
    assert permissions(await ask(scene.graph, chooses("never asked"))) == []
    assert scene.trace.ran == ["a"]
    scene = Scene({"delete": Rule(kind="execute")}, persist={"delete": "allow"})
    assert len(permissions(await ask(scene.graph, chooses("reject_once")))) == 1
    assert scene.trace.ran == []
    scene = Scene({"delete": Rule(kind="execute")}, persist={"delete": "reject"})
    assert permissions(await ask(scene.graph, chooses("never asked"))) == []
    assert scene.trace.ran == []


async def test_an_always_that_cannot_be_kept_holds_for_the_session(caplog: pytest.LogCaptureFixture) -> None:
    class Full(dict[str, str]):
        def __setitem__(self, tool: str, answer: str) -> None:
            raise OSError("the disk is full")

    scene = Scene({"delete": Rule()}, persist=Full())
    await ask(scene.graph, chooses("allow_always"))
    assert scene.trace.ran == ["a"]
    assert "the answer for delete could not be kept: the disk is full" in caplog.text


def test_answers_in_a_file_can_be_listed_and_taken_back(tmp_path: Path) -> None:
    place = tmp_path / "answers.json"
    mine, theirs = AnswerFile(place), AnswerFile(place)
    mine["delete"] = "allow"
    theirs["write"] = "reject"
    assert (dict(mine), len(mine)) == ({"delete": "allow", "write": "reject"}, 2)
    del mine["delete"]
    assert dict(theirs) == {"write": "reject"}
    with pytest.raises(KeyError):
        del theirs["delete"]


def test_a_write_that_fails_leaves_the_answers_and_no_litter(tmp_path: Path) -> None:
    place = tmp_path / "answers.json"
    answers = AnswerFile(place)
    answers["delete"] = "allow"
    with pytest.raises(UnicodeEncodeError):
        answers["write"] = "\ud800"
    assert dict(answers) == {"delete": "allow"}
    assert [file.name for file in tmp_path.iterdir()] == ["answers.json"]


# -- the table -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool_name", "kind"),
    [
        ("write_file", "edit"),
        ("write_files", "move"),
        ("write_it", "delete"),
        ("rewrite", "search"),
        ("Write_file", "search"),
        ("a[b]", "think"),
    ],
)
def test_the_most_specific_pattern_counts(tool_name: str, kind: str) -> None:
    table: Any = {
        "*": {"kind": "search"},
        "write_*": {"kind": "delete"},
        "write_file": {"kind": "edit"},
        "write_file*": {"kind": "move"},
        "a[b]": {"kind": "think"},
    }
    for policy in (table, dict(reversed(table.items()))):
        rule = PermissionMiddleware(policy).find_rule(tool_name)
        assert rule is not None
        assert rule.kind == kind


def test_a_question_mark_is_closer_than_a_star() -> None:
    policy = PermissionMiddleware({"t*": {"kind": "read"}, "t?": {"kind": "edit"}})
    assert policy.find_rule("t1") == Rule(kind="edit")
    assert policy.find_rule("t12") == Rule(kind="read")


async def test_a_tool_that_fits_no_pattern_runs_without_asking() -> None:
    scene = Scene({"write*": Rule()})
    assert permissions(await ask(scene.graph, chooses("reject_once"))) == []
    assert scene.trace.ran == ["a"]


async def test_a_star_asks_about_everything_but_what_a_closer_rule_frees() -> None:
    both = [call("delete", {"path": "a"}, "d1"), call("write", {"path": "b"}, "w1")]
    scene = Scene({"*": Rule(), "write": {"require_permission": False}}, both, "Done.")
    events = await ask(scene.graph, chooses("reject_once"))
    assert [question.call_id for question in permissions(events)] == ["d1"]
    assert scene.trace.ran == ["b"]


async def test_the_rules_kind_and_description_show_in_the_question() -> None:
    def describe(made: Mapping[str, Any]) -> str:
        return f"Really {made['args']['path']}?"

    scene = Scene({"delete": {"kind": "execute"}}, description=describe)
    events = await ask(scene.graph, chooses("allow_once"))
    assert permissions(events)[0].message == "Really a?"
    assert calls_of(events)["d1"].kind == "execute"
    scene = Scene({"delete": {}}, description="Sure?")
    assert permissions(await ask(scene.graph, chooses("allow_once")))[0].message == "Sure?"


WRONG: list[tuple[Any, str]] = [
    ({"x": {"kind": "wrting"}}, "rule for 'x'.*no kind 'wrting': choose one of read, edit"),
    ({"x": {"allowed_decisions": ["approve", "maybe"]}}, "no decision 'maybe': choose from approve, edit"),
    ({"x": {"allowed_decisions": ()}}, "at least one of approve, edit, reject, respond"),
    ({"x": {"allowed_decisions": "approve"}}, "at least one of approve, edit, reject, respond"),
    ({"x": {"require_permission": "yes"}}, "require_permission is True or False, not 'yes'"),
    ({"x": {"requirePermission": True}}, "no field 'requirePermission': it has kind, require_permission"),
    ({"x": True}, "a Rule or a dict of kind, require_permission, allowed_decisions, not True"),
    ({"": {}}, "a pattern is the name of a tool"),
    ({3: {}}, "a pattern is the name of a tool"),
    ([("x", {})], "a table of patterns and rules"),
    (Policy.read_only(), r"operator's Policy: give it to trunkline\.asgi, Hub or serve_acp"),
]


@pytest.mark.parametrize(("policy", "why"), WRONG)
def test_a_wrong_table_is_refused_when_it_is_made(policy: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        PermissionMiddleware(policy)


def test_a_wrong_rule_is_refused_when_it_is_made() -> None:
    wrong: Any = "writing"
    with pytest.raises(ConfigurationError, match="no kind 'writing'"):
        Rule(kind=wrong)


def test_a_place_that_keeps_nothing_is_refused_when_it_is_given(tmp_path: Path) -> None:
    wrong: Any = 3
    with pytest.raises(ConfigurationError, match="path of a JSON file or a mutable mapping, not 3"):
        PermissionMiddleware({}, persist=wrong)
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(ConfigurationError, match=r"list\.json holds no permission answers"):
        PermissionMiddleware({}, persist=tmp_path / "list.json")
    with pytest.raises(ConfigurationError, match="take another file"):
        PermissionMiddleware({}, persist=tmp_path)


# -- the operator ----------------------------------------------------------------------------------


async def test_what_the_operator_denies_never_runs_whatever_the_table_says() -> None:
    for table in ({"delete": {"require_permission": False}}, {"delete": Rule()}, {}):
        scene = Scene(table)
        deny = Policy.from_dict({"rules": [{"decision": "deny", "tool": "delete"}]})
        events = await ask(scene.graph, chooses("allow_once"), policy=deny)
        made = calls_of(events)["d1"]
        assert permissions(events) == []
        assert (scene.trace.ran, made.status) == ([], "denied")
        assert "rule" in made.reason


async def test_what_the_operator_allows_is_not_asked_about() -> None:
    scene = Scene({"delete": Rule()})
    assert permissions(await ask(scene.graph, chooses("no"), policy=Policy.allow_all())) == []
    assert scene.trace.ran == ["a"]


# -- parallel, twice, sync -------------------------------------------------------------------------


async def test_parallel_calls_are_asked_about_at_once() -> None:
    both = [call("delete", {"path": "a"}, "d1"), call("write", {"path": "b"}, "w1")]
    scene = Scene({"*": Rule()}, both, "Done.")
    waiting: list[ev.Asked] = []
    async with session_for(adapt(scene.graph)) as session:

        async def react(asked: ev.Asked) -> None:
            waiting.append(asked)
            if len(waiting) == 2:
                assert scene.trace.ran == []
                for one, button in zip(waiting, ("reject_once", "allow_once"), strict=True):
                    await session.answer(Answer(question_id=one.question_id, option_id=button))

        events = await collect(session, "go", {ev.Asked: react})
    statuses = {call_id: made.status for call_id, made in calls_of(events).items()}
    denied = [question.call_id for question in permissions(waiting)[:1]]
    assert sorted(statuses.values()) == ["completed", "denied"]
    assert [call_id for call_id, status in statuses.items() if status == "denied"] == denied


async def test_a_call_that_is_retried_is_asked_about_once() -> None:
    tries: list[str] = []

    @tool
    async def delete(path: str) -> str:
        """Delete a file."""
        tries.append(path)
        if len(tries) < 3:
            raise OSError("busy")
        return "deleted"

    retry = ToolRetryMiddleware(max_retries=3, initial_delay=0.0, jitter=False)
    for middleware in (
        [retry, PermissionMiddleware({"*": Rule()})],
        [PermissionMiddleware({"*": Rule()}), retry],
    ):
        tries.clear()
        model = ScriptedChatModel([call("delete", {"path": "a"}, "d1")], "Done.")
        graph = create_agent(model, [delete], middleware=middleware)
        events = await ask(graph, says(chooses("allow_once", input={"path": "b"})))
        assert tries == ["b", "b", "b"]
        assert len(permissions(events)) == 1


async def test_a_call_that_two_middlewares_gate_is_asked_about_once() -> None:
    class Second(PermissionMiddleware):
        """Another one."""

    for answer in ({}, {"input": {"path": "b"}}):
        scene = Scene({"delete": Rule()}, middleware=[Second({"*": Rule()})])
        events = await ask(scene.graph, chooses("allow_once", **answer))
        assert len(permissions(events)) == 1
        assert scene.trace.ran == ["b" if answer else "a"]


# -- in an editor ----------------------------------------------------------------------------------


async def in_editor(graph: Any, button: str, contents: list[Any]) -> Editor:
    """Play a turn in an editor that can show forms, with somebody who presses this button."""
    async with hub_for(adapt(graph)) as hub, editing(hub, ABLE) as editor:
        editor.permit(button)
        left = list(contents)
        editor.answers["elicitation/create"] = lambda _: {"action": "accept", "content": left.pop(0)}
        result = await editor.prompt(await editor.open(), "go")
        assert result["stopReason"] == "end_turn"
        return editor


@pytest.mark.parametrize(
    ("button", "contents", "ran", "told"),
    [
        ("allow_once", [], ["a"], "deleted a"),
        ("reject_once", [{"choice": "trunkline:edit"}, {"path": "b"}], ["b"], "deleted b"),
        ("reject_once", [{"choice": "reject_once"}], [], "The user refused this call; it did not run."),
        ("reject_once", [{"choice": "respond", "words": "I did."}], [], "I did."),
        ("reject_once", [{"choice": "respond"}, {"answer": "I did."}], [], "I did."),
    ],
)
async def test_every_decision_can_be_taken_in_an_editor_about_the_call_it_shows(
    button: str, contents: list[Any], ran: list[str], told: str
) -> None:
    scene = Scene({"delete": EVERY})
    editor = await in_editor(scene.graph, button, contents)
    (asked,) = editor.asked("session/request_permission")
    (shown,) = editor.updates("tool_call")
    assert asked["toolCall"]["toolCallId"] == shown["toolCallId"]
    assert asked["toolCall"]["rawInput"] == {"path": "a"}
    assert scene.trace.ran == ran
    assert scene.told.content == told
    last = [update["status"] for update in editor.updates("tool_call_update") if update.get("status")][-1]
    assert last == ("failed" if told.startswith("The user refused") else "completed")
    kinds = [option["kind"] for option in asked["options"]]
    assert len(set(kinds)) == len(kinds), "some clients tell options apart by their kind only"


# -- without a channel -------------------------------------------------------------------------------

GO: Any = {"messages": [("user", "go")]}


async def invoke(graph: Any, payload: Any, config: Any = None, *, sync: bool) -> Any:
    if sync:
        return await asyncio.to_thread(graph.invoke, payload, config)
    return await graph.ainvoke(payload, config)


@pytest.mark.parametrize("sync", [False, True])
async def test_without_anybody_to_ask_a_call_is_refused_and_the_model_learns_why(sync: bool) -> None:
    scene = Scene({"write": Rule()}, [call("write", {"path": "a"}, "w1")], "Done.")
    result = await invoke(scene.graph, GO, sync=sync)
    refusal = result["messages"][-2]
    assert scene.trace.ran == []
    assert refusal.status == "error"
    assert "give it a checkpointer and resume its interrupt" in refusal.content


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize(
    ("decision", "ran", "told"),
    [
        ({"type": "approve"}, ["a"], "wrote a"),
        ({"type": "edit", "edited_action": {"name": "write", "args": {"path": "b"}}}, ["b"], "wrote b"),
        ({"type": "reject", "message": "not today"}, [], "not today"),
        ({"type": "reject"}, [], "The user refused this call; it did not run."),
        ({"type": "respond", "message": "written already"}, [], "written already"),
    ],
)
async def test_without_a_channel_a_checkpointer_keeps_the_question_as_an_interrupt(
    sync: bool, decision: Any, ran: list[str], told: str
) -> None:
    scene = Scene(
        {"write": EVERY}, [call("write", {"path": "a"}, "w1")], "Done.", checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    stopped = await invoke(scene.graph, GO, config, sync=sync)
    (question,) = stopped["__interrupt__"]
    assert question.value == {
        "type": "tool_approval",
        "tool_call_id": "w1",
        "name": "write",
        "args": {"path": "a"},
        "description": "Run write?",
    }
    result = await invoke(scene.graph, Command(resume={question.id: decision}), config, sync=sync)
    assert scene.trace.ran == ran
    assert result["messages"][-2].content == told
    assert result["messages"][-2].status == ("error" if decision["type"] == "reject" else "success")


@pytest.mark.parametrize("wrong", [[{"type": "approve"}] * 2, {"w1": {"type": "approve"}}])
async def test_an_interrupt_is_also_answered_as_the_batches_of_langchain_are(wrong: Any) -> None:
    scene = Scene({"*": EVERY}, [call("write", {"path": "a"}, "w1")], "Done.", checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    await scene.graph.ainvoke(GO, config)
    with pytest.raises(ValueError, match="about one call: give one decision"):
        await scene.graph.ainvoke(Command(resume={"decisions": wrong}), config)
    await scene.graph.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
    assert scene.trace.ran == ["a"]


async def test_a_description_that_raises_asks_the_usual_question(caplog: pytest.LogCaptureFixture) -> None:
    def describe(call: Any) -> str:
        raise RuntimeError("a bug")

    scene = Scene({"*": EVERY}, description=describe)
    (question,) = permissions(await ask(scene.graph, chooses("allow_once")))
    assert question.message == "Run delete?"
    assert "description failed, so the usual question is asked" in caplog.text


async def test_an_interrupt_accepts_the_decisions_of_its_rule_only() -> None:
    scene = Scene(
        {"write": Rule(allowed_decisions=("approve",))},
        [call("write", {"path": "a"}, "w1")],
        "Done.",
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    await scene.graph.ainvoke(GO, config)
    with pytest.raises(ValueError, match="approve"):
        await scene.graph.ainvoke(Command(resume={"type": "reject"}), config)
    await scene.graph.ainvoke(Command(resume={"type": "approve"}), config)
    assert scene.trace.ran == ["a"]


async def test_without_a_channel_a_persisted_always_still_counts() -> None:
    scene = Scene(
        {"write": Rule()}, [call("write", {"path": "a"}, "w1")], "Done.", persist={"write": "allow"}
    )
    await scene.graph.ainvoke(GO)
    assert scene.trace.ran == ["a"]


# -- restart ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("button", "fields", "ran", "status"),
    [
        ("allow_once", {}, ["a"], "completed"),
        ("allow_always", {"input": {"path": "b"}}, ["b"], "completed"),
        ("reject_once", {"reason": "no"}, [], "denied"),
    ],
)
async def test_a_permission_outlives_the_process_that_asked(
    button: str, fields: Any, ran: list[str], status: str, tmp_path: Path
) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        dead = Scene({"delete": Rule()}, checkpointer=saver)
        living = Scene({"delete": Rule()}, "Done.", checkpointer=saver)
        told, shown = await outlive(
            dead.graph,
            living.graph,
            lambda: open_journal(f"sqlite:{tmp_path / 'journal.db'}"),
            chooses(button, **fields),
        )
    assert (dead.trace.ran, living.trace.ran) == ([], ran)
    assert shown.calls["d1"].status == status
    assert [turn.status for turn in shown.turns] == ["finished"]
    assert only(told, ev.Asked) == []
    assert text_of(told) == "Done."


async def test_an_always_after_a_restart_does_not_speak_for_a_call_that_was_answered_too(
    tmp_path: Path,
) -> None:
    saver, both = InMemorySaver(), [call("delete", {"path": "a"}, "d1"), call("delete", {"path": "b"}, "d2")]
    dead = Scene({"delete": Rule()}, both, checkpointer=saver)
    living = Scene({"delete": Rule()}, "Done.", checkpointer=saver)

    def person(asked: ev.Asked) -> Answer:
        first = permissions([asked])[0].call_id == "d1"
        return chooses("allow_always" if first else "reject_once")(asked)

    _, shown = await outlive(
        dead.graph, living.graph, lambda: open_journal(f"sqlite:{tmp_path / 'journal.db'}"), person, 2
    )
    assert living.trace.ran == ["a"]
    assert (shown.calls["d1"].status, shown.calls["d2"].status) == ("completed", "denied")


async def test_nobody_can_write_into_a_call_what_the_operator_denies() -> None:
    scene = Scene({"delete": EVERY})
    deny = Policy.ask().also(PolicyRule(decision="deny", path="secrets/**"))
    events = await ask(scene.graph, chooses("allow_once", input={"path": "secrets/a"}), policy=deny)
    assert scene.trace.ran == []
    assert calls_of(events)["d1"].status == "denied"
