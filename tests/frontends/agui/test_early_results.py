"""Results that a page sends before anybody asks for them: it runs its tools at once, beside an approval."""

from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from tests.agents.langchain.graphs import agent_of
from tests.agents.langchain.tools.test_client_tools import COLOUR
from tests.frontends.agui.client_runs import check_equal, client_of, run

from trunkline.conformance.agui.reference_client import ReferenceClient
from trunkline.testing.chat import call

BOTH = [call("delete", {"path": "a"}, "d1"), call("set_colour", {"colour": "red"}, "k1")]


@tool
def delete(path: str) -> str:
    """Delete a file."""
    return f"deleted {path}"


def reviewed(*answers: Any) -> Any:
    review = HumanInTheLoopMiddleware({"delete": True})
    return agent_of(*answers, tools=[delete], middleware=[review], checkpointer=InMemorySaver())


def painted(client: ReferenceClient, **fields: Any) -> None:
    """The page has run its tool, and adds the result."""
    message = {"id": "mine", "role": "tool", "toolCallId": "k1", "content": "painted", **fields}
    client.messages.append(message)


@pytest.mark.parametrize("version", ["1.0", None])
@pytest.mark.parametrize("approved", [True, False])
async def test_an_approval_and_a_result_in_one_request_both_count(
    version: str | None, approved: bool
) -> None:
    agent, model = reviewed(BOTH, "All done.")
    async with client_of(agent, version=version) as (endpoint, client):
        await run(endpoint, client, "go", tools=[COLOUR])
        assert [one["reason"] for one in client.interrupts] == ["tool_call"]
        painted(client)
        resume = client.resume(every={"approved": approved})
        await run(endpoint, client, tools=[COLOUR], resume=resume)

        assert (client.interrupts, client.pending) == ([], [])
        assert client.messages[-1]["content"] == "All done."
        assert client.find("mine") is not None
        await check_equal(endpoint, client)
        results = [message for message in model.calls[1].messages if message.type == "tool"]
        assert {one.tool_call_id: one.text for one in results}["k1"] == "painted"


async def test_a_result_stays_where_it_is_until_it_is_asked_for() -> None:
    agent, model = reviewed(BOTH, [call("delete", {"path": "b"}, "d2")], "All done.")
    async with client_of(agent) as (endpoint, client):
        await run(endpoint, client, "go", tools=[COLOUR])
        painted(client, error="no paint")
        for _ in range(2):
            await run(endpoint, client, tools=[COLOUR], resume=client.resume(every={"approved": True}))

        assert client.messages[-1]["content"] == "All done."
        await check_equal(endpoint, client)
        results = [message for message in model.calls[1].messages if message.type == "tool"]
        assert {one.tool_call_id: one.status for one in results}["k1"] == "error"
