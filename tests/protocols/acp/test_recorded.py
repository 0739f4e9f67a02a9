"""Wires of real agents mean the conversations that their senders had.

What is expected here was written from the wires by hand.
"""

from typing import Any

import pytest
from tests.protocols.acp import recorded

from trunkline import events as ev
from trunkline.content import DiffBlock, TerminalBlock, TextBlock
from trunkline.conversation import (
    Call,
    CallPart,
    LaneState,
    Message,
    Part,
    TerminalState,
    TextPart,
    ThoughtPart,
)
from trunkline.folding import fold
from trunkline.grammar import Grammar

SHELL = "echo hello-from-fake-llm > made-by-agent.txt && cat made-by-agent.txt"
ASKED = "Please write a greeting into made-by-agent.txt using the shell."
FIRST = "I will run a shell command."
LAST = "Done: the file was written. Ünïcödé ✓ 🚀"
BASH = {"command": SHELL, "description": "Write a greeting file"}
OLD_BASH = {"command": SHELL, "timeout": 1000, "description": "Write a greeting file"}
ABOUT = (TextBlock(text="Write a greeting file"),)
PATH = "/WORK/made-by-agent.txt"
NEW_FILE = DiffBlock(path=PATH, new="hello-from-fake-llm\n")
FILE = {"file_path": PATH, "content": "hello-from-fake-llm\n"}
HERE = (ev.Location(path=PATH),)
REFUSED = "the user refused it"


def user(text: str = ASKED, message_id: str = "u", turn_id: str = "t") -> Message:
    """The person's message."""
    return Message(message_id=message_id, role="user", turn_id=turn_id, content=(TextBlock(text=text),))


def agent(message_id: str, *said: tuple[str, str], turn_id: str = "t") -> Message:
    """A message of the agent's, from (thought, text or call) and what it is."""
    parts: list[Part] = []
    for number, (kind, value) in enumerate(said):
        part_id = f"{message_id}:{number}"
        match kind:
            case "thought":
                parts.append(ThoughtPart(part_id=part_id, text=value))
            case "text":
                parts.append(TextPart(part_id=part_id, text=value))
            case _:
                parts.append(CallPart(part_id=part_id, call_id=value))
    return Message(message_id=message_id, role="agent", turn_id=turn_id, parts=parts)


def call(call_id: str, message_id: str, turn_id: str = "t", **fields: Any) -> dict[str, Call]:
    """The one call of a wire."""
    made = Call(call_id=call_id, native_id=call_id, message_id=message_id, turn_id=turn_id, **fields)
    return {call_id: made}


def claude(first: str, last: str | None, thought: str = "Let me think about it.") -> list[Message]:
    """What claude-agent-acp says around its call: it gives ids to its messages."""
    said = [user(), agent(first, ("thought", thought), ("text", FIRST), ("call", "toolu_fake_0001"))]
    return said if last is None else [*said, agent(last, ("text", LAST))]


def old_claude(*, answers: bool = True) -> list[Message]:
    """What claude-code-acp says around its call: it gives no ids, and no thoughts."""
    said = [user(), agent("t.1", ("text", FIRST), ("call", "toolu_fake_0001"))]
    return [*said, agent("t.2", ("text", LAST))] if answers else said


def gemini(call_id: str, *, answers: bool = True) -> list[Message]:
    """What gemini says around its call: it gives no ids."""
    thought = "****\nLet me think****\nabout it."
    said = [user(), agent("t.1", ("thought", thought), ("text", FIRST), ("call", call_id))]
    return [*said, agent("t.2", ("text", LAST))] if answers else said


def bash(message_id: str, **fields: Any) -> dict[str, Call]:
    """The call of claude-agent-acp."""
    shown: dict[str, Any] = {
        "name": "Bash",
        "title": SHELL,
        "kind": "execute",
        "input": BASH,
        "content": ABOUT,
    }
    return call("toolu_fake_0001", message_id, **shown | fields)


def old_bash(**fields: Any) -> dict[str, Call]:
    """The call of claude-code-acp."""
    shown: dict[str, Any] = {
        "name": "mcp__acp__Bash",
        "title": f"`{SHELL}`",
        "kind": "execute",
        "input": OLD_BASH,
        "content": ABOUT,
    }
    return call("toolu_fake_0001", "t.1", **shown | fields)


