import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from langchain import agents
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.tools import tool

from trunkline.errors import ConfigurationError
from trunkline.testing.chat import ScriptedChatModel, call, chat_model, chunks, ends, says, thinks

create_agent = cast("Any", agents).create_agent
USAGE = UsageMetadata(input_tokens=3, output_tokens=4, total_tokens=7)


@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


async def streamed(model: ScriptedChatModel, prompt: str = "hi") -> list[AIMessageChunk]:
    return [chunk async for chunk in model.astream(prompt)]


def whole(parts: Sequence[AIMessageChunk]) -> AIMessageChunk:
    first, *others = parts
    return first + others if others else first


def texts(parts: Sequence[AIMessageChunk]) -> list[str]:
    return [str(part.text) for part in parts if part.text]


# -- streaming -----------------------------------------------------------------------------------------


async def test_a_text_comes_word_by_word() -> None:
    assert texts(await streamed(ScriptedChatModel("a longer  answer\n"))) == ["a ", "longer  ", "answer\n"]
    assert texts(list(ScriptedChatModel(says("in sync")).stream("hi"))) == ["in ", "sync"]


async def test_a_size_cuts_texts_thoughts_and_arguments() -> None:
    model = ScriptedChatModel([thinks("hmm"), "abc", call("double", {"number": 12})], chunk_size=2)
    parts = await streamed(model)
    deltas = [delta for part in parts for delta in part.tool_call_chunks]
    assert texts(parts) == ["ab", "c"]
    assert [delta["args"] for delta in deltas] == ["", '{"', "nu", "mb", "er", '":', " 1", "2}"]
    assert [delta["name"] for delta in deltas] == ["double", *[None] * 7]
    assert {delta["index"] for delta in deltas} == {0}
    message = whole(parts)
    assert message.content_blocks[0] == {"type": "reasoning", "reasoning": "hmm", "index": 0}
    assert [made["args"] for made in message.tool_calls] == [{"number": 12}]


async def test_chunks_have_a_size_of_their_own() -> None:
    model = ScriptedChatModel(chunks("abcd", call("double", id="d"), ends("stop"), size=3), chunk_size=1)
    parts = await streamed(model)
    assert texts(parts) == ["abc", "d"]
    assert [delta["args"] for part in parts for delta in part.tool_call_chunks] == ["", "{}"]


async def test_hand_made_chunks_are_given_as_they_are_and_never_written_to() -> None:
    chunk = AIMessageChunk(content="a b", tool_call_chunks=[])
    model = ScriptedChatModel([chunk], chunk, each_turn=True, chunk_size=1)
    first, second = await streamed(model), await streamed(model)
    assert texts(first) == ["a b"]
    assert first[0].id != second[0].id, "LangChain named each of them"
    assert chunk.id is None


async def test_calls_are_numbered_within_the_message_and_over_the_conversation() -> None:
    made = AIMessage("", tool_calls=[{"name": "double", "args": {}, "id": "x"}])
    history: list[BaseMessage] = [HumanMessage("hi"), made, ToolMessage("1", tool_call_id="x")]
    model = ScriptedChatModel([call("double"), call("double", id="mine"), call("double")])
    parts = [chunk async for chunk in model.astream(history)]
    assert [part.tool_calls[0]["id"] for part in parts[:3]] == ["call_2", "mine", "call_4"]
    assert [delta["index"] for delta in whole(parts).tool_call_chunks] == [0, 1, 2]


async def test_a_broken_call_stays_broken() -> None:
    (parsed,) = whole(await streamed(ScriptedChatModel(call("double", "no json", "b")))).invalid_tool_calls
    assert (parsed["name"], parsed["args"], parsed["id"]) == ("double", "no json", "b")


