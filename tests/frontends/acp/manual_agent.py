"""An agent by hand, for tests: callbacks for the usual methods, and a loop for everything else."""

import asyncio
import os
import sys
from typing import Any

from trunkline.errors import TurnCancelled
from trunkline.frontends.acp import PromptRequest, PromptResponse, stdio_transport
from trunkline.protocols.acp import wire
from trunkline.protocols.jsonrpc.messages import Request, RpcError


async def on_prompt(request: PromptRequest) -> PromptResponse | str | None:
    os.write(1, b"printed by an agent\n")
    (block,) = request.prompt
    output = block.text if isinstance(block, wire.TextContent) else ""
    if output == "raise":
        raise LookupError("the words are gone")
    if output == "refuse":
        raise RpcError(-32099, "not today", {"why": "it is Sunday"})
    if output == "dismiss":
        raise TurnCancelled("the person closed the dialog")
    if output in ("nothing", "max_tokens", "nonsense"):
        return None if output == "nothing" else output
    if output in ("wait", "wait and fail", "wait and return"):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if output == "wait and return":
                return PromptResponse(stop_reason="end_turn")
            if output == "wait":
                raise
            raise LookupError("the words are gone") from None
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": output}}
    line.emit("session/update", {"update": update})
    return PromptResponse(stop_reason="end_turn")


async def on_cancel(request: wire.CancelNotification) -> None:
    if request.session_id == "broken":
        raise LookupError("no such session")
    line.emit("_cancelled", request)


async def on_set_mode(request: wire.SetSessionModeRequest) -> None:
    line.emit("_mode", {"mode": request.mode_id})


async def on_load_session(request: wire.LoadSessionRequest) -> dict[str, Any]:
    return {"_meta": {"cwd": request.cwd}}


async def answer(request: Request) -> None:
    """Do what the method's name says."""
    if request.method == "initialize":
        line.respond(request.id, {"protocolVersion": 1})
    elif request.method == "_ask":
        given: Any = request.params
        try:
            line.respond(request.id, {"got": await line.request("_question", timeout=given["timeout"])})
        except TimeoutError:
            line.respond(request.id, {"got": "nothing in time"})
    elif request.method == "_twice":
        line.respond(request.id)
        for again in (
            lambda: line.respond(request.id),
            lambda: line.send_error(request.id, {"code": 1, "message": "no"}),
        ):
            try:
                again()
            except ValueError as error:
                line.emit("_refused", {"why": str(error)})
    else:
        line.send_error(None, {"code": -32700, "message": "what was that?"})
        line.send_error(request.id, {"code": -32601, "message": "nobody does that", "data": request.method})


async def main() -> None:
    for misuse in (lambda: line.emit("_too_early"), lambda: line.respond(1)):
        try:
            misuse()
        except RuntimeError as error:
            sys.stderr.write(f"{error}\n")
    async with line:
        try:
            await line.start()
        except RuntimeError as error:
            sys.stderr.write(f"{error}\n")
        try:
            while True:
                message = await line.read_message()
                if isinstance(message, Request):
                    await answer(message)
                elif message.method == "_stop_reading":
                    await line.ended()
                else:
                    line.emit("_heard", {"method": message.method})
        except EOFError as error:
            sys.stderr.write(f"{error}\n")
    await line.close()


if __name__ == "__main__" and "serve" in sys.argv:
    not_async: Any = str
    line = stdio_transport(session_id="by-hand", on_prompt=on_prompt, on_set_mode=not_async)
    asyncio.run(line.serve())
elif __name__ == "__main__":
    line = stdio_transport(
        session_id="by-hand",
        on_prompt=on_prompt,
        on_cancel=on_cancel,
        on_set_mode=on_set_mode,
        on_load_session=on_load_session,
    )
    asyncio.run(main())
