"""One agent object, many clients: `python examples/langchain/two_clients.py`.

Two editors talk to the same compiled graph at the same time. Each session is a thread of its own in the
checkpointer, and what is said in one is never seen in the other.
"""

import asyncio

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from trunkline.testing import AcpEditor
from trunkline.testing.chat import chat_model


def play(messages):
    """Greet at first; later say by what one was greeted."""
    said = [message.text for message in messages if message.type == "human"]
    return f"Nice to meet you, {said[0]}. " if len(said) == 1 else f"You are {said[0]}."


agent = create_agent(chat_model(play), checkpointer=InMemorySaver(), name="host")


async def visit(name):
    """Come in with a client of one's own, and say two things."""
    async with AcpEditor(agent) as client:
        session = await client.new_session()
        await client.prompt(session, name)
        await client.prompt(session, "Who am I?")
        return client.text


async def main():
    for heard in await asyncio.gather(visit("Ada"), visit("Bob")):
        print(heard)


if __name__ == "__main__":
    asyncio.run(main())
