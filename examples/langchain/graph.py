"""A LangGraph graph without create_agent: `trunkline chat examples/langchain/graph.py:agent`.

Its first node stops with LangGraph's own interrupt(). In an editor that is a form, or a message where the
editor has no forms; whoever answers it, the graph goes on from there. No checkpointer is needed for that as
long as the process lives.
"""

from langchain_core.messages import SystemMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

from trunkline.testing.chat import chat_model

LETTERS = {
    "formal": "Dear Sir or Madam, we regret the delay.",
    "friendly": "Hi there, sorry it took so long!",
}


class State(MessagesState):
    tone: str


def ask_for_tone(state: State):
    answer = interrupt({"question": "Which tone should the letter have?", "options": list(LETTERS)})
    return {"tone": answer if answer in LETTERS else "friendly"}


async def write_letter(state: State):
    tone = SystemMessage(f"Write the letter. Its tone is {state['tone']}.")
    return {"messages": [await model.ainvoke([tone, *state["messages"]])]}


def play(messages):
    """Answer as a model would; a script may be a function of the messages."""
    return next(letter for tone, letter in LETTERS.items() if tone in messages[0].text)


model = chat_model(play)

graph = StateGraph(State)
graph.add_node("ask_for_tone", ask_for_tone)
graph.add_node("write_letter", write_letter)
graph.add_edge(START, "ask_for_tone")
graph.add_edge("ask_for_tone", "write_letter")
graph.add_edge("write_letter", END)

agent = graph.compile(name="letters")
