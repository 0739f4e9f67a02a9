"""An AG-UI server as an agent: its runs are one turn, with questions and client tools in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from trunkline import events as ev
from trunkline.agents.agui.client import AguiServer
from trunkline.agents.agui.questions import AnsweredQuestion, OpenQuestion, open_questions, resume_fields
from trunkline.agents.agui.run_end import RunEnd
from trunkline.agents.agui.translator import AguiTranslator
from trunkline.agents.interface import AgentCard, PromptCapabilities, Sayable
from trunkline.commands import Prompt
from trunkline.conversation import Conversation, Message
from trunkline.errors import AgentProtocolError, TargetError
from trunkline.protocols.agui.messages import snapshot_of
from trunkline.protocols.agui.wire import PROTOCOL_VERSION
from trunkline.questions import ClientCall
from trunkline.session.context import TurnContext
from trunkline.session.ids import new_id
from trunkline.transports.process.secrets import take_secret

_TOKEN = "TRUNKLINE_AGUI_TOKEN"
_MAX_RUNS = 100
_END_OF_STREAM_WITHIN = 2.0

Json = dict[str, Any]


class AguiAgent:
    """Runs an AG-UI server as an agent; the id of the session is the server's thread id."""

    def __init__(
        self, url: str, *, name: str | None = None, headers: dict[str, str] | None = None, raw: bool = False
    ) -> None:
        """Use the server at ``url``; its token, if it wants one, is in TRUNKLINE_AGUI_TOKEN.

        ``raw`` keeps the RAW events, in which some servers repeat every event of their framework.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise TargetError(
                f"{url!r} is not the address of an AG-UI server: write agui:http://HOST:PORT/agui"
            )
        token = take_secret(_TOKEN)
        sent = {**({"authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        self._server = AguiServer(url, sent)
        self._raw = raw
        self.card = AgentCard(
            name=name or parts.hostname,
            title=f"AG-UI at {parts.netloc.rpartition('@')[2]}",
            prompt=PromptCapabilities(image=True, audio=True, embedded_context=True),
        )

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Answer a prompt with as many runs as it takes."""
        history = await ctx.history()
        asked = Message(
            message_id=prompt.message_id or f"{ctx.turn_id}.0", role="user", content=tuple(prompt.content)
        )
        request = _request(ctx, history, Conversation(messages=[asked]))
        translator = self._translator(history, ctx)
        async for item in self._follow(request, translator, ctx):
            yield item

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Go on after a restart: the server still waits, and the durable keys say for what."""
        conversation = await ctx.turn_so_far()
        translator = self._translator(await ctx.history(), ctx)
        translator.recall(conversation)
        asked = [
            (question.asked.durable_key or "", question.asked.question)
            for question in conversation.questions.values()
        ]
        answered = [
            AnsweredQuestion(key, question, answers[key]) for key, question in asked if key in answers
        ]
        request = await _resume_request(answered, translator, ctx)
        async for item in self._follow(request, translator, ctx):
            yield item

    def _translator(self, history: Conversation, ctx: TurnContext) -> AguiTranslator:
        stateful = ctx.session.state is not None
        return AguiTranslator(snapshot_of(history), stateful=stateful, raw=self._raw, peer=self._server.name)

    async def _follow(
        self, request: Json, translator: AguiTranslator, ctx: TurnContext
    ) -> AsyncIterator[Sayable]:
        tools = [tool["name"] for tool in ctx.prompt.tools]
        for _ in range(_MAX_RUNS):
            async with self._server.run(request) as events:
                async for event in _until_over(events, translator):
                    for out in translator.feed(event):
                        yield out
                        await ctx.ready()
            ending = translator.ending
            if ending is None:
                why = "ended its stream without RUN_FINISHED or RUN_ERROR"
                raise AgentProtocolError(f"{self._server.name} {why}")
            for usage in ending.usage:
                ctx.usage(usage)
            questions = open_questions(ending, translator.calls, tools)
            if ending.error is not None or not questions:
                yield ending.error or _finished(ending)
                return
            request = await _resume_request(await _ask(questions, ctx), translator, ctx)
        yield ev.TurnFinished(stop_reason="max_turn_requests")


async def _until_over(events: AsyncGenerator[Json], translator: AguiTranslator) -> AsyncGenerator[Json]:
    """Give a stream to its end; once its run is over, the server gets a moment to end it."""
    while True:
        try:
            async with asyncio.timeout(_END_OF_STREAM_WITHIN if translator.ending is not None else None):
                event = await anext(events, None)
        except Exception:
            if translator.ending is None:
                raise
            return
        if event is None:
            return
        yield event


async def _ask(questions: list[OpenQuestion], ctx: TurnContext) -> list[AnsweredQuestion]:
    """Ask everything at once, and wait for all of it."""
    tasks = [
        asyncio.ensure_future(ctx.ask(question.question, durable_key=question.key, lane=question.lane))
        for question in questions
    ]
    await asyncio.sleep(0)
    ctx.suspend()
    try:
        answers = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return [
        AnsweredQuestion(question.key, question.question, answer)
        for question, answer in zip(questions, answers, strict=True)
    ]


async def _resume_request(
    answered_questions: list[AnsweredQuestion], translator: AguiTranslator, ctx: TurnContext
) -> Json:
    """Make the request that sends answers to the server."""
    for _, question, answered in answered_questions:
        if isinstance(question, ClientCall):
            translator.answered.add(question.call_id)
            ctx.emit(_result(question, answered))
    request = _request(ctx, await ctx.history(), await ctx.turn_so_far())
    fields = resume_fields(answered_questions, translator.calls)
    if "command" in fields:
        request["forwardedProps"] = {**request["forwardedProps"], "command": fields.pop("command")}
    return {**request, **fields}


def _result(question: ClientCall, answered: ev.Answered) -> ev.ToolUpdate:
    """The result of a tool that the front end ran."""
    if answered.outcome != "accepted":
        why = answered.reason or "the front end did not run it"
        return ev.ToolUpdate(call_id=question.call_id, status="failed", reason=why)
    return ev.ToolUpdate(
        call_id=question.call_id,
        status="completed",
        raw_output=answered.content,
        result_message_id=new_id("result"),
    )


def _finished(ending: RunEnd) -> ev.TurnFinished:
    reason = "cancelled" if ending.outcome == "cancelled" else ending.stop_reason
    return ev.TurnFinished(stop_reason=reason)


def _request(ctx: TurnContext, *parts: Conversation) -> Json:
    return {
        "threadId": ctx.session.thread_id,
        "runId": new_id("run"),
        "protocolVersion": PROTOCOL_VERSION,
        "messages": [message for part in parts for message in _messages(part)],
        "tools": [dict(tool) for tool in ctx.prompt.tools],
        "state": ctx.session.state if ctx.session.state is not None else {},
        "context": [dict(item) for item in ctx.prompt.context],
        "forwardedProps": dict(ctx.prompt.forwarded),
    }


def _messages(conversation: Conversation) -> list[Json]:
    """Give a conversation with the ids that the server gave its calls; ours are unique in a session."""
    native = {call.call_id: call.native_id or call.call_id for call in conversation.calls.values()}
    messages = snapshot_of(conversation)
    for message in messages:
        for call in message.get("toolCalls", ()):
            call["id"] = native.get(call["id"], call["id"])
        if "toolCallId" in message:
            message["toolCallId"] = native.get(message["toolCallId"], message["toolCallId"])
    return messages