def gemini_shell(**fields: Any) -> dict[str, Call]:
    """The call of gemini, of which it says neither the arguments nor the result."""
    shown: dict[str, Any] = {"name": "run_shell_command", "title": SHELL, "kind": "execute"}
    return call("run_shell_command__call_fake_0001", "t.1", **shown | fields)


DENIED = {"status": "denied", "reason": REFUSED}
CANCELLED = {"status": "cancelled", "reason": "the turn was cancelled"}
SAYS_REFUSED: dict[str, Any] = {
    **DENIED,
    "raw_output": "User refused permission to run tool",
    "content": (TextBlock(text="```\nUser refused permission to run tool\n```"),),
}
CLAUDE_TOKENS = (ev.TokenUsage(input_tokens=200, output_tokens=40),)
GEMINI_TOKENS = (
    ev.TokenUsage(model="gemini-3.8-flash", input_tokens=100, output_tokens=20),
    ev.TokenUsage(model="auto", input_tokens=100, output_tokens=20),
)
CONSOLE = (TextBlock(text="```console\nhello-from-fake-llm\n```"),)
GEMINI_CALL = "run_shell_command__call_fake_0001"
GEMINI_ABOUT = (TextBlock(text="[current working directory /WORK] (Write a greeting file)"),)

Expected = tuple[list[Message], dict[str, Call], str, tuple[ev.TokenUsage, ...]]
TURNS: dict[str, Expected] = {
    "claude-turn": (
        claude("msg_fake_1794783679243", "msg_fake_1794783680198"),
        bash(
            "msg_fake_1794783679243",
            status="completed",
            content=CONSOLE,
            raw_output="hello-from-fake-llm",
        ),
        "end_turn",
        CLAUDE_TOKENS,
    ),
    "claude-reject-turn": (
        claude("msg_fake_1794783700790", "msg_fake_1794783701811"),
        bash("msg_fake_1794783700790", **SAYS_REFUSED),
        "end_turn",
        CLAUDE_TOKENS,
    ),
    "claude-write-turn": (
        claude("msg_fake_1794784533917", "msg_fake_1794784534224"),
        call(
            "toolu_fake_0001",
            "msg_fake_1794784533917",
            name="Write",
            title="Write made-by-agent.txt",
            kind="edit",
            input=FILE,
            locations=HERE,
            content=(NEW_FILE,),
            status="completed",
            raw_output=f"File created successfully at: {PATH} "
            "(file state is current in your context — no need to Read it back)",
        ),
        "end_turn",
        CLAUDE_TOKENS,
    ),
    "claude-permcancel-turn": (
        claude("msg_fake_1794783701461", None),
        bash("msg_fake_1794783701461", **CANCELLED),
        "cancelled",
        (),
    ),
    "claude-midcancel-turn": (
        [user(), agent("msg_fake_1794783699731", ("thought", "Let me think about it."))],
        {},
        "cancelled",
        (),
    ),
    "claude-code-turn": (
        old_claude(),
        old_bash(
            title="Write a greeting file",
            content=(TerminalBlock(terminal_id="term-1"),),
            status="completed",
            raw_output=[
                {"type": "text", "text": "Exited with code 0.Final output:\n\nhello-from-fake-llm\n"}
            ],
        ),
        "end_turn",
        (),
    ),
    "claude-code-nocaps-turn": (
        old_claude(),
        old_bash(
            name="Bash",
            input=BASH,
            status="completed",
            raw_output="hello-from-fake-llm",
            content=(TextBlock(text="hello-from-fake-llm"),),
        ),
        "end_turn",
        (),
    ),
    "claude-code-write-turn": (
        old_claude(),
        call(
            "toolu_fake_0001",
            "t.1",
            name="mcp__acp__Write",
            title=f"Write {PATH}",
            kind="edit",
            input=FILE,
            locations=HERE,
            content=(NEW_FILE,),
            status="completed",
            raw_output=[{"type": "text", "text": f"The file {PATH} has been updated successfully."}],
        ),
        "end_turn",
        (),
    ),
    "claude-code-reject-turn": (old_claude(answers=False), old_bash(**SAYS_REFUSED), "end_turn", ()),
    "claude-code-permcancel-turn": (old_claude(answers=False), old_bash(**CANCELLED), "cancelled", ()),
    "claude-code-midcancel-turn": (
        [user(), agent("t.1", ("text", "I will run a shell "))],
        {},
        "cancelled",
        (),
    ),
    "gemini-turn": (gemini(GEMINI_CALL), gemini_shell(status="completed"), "end_turn", GEMINI_TOKENS),
    "gemini-reject-turn": (
        gemini(GEMINI_CALL),
        gemini_shell(content=GEMINI_ABOUT, **DENIED),
        "end_turn",
        GEMINI_TOKENS,
    ),
    "gemini-permcancel-turn": (
        gemini(GEMINI_CALL, answers=False),
        gemini_shell(content=GEMINI_ABOUT, **CANCELLED),
        "cancelled",
        (),
    ),
    "gemini-midcancel-turn": (
        [user(), agent("t.1", ("thought", "****\nLet me think****\nabout it."), ("text", "I will "))],
        {},
        "cancelled",
        (),
    ),
    "gemini-write-turn": (
        gemini("write_file__call_fake_0001"),
        call(
            "write_file__call_fake_0001",
            "t.1",
            name="write_file",
            title="Writing to made-by-agent.txt",
            kind="edit",
            locations=HERE,
            status="failed",
            content=(TextBlock(text=f"Error checking existing file: Resource not found: {PATH}"),),
        ),
        "end_turn",
        GEMINI_TOKENS,
    ),
}
LOADS = {"claude-load", "claude-code-load"}
OTHERS = {"codex-turn", "claude-subagent-turn", "qwen-turn"}


