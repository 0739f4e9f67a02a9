"""AG-UI in your own web app: `uvicorn --app-dir examples/agui minimal:app`.

Any AG-UI client talks to it at http://127.0.0.1:8000/agent. Booking is asked about: the run ends with an
interrupt, and the client's next run brings the answer. A client that hangs up stops the agent.

There is no login and no limit here; those are your app's. `trunkline serve` has them.
"""

from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from trunkline.agents.langchain import Rule, agui_agent
from trunkline.errors import InvalidCommand
from trunkline.frontends.agui import read_input, sse_transport
from trunkline.testing.chat import call, chat_model


@tool
def book_table(guests: int) -> str:
    """Book a table."""
    return f"Table 7 is booked for {guests}"


# A real agent has "openai:gpt-5.5" here. This model plays a script, so it runs without a key.
model = chat_model(["I will book it. ", call("book_table", {"guests": 4})], "See you tonight!")

agent = agui_agent(model, [book_table], checkpointer=InMemorySaver(), policy={"book_*": Rule()})


async def run(request):
    told = read_input(await request.body())
    stream = sse_transport()
    stream.attach(agent.ainvoke(told, transport=stream))
    return StreamingResponse(stream, media_type=stream.media_type, headers=stream.headers)


async def refuse(request, error):
    return PlainTextResponse(str(error), status_code=422)


app = Starlette(
    routes=[Route("/agent", run, methods=["POST"])],
    exception_handlers={InvalidCommand: refuse},
)
