"""Modes and a plan: `trunkline chat examples/langchain/modes_and_plan.py:agent`.

The agent begins in the ready mode "planning": the numbered list in its answer is the plan that a front end
shows, and it is not even offered the oven. With `/mode agentic` it bakes.
"""

from langchain.agents import create_agent
from langchain_core.tools import tool

from trunkline.agents.langchain import READY_MODES, Mode, ModeMiddleware, PlanMiddleware, emit_plan
from trunkline.testing.chat import call, chat_model

STEPS = ["Mix flour and eggs", "Heat the oven", "Bake for an hour"]


@tool
def bake(cake: str) -> str:
    """Bake a cake."""
    emit_plan([{"content": step, "status": "completed"} for step in STEPS])
    return f"one {cake}"


def play(messages):
    """Plan or work, as the mode's system prompt says."""
    if "planning mode" in messages[0].text:
        return "Here is how:\n\n" + "\n".join(f"{n}. {step}" for n, step in enumerate(STEPS, start=1))
    return call("bake", {"cake": "sponge cake"})


model = chat_model(play, "The cake is ready.")

modes = {
    "planning": READY_MODES["planning"],
    "agentic": READY_MODES["agentic"],
    "interactive": READY_MODES["interactive"],
    "terse": Mode(description="Works without many words", system_prompt="Answer in one short sentence."),
}

agent = create_agent(
    model,
    [bake],
    system_prompt="You are a baker.",
    middleware=[ModeMiddleware(modes, default_mode="planning"), PlanMiddleware()],
    name="baker",
)
