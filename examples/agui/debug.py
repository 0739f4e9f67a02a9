"""Every AG-UI event of an agent on the console: `python examples/agui/debug.py [brief]`.

A transport is any object with `emit(event)`. This one prints; give an agent your own to keep its events in a
database, or to send them through a queue.
"""

import sys

from langchain_core.tools import tool

from trunkline.agents.langchain import agui_agent
from trunkline.frontends.agui import console_transport
from trunkline.testing.chat import call, chat_model, thinks


@tool
def get_weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"22 degrees and sunny in {city}"


model = chat_model(
    [thinks("I can look that up."), call("get_weather", {"city": "Lisbon"})],
    "It is 22 degrees and sunny in Lisbon.",
)

detail = sys.argv[1] if len(sys.argv) > 1 else "full"
agent = agui_agent(model, [get_weather], transport=console_transport(detail=detail))

if __name__ == "__main__":
    agent.invoke({"messages": [("user", "Do I need a coat?")]}, {"configurable": {"thread_id": "debug"}})
