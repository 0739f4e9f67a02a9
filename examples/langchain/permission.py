"""Ask before some tools run: `trunkline chat examples/langchain/permission.py:agent`.

Looking up an address is free. Each letter asks first, and both ask at the same time; a letter that is
refused answers the model with an error, and the turn goes on. No checkpointer is needed.
"""

from langchain.agents import create_agent
from langchain_core.tools import tool

from trunkline.agents.langchain import PermissionMiddleware, Rule
from trunkline.testing.chat import call, chat_model


@tool
def find_address(name: str) -> str:
    """Find the address of a person."""
    return f"{name.lower()}@example.org"


@tool
def send_letter(to: str, text: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


def report(messages):
    """Say how many letters were sent, from the results in the conversation."""
    results = [message for message in messages if message.type == "tool" and message.name == "send_letter"]
    sent = [message for message in results if message.status == "success"]
    return f"Sent {len(sent)} of {len(results)} letters."


model = chat_model(
    call("find_address", {"name": "Ada"}),
    [
        call("send_letter", {"to": "ada@example.org", "text": "Lunch on Friday?"}),
        call("send_letter", {"to": "bob@example.org", "text": "Lunch on Friday?"}),
    ],
    report,
)

policy = {
    "find_*": Rule(require_permission=False),
    "send_*": Rule(allowed_decisions=("approve", "edit", "reject")),
}


def describe(made):
    return f"Send this letter to {made['args']['to']}?"


agent = create_agent(
    model,
    [find_address, send_letter],
    middleware=[PermissionMiddleware(policy, description=describe)],
    name="letters",
)
