"""Shell, patch and custom tools: their own approvals, and the operator's policy."""

from typing import Any

import pytest
from agents.editor import ApplyPatchResult
from agents.testing import ModelStep
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseCreatedEvent,
    ResponseCustomToolCall,
    ResponseOutputItem,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
)
from openai.types.responses.response_output_item import LocalShellCall, LocalShellCallAction
from pydantic import TypeAdapter

from agents import ApplyPatchTool, CustomTool, LocalShellTool, ShellTool
from tests.agents.openai.sdk_agents import agent_of, finish, started, statuses, stopped
from tests.hubs import collect, only, session_for
from trunkline import events as ev
from trunkline.folding import fold
from trunkline.workspace import Policy
from trunkline.workspace.rules import Rule

_ITEM: TypeAdapter[Any] = TypeAdapter(ResponseOutputItem)


class Workshop:
    """The tools, and what they did."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    async def shell(self, request: Any) -> str:
        self.done.append(request.data.action.commands)
        return "ran"

    def local(self, request: Any) -> str:
        self.done.append(request.data.action.command)
        return "ran"

    async def custom(self, context: Any, given: str) -> str:
        self.done.append(given)
        return f"did {given}"

    def create_file(self, operation: Any) -> ApplyPatchResult:
        self.done.append(operation.path)
        return ApplyPatchResult(status="completed", output="created")

    update_file = delete_file = create_file


def streamed(item: Any) -> ModelStep:
    """A model's response with one item that the scripted model cannot stream by itself."""
    response = Response(
        id="r1", created_at=0, model="m", object="response", output=[item], parallel_tool_calls=True,
        tool_choice="auto", tools=[],
    )  # fmt: skip
    return ModelStep.stream(
        [
            ResponseCreatedEvent(response=response, sequence_number=0, type="response.created"),
            ResponseOutputItemAddedEvent(
                item=item, output_index=0, sequence_number=1, type="response.output_item.added"
            ),
            ResponseOutputItemDoneEvent(
                item=item, output_index=0, sequence_number=2, type="response.output_item.done"
            ),
            ResponseCompletedEvent(response=response, sequence_number=3, type="response.completed"),
        ]
    )


def shell_call(*commands: str) -> Any:
    action = {"commands": list(commands), "timeout_ms": None, "max_output_length": None}
    fields = {"type": "shell_call", "id": "i1", "call_id": "n1", "action": action, "status": "completed"}
    return _ITEM.validate_python({**fields, "environment": None})


def local_call() -> Any:
    action = LocalShellCallAction(command=["ls", "-l"], env={}, type="exec")
    return LocalShellCall(id="i1", call_id="n1", action=action, status="completed", type="local_shell_call")


def custom_call() -> Any:
    return ResponseCustomToolCall(call_id="n1", input="a song", name="sing", type="custom_tool_call", id="i1")


def patch_call() -> Any:
    operation = {"type": "create_file", "path": "a.txt", "diff": "+hi\n"}
    fields = {"type": "apply_patch_call", "id": "i1", "call_id": "n1", "status": "completed"}
    return _ITEM.validate_python({**fields, "operation": operation})


def tool_for(kind: str, shop: Workshop, needs_approval: bool) -> tuple[Any, Any]:
    """A tool and a call of it."""
    if kind == "shell":
        return ShellTool(executor=shop.shell, needs_approval=needs_approval), shell_call("ls -l")
    if kind == "custom":
        made = CustomTool(
            name="sing", description="Sing.", on_invoke_tool=shop.custom, needs_approval=needs_approval
        )
        return made, custom_call()
    if kind == "patch":
        return ApplyPatchTool(editor=shop, needs_approval=needs_approval), patch_call()
    return LocalShellTool(executor=shop.local), local_call()


KINDS = pytest.mark.parametrize("kind", ["shell", "custom", "patch", "local"])


@KINDS
async def test_without_a_policy_such_a_tool_runs_as_without_us(kind: str) -> None:
    shop = Workshop()
    tool, call = tool_for(kind, shop, needs_approval=False)
    agent, _ = agent_of(streamed(call), "Done.", tools=[tool])
    async with session_for(agent) as session:
        events = await collect(session, "Do it.")
    assert len(shop.done) == 1
    assert list(statuses(fold(events)).values()) == ["completed"]
    assert not only(events, ev.Asked)


@KINDS
@pytest.mark.parametrize("option", ["allow_once", "reject_once"])
async def test_the_policy_asks_once_before_it_runs(kind: str, option: str) -> None:
    shop = Workshop()
    tool, call = tool_for(kind, shop, needs_approval=False)
    agent, _ = agent_of(streamed(call), "Done.", tools=[tool])
    async with session_for(agent, policy=Policy.ask()) as session:
        await started(session)
        (asked,) = await stopped(session, 1)
        assert shop.done == []
        shown = await finish(session, {asked.question.call_id: option})
    assert len(shop.done) == (option == "allow_once")
    assert list(statuses(shown).values()) == ["completed" if option == "allow_once" else "denied"]


@pytest.mark.parametrize("kind", ["shell", "custom", "patch"])
@pytest.mark.parametrize("policy", [None, Policy.ask()])
async def test_an_approval_that_the_author_wants_is_durable_and_asked_once(kind: str, policy: Any) -> None:
    shop = Workshop()
    tool, call = tool_for(kind, shop, needs_approval=True)
    agent, _ = agent_of(streamed(call), "Done.", tools=[tool])
    async with session_for(agent, policy=policy) as session:
        await started(session)
        (asked,) = await stopped(session, 1)
        assert asked.durable_key is not None
        shown = await finish(session, {asked.question.call_id: "allow_once"})
    assert len(shop.done) == 1
    assert list(statuses(shown).values()) == ["completed"]


async def test_the_policy_reads_the_commands_of_a_shell() -> None:
    shop = Workshop()
    tool = ShellTool(executor=shop.shell)
    agent, _ = agent_of(streamed(shell_call("rm -rf x")), "Done.", tools=[tool])
    policy = Policy(rules=(Rule(decision="deny", command="rm *"),), default="allow")
    async with session_for(agent, policy=policy) as session:
        events = await collect(session, "Do it.")
    assert shop.done == []
    assert [one.allowed for one in only(events, ev.Decided)] == [False]


async def test_the_authors_own_handler_of_approvals_decides_without_a_question() -> None:
    shop = Workshop()
    tool = ShellTool(
        executor=shop.shell, needs_approval=True, on_approval=lambda context, item: {"approve": True}
    )
    agent, _ = agent_of(streamed(shell_call("ls")), "Done.", tools=[tool])
    async with session_for(agent) as session:
        events = await collect(session, "Do it.")
    assert shop.done == [["ls"]]
    assert not only(events, ev.Asked)