def test_each_wire_is_tested() -> None:
    assert TURNS.keys() | LOADS | OTHERS == set(recorded.NAMES)


@pytest.mark.parametrize("name", TURNS)
def test_a_wire_means_what_was_said_on_it(name: str) -> None:
    said, calls, stop_reason, tokens = TURNS[name]
    folded = fold(recorded.decode(name))

    assert folded.messages == said
    assert folded.calls == calls
    assert [(turn.stop_reason, turn.usage) for turn in folded.turns] == [(stop_reason, tokens)]
    assert folded.raws == []
    assert folded.notices == []
    assert len(folded.commands) == 2
    assert [option.category for option in folded.options][:2] == ["mode", "model"]


@pytest.mark.parametrize("name", [*TURNS, *sorted(OTHERS)])
def test_the_grammar_finds_nothing_to_correct_on_a_wire(name: str) -> None:
    events = recorded.decode(name)
    grammar = Grammar()
    assert [out for event in events for out in grammar.feed(event)] == events
    assert grammar.violations == []


def test_codex_runs_a_command_in_a_terminal_of_its_own() -> None:
    folded = fold(recorded.decode("codex-turn"))
    line = "echo hello > f.txt && cat f.txt"

    assert folded.messages == [
        user("greet"),
        agent(
            "t.1",
            (
                "text",
                "Model metadata for `scripted` not found. Defaulting to fallback metadata; "
                "this can degrade performance and cause issues.I will. ",
            ),
            ("call", "call_3"),
        ),
        agent("t.2", ("text", "Done.")),
    ]
    [only] = folded.calls.values()
    assert (only.name, only.title, only.kind, only.status) == (line, line, "execute", "completed")
    assert (only.input["command"], only.input["process_id"]) == (["/bin/bash", "-lc", line], "78500")
    # The agent's proposal, which the permission showed, gave way to the terminal.
    assert only.content == (TerminalBlock(terminal_id="call_3"),)
    assert folded.terminals == {"call_3": TerminalState(data="hello\n", exited=True, exit_code=0)}
    assert [(option.option_id, option.value) for option in folded.options] == [("model", "scripted")]


def test_qwen_tells_of_its_tokens_in_empty_pieces() -> None:
    folded = fold(recorded.decode("qwen-turn"))

    assert folded.messages == [
        user("greet"),
        agent("t.1", ("text", "I will. "), ("call", "call_0002")),
        agent("t.2", ("text", "Done.")),
    ]
    [only] = folded.calls.values()
    # The permission, which announced the call, does not have the tool's name.
    assert only.name == only.title == "echo hello > f.txt && cat f.txt (d)"
    assert (only.kind, only.status, only.raw_output) == ("execute", "completed", "hello")
    command = "echo hello > f.txt && cat f.txt"
    assert only.input == {"command": command, "description": "d", "is_background": False}
    tokens = [raw.payload["_meta"]["usage"]["totalTokens"] for raw in folded.raws]
    assert tokens == [18, 18]
    assert [(option.category, option.value) for option in folded.options] == [
        ("mode", "default"),
        ("model", "$runtime|openai|scripted(openai)"),
    ]


