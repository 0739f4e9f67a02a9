"""Examples: each runs as its page says, in a process of its own and with a real client at the other end."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.langchain.providers.model_server import serve_model
from tests.agents.langchain.providers.wires.anthropic import Anthropic
from tests.agents.langchain.providers.wires.chat import OpenAiChat
from tests.agents.langchain.providers.wires.parts import Call, Text, Wire
from tests.cli.child_programs import command, run, run_program
from trunkline.conformance.acp.stdio_client import Message, StdioClient, text
from trunkline.frontends.acp.losses import LOSSES

DONE = {"stopReason": "end_turn"}
Start = Callable[..., StdioClient]


@pytest.fixture
def start(root: Path, tmp_path: Path) -> Iterator[Start]:
    """Serve an example to an editor, which greets it; every line is checked against the schema."""
    with contextlib.ExitStack() as stack:

        def begin(example: str, **capabilities: Any) -> StdioClient:
            words = command("acp", f"{root}/examples/langchain/{example}.py:agent")
            talk = stack.enter_context(StdioClient(words, cwd=tmp_path, patience=40.0))
            stack.callback(lambda: faults.extend(talk.faults()))
            talk.initialize(capabilities)
            return talk

        faults: list[str] = []
        yield begin
    assert faults == []


def choose(kind: str) -> Callable[[Message], Message]:
    """Answer permissions with the option of a kind."""

    def answer(params: Message) -> Message:
        chosen = next(option for option in params["options"] if option["kind"] == kind)
        return {"outcome": {"outcome": "selected", "optionId": chosen["optionId"]}}

    return answer


def cards(talk: StdioClient, session_id: str) -> dict[str, Message]:
    """The tool calls that an editor shows, with everything it was told of each."""
    shown: dict[str, Message] = {}
    for update in talk.updates(session_id):
        if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
            card = shown.setdefault(update["toolCallId"], {"statuses": []})
            card.update(update)
            card["statuses"] += [update["status"]] if update.get("status") else []
    return shown


def plans(talk: StdioClient, session_id: str) -> list[list[str]]:
    """The plans that an editor showed, as the statuses of their entries."""
    updates = [update for update in talk.updates(session_id) if update["sessionUpdate"] == "plan"]
    return [[entry["status"] for entry in update["entries"]] for update in updates]


# -- a function --------------------------------------------------------------------------------------


def test_hello_asks_and_writes(root: Path, tmp_path: Path) -> None:
    done = run("exec", f"{root}/examples/hello.py:hello", "good morning", "--approve", "all", cwd=tmp_path)
    assert (done.code, done.out) == (0, "You said good morning.\n\nI wrote it down.\n"), done.err
    assert (tmp_path / "hello.txt").read_text() == "good morning"


def test_hello_greets_an_editor(root: Path, tmp_path: Path) -> None:
    asked = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    done = run("acp", f"{root}/examples/hello.py:hello", stdin=json.dumps(asked) + "\n", cwd=tmp_path)
    assert done.json["result"]["agentInfo"] == {"name": "hello", "title": "Hello", "version": "0"}


# -- LangChain -----------------------------------------------------------------------------------------

ANSWERS = {
    "by_hand": "I will write. \n\nDone.",
    "deep_agent": "The poem begins with 8 words.",
    "graph": "Hi there, sorry it took so long!",
    "mcp_tools": "You wanted to call Ada about the engine. Nine o'clock here is six in the evening in Tokyo.",
    "modes_and_plan": "Here is how:\n\n1. Mix flour and eggs\n2. Heat the oven\n3. Bake for an hour",
    "permission": "Sent 2 of 2 letters.",
    "simple": "It is 22 degrees and sunny in Lisbon: no coat needed.",
    "two_clients": "Nice to meet you, Ada. ",
}
NOT_AGENTS = {"notes_server"}


def test_every_langchain_example_is_run(root: Path) -> None:
    examples = {path.stem for path in (root / "examples/langchain").glob("*.py")}
    assert examples - NOT_AGENTS == set(ANSWERS)


@pytest.mark.parametrize("example", ANSWERS)
def test_a_langchain_example_answers_in_a_terminal(example: str, root: Path, tmp_path: Path) -> None:
    target = f"{root}/examples/langchain/{example}.py:agent"
    done = run("exec", target, "Ada", "--approve", "all", cwd=tmp_path)
    assert (done.code, done.out.strip()) == (0, ANSWERS[example].strip()), done.err


@pytest.mark.parametrize("example", ANSWERS)
def test_a_langchain_example_is_short_enough_to_read(example: str, root: Path) -> None:
    assert len((root / f"examples/langchain/{example}.py").read_text().splitlines()) <= 60


def test_simple_streams_thoughts_a_tool_card_and_its_answer(start: Start) -> None:
    talk = start("simple")
    session_id = talk.open()
    for _ in range(2):
        place = len(talk.log)
        assert talk.prompt(session_id, "Do I need a coat?") == DONE
        assert talk.message_text(session_id, place) == ANSWERS["simple"]
        assert talk.message_text(session_id, place, "agent_thought_chunk").startswith(
            "They ask about the weather."
        )
    chunks = [update for update in talk.updates() if update["sessionUpdate"] == "agent_message_chunk"]
    assert len(chunks) > 10, "word by word"
    one, two = cards(talk, session_id).values()
    assert one["statuses"] == two["statuses"] == ["pending", "in_progress", "completed"]
    assert one["rawInput"] == {"city": "Lisbon"}
    assert one["rawOutput"] == "22 degrees and sunny in Lisbon"


def test_mcp_tools_run_on_real_servers_one_of_them_somebody_elses(start: Start) -> None:
    talk = start("mcp_tools")
    session_id = talk.open()
    assert talk.prompt(session_id, "What about Ada?") == DONE
    assert talk.message_text(session_id) == ANSWERS["mcp_tools"]
    note, hour = cards(talk, session_id).values()
    assert (note["status"], note["kind"]) == ("completed", "search")
    assert "Call Ada about the engine" in json.dumps(note["content"])
    assert hour["status"] == "completed"
    assert "18:00" in json.dumps(hour["content"])
    output = json.dumps(list(talk.updates(session_id)))
    assert "note 3 of 3" in output, "the progress of the server reached the editor"


@pytest.mark.parametrize(
    ("kind", "statuses", "answer"),
    [
        ("allow_once", ["completed", "completed"], "Sent 2 of 2 letters."),
        ("reject_once", ["failed", "failed"], "Sent 0 of 2 letters."),
    ],
)
def test_permission_asks_for_each_letter_at_once(
    kind: str, statuses: list[str], answer: str, start: Start
) -> None:
    talk = start("permission")
    session_id = talk.open()
    open_requests: list[Message] = []
    talk.answer["session/request_permission"] = lambda params: open_requests.append(params)
    prompt_id = talk.start("session/prompt", {"sessionId": session_id, "prompt": text("invite them")})
    assert talk.until(lambda line: len(open_requests) == 2), "both are open, and neither is answered"
    asked = [line.message for line in talk.log if "session/request_permission" in str(line.message)]
    for message in asked:
        assert message is not None
        talk.send({"jsonrpc": "2.0", "id": message["id"], "result": choose(kind)(message["params"])})
    reply = talk.wait(prompt_id)
    assert reply is not None
    assert reply["result"] == DONE
    assert talk.message_text(session_id) == answer
    find, *letters = cards(talk, session_id).values()
    assert find["status"] == "completed"
    assert [letter["status"] for letter in letters] == statuses
    assert [request["toolCall"]["toolCallId"] for request in open_requests] == [
        letter["toolCallId"] for letter in letters
    ]


def test_modes_and_plan_plans_first_and_bakes_in_another_mode(start: Start) -> None:
    talk = start("modes_and_plan")
    opened = talk.result("session/new", {"cwd": "/", "mcpServers": []})
    session_id = opened["sessionId"]
    assert opened["modes"]["currentModeId"] == "planning"
    assert [mode["id"] for mode in opened["modes"]["availableModes"]] == [
        "planning",
        "agentic",
        "interactive",
        "terse",
    ]
    assert talk.prompt(session_id, "a cake, please") == DONE
    assert talk.message_text(session_id) == ANSWERS["modes_and_plan"]
    assert plans(talk, session_id) == [["pending"] * 3]
    assert cards(talk, session_id) == {}
    talk.result("session/set_mode", {"sessionId": session_id, "modeId": "agentic"})
    assert talk.prompt(session_id, "go on") == DONE
    assert talk.message_text(session_id).endswith("The cake is ready.")
    (card,) = cards(talk, session_id).values()
    assert (card["rawInput"], card["status"]) == ({"cake": "sponge cake"}, "completed")
    assert plans(talk, session_id)[-1] == ["completed"] * 3
    error = talk.error("session/set_mode", {"sessionId": session_id, "modeId": "lazy"})
    assert "lazy" in error["message"]


def test_deep_agent_shows_its_plan_and_what_its_subagent_does(start: Start) -> None:
    talk = start("deep_agent")
    session_id = talk.open()
    assert talk.prompt(session_id, "Read me the poem") == DONE
    assert plans(talk, session_id) == [["in_progress", "pending"], ["completed", "completed"]]
    shown = list(cards(talk, session_id).values())
    assert {card["status"] for card in shown} == {"completed"}
    (task,) = [card for card in shown if "subagent_type" in card["rawInput"]]
    (counting,) = [card for card in shown if "text" in card["rawInput"]]
    assert counting["rawOutput"] in (8, "8")
    output: dict[str | None, str] = {}
    for update in talk.updates(session_id):
        if update["sessionUpdate"] == "agent_message_chunk":
            lane = update.get("_meta", {}).get("trunkline", {}).get("lane")
            output[lane] = output.get(lane, "") + update["content"]["text"]
    assert output == {task["toolCallId"]: "8 words.", None: ANSWERS["deep_agent"]}
    assert counting["_meta"]["trunkline"]["lane"] == task["toolCallId"]


def test_graph_asks_by_interrupt_and_goes_on(start: Start) -> None:
    talk = start("graph", elicitation={"form": {}})
    session_id = talk.open()
    asked: list[Message] = []

    def fill_in(params: Message) -> Message:
        asked.append(params)
        return {"action": "accept", "content": {"answer": "formal"}}

    talk.answer["elicitation/create"] = fill_in
    assert talk.prompt(session_id, "Write that we are late") == DONE
    (params,) = asked
    assert params["message"] == "Which tone should the letter have?"
    assert params["requestedSchema"]["properties"]["answer"]["enum"] == ["formal", "friendly"]
    assert talk.message_text(session_id) == "Dear Sir or Madam, we regret the delay."


def test_graph_asks_in_words_where_the_editor_has_no_forms(start: Start) -> None:
    talk = start("graph")
    session_id = talk.open()
    assert talk.prompt(session_id, "Write that we are late") == DONE
    assert "1. formal\n2. friendly\n" in talk.message_text(session_id)
    assert talk.prompt(session_id, "friendly") == DONE
    assert talk.message_text(session_id).endswith("Hi there, sorry it took so long!")


def test_two_sessions_on_one_agent_run_at_once_and_do_not_mix(start: Start) -> None:
    talk = start("two_clients")
    names = {talk.open(): name for name in ("Ada", "Bob")}
    for words in (None, "Who am I?"):
        begun = [
            talk.start("session/prompt", {"sessionId": session_id, "prompt": text(words or name)})
            for session_id, name in names.items()
        ]
        answers: dict[Any, Any] = {}
        while len(answers) < len(begun):
            line = talk.next()
            assert line is not None, talk.stderr
            if line.message is not None and line.message.get("id") in begun:
                answers[line.message["id"]] = line.message["result"]
        assert [answers[request_id] for request_id in begun] == [DONE, DONE]
    for session_id, name in names.items():
        assert talk.message_text(session_id) == f"Nice to meet you, {name}. You are {name}."


def test_two_clients_is_a_program_too(root: Path, tmp_path: Path) -> None:
    done = run_program(root / "examples/langchain/two_clients.py", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "Nice to meet you, Ada. You are Ada.",
        "Nice to meet you, Bob. You are Bob.",
    ]


def test_a_model_that_cannot_be_had_is_explained_in_a_line(root: Path, tmp_path: Path) -> None:
    target = f"{root}/examples/langchain/simple.py:agent"
    done = run("exec", target, "hi", cwd=tmp_path, TRUNKLINE_MODEL="groq:llama")
    assert done.code == 2
    assert "pip install langchain-groq" in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("model", "wire", "settings"),
    [
        ("openai:gpt-4.1", OpenAiChat(), {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "{}/v1"}),
        ("anthropic:claude-sonnet-5", Anthropic(), {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": "{}"}),
    ],
    ids=["openai", "anthropic"],
)
def test_a_variable_takes_a_providers_own_model(
    model: str, wire: Wire, settings: dict[str, str], root: Path, tmp_path: Path
) -> None:
    words = command("acp", f"{root}/examples/langchain/simple.py:agent")
    with serve_model() as server:
        server.play(
            wire.say(Call("toolu_1", "get_weather", ('{"city"', ': "Oslo"}'))),
            wire.say(Text(("Take ", "a coat."))),
        )
        given = {name: value.format(server.url) for name, value in settings.items()}
        with StdioClient(words, cwd=tmp_path, env={"TRUNKLINE_MODEL": model, **given}, patience=40.0) as talk:
            talk.initialize({})
            session_id = talk.open()
            assert talk.prompt(session_id, "How is the weather in Oslo?")["stopReason"] == "end_turn"
    assert talk.message_text(session_id) == "Take a coat."
    (card,) = cards(talk, session_id).values()
    assert (card["toolCallId"], card["rawInput"], card["status"]) == (
        "toolu_1",
        {"city": "Oslo"},
        "completed",
    )
    assert "sunny in Oslo" in wire.results(server.asked[1])[0]


# -- pages that speak of examples ----------------------------------------------------------------------


@pytest.mark.parametrize("page", ["README.md", "docs/editors.md"])
def test_every_editor_block_names_the_example(root: Path, page: str) -> None:
    text = (root / page).read_text()
    assert '"type": "custom"' in text
    assert "hello.py:hello" in text


def test_the_loss_table_of_the_page_is_the_encoders(root: Path) -> None:
    page = (root / "docs/acp.md").read_text()
    for kind, where in LOSSES.items():
        assert f"| `{kind.__name__}` | {where} |" in page
    table = page[page.index("| `TurnStarted` |") :].partition("\n\n")[0]
    assert table.count("| `") == len(LOSSES)
