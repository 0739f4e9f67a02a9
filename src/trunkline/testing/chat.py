"""A LangChain chat model that plays a script: deterministic, offline, and streaming for real.

::

    model = ScriptedChatModel(
        [thinks("Paris, then."), call("weather", {"city": "Paris"})],   # the first call of the model
        "It is sunny in Paris.",                                        # the second
    )
    agent = create_agent(model, [weather])
    ...
    assert model.calls[1].messages[-1].content == "22 degrees"
    assert model.calls[0].tool_names == ["weather"]

An answer is a text, a message, a list of parts (texts, what `thinks`, `call` and `ends` give, chunks, or an
exception to raise in the middle), an exception, or a function of the messages that gives one of these.
Plain answers are consumed in order. Where conversations run side by side the order of their calls is
nobody's to know: there ``by_prompt`` and ``each_turn`` choose by the conversation alone.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    message_chunk_to_message,
)
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from trunkline.errors import ConfigurationError

__all__ = ["ModelCall", "Part", "ScriptedChatModel", "call", "chat_model", "chunks", "ends", "says", "thinks"]

MODEL_VARIABLE = "TRUNKLINE_MODEL"


# -- what an answer is made of -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an answer, cut into chunks when it is played."""

    kind: Literal["text", "thought", "call"]
    text: str
    name: str = ""
    id: str | None = None
    size: int | None = None


Piece = Part | AIMessageChunk | BaseException | str
Answer = str | AIMessage | Part | BaseException | Sequence[Piece] | Callable[[list[BaseMessage]], Any]
Gate = asyncio.Event | Callable[[], Awaitable[Any]]


def says(text: str) -> Part:
    """Say a text; a plain string does the same."""
    return Part("text", text)


def thinks(text: str) -> Part:
    """Think aloud, in a reasoning block."""
    return Part("thought", text)


def call(name: str, args: Mapping[str, Any] | str = "{}", id: str | None = None) -> Part:
    """Call a tool. ``args`` as text are sent as they are, broken JSON too; without an id it is counted."""
    return Part("call", args if isinstance(args, str) else json.dumps(args), name, id)


def ends(finish_reason: str | None = None, *, input: int = 0, output: int = 0) -> AIMessageChunk:
    """End an answer as a provider does: with a finish reason, and tokens when any are given."""
    usage = UsageMetadata(input_tokens=input, output_tokens=output, total_tokens=input + output)
    return AIMessageChunk(
        content="",
        response_metadata={"finish_reason": finish_reason} if finish_reason else {},
        usage_metadata=usage if input or output else None,
    )


def chunks(*pieces: Piece, size: int) -> list[Piece]:
    """Cut pieces into chunks of ``size`` characters, whatever the model's own size is."""
    parts = [says(piece) if isinstance(piece, str) else piece for piece in pieces]
    return [replace(part, size=size) if isinstance(part, Part) else part for part in parts]


def _texts(part: Part) -> list[str]:
    """Cut what a part says: by its size or, without one, into words; a call stays whole."""
    if part.size is not None:
        pieces = [part.text[at : at + part.size] for at in range(0, len(part.text), part.size)]
        return ["", *pieces] if part.kind == "call" else pieces
    return [part.text] if part.kind == "call" else re.findall(r"\s*\S+\s*|\s+", part.text)


@dataclass(slots=True)
class _Cutter:
    """Cuts the pieces of one answer into chunks, and numbers its calls."""

    size: int | None
    next_id: int
    index: int = -1

    def cut(self, piece: Piece) -> Iterator[AIMessageChunk]:
        """Give a piece's chunks, or raise it."""
        if isinstance(piece, BaseException):
            raise piece
        if isinstance(piece, AIMessageChunk):
            # LangChain writes ids into messages, and an index into their blocks.
            yield piece.model_copy(deep=isinstance(piece.content, list))
            return
        part = says(piece) if isinstance(piece, str) else piece
        part = part if part.size is not None else replace(part, size=self.size)
        if part.kind == "text":
            yield from (AIMessageChunk(content=text) for text in _texts(part))
        elif part.kind == "thought":
            for text in _texts(part):
                yield AIMessageChunk(content=[{"type": "reasoning", "reasoning": text, "index": 0}])
        else:
            yield from self._call(part)

    def _call(self, part: Part) -> Iterator[AIMessageChunk]:
        self.index += 1
        name, call_id = part.name, part.id or f"call_{self.next_id}"
        self.next_id += 1
        for text in _texts(part):
            delta = tool_call_chunk(name=name, args=text, id=call_id, index=self.index)
            yield AIMessageChunk(content="", tool_call_chunks=[delta])
            name = call_id = None


