"""How long a cancel takes while a tool of a LangChain agent waits, until its thread can be prompted again.

It ends the tool, settles the open call, stores the end of the turn and repairs the checkpoint.
"""

from __future__ import annotations

import asyncio
import time

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from bench.report import Result, Row, median, spread
from trunkline import Hub
from trunkline.agents.langchain import LangChainAgent
from trunkline.journal import open_journal
from trunkline.testing.chat import call, chat_model

BUDGET = 0.05


async def cancel_once() -> float:
    """Cancel one turn inside its tool; gives the seconds."""
    began = asyncio.Event()

    async def wait_for_ever() -> str:
        """Wait."""
        began.set()
        await asyncio.Event().wait()
        return ""

    tool = StructuredTool.from_function(coroutine=wait_for_ever, name="wait_for_ever")
    graph = create_agent(chat_model(call("wait_for_ever", {})), [tool], checkpointer=InMemorySaver())
    journal = await open_journal("memory:")
    async with Hub(LangChainAgent(graph), journal) as hub:
        session = await hub.create()
        await session.prompt("Go")
        await asyncio.wait_for(began.wait(), 30)
        start = time.perf_counter()
        await session.cancel()
        took = time.perf_counter() - start
    await journal.close()
    return took


async def cancel_often(times: int) -> list[float]:
    """Cancel turns one after the other."""
    return [await cancel_once() for _ in range(times)]


def run(quick: bool = False) -> Result:
    """Measure the budget of a cancel."""
    samples = asyncio.run(cancel_often(2 if quick else 50))
    middle = median(samples)
    row: Row = {"case": "cancel inside a tool", "ms (median)": middle * 1e3, "ms": spread(samples, 1e3)}
    word = "kept" if middle <= BUDGET else "MISSED"
    return Result(
        name="cancel",
        about=f"{len(samples)} cancels inside a tool that waits, until the turn is over",
        rows=[row],
        samples={"seconds": [*samples]},
        verdicts=[f"budget {word}: a cancel takes {middle * 1e3:.1f} ms (at most {BUDGET * 1e3:.0f} ms)"],
        quick=quick,
    )
