"""Agents for what the scripted one does not show."""

import asyncio
from collections.abc import AsyncIterator

import trunkline
from trunkline import Prompt, TurnContext
from trunkline import events as ev


@trunkline.agent
async def copies(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Copy a file through the editor, and say what is in it."""
    text = await ctx.files.read("notes.txt")
    await ctx.files.write("copy.txt", text)
    yield text


# -- the words of python/serve_langgraph.py and python/serve_pydantic_ai.py --------------------------


async def _sell(ctx: TurnContext, what: str) -> str:
    """Ask, and say what became of it."""
    decision = await ctx.permission(f"Sell {what}?", tool="sell", input={"what": what}, allows_edit=True)
    if not decision:
        return f"kept {what}"
    sold = f"sold {decision.input['what']}"
    ctx.emit(ev.ToolUpdate(call_id=decision.call_id, status="completed", raw_output=sold))
    return sold


@trunkline.agent(name="shop")
async def shop(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Do what the prompt says, as the servers of other people do."""
    match prompt.text:
        case "tool":
            async with ctx.tool("weather", input={"city": "Paris"}) as call:
                call.result("Sunny in Paris")
            yield "Sunny in Paris. "
        case "sell":
            yield f"{await _sell(ctx, 'shoes')}. "
        case "sell both":
            for output in await asyncio.gather(_sell(ctx, "shoes"), _sell(ctx, "hats")):
                yield f"{output}. "
        case "pick":
            colour = await ctx.client_call("pick_colour", {"of": ["red", "blue"]})
            yield f"{colour}. "
        case "state":
            state: dict[str, int] = ctx.state.value or {}
            ctx.state.update(visits=state.get("visits", 0) + 1)
        case "fail":
            yield "Before. "
            raise RuntimeError("the provider hung up")
        case "slow":
            yield "Slow. "
            await asyncio.Event().wait()
        case _:
            prompts = [message.text for message in (await ctx.history()).messages if message.role == "user"]
            for word in " | ".join([*prompts, prompt.text]).split():
                yield f"{word} "
