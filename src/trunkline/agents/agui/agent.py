"""An AG-UI server as an agent: its runs are one turn, with questions and client tools in between."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from trunkline import events as ev
from trunkline.agents.agui.client import AguiServer
from trunkline.agents.agui.questions import question_of, resume_of
from trunkline.agents.agui.translator import AguiTranslator, Ending
from trunkline.agents.interface import AgentCard, PromptCapabilities, Sayable
from trunkline.commands import Prompt
from trunkline.context import TurnContext
from trunkline.conversation import Conversation, Message
from trunkline.errors import AgentProtocolError, TargetError
from trunkline.frontends.agui.messages import snapshot_of
from trunkline.frontends.agui.wire import PROTOCOL_VERSION
from trunkline.ids import new_id
from trunkline.questions import ClientCall

__all__ = ["AguiAgent"]

_TOKEN = "TRUNKLINE_AGUI_TOKEN"
_MOST_RUNS = 100


class AguiAgent:
    """Talks to an AG-UI server; the session's id is the server's thread."""

    def __init__(self, url: str, *, name: str | None = None, headers: dict[str, str] | None = None) -> None:
        """Use the server at ``url``; its token, if it wants one, is in TRUNKLINE_AGUI_TOKEN."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise TargetError(
                f"{url!r} is not the address of an AG-UI server: write agui:http://HOST:PORT/agui"
            )
        token = os.environ.get(_TOKEN)
        sent = {**({"authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        self._server = AguiServer(url, sent)
        self.card = AgentCard(
            name=name or parts.hostname,
            title=f"AG-UI at {parts.netloc}",
            prompt=PromptCapabilities(image=True, audio=True, embedded_context=True),
        )

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Answer a prompt with as many runs as it takes."""
        history = await ctx.history()
        request = _request(prompt, ctx, history)
        known = frozenset(message["id"] for message in request["messages"])
        translator = AguiTranslator(known | history.calls.keys())
        async for item in self._follow(request, translator, ctx, {}):
            yield item

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Go on after a restart: the server still waits, and the durable keys say for what."""
        said = await ctx.said()
        history = await ctx.history()
        messages = [*snapshot_of(history), *snapshot_of(said)]
        request = {**_envelope(ctx), "messages": messages, "tools": []}
        request["resume"] = [
            resume_of({"id": key}, _asked(said, key), answered) for key, answered in answers.items()
        ]
        known = frozenset(message["id"] for message in messages) | history.calls.keys()
        translator = AguiTranslator(known)
        translator.calls.update(
            {key: {"name": call.name, "arguments": "", "lane": call.lane} for key, call in said.calls.items()}
        )
        async for item in self._follow(request, translator, ctx, dict(answers)):
            yield item

    async def _follow(
        self,
        request: dict[str, Any],
        translator: AguiTranslator,
        ctx: TurnContext,
        answers: dict[str, ev.Answered],
    ) -> AsyncIterator[Sayable]:
        tools = {tool["name"] for tool in ctx.prompt.tools}
        for _ in range(_MOST_RUNS):
            async with self._server.run(request) as events:
                async for event in events:
                    for said in translator.feed(event):
                        yield said
                        await ctx.ready()
                    if translator.ending is not None:
                        break
            ending = translator.ending
            if ending is None:
                raise AgentProtocolError("the server ended its stream without RUN_FINISHED or RUN_ERROR")
            for usage in ending.usage:
                ctx.usage(usage)
            following = await self._after(ending, translator, ctx, tools, request)
            if following is None:
                yield ending.error or _finished(ending)
                return
            request = following
        yield ev.TurnFinished(stop_reason="max_turn_requests")

    async def _after(
        self,
        ending: Ending,
        translator: AguiTranslator,
        ctx: TurnContext,
        tools: set[str],
        request: dict[str, Any],
    ) -> dict[str, Any] | None:
        """Ask what the server stopped for; give the next request, or None at the end."""
        waiting = [key for key in ending.pending if translator.calls.get(key, {}).get("name") in tools]
        if ending.error is not None or (not ending.interrupts and not waiting):
            return None
        questions = [question_of(item) for item in ending.interrupts]
        asking = [
            asyncio.ensure_future(
                ctx.ask(question, durable_key=str(item["id"]), lane=item.get("subagentRunId"))
            )
            for item, question in zip(ending.interrupts, questions, strict=True)
        ]
        calling = [asyncio.ensure_future(_call(ctx, key, translator)) for key in waiting]
        await asyncio.sleep(0)
        ctx.suspend()
        try:
            answered = await asyncio.gather(*asking)
            results = await asyncio.gather(*calling)
        finally:
            for task in (*asking, *calling):
                task.cancel()
        messages = [*snapshot_of(await ctx.history()), *snapshot_of(await ctx.said()), *results]
        following = {**request, **_envelope(ctx), "messages": messages}
        following.pop("resume", None)
        if ending.interrupts:
            following["resume"] = [
                resume_of(item, question, answer)
                for item, question, answer in zip(ending.interrupts, questions, answered, strict=True)
            ]
        return following


def _finished(ending: Ending) -> ev.TurnFinished:
    reason = "cancelled" if ending.outcome == "cancelled" else ending.stop_reason
    return ev.TurnFinished(stop_reason=reason)


def _envelope(ctx: TurnContext) -> dict[str, Any]:
    return {
        "threadId": ctx.session.session_id,
        "runId": new_id("run"),
        "protocolVersion": PROTOCOL_VERSION,
        "state": ctx.session.state if ctx.session.state is not None else {},
        "context": [dict(item) for item in ctx.prompt.context],
        "forwardedProps": (ctx.prompt.meta or {}).get("forwardedProps", {}),
    }


def _request(prompt: Prompt, ctx: TurnContext, history: Conversation) -> dict[str, Any]:
    asked = Message(
        message_id=prompt.message_id or f"{ctx.turn_id}.0", role="user", content=tuple(prompt.content)
    )
    messages = [*snapshot_of(history), *snapshot_of(Conversation(messages=[asked]))]
    return {**_envelope(ctx), "messages": messages, "tools": [dict(tool) for tool in prompt.tools]}


async def _call(ctx: TurnContext, call_id: str, translator: AguiTranslator) -> dict[str, Any]:
    """Let the front end run one of its tools; give the message that tells the server."""
    made = translator.calls[call_id]
    try:
        arguments = msgspec.json.decode(made["arguments"] or "{}")
    except msgspec.DecodeError:
        arguments = made["arguments"]
    question = ClientCall(call_id=call_id, name=made["name"], input=arguments)
    answered = await ctx.ask(question, durable_key=f"client:{call_id}")
    translator.answered.add(call_id)
    message: dict[str, Any] = {"id": new_id("result"), "role": "tool", "toolCallId": call_id}
    if answered.outcome != "accepted":
        why = answered.reason or "the front end did not run it"
        ctx.emit(ev.ToolUpdate(call_id=call_id, status="failed", reason=why))
        return {**message, "content": why, "error": why}
    content: Any = answered.content
    text = content if isinstance(content, str) else msgspec.json.encode(content).decode()
    ctx.emit(
        ev.ToolUpdate(
            call_id=call_id, status="completed", raw_output=content, result_message_id=message["id"]
        )
    )
    return {**message, "content": text}


def _asked(said: Conversation, key: str) -> Any:
    found = next((q.asked.question for q in said.questions.values() if q.asked.durable_key == key), None)
    return cast("Any", found)
