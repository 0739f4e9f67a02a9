"""An agent of the OpenAI Agents SDK as anybody writes it, with a model that plays a script."""

from typing import Any

from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from agents import Agent, function_tool


@function_tool
def weather(city: str) -> str:
    """Look up the weather of a city."""
    return f"22 degrees in {city}"


@function_tool(needs_approval=True)
def send_letter(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


def answer(call: Any) -> list[Any]:
    """Call what the prompt names, and say what came of it, so that a client shows what the model was told."""
    last, number = call.input[-1], len(call.input)
    if last.get("type") == "function_call_output":
        return [assistant_message(f"The result was: {last['output']}")]
    if "letter" in last["content"]:
        return [function_call("send_letter", {"to": "Ada"}, call_id=f"letter{number}")]
    if "weather" in last["content"]:
        look = function_call("weather", {"city": "Paris"}, call_id=f"weather{number}")
        return [assistant_message("Let me look. "), look]
    return [assistant_message("I know the weather and send letters.")]


agent: Agent[Any] = Agent(
    name="Helper", model=ScriptedModel([ModelStep.respond(answer)] * 100), tools=[weather, send_letter]
)