async def test_a_message_is_streamed_too() -> None:
    answer = AIMessage(
        "two words",
        id="msg_7",
        tool_calls=[{"name": "double", "args": {"number": 1}, "id": "a"}],
        invalid_tool_calls=[{"name": "double", "args": "{{", "id": "b", "error": None}],
        usage_metadata=USAGE,
        response_metadata={"finish_reason": "tool_calls"},
    )
    parts = await streamed(ScriptedChatModel(answer))
    message = whole(parts)
    assert texts(parts) == ["two ", "words"]
    assert (message.id, message.usage_metadata) == ("msg_7", USAGE)
    assert message.response_metadata["finish_reason"] == "tool_calls"
    assert [made["id"] for made in message.tool_calls + message.invalid_tool_calls] == ["a", "b"]


async def test_a_message_of_blocks_keeps_its_blocks() -> None:
    blocks: list[Any] = [{"type": "text", "text": "see"}, {"type": "image", "url": "https://x.test/a.png"}]
    message = whole(await streamed(ScriptedChatModel(AIMessage(blocks))))
    assert [block["type"] for block in message.content_blocks] == ["text", "image"]


async def test_an_empty_answer_is_an_empty_message() -> None:
    assert whole(await streamed(ScriptedChatModel([]))).content == ""
    assert (await ScriptedChatModel("").ainvoke("hi")).content == ""


async def test_usage_finish_reason_and_provider_ids_end_an_answer_that_brings_none() -> None:
    model = ScriptedChatModel(
        "a", ["b", ends("length", input=1, output=2)], usage=USAGE, finish_reason="stop", message_ids="msg_"
    )
    one, two = [whole(await streamed(model)) for _ in range(2)]
    assert (one.id, one.usage_metadata, one.response_metadata["finish_reason"]) == ("msg_1", USAGE, "stop")
    assert (two.id, two.response_metadata["finish_reason"]) == ("msg_2", "length")
    assert two.usage_metadata is not None
    assert two.usage_metadata["total_tokens"] == 3


# -- not streaming -------------------------------------------------------------------------------------


async def test_a_model_that_cannot_stream_gives_one_message() -> None:
    model = ScriptedChatModel(["two words", call("double")], "again", streaming=False)
    (first,) = [chunk async for chunk in model.astream("hi")]
    assert (first.text, len(first.tool_calls)) == ("two words", 1)
    assert model.invoke("hi").content == "again"


# -- going wrong ---------------------------------------------------------------------------------------


async def test_an_exception_is_raised_at_once_or_after_some_chunks() -> None:
    model = ScriptedChatModel(ValueError("no"), ["said ", TimeoutError("late")])
    with pytest.raises(ValueError, match="no"):
        await model.ainvoke("hi")
    stream = model.astream("hi")
    assert (await anext(stream)).text == "said "
    with pytest.raises(TimeoutError, match="late"):
        await anext(stream)


def test_a_script_that_is_over_says_which_call_it_was() -> None:
    model = ScriptedChatModel("only one")
    model.invoke("hi")
    with pytest.raises(LookupError, match="no answer to call 2 of the model"):
        model.invoke("hi")
    with pytest.raises(LookupError, match="no answer 1 to the prompt 'else'"):
        ScriptedChatModel(by_prompt={"hi": "there"}).invoke("else")


# -- choosing ------------------------------------------------------------------------------------------


async def test_a_function_may_answer_with_the_text_of_a_message() -> None:
    def repeat(messages: list[BaseMessage]) -> str:
        return messages[-1].text

    model = ScriptedChatModel(repeat, repeat)
    assert (await model.ainvoke("hello")).content == "hello"
    assert model.invoke("again").content == "again"


async def test_a_function_answers_from_the_messages() -> None:
    def echo(messages: list[BaseMessage]) -> Any:
        return repeat

    def repeat(messages: list[BaseMessage]) -> list[str]:
        return [f"you said {messages[-1].text}"]

    async def later(messages: list[BaseMessage]) -> str:
        await asyncio.sleep(0)
        return f"{len(messages)} message"

    model = ScriptedChatModel(echo, later, echo)
    assert (await model.ainvoke("hi")).text == "you said hi"
    assert (await model.ainvoke("hi")).text == "1 message"
    assert model.invoke("ho").text == "you said ho"


