"""ACP by hand: the command of an editor is `python examples/langchain/by_hand.py`.

`trunkline acp FILE:agent` needs none of this. It is for a program that answers its editor itself: the
callbacks get the requests as they came, and everything else (initialize, order, errors) is the transport's.
"""

import asyncio

from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from trunkline import stdio_transport
from trunkline.agents.langchain import READY_MODES, Rule, acp_agent, map_to_stop_reason
from trunkline.testing.chat import call, chat_model


@tool
def send_letter(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


model = chat_model(["I will write. ", call("send_letter", {"to": "ada"})], "Done.")


async def on_new_session(request):
    return {"modes": agent.session_modes()}


async def on_prompt(request):
    return {"stopReason": map_to_stop_reason(await agent.ainvoke(request))}


async def on_cancel(request):
    editor.cancel_prompt(request.session_id)


async def on_set_mode(request):
    agent.set_mode(request.session_id, request.mode_id)


async def on_load_session(request):
    await agent.load(request)
    return {"modes": agent.session_modes(request.session_id)}


editor = stdio_transport(
    on_new_session=on_new_session,
    on_prompt=on_prompt,
    on_cancel=on_cancel,
    on_set_mode=on_set_mode,
    on_load_session=on_load_session,
)
policy = {"send_*": Rule()}
agent = acp_agent(
    model, [send_letter], transport=editor, policy=policy, modes=READY_MODES, checkpointer=InMemorySaver()
)

if __name__ == "__main__":
    asyncio.run(editor.serve())
