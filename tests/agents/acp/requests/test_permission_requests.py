"""Permissions of an ACP agent: policy, memory, people, programs, cancel; by the agent's own options."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from tests.agents.acp.far_side import OPTIONS, Far, ScriptedAgent, choose, refused
from tests.hubs import collect, events_of, hub_for, only, soon, until
from trunkline import events as ev
from trunkline.agents.acp.requests.permission_options import PermissionRequest
from trunkline.agents.acp.requests.permission_requests import Permission
from trunkline.agents.acp.requests.session_requests import AgentRequests
from trunkline.commands import Answer, Prompt
from trunkline.content import DiffBlock, TextBlock
from trunkline.errors import ConfigurationError
from trunkline.protocols.acp.decoder import AcpDecoder
from trunkline.protocols.acp.profiles import CLAUDE_CODE
from trunkline.questions import Option
from trunkline.questions import Permission as PermissionQuestion
from trunkline.session.view import SessionView
from trunkline.workspace import Policy, Rule

RUN: dict[str, Any] = {
    "toolCallId": "c1",
    "title": "`make test`",
    "kind": "execute",
    "rawInput": {"command": "make test"},
}
WRITE: dict[str, Any] = {"toolCallId": "w1", "title": "Write a", "kind": "edit", "name": "Write"}
CANCELLED = {"outcome": "cancelled"}


def select(option_id: str) -> dict[str, str]:
    return {"outcome": "selected", "optionId": option_id}


async def outcomes(
    *calls: dict[str, Any],
    answer: str | None = None,
    policy: Policy | None = None,
    permission: Permission = "ask",
    options: Any = None,
) -> tuple[list[Any], list[ev.AnyEvent]]:
    """Ask for permissions one after another; gives the outcomes and the journal."""
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        for call in calls:
            got.append(await far.permission(options=options, **call))

    async with hub_for(ScriptedAgent(script, permission=permission), policy=policy) as hub:
        session = await hub.create()
        await collect(session, "go", {ev.Asked: choose(session, answer)} if answer is not None else {})
        return got, await events_of(session)


# -- a person --


@pytest.mark.parametrize(
    ("chosen", "status"),
    [("proceed", "in_progress"), ("proceed_always", "in_progress"), ("abort", "denied")],
)
async def test_a_person_chooses_among_the_agents_own_options(chosen: str, status: str) -> None:
    got, events = await outcomes(RUN, answer=chosen)
    assert got == [select(chosen)]
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, PermissionQuestion)
    assert [option.option_id for option in asked.question.options] == ["proceed_always", "proceed", "abort"]
    assert status in [update.status for update in only(events, ev.ToolUpdate)]
    assert [notice.code for notice in only(events, ev.Notice)] == []


@pytest.mark.parametrize("kind", ["yolo", "allow_session"])
async def test_an_option_of_an_unknown_kind_is_journalled_as_what_was_sent_and_not_as_a_refusal(
    kind: str,
) -> None:
    options = [
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "yolo", "name": "Yolo", "kind": kind},
    ]
    got, events = await outcomes(RUN, answer="yolo", options=options)
    assert got == [select("yolo")]
    (answered,) = only(events, ev.Answered)
    assert (answered.option_id, answered.option_kind) == ("yolo", kind)
    assert "denied" not in [update.status for update in only(events, ev.ToolUpdate)]


async def test_an_option_of_an_unknown_kind_is_no_always_of_the_session() -> None:
    options = [
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "skip", "name": "Skip", "kind": "skip_always"},
    ]
    calls = [RUN | {"toolCallId": name, "name": "terminal"} for name in ("c1", "c2")]
    got, events = await outcomes(*calls, answer="skip", options=options)
    assert got == [select("skip"), select("skip")]
    assert len(only(events, ev.Asked)) == 2


async def test_options_without_a_kind_are_for_a_person_alone() -> None:
    options = [{"optionId": "y", "name": "Yes"}, {"optionId": "n", "name": "No", "kind": None}]
    got, events = await outcomes(RUN, answer="y", options=options)
    assert got == [select("y")]
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, PermissionQuestion)
    assert [(option.name, option.kind) for option in asked.question.options] == [
        ("Yes", "other"),
        ("No", "other"),
    ]
    for policy in (Policy.allow_all(), Policy.deny()):
        assert (await outcomes(RUN, policy=policy, options=options))[0] == [CANCELLED]
    assert (await outcomes(RUN, permission="allow", options=options))[0] == [CANCELLED]


async def test_a_permission_without_an_earlier_tool_call_announces_the_call() -> None:
    _, events = await outcomes(RUN, answer="abort")
    (call,) = only(events, ev.ToolCall)
    kinds = [type(event) for event in events]
    assert kinds.index(ev.ToolCall) < kinds.index(ev.Asked)
    assert (call.native_id, call.kind) == ("c1", "execute")
    inputs = [update.input for update in only(events, ev.ToolUpdate) if update.input is not None]
    assert inputs == [{"command": "make test"}]


async def test_a_permission_under_an_id_of_its_own_is_about_the_call_with_the_same_arguments() -> None:
    """langchain-acp asks as ``hitl:NAME``; deepagents-acp by the id of an interrupt, without the kind."""
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        calls = [
            {"title": f"make {name}", "rawInput": {"command": f"make {name}"}} for name in ("a", "b", "b")
        ]
        for number, call in enumerate(calls):
            far.update("tool_call", toolCallId=f"c{number}", status="in_progress", kind="execute", **call)
        for number, call in enumerate(calls):
            asked = call | {"title": f"Execute: `{call['title']}`"}
            got.append(await far.permission(toolCallId="interrupt", **asked))
            far.update("tool_call_update", toolCallId=f"c{number}", status="completed")
        other = {"title": "Delete", "kind": "delete", "rawInput": {"path": "x"}}
        far.update("tool_call", toolCallId="c3", **other | {"title": "Read", "kind": "read"})
        got.append(await far.permission(toolCallId="c4", **other))

    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()
        answers = iter(("proceed", "abort", "proceed", "abort"))
        await collect(session, "go", {ev.Asked: lambda asked: choose(session, next(answers))(asked)})
        events = await events_of(session)
    assert got == [select("proceed"), select("abort"), select("proceed"), select("abort")]
    assert [call.call_id for call in only(events, ev.ToolCall)] == ["c0", "c1", "c2", "c3", "c4"]
    asked = [event.question for event in only(events, ev.Asked)]
    assert [cast("PermissionQuestion", one).call_id for one in asked] == ["c0", "c1", "c2", "c4"]
    ended = {update.call_id: update.status for update in only(events, ev.ToolUpdate) if update.status}
    assert ended == {"c0": "completed", "c1": "denied", "c2": "completed", "c3": "failed", "c4": "denied"}


@pytest.mark.parametrize(
    ("policy", "outcome", "is_asked"),
    [
        (Policy(default="allow", rules=(Rule(decision="deny", command="rm *"),)), "abort", False),
        (Policy(default="allow", rules=(Rule(decision="deny", tool="terminal"),)), "abort", False),
        (Policy(default="allow", rules=(Rule(decision="deny", path="secret/**"),)), "abort", False),
        (Policy.read_only(), "abort", False),
        (Policy(default="allow", rules=(Rule(decision="ask", kind="execute"),)), "proceed", True),
        (Policy(default="allow", rules=(Rule(decision="ask", tool="terminal"),)), "proceed", True),
        (Policy(rules=(Rule(decision="allow", kind="other"),)), "proceed", True),
        (Policy.allow_all(), "proceed", False),
    ],
)
async def test_a_permission_that_shows_nothing_is_judged_by_the_calls_that_wait(
    policy: Policy, outcome: str, is_asked: bool
) -> None:
    """OpenHands announces its calls, and then asks to "Confirm Agent Actions"."""
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        call: dict[str, Any] = {"toolCallId": "c1", "name": "terminal", "title": "tidy up", "kind": "execute"}
        far.update("tool_call", **call, rawInput={"command": "rm -rf build"})
        far.update("tool_call", toolCallId="c2", kind="edit", rawInput={"path": "/w/secret/key"})
        got.append(
            await far.permission(toolCallId="confirmation", title="Confirm Agent Actions", kind="other")
        )

    async with hub_for(ScriptedAgent(script), policy=policy) as hub:
        session = await hub.create()
        await collect(session, "go", {ev.Asked: choose(session, "proceed")})
        events = await events_of(session)
    assert got == [select(outcome)]
    assert bool(only(events, ev.Asked)) is is_asked
    if is_asked:
        shown = [update.content for update in only(events, ev.ToolUpdate) if update.content]
        assert shown == [(TextBlock(text="$ rm -rf build"),)], "the person sees what the question is about"


async def test_a_command_that_waits_for_a_confirmation_is_judged_with_its_variables() -> None:
    call = {"kind": "execute", "rawInput": {"command": "git status", "env": {"GIT_PAGER": "rm -rf ."}}}
    policy = Policy(default="allow", rules=(Rule(decision="ask", command="rm *"),))
    _, asked = await confirmations([call], policy=policy)
    assert len(asked) == 1


async def test_an_always_about_a_confirmation_is_for_the_same_calls() -> None:
    edits = [{"kind": "edit", "rawInput": {"path": f"/w/{name}"}} for name in ("a", "a", "b")]
    got, asked = await confirmations(*([edit] for edit in edits), answer="proceed_always")
    assert got == [select("proceed_always"), select("proceed"), select("proceed_always")]
    assert len(asked) == 2


async def confirmations(
    *batches: list[dict[str, Any]], policy: Policy | None = None, answer: str = "proceed"
) -> tuple[list[Any], list[ev.Asked]]:
    """Announce some calls at a time and ask to confirm them; gives the outcomes and what was asked."""
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        for batch, calls in enumerate(batches):
            for place, call in enumerate(calls):
                far.update("tool_call", toolCallId=f"c{batch}.{place}", **call)
            about = {"toolCallId": f"confirmation{batch}", "title": "Confirm Agent Actions", "kind": "other"}
            got.append(await far.permission(**about))
            for place in range(len(calls)):
                far.update("tool_call_update", toolCallId=f"c{batch}.{place}", status="completed")

    async with hub_for(ScriptedAgent(script), policy=policy) as hub:
        session = await hub.create()
        await collect(session, "go", {ev.Asked: choose(session, answer)})
        return got, only(await events_of(session), ev.Asked)


async def test_what_the_agent_said_of_the_call_before_counts_for_the_policy() -> None:
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        far.update("tool_call", **RUN)
        got.append(await far.permission(toolCallId="c1", title="Terminal"))

    policy = Policy(rules=(Rule(decision="deny", command="make *"),))
    async with hub_for(ScriptedAgent(script), policy=policy) as hub:
        await collect(await hub.create(), "go")
    assert got == [select("abort")]


async def test_a_call_that_the_policy_denies_and_nobody_was_asked_about_is_told_to_the_person() -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        for number, status in enumerate(["completed", "completed", "failed"]):
            call = {**RUN, "toolCallId": f"c{number}"}
            far.update("tool_call", **call)
            far.update("tool_call_update", toolCallId=f"c{number}", status=status)
        await far.permission(**RUN | {"toolCallId": "asked"})
        far.update("tool_call_update", toolCallId="asked", status="failed")

    async def notices(policy: Policy) -> list[tuple[str | None, str | None]]:
        async with hub_for(ScriptedAgent(script), policy=policy) as hub:
            session = await hub.create()
            await collect(session, "go", {ev.Asked: choose(session, "abort")})
            await collect(session, "go", {ev.Asked: choose(session, "abort")})
            told = only(await events_of(session), ev.Notice)
            return [(notice.code, notice.description) for notice in told]

    (code, about), second = await notices(Policy(rules=(Rule(decision="deny", command="make *"),)))
    assert code == second[0] == "unasked_call_ran"
    assert "make *" in str(about)
    assert await notices(Policy.ask()) == []


async def test_a_refused_call_stays_denied_when_the_agent_says_that_it_failed() -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        await far.permission(**RUN)
        far.update("tool_call_update", toolCallId="c1", status="failed")
        far.say("never mind")

    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()
        await collect(session, "go", {ev.Asked: choose(session, "abort")})
        events = await events_of(session)
    statuses = [update.status for update in only(events, ev.ToolUpdate) if update.status is not None]
    assert set(statuses) == {"denied"}
    assert only(events, ev.Notice) == []


async def test_a_diff_in_the_permission_is_shown_before_it_is_answered() -> None:
    diff = {"type": "diff", "path": "/p/a.txt", "oldText": "old", "newText": "new"}
    _, events = await outcomes({**WRITE, "content": [diff]}, answer="proceed")
    before = events[: [type(event) for event in events].index(ev.Asked)]
    shown = [block for update in only(before, ev.ToolUpdate) for block in update.content or ()]
    assert shown == [DiffBlock(path="/p/a.txt", old="old", new="new")]


async def test_a_command_that_is_only_a_title_is_shown_and_judged() -> None:
    call: dict[str, Any] = {"toolCallId": "g1", "title": "rm -rf build", "kind": "execute", "content": []}
    got, events = await outcomes(call, answer="proceed")
    shown = [block for update in only(events, ev.ToolUpdate) for block in update.content or ()]
    assert TextBlock(text="$ rm -rf build") in shown
    got, _ = await outcomes(call, policy=Policy(rules=(Rule(decision="deny", command="rm *"),)))
    assert got == [select("abort")]


@pytest.mark.parametrize(
    "given",
    [
        {"script": "rm -rf build"},
        {"run": {"code": ["rm -rf build"]}},
        {"about": "a", "script": "rm -rf build"},
    ],
)
async def test_a_command_among_unknown_arguments_is_not_judged_by_its_title(given: Any) -> None:
    call = {**RUN, "title": "make test", "rawInput": given}
    allow, deny = Rule(decision="allow", command="make *"), Rule(decision="deny", command="rm *")
    (outcome,), events = await outcomes(call, policy=Policy(rules=(allow,)), answer="abort")
    assert outcome == select("abort")
    assert len(only(events, ev.Asked)) == 1, "the rule that allows is about another command"
    (outcome,), events = await outcomes(call, policy=Policy(rules=(deny,), default="allow"))
    assert outcome == select("abort")
    assert [decided.allowed for decided in only(events, ev.Decided)] == [False]


async def test_an_always_for_a_command_that_is_only_a_title_is_for_that_command() -> None:
    calls = [
        {"toolCallId": f"g{number}", "title": title, "kind": "execute", "name": "run_shell_command"}
        for number, title in enumerate(("make test", "make test", "rm -rf /"))
    ]
    got: list[Any] = []
    asked: list[ev.Asked] = []

    async def script(far: Far, prompt: Prompt) -> None:
        for call in calls:
            got.append(await far.permission(**call))

    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()

        async def answer(question: ev.Asked) -> None:
            asked.append(question)
            option = "proceed_always" if len(asked) == 1 else "abort"
            await session.answer(Answer(question_id=question.question_id, option_id=option))

        await collect(session, "go", {ev.Asked: answer})
    assert got == [select("proceed_always"), select("proceed"), select("abort")]
    assert len(asked) == 2


async def test_parallel_permissions_are_questions_of_their_own() -> None:
    got: dict[str, Any] = {}

    async def one(far: Far, name: str) -> None:
        got[name] = await far.permission(toolCallId=name, title=name, kind="fetch", name=name)

    async def script(far: Far, prompt: Prompt) -> None:
        await asyncio.gather(one(far, "a"), one(far, "b"), one(far, "c"))

    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()
        running = asyncio.create_task(collect(session, "go"))
        await until(lambda: len(session.questions.open) == 3)
        for asked in reversed(list(session.questions.open.values())):
            assert isinstance(asked.question, PermissionQuestion)
            option = "abort" if asked.question.message == "b" else "proceed"
            await session.answer(Answer(question_id=asked.question_id, option_id=option))
        await soon(running)
    assert got == {"a": select("proceed"), "b": select("abort"), "c": select("proceed")}


async def test_a_permission_that_expires_is_refused() -> None:
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        got.append(await far.permission(**RUN))

    async with hub_for(ScriptedAgent(script), question_ttl=0.05) as hub:
        session = await hub.create()
        await collect(session, "go")
    assert got == [select("abort")]


async def test_a_permission_that_the_agent_withdraws_is_no_question_any_more() -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        params = {"sessionId": "s", "toolCall": RUN, "options": OPTIONS}
        request_id, future = far.connection.ask("session/request_permission", params)
        await asked.wait()
        far.connection.withdraw_request(request_id)
        await soon(asyncio.wait({future}))
        far.say("on my own")

    asked = asyncio.Event()
    async with hub_for(ScriptedAgent(script)) as hub:
        session = await hub.create()

        async def note(event: ev.Asked) -> None:
            asked.set()

        await collect(session, "go", {ev.Asked: note})
        (answered,) = only(await events_of(session), ev.Answered)
        assert answered.outcome == "cancelled"
        assert session.questions.open == {}


async def test_a_permission_of_a_subagent_is_asked_in_its_lane() -> None:
    meta = {"claudeCode": {"toolName": "Bash", "parentToolUseId": "task"}}

    async def script(far: Far, prompt: Prompt) -> None:
        far.update("tool_call", toolCallId="task", title="Task", kind="think")
        far.update("tool_call", **RUN, _meta=meta)
        await far.permission(**RUN)
        far.update("tool_call_update", toolCallId="task", status="completed")

    for option in ("proceed", "abort"):
        async with hub_for(ScriptedAgent(script, profile=CLAUDE_CODE)) as hub:
            session = await hub.create()
            shown = await collect(session, "go", {ev.Asked: choose(session, option)})
        own = [event for event in shown if getattr(event, "call_id", None) == "c1"]
        assert {event.lane for event in (*own, *only(shown, ev.Asked))} == {"task"}
        assert only(shown, ev.Notice) == []


# -- options --


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
async def test_the_policy_allows_once_by_kind_in_any_order(order: list[int]) -> None:
    got, events = await outcomes(RUN, policy=Policy.allow_all(), options=[OPTIONS[at] for at in order])
    assert got == [select("proceed")]
    assert only(events, ev.Asked) == []
    (decided,) = only(events, ev.Decided)
    assert (decided.allowed, decided.by, decided.command) == (True, "policy", "make test")


async def test_of_two_options_of_one_kind_the_first_is_taken() -> None:
    options = [
        {"optionId": "b", "name": "Yes, in this folder", "kind": "allow_once"},
        {"optionId": "a", "name": "Yes", "kind": "allow_once"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
    ]
    assert (await outcomes(RUN, policy=Policy.allow_all(), options=options))[0] == [select("b")]
    assert (await outcomes(RUN, answer="a", options=options))[0] == [select("a")]


async def test_the_policy_never_chooses_an_always() -> None:
    options = [OPTIONS[0], OPTIONS[2]]
    got, events = await outcomes(RUN, policy=Policy.allow_all(), options=options)
    assert got == [CANCELLED]
    assert only(events, ev.Notice)[0].code == "permission_without_once"
    assert only(events, ev.ToolUpdate)[-1].status == "denied"


async def test_a_refusal_without_an_option_for_it_is_cancelled() -> None:
    got, _ = await outcomes(RUN, policy=Policy.deny(), options=OPTIONS[:2])
    assert got == [CANCELLED]


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        (None, "an object is expected"),
        ({"toolCall": RUN}, "options must be a list"),
        ({"toolCall": RUN, "options": []}, "options must be a list"),
        ({"toolCall": RUN, "options": [{"optionId": 1, "kind": "allow_once"}]}, "options must be a list"),
        ({"toolCall": {}, "options": OPTIONS}, "toolCall must have a toolCallId"),
        ({"options": OPTIONS}, "toolCall must have a toolCallId"),
    ],
)
async def test_params_that_cannot_be_read_are_refused_with_a_sentence(params: Any, reason: str) -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        with refused(-32602, reason):
            await soon(far.connection.request("session/request_permission", params))

    async with hub_for(ScriptedAgent(script)) as hub:
        await collect(await hub.create(), "go")


# -- the policy and earlier answers --


async def test_the_policy_is_asked_before_anybody_else() -> None:
    called: list[PermissionRequest] = []

    def allow(request: PermissionRequest) -> bool:
        called.append(request)
        return True

    policy = Policy(rules=(Rule(decision="deny", kind="execute"),))
    got, events = await outcomes(RUN, policy=policy, permission=allow)
    assert (got, called) == ([select("abort")], [])
    (decided,) = only(events, ev.Decided)
    assert (decided.allowed, decided.rule, decided.tool) == (False, "deny kind execute", "`make test`")


async def test_an_always_is_kept_and_given_to_the_agent_as_once_later() -> None:
    got, events = await outcomes(WRITE, {**WRITE, "toolCallId": "w2"}, answer="proceed_always")
    assert got == [select("proceed_always"), select("proceed")]
    assert len(only(events, ev.Asked)) == 1
    (decided,) = only(events, ev.Decided)
    assert (decided.by, decided.allowed) == ("earlier answer", True)


async def test_where_a_rule_asks_no_always_is_offered_and_none_counts() -> None:
    policy = Policy(rules=(Rule(decision="ask", kind="edit"),))
    got, events = await outcomes(WRITE, {**WRITE, "toolCallId": "w2"}, policy=policy, answer="proceed")
    assert got == [select("proceed")] * 2
    for asked in only(events, ev.Asked):
        assert isinstance(asked.question, PermissionQuestion)
        assert [option.option_id for option in asked.question.options] == ["proceed", "abort"]


async def test_tools_without_a_name_are_asked_about_every_time() -> None:
    calls = [{"toolCallId": f"u{number}"} for number in range(2)]
    got, events = await outcomes(*calls, answer="proceed")
    assert got == [select("proceed")] * 2
    assert len(only(events, ev.Asked)) == 2


@pytest.mark.parametrize(
    ("policy", "call"),
    [
        (Policy.read_only(), {"kind": "read", "content": [{"type": "diff", "path": "/a", "newText": ""}]}),
        (Policy.read_only(), {"kind": "read", "rawInput": {"command": "rm -r /"}}),
        (Policy.read_only(), {"kind": "search", "rawInput": {"cmd": ["rm", "-r", "/"]}}),
        (
            Policy(rules=(Rule(decision="deny", kind="fetch"),)),
            {"kind": "fetch", "rawInput": {"command": "curl x"}},
        ),
    ],
)
async def test_a_kind_that_does_not_fit_what_is_shown_leads_around_no_rule(
    policy: Policy, call: dict[str, Any]
) -> None:
    got, events = await outcomes({"toolCallId": "x", "title": "Look", **call}, policy=policy)
    assert got == [select("abort")]
    assert only(events, ev.Asked) == []


async def test_paths_are_judged_as_requested_and_as_resolved(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "secrets")
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        for number, name in enumerate(("secrets/key", "link/key")):
            place = {"path": str(tmp_path / name)}
            got.append(await far.permission(toolCallId=f"r{number}", kind="read", locations=[place]))

    policy = Policy.allow_reads().also(Rule(decision="deny", path="secrets/**"))
    async with hub_for(ScriptedAgent(script), policy=policy) as hub:
        await collect(await hub.create(cwd=str(tmp_path)), "go")
    assert got == [select("abort")] * 2


# -- programs --


def fail(request: PermissionRequest) -> bool:
    raise RuntimeError("no idea")


def gives(answer: Any) -> Callable[[PermissionRequest], Any]:
    def function(request: PermissionRequest) -> Any:
        return answer

    return function


@pytest.mark.parametrize(
    ("permission", "outcome"),
    [
        ("allow", select("proceed")),
        ("refuse", select("abort")),
        (gives(True), select("proceed")),
        (gives(False), select("abort")),
        (gives("proceed_always"), select("proceed_always")),
        (gives("allow_once"), select("proceed")),
        (gives("reject_once"), select("abort")),
        (gives(Option(option_id="proceed", name="", kind="allow_once")), select("proceed")),
        (gives("nonsense"), select("abort")),
        (fail, select("abort")),
    ],
)
async def test_a_program_answers_in_the_place_of_a_person(permission: Any, outcome: Any) -> None:
    got, events = await outcomes(RUN, permission=permission)
    assert got == [outcome]
    assert only(events, ev.Asked) == []
    (decided,) = only(events, ev.Decided)
    assert decided.by == "program"


async def test_a_function_may_be_async_and_sees_what_is_asked() -> None:
    seen: list[PermissionRequest] = []

    async def answer(request: PermissionRequest) -> str:
        await asyncio.sleep(0)
        seen.append(request)
        return "proceed"

    got, _ = await outcomes(RUN, permission=answer)
    (request,) = seen
    assert got == [select("proceed")]
    assert (request.title, request.kind, request.command) == ("`make test`", "execute", "make test")
    assert request.params["toolCall"]["toolCallId"] == "c1"


async def test_a_function_that_gives_none_leaves_it_to_the_person() -> None:
    got, events = await outcomes(RUN, permission=gives(None), answer="abort")
    assert got == [select("abort")]
    assert len(only(events, ev.Asked)) == 1


async def test_allow_does_not_answer_where_a_rule_asks() -> None:
    policy = Policy(rules=(Rule(decision="ask", command="make *"),))
    got, events = await outcomes(RUN, policy=policy, permission="allow", answer="abort")
    assert got == [select("abort")]
    assert len(only(events, ev.Asked)) == 1


def test_a_permission_that_means_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="choose one of ask, allow, refuse"):
        AgentRequests(SessionView(session_id="s"), AcpDecoder(), permission=cast("Any", "yes"))


# -- cancel, and no turn --


async def test_after_a_cancel_open_and_later_permissions_are_cancelled() -> None:
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        got.append(await far.permission(**RUN))
        await soon(far.cancelled.wait())
        got.append(await far.permission(**{**RUN, "toolCallId": "c2"}))

    async with hub_for(ScriptedAgent(script), detach_after=5.0) as hub:
        session = await hub.create()
        running = asyncio.create_task(collect(session, "go"))
        await until(lambda: bool(session.questions.open))
        await session.cancel()
        events = await soon(running)
    assert got == [CANCELLED, CANCELLED]
    (finished,) = only(events, ev.TurnFinished)
    assert finished.stop_reason == "cancelled"


async def test_what_the_policy_would_allow_is_cancelled_too_after_a_cancel() -> None:
    got: list[Any] = []
    begun = asyncio.Event()

    async def script(far: Far, prompt: Prompt) -> None:
        begun.set()
        await soon(far.cancelled.wait())
        got.append(await far.permission(**RUN))

    async with hub_for(ScriptedAgent(script), policy=Policy.allow_all(), detach_after=5.0) as hub:
        session = await hub.create()
        running = asyncio.create_task(collect(session, "go"))
        await soon(begun.wait())
        await session.cancel()
        await soon(running)
    assert got == [CANCELLED]


async def test_the_next_turn_after_a_cancelled_one_asks_again() -> None:
    got: list[Any] = []

    async def script(far: Far, prompt: Prompt) -> None:
        got.append(await far.permission(**{**RUN, "toolCallId": prompt.text}))

    async with hub_for(ScriptedAgent(script), detach_after=5.0) as hub:
        session = await hub.create()
        running = asyncio.create_task(collect(session, "one"))
        await until(lambda: bool(session.questions.open))
        await session.cancel()
        await soon(running)
        await collect(session, "two", {ev.Asked: choose(session, "proceed")})
    assert got == [CANCELLED, select("proceed")]


async def test_between_turns_a_permission_is_refused_and_shown() -> None:
    async def script(far: Far, prompt: Prompt) -> None:
        far.say("hello")

    agent = ScriptedAgent(script, permission="allow")
    async with hub_for(agent, policy=Policy.allow_all()) as hub:
        session = await hub.create()
        await collect(session, "go")
        assert agent.far is not None
        assert await agent.far.permission(**RUN) == CANCELLED
        (notice,) = only(await events_of(session), ev.Notice)
    assert notice.code == "permission_out_of_turn"
    assert "`make test`" in (notice.description or "")
