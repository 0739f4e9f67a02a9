"""A deep agent with a subagent: `trunkline chat examples/langchain/deep_agent.py:agent`.

The todos of LangChain are the plan that a front end shows. What the subagent does is shown as well, and
hangs below the call that sent it off.
"""

from deepagents import create_deep_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.tools import tool

from trunkline.testing.chat import call, chat_model


@tool
def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


POEM = "so much depends upon a red wheel barrow"
STEPS = ["Have the words counted", "Report the number"]


def todos(*statuses):
    entries = [{"content": step, "status": status} for step, status in zip(STEPS, statuses, strict=True)]
    return call("write_todos", {"todos": entries})


counter = {
    "name": "counter",
    "description": "Counts the words of a text.",
    "system_prompt": "Count words with your tool, and answer with the number only.",
    "tools": [count_words],
}

model = chat_model(
    todos("in_progress", "pending"),
    call("task", {"subagent_type": "counter", "description": f"How many words: {POEM}"}),
    todos("completed", "completed"),
    "The poem begins with 8 words.",
    by_prompt={f"How many words: {POEM}": [call("count_words", {"text": POEM}), "8 words."]},
)

agent = create_deep_agent(model, subagents=[counter], middleware=[TodoListMiddleware()], name="reader")
