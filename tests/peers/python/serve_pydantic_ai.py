"""An AG-UI server on pydantic-ai, with a model that needs no network; prints its port.

It runs in an environment that has the package and nothing of ours. The last prompt says what happens; the
same words do the same in serve_langgraph.py and in tests/peers/agents.py.
"""

import asyncio
import importlib
import json
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

# The environment this file is checked in does not have them.
peer: Any = importlib.import_module("pydantic_ai")
ui: Any = importlib.import_module("pydantic_ai.ui")
ag_ui: Any = importlib.import_module("pydantic_ai.ui.ag_ui")
core: Any = importlib.import_module("ag_ui.core")
function: Any = importlib.import_module("pydantic_ai.models.function")
pydantic: Any = importlib.import_module("pydantic")
uvicorn: Any = importlib.import_module("uvicorn")


def calls(*made: tuple[str, dict[str, Any]]) -> dict[int, Any]:
    return {
        index: function.DeltaToolCall(name=name, json_args=json.dumps(args), tool_call_id=f"{name}-{index}")
        for index, (name, args) in enumerate(made)
    }


async def answer(messages: list[Any], info: Any) -> AsyncIterator[Any]:
    """What the model says next."""
    parts = [part for message in messages for part in message.parts]
    begin = max(at for at, part in enumerate(parts) if part.part_kind == "user-prompt")
    prompt = text_of(parts[begin])
    results = [part for part in parts[begin:] if part.part_kind in ("tool-return", "retry-prompt")]
    if prompt == "fail":
        yield "Before. "
        raise RuntimeError("the provider hung up")
    if prompt == "slow":
        yield "Slow. "
        await asyncio.Event().wait()
    if results:
        for result in results:
            yield f"{result.content}. "
        return
    match prompt:
        case "tool":
            yield calls(("weather", {"city": "Paris"}))
        case "sell":
            yield calls(("sell", {"what": "shoes"}))
        case "sell both":
            yield calls(("sell", {"what": "shoes"}), ("sell", {"what": "hats"}))
        case "pick":
            yield calls(("pick_colour", {"of": ["red", "blue"]}))
        case "state":
            yield calls(("visit", {}))
        case _:
            prompts = [text_of(part) for part in parts if part.part_kind == "user-prompt"]
            for word in " | ".join(prompts).split():
                yield f"{word} "


def text_of(part: Any) -> str:
    content = part.content
    return (
        content
        if isinstance(content, str)
        else "".join(str(getattr(item, "content", item)) for item in content)
    )


def weather(city: str) -> str:
    """Tell the weather."""
    return f"Sunny in {city}"


def sell(what: str) -> str:
    """Sell something; whoever must allow it has been asked."""
    return f"sold {what}"


class Visits(pydantic.BaseModel):
    visits: int = 0


def visit(ctx: Any) -> Any:
    """Count a visit."""
    ctx.deps.state.visits += 1
    snapshot = core.StateSnapshotEvent(snapshot=ctx.deps.state.model_dump())
    return peer.ToolReturn(return_value="counted", metadata=[snapshot])


visit.__annotations__["ctx"] = peer.RunContext[ui.StateDeps[Visits]]

agent: Any = peer.Agent(
    function.FunctionModel(stream_function=answer),
    deps_type=ui.StateDeps[Visits],
    output_type=[str, peer.DeferredToolRequests],
    tools=[weather, peer.Tool(sell, requires_approval=True), peer.Tool(visit, takes_ctx=True)],
)


async def run(request: Request) -> Response:
    return await ag_ui.AGUIAdapter.dispatch_request(request, agent=agent, deps=ui.StateDeps(Visits()))


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    app = Starlette(routes=[Route("/", run, methods=["POST"])])
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    main()