def _is_function(answer: Any) -> bool:
    """Whether an answer has to be asked for; the text of a LangChain message can be called, and is one."""
    return callable(answer) and not isinstance(answer, str)


def _pieces_of(answer: Any) -> tuple[list[Piece], str | None]:
    """Give an answer's pieces, and the id of the message when it brings one."""
    if isinstance(answer, AIMessage) and not isinstance(answer, AIMessageChunk):
        pieces: list[Piece] = [answer.content] if isinstance(answer.content, str) and answer.content else []
        if isinstance(answer.content, list):
            pieces.append(AIMessageChunk(content=answer.content))
        pieces += [call(made["name"], made["args"], made["id"]) for made in answer.tool_calls]
        pieces += [
            call(made["name"] or "", made["args"] or "", made["id"]) for made in answer.invalid_tool_calls
        ]
        rest = AIMessageChunk(
            content="",
            additional_kwargs=answer.additional_kwargs,
            response_metadata=answer.response_metadata,
            usage_metadata=answer.usage_metadata,
        )
        return ([*pieces, rest], answer.id)
    if isinstance(answer, str | AIMessageChunk | Part | BaseException):
        return [answer], None
    return list(cast("Iterable[Piece]", answer)), None


# -- the model -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What the model was called with."""

    messages: list[BaseMessage]
    tools: list[dict[str, Any]]
    """The tools bound for this call, as OpenAI functions."""
    settings: dict[str, Any]
    """Every other argument of the call."""

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools that the model could call."""
        return [tool.get("function", tool).get("name", "") for tool in self.tools]


@dataclass(slots=True)
class _Script:
    """The answers that are left, and those that each turn plays from the start."""

    answers: deque[Answer]
    plays: list[tuple[str, Sequence[Answer]]] = field(default_factory=list[tuple[str, Sequence[Answer]]])
    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    size: int | None = None
    message_ids: str | None = None
    ending: AIMessageChunk | None = None
    gate: Gate | None = None

    def next(self, messages: list[BaseMessage]) -> Answer:
        """Choose the answer to a conversation."""
        if self.plays:
            return self._play(messages)
        try:
            return self.answers.popleft()
        except IndexError:
            raise LookupError(f"the script has no answer to call {len(self.calls)} of the model") from None

    def _play(self, messages: list[BaseMessage]) -> Answer:
        begin = max((at for at, one in enumerate(messages) if isinstance(one, HumanMessage)), default=0)
        prompt = str(messages[begin].text) if messages else ""
        step = sum(isinstance(one, AIMessage) for one in messages[begin:])
        answers = next((found for key, found in self.plays if key.casefold() in prompt.casefold()), ())
        if step >= len(answers):
            raise LookupError(f"the script has no answer {step + 1} to the prompt {prompt[:80]!r}")
        return answers[step]


class ScriptedChatModel(BaseChatModel):
    """Plays a script, and keeps in ``calls`` what it was called with.

    ``by_prompt``
        the answers of a turn by a part of its prompt; other prompts get the plain answers. The nth call
        since the last user message gets the nth answer, so any number of conversations may run at once.
    ``each_turn``
        play the plain answers from the start in every turn, chosen in the same way.
    ``chunk_size``
        characters per chunk; without it text comes word by word and a tool call in one piece.
    ``streaming``
        False for a model that cannot stream.
    ``usage``, ``finish_reason``
        end every answer that does not bring its own with them.
    ``message_ids``
        a prefix: the messages have a provider's ids (``msg_1``) instead of LangChain's.
    ``gate``
        an event, or a function to await, before every chunk but the first; only where the call is async.
    """

    # Out of the fields: LangChain prints the fields of a model for its callbacks, at every call.
    _script: _Script = PrivateAttr()

    def __init__(
        self,
        *answers: Answer,
        by_prompt: Mapping[str, Sequence[Answer]] | None = None,
        each_turn: bool = False,
        chunk_size: int | None = None,
        streaming: bool = True,
        usage: UsageMetadata | None = None,
        finish_reason: str | None = None,
        message_ids: str | None = None,
        gate: Gate | None = None,
    ) -> None:
        super().__init__(disable_streaming=not streaming)
        plays = [(key, (play,) if isinstance(play, str) else play) for key, play in (by_prompt or {}).items()]
        if plays or each_turn:
            plays.append(("", answers))
        ending = ends(finish_reason)
        ending.usage_metadata = usage
        self._script = _Script(
            deque(answers),
            plays,
            size=chunk_size,
            message_ids=message_ids,
            ending=ending if usage or finish_reason else None,
            gate=gate,
        )

    @property
    def calls(self) -> list[ModelCall]:
        """Every call so far."""
        return self._script.calls

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def __repr__(self) -> str:
        return f"ScriptedChatModel(<{len(self.calls)} calls>)"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any) -> Any:
        """Bind tools, which every call records."""
        bound = [convert_to_openai_tool(tool) for tool in tools]
        chosen = {} if tool_choice is None else {"tool_choice": tool_choice}
        return self.bind(tools=bound, **chosen, **kwargs)

    # -- being called ------------------------------------------------------------------------------

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._next(messages, kwargs)
        while _is_function(answer):
            answer = answer(messages)
        for chunk in self._perform(answer, messages):
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        answer: Any = self._next(messages, kwargs)
        while _is_function(answer):
            answer = answer(messages)
            if inspect.isawaitable(answer):
                answer = await answer
        gate = self._script.gate
        for at, chunk in enumerate(self._perform(answer, messages)):
            if at and gate is not None:
                await (gate.wait() if isinstance(gate, asyncio.Event) else gate())
            yield ChatGenerationChunk(message=chunk)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _whole([chunk.message for chunk in self._stream(messages, **kwargs)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _whole([chunk.message async for chunk in self._astream(messages, **kwargs)])

    # -- playing -----------------------------------------------------------------------------------

    def _next(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> Any:
        settings = {name: value for name, value in kwargs.items() if name != "tools"}
        self.calls.append(ModelCall(list(messages), list(kwargs.get("tools") or []), settings))
        return self._script.next(messages)

    def _perform(self, answer: Any, messages: list[BaseMessage]) -> Iterator[AIMessageChunk]:
        """Give an answer's chunks, and raise where it says so."""
        script = self._script
        pieces, message_id = _pieces_of(answer)
        if message_id is None and script.message_ids is not None:
            message_id = f"{script.message_ids}{len(self.calls)}"
        made = sum(len(one.tool_calls) for one in messages if isinstance(one, AIMessage))
        cutter = _Cutter(script.size, made + 1)
        ended = began = False
        for chunk in (chunk for piece in pieces for chunk in cutter.cut(piece)):
            chunk.id = chunk.id or message_id
            began, ended = True, ended or bool(chunk.usage_metadata or chunk.response_metadata)
            yield chunk
        if not began or (script.ending is not None and not ended):
            last = (script.ending or ends()).model_copy(deep=True)
            last.id = message_id
            yield last


def _whole(parts: Iterable[BaseMessage]) -> ChatResult:
    """Give chunks as the one message of a model that does not stream."""
    first, *others = cast("Iterable[AIMessageChunk]", parts)
    return ChatResult(generations=[ChatGeneration(message=message_chunk_to_message(first.__add__(others)))])


def chat_model(
    *answers: Answer, by_prompt: Mapping[str, Sequence[Answer]] | None = None, **options: Any
) -> BaseChatModel:
    """Give a model that plays ``answers`` in each turn, or the real one that TRUNKLINE_MODEL names.

    ``TRUNKLINE_MODEL=provider:model`` (``openai:gpt-5.5``) asks LangChain for it; the script is not used
    then. ``options`` are those of ScriptedChatModel.
    """
    wanted = os.environ.get(MODEL_VARIABLE)
    if not wanted:
        options.setdefault("each_turn", True)
        return ScriptedChatModel(*answers, by_prompt=by_prompt, **options)
    from langchain.chat_models import init_chat_model

    try:
        return init_chat_model(wanted)
    except Exception as error:  # a package that is missing, a provider that is unknown, a key that is not set
        raise ConfigurationError(f"{MODEL_VARIABLE}={wanted}: {error}") from error