def test_a_subagent_of_claude_works_in_a_lane() -> None:
    folded = fold(recorded.decode("claude-subagent-turn"))

    assert folded.messages == [
        user("greet"),
        agent("msg_0001", ("text", "I will. "), ("call", "toolu_0002")),
        Message(
            message_id="t.1",
            role="agent",
            turn_id="t",
            lane="toolu_0002",
            parts=[CallPart(part_id="t.1:0", call_id="toolu_0004")],
        ),
        agent("msg_0006", ("text", "All done.")),
    ]
    assert folded.lanes == {
        "toolu_0002": LaneState(
            name="general-purpose",
            parent_call_id="toolu_0002",
            description="Find it",
            outcome="completed",
        )
    }
    task, inner = folded.calls["toolu_0002"], folded.calls["toolu_0004"]
    assert (task.name, task.title, task.lane, task.status) == ("Agent", "Find it", None, "completed")
    assert task.raw_output[0] == {"type": "text", "text": "Found it."}
    assert (inner.name, inner.title, inner.lane, inner.status) == (
        "Bash",
        "echo sub",
        "toolu_0002",
        "completed",
    )
    assert (inner.raw_output, inner.content) == ("sub", (TextBlock(text="```console\nsub\n```"),))


@pytest.mark.parametrize("name", ["claude-turn", "claude-code-nocaps-turn"])
def test_the_response_of_a_tool_from_an_update_of_its_own_goes_along_with_the_end(name: str) -> None:
    updates = [event for event in recorded.decode(name) if isinstance(event, ev.ToolUpdate)]
    [end] = [update for update in updates if update.status == "completed"]

    assert end.raw_output == "hello-from-fake-llm"
    assert end.meta is not None
    assert end.meta["claudeCode"] == {
        "toolName": "Bash",
        "toolResponse": {
            "stdout": "hello-from-fake-llm",
            "stderr": "",
            "interrupted": False,
            "isImage": False,
            "noOutputExpected": False,
        },
    }


def test_usage_has_the_cost_of_the_last_update() -> None:
    usage = fold(recorded.decode("claude-turn")).usage
    assert usage == ev.ContextUsage(used=120, size=1_000_000, cost=ev.Cost(amount=0.002, currency="USD"))


def test_a_load_of_claude_agent_acp_is_the_conversation_that_was_had() -> None:
    events = recorded.decode_load("claude-load")
    folded = fold(events)

    first, last = "msg_fake_1794783679243", "msg_fake_1794783680198"
    assert folded.messages == [
        user(message_id="29af59e4-e000-47b7-911b-646f81187439", turn_id="replay_1"),
        agent(
            first,
            ("thought", "Let me think about it."),
            ("text", FIRST),
            ("call", "toolu_fake_0001"),
            turn_id="replay_1",
        ),
        agent(last, ("text", LAST), turn_id="replay_1"),
    ]
    assert folded.calls == bash(
        first, turn_id="replay_1", status="completed", content=CONSOLE, raw_output="hello-from-fake-llm"
    )
    assert [turn.status for turn in folded.turns] == ["finished"]


def test_a_load_of_claude_code_acp_has_ids_of_ours() -> None:
    folded = fold(recorded.decode_load("claude-code-load"))

    assert folded.messages == [
        user(message_id="replay_1.user1", turn_id="replay_1"),
        agent("replay_1.1", ("text", FIRST), ("call", "toolu_fake_0001"), turn_id="replay_1"),
        agent("replay_1.2", ("text", LAST), turn_id="replay_1"),
    ]
    [only] = folded.calls.values()
    assert (only.name, only.status, only.message_id) == ("mcp__acp__Bash", "completed", "replay_1.1")
    assert only.raw_output == [
        {"type": "text", "text": "Exited with code 0.Final output:\n\nhello-from-fake-llm\n"}
    ]


@pytest.mark.parametrize("name", sorted(LOADS))
def test_the_grammar_finds_nothing_to_correct_in_a_load(name: str) -> None:
    events = recorded.decode_load(name)
    grammar = Grammar()
    assert [out for event in events for out in grammar.feed(event)] == events
    assert grammar.violations == []
