from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.runnables import RunnableLambda
from tests.agents.langchain.graphs import calls_of, graph_of, plain_graph
from tests.agents.langchain.permission_helpers import Trace, ask, chooses, permissions
from tests.agents.langchain.untyped_langchain import create_agent, create_deep_agent
from tests.hubs import only, text_of

from trunkline import events as ev
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.testing.chat import ScriptedChatModel, call
from trunkline.workspace import Policy
from trunkline.workspace import Rule as PolicyRule

CALLS = [call("delete", {"path": "a"}, "d1"), call("write", {"path": "b"}, "w1")]


def plain_agent(trace: Trace, *middleware: Any) -> Any:
    return create_agent(ScriptedChatModel(CALLS, "Done."), trace.tools, middleware=middleware)


def tool_node(trace: Trace) -> Any:
    return plain_graph(ScriptedChatModel(CALLS, "Done."), trace.tools)


def deep_agent(trace: Trace) -> Any:
    """The calls are those of a subagent."""
    helper: dict[str, Any] = {
        "name": "helper",
        "description": "Helps.",
        "system_prompt": "Help.",
        "tools": trace.tools,
        "model": ScriptedChatModel(CALLS, "Helped."),
    }
    task = call("task", {"description": "x", "subagent_type": "helper"}, "t1")
    return create_deep_agent(ScriptedChatModel([task], "Done."), [], subagents=[helper])


def agent_in_node(trace: Trace) -> Any:
    inner = plain_agent(trace)

    async def work(state: Any) -> Any:
        return await inner.ainvoke({"messages": [("user", "go")]})

    return graph_of(work)


def agent_in_chain(trace: Trace) -> Any:
    return RunnableLambda(lambda text: {"messages": [("user", text)]}) | plain_agent(trace)


AGENTS = [plain_agent, tool_node, deep_agent, agent_in_node, agent_in_chain]


@pytest.mark.parametrize("made", AGENTS)
async def test_what_the_policy_denies_does_not_run_in_an_agent_without_our_middlewares(
    made: Any, trace: Trace
) -> None:
    policy = Policy.allow_all().also(PolicyRule(decision="deny", tool="delete"))
    events = await ask(made(trace), chooses("allow_once"), policy=policy)
    assert (trace.ran, permissions(events)) == (["b"], [])
    (denied,) = [one for one in calls_of(events).values() if one.status == "denied"]
    assert (denied.name, denied.reason) == ("delete", "the rule: deny tool delete")
    assert {(one.tool, one.allowed) for one in only(events, ev.Decided)} >= {
        ("delete", False),
        ("write", True),
    }


@pytest.mark.parametrize("made", AGENTS)
@pytest.mark.parametrize("answer", ["allow_once", "reject_once"])
async def test_what_the_policy_asks_about_is_asked_once(made: Any, answer: str, trace: Trace) -> None:
    policy = Policy.allow_all().also(PolicyRule(decision="ask", kind=("edit", "delete")))
    events = await ask(made(trace), chooses(answer), policy=policy)
    assert sorted(trace.ran) == (["a", "b"] if answer == "allow_once" else [])
    assert len(permissions(events)) == 2


@pytest.mark.parametrize("made", AGENTS)
async def test_without_a_policy_no_call_is_asked_about(made: Any, trace: Trace) -> None:
    events = await ask(made(trace), chooses("reject_once"))
    assert (sorted(trace.ran), permissions(events), only(events, ev.Decided)) == (["a", "b"], [], [])


async def test_the_default_of_a_given_policy_asks_and_the_model_is_told_of_a_refusal() -> None:
    trace, model = Trace(), ScriptedChatModel(CALLS, "Done.")
    events = await ask(
        create_agent(model, trace.tools), chooses("reject_once", reason="Not now."), policy=Policy.ask()
    )
    assert (trace.ran, len(permissions(events)), text_of(events)) == ([], 2, "Done.")
    assert [one.text for one in model.calls[-1].messages if one.type == "tool"] == ["Not now."] * 2


async def test_a_path_rule_and_arguments_that_a_person_edits_count(trace: Trace) -> None:
    policy = Policy.allow_all().also(
        PolicyRule(decision="ask", tool="delete"), PolicyRule(decision="deny", path="b")
    )
    events = await ask(plain_agent(trace), chooses("allow_once", input={"path": "c"}), policy=policy)
    assert (trace.ran, len(permissions(events))) == (["c"], 1)


@pytest.mark.parametrize(
    "middleware",
    [
        PermissionMiddleware({"*": Rule()}),
        HumanInTheLoopMiddleware(interrupt_on={"delete": True, "write": True}),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("policy", [Policy.ask(), Policy.ask().also(PolicyRule(decision="ask", tool="*"))])
async def test_a_call_that_the_agent_asked_about_is_not_asked_about_again(
    middleware: Any, policy: Policy, trace: Trace
) -> None:
    graph = plain_agent(trace, middleware)
    option = "approve" if isinstance(middleware, HumanInTheLoopMiddleware) else "allow_once"
    events = await ask(graph, chooses(option), policy=policy)
    assert (sorted(trace.ran), len(permissions(events))) == (["a", "b"], 2)


async def test_a_question_that_the_agent_itself_asks_is_still_asked_under_allow_all(trace: Trace) -> None:
    graph = plain_agent(trace, HumanInTheLoopMiddleware(interrupt_on={"delete": True}))
    events = await ask(graph, chooses("approve"), policy=Policy.allow_all())
    assert (sorted(trace.ran), len(permissions(events))) == (["a", "b"], 1)