async def test_conversations_side_by_side_get_their_own_answers() -> None:
    model = ScriptedChatModel(
        "Nothing to do.",
        by_prompt={f"<{n}>": [call("double", {"number": n}), f"Done with {n}."] for n in range(20)},
    )
    agent = create_agent(model, [double])

    async def talk(n: int) -> list[str]:
        output = await agent.ainvoke({"messages": [HumanMessage(f"Double <{n}>")]})
        return [message.text for message in output["messages"][2:]]

    assert await asyncio.gather(*map(talk, range(20))) == [[f"{2 * n}", f"Done with {n}."] for n in range(20)]
    assert (await model.ainvoke("else")).text == "Nothing to do."


def test_threads_that_share_a_plain_script_get_each_answer_once() -> None:
    model = ScriptedChatModel(*map(str, range(50)))
    with ThreadPoolExecutor(8) as pool:
        output = pool.map(model.invoke, ["hi"] * 50)
    assert sorted(int(message.text) for message in output) == list(range(50))


# -- watching ------------------------------------------------------------------------------------------


async def test_every_call_keeps_its_messages_tools_and_settings() -> None:
    model = ScriptedChatModel(call("double", {"number": 21}), "42.")
    agent = create_agent(model, [double], system_prompt="Compute.")
    await agent.ainvoke({"messages": [HumanMessage("double 21")]})
    assert [one.tool_names for one in model.calls] == [["double"], ["double"]]
    assert [message.type for message in model.calls[1].messages] == ["system", "human", "ai", "tool"]
    assert model.calls[1].messages[-1].content == "42"
    await ScriptedChatModel.bind_tools(unbound := ScriptedChatModel("x"), [], tool_choice="any").ainvoke("hi")
    assert unbound.calls[0].settings == {"tool_choice": "any"}


@pytest.mark.parametrize("as_event", [True, False])
async def test_a_gate_stops_between_chunks(as_event: bool) -> None:
    event = asyncio.Event()

    def wait() -> Awaitable[Any]:
        return event.wait()

    output: list[str] = []
    begun = asyncio.Event()

    async def listen() -> None:
        async for chunk in ScriptedChatModel("one two", gate=event if as_event else wait).astream("hi"):
            output.append(str(chunk.text))
            begun.set()

    async with asyncio.timeout(5):
        listening = asyncio.create_task(listen())
        await begun.wait()
        assert output == ["one "]
        event.set()
        await listening
    assert "".join(output) == "one two"


def test_the_script_is_in_no_field_and_no_repr() -> None:
    model = ScriptedChatModel("secret answer")
    assert repr(model) == "ScriptedChatModel(<0 calls>)"
    assert "secret" not in str(model.model_dump())
    assert "secret" not in str(model.to_json())


# -- choosing a real one -------------------------------------------------------------------------------


async def test_a_model_for_examples_plays_its_script_in_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRUNKLINE_MODEL", raising=False)
    model = chat_model("again", by_prompt={"bye": ["see you"]})
    output = [(await model.ainvoke(prompt)).text for prompt in ("hi", "hi", "bye")]
    assert output == ["again", "again", "see you"]


@pytest.mark.parametrize(
    ("wanted", "cause"),
    [("groq:llama", "pip install langchain-groq"), ("nobody:x", "nobody"), ("plain", "plain")],
)
def test_a_real_model_that_cannot_be_had_says_why(
    monkeypatch: pytest.MonkeyPatch, wanted: str, cause: str
) -> None:
    monkeypatch.setenv("TRUNKLINE_MODEL", wanted)
    with pytest.raises(ConfigurationError, match=f"TRUNKLINE_MODEL={wanted}: .*{cause}"):
        chat_model("never said")


def test_a_real_model_is_langchains(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("langchain.chat_models.init_chat_model", asked.append)
    monkeypatch.setenv("TRUNKLINE_MODEL", "somebody:model")
    chat_model("never said")
    assert asked == ["somebody:model"]


def test_the_tools_for_tests_do_not_need_langchain() -> None:
    program = "import sys, trunkline.testing as t; t.AcpEditor; sys.exit('langchain_core' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=50, check=False).returncode == 0
