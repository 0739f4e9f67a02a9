"""An agent of LangChain as it comes: `trunkline chat examples/langchain/simple.py:agent`.

Nothing here knows of Trunkline but the model, which plays a script so that this runs without a key.
TRUNKLINE_MODEL=openai:gpt-5.5 (or any other that LangChain knows) takes a real one instead.
"""

from langchain.agents import create_agent
from langchain_core.tools import tool

from trunkline.testing.chat import call, chat_model, thinks


@tool
def get_weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"22 degrees and sunny in {city}"


model = chat_model(
    [thinks("They ask about the weather. I can look."), call("get_weather", {"city": "Lisbon"})],
    "It is 22 degrees and sunny in Lisbon: no coat needed.",
)

agent = create_agent(model, [get_weather], system_prompt="You are a friendly assistant.", name="weather")
