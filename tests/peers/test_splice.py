"""The splice between clients on official SDKs and our own scripted agent: the pair must not notice it.

The agent behind it is ``trunkline acp demo`` with a journal of its own, so that all that a client sees of our
front end is checked again, line by line, through the splice, and against the journal of the splice.
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agents.acp.splice.test_stdio import program
from tests.peers.client_plans import Driver, JsonObject, Stage
from tests.peers.coding_agents import CLAUDE, CODEX
from tests.peers.contract import ClientContract, Played
from tests.peers.test_acp_agents_cli import ALLOW, Editor, Person, person
from tests.peers.test_python_sdk import driver_in
from tests.peers.workplace import turn_parts
from trunkline.agents.acp.splice.held_prompts import WENT_ON

__all__ = ["person"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


class SplicedStage(Stage):
    """A stage whose agents all stand behind a splice."""

    def play(
        self,
        steps: Sequence[JsonObject],
        *,
        target: str = "demo",
        command: Sequence[str] | None = None,
        **more: Any,
    ) -> JsonObject:
        ours = [sys.executable, "-m", "trunkline", "acp"]
        inner = command or [*ours, target, "--journal", f"sqlite:{self.folder / 'inner.db'}"]
        return super().play(steps, command=[*ours, f"acp:{shlex.join(inner)}"], **more)


class SplicedContract(ClientContract):
    """What every client must see, through the splice."""

    stages = SplicedStage

    # The replay is the agent's: it names the person's messages by its own ids.
    test_what_a_load_in_a_new_process_replays_is_the_same_with_the_persons_words = None  # type: ignore[assignment]
    test_a_session_is_listed_forked_resumed_and_closed = None  # type: ignore[assignment]

    def test_what_the_client_folds_live_is_what_the_journal_holds(self, played: Played) -> None:
        for name in played.live["sessions"]:
            terminals = ["terminal-0"] if name == "/terminal" else []
            seen, kept = played.views(name, played.live, person=False, terminals=terminals)
            # The journal has them from the answer to session/new, too.
            options = kept.pop("options")
            assert seen.pop("options").items() <= options.items()
            # A question that was asked in the session, too, shows the command above what the agent shows.
            calls, kept_calls = seen.pop("calls"), kept.pop("calls")
            assert [*calls] == [*kept_calls], name
            for call_id, call in calls.items():
                shown = {key: value for key, value in call.items() if key != "content"}
                # One was refused, edited in a form and done: the journal keeps the refusal.
                if name != "/edit":
                    assert {**kept_calls[call_id], **shown} == kept_calls[call_id], name
            if name == "/edit":
                assert seen.pop("notices") == []
                titles = [title for _, title, _ in kept.pop("notices")]
                assert titles == ["The agent reports a refused tool call as completed"]
            assert seen == kept, name

    def test_a_load_in_a_new_process_is_the_agents_and_is_not_journalled_again(self, played: Played) -> None:
        for name in played.live["sessions"]:
            kept = played.stage.conversation(played.live["sessions"][name])
            assert "error" not in played.again["steps"][name], name
            assert len(kept.turns) == 1, name


class TestNpmSdk(SplicedContract):
    """@agentclientprotocol/sdk 2.4.0."""

    @classmethod
    def find_driver(cls, root: Path) -> Driver:
        return ("node", str(root / "tests/peers/node/drive_client.mjs"))


class TestPythonSdk(SplicedContract):
    """agent-client-protocol 1.0.0rc3."""

    @classmethod
    def find_driver(cls, root: Path) -> Driver:
        return driver_in("acp-sdk-1.0rc", root)


@pytest.mark.parametrize("person", [CLAUDE], ids=lambda agent: agent.name, indirect=True)
async def test_a_real_agent_through_the_splice_goes_on_at_the_command_line(
    person: Person, root: Path
) -> None:
    editor = Editor(person, root)
    report = editor.play(
        [
            editor.new("s"),
            editor.prompt("greet", "s", "Please #greet me"),
            editor.prompt("shell", "s", "Please #shell it", answers=[ALLOW[person.place.agent.name]]),
        ],
        target=person.target,
    )
    steps, session_id = report["steps"], report["sessions"]["s"]
    assert [steps[name]["result"]["stopReason"] for name in ("greet", "shell")] == ["end_turn", "end_turn"]
    assert (person.place.work / "made.txt").exists()
    conversation = await person.conversation(session_id)
    assert turn_parts(conversation, 0) == [("user", "Please #greet me"), ("text", "Hello world.")]
    assert ("call", "completed") in turn_parts(conversation, 1)
    assert [state.answered.by for state in conversation.questions.values() if state.answered] == ["acp"]

    code, told = person.execute("Please do it #again", "--session", session_id)
    assert (code, told["text"]) == (0, "Still here.")
    asked = person.place.model.asked("#again")[-1]
    assert any("#greet" in text for role, text in asked.messages if role == "user")

    again = editor.play(
        [editor.open("load", "load", session_id), editor.prompt("think", session_id, "Please #think of it")],
        target=person.target,
    )
    assert again["steps"]["think"]["result"]["stopReason"] == "end_turn"
    conversation = await person.conversation(session_id)
    assert [turn_parts(conversation, number)[-1][1] for number in range(4)] == [
        "Hello world.",
        "I did.",
        "Still here.",
        "I thought.",
    ]


@pytest.mark.parametrize("person", [CLAUDE, CODEX], ids=lambda agent: agent.name, indirect=True)
async def test_a_real_agent_of_an_editor_learns_what_was_said_in_another_one(
    person: Person, tmp_path: Path
) -> None:
    place = person.place
    variables = [f"{name}={value}" for name, value in place.installed.env.items()]
    target = f"acp:{shlex.join(['env', *variables, place.installed.command, *place.agent.arguments])}"
    folder: JsonObject = {"cwd": str(place.work), "mcpServers": []}
    async with program(target, tmp_path) as first, program(target, tmp_path) as second:
        await first.call(0, "initialize", {"protocolVersion": 1})
        session_id = (await first.call(1, "session/new", folder))["result"]["sessionId"]
        assert (await first.call(2, **_prompt(session_id, "#greet")))["result"]["stopReason"] == "end_turn"
        await second.call(0, "initialize", {"protocolVersion": 1})
        await second.call(1, "session/load", {"sessionId": session_id, **folder})
        assert (await second.call(2, **_prompt(session_id, "#think")))["result"]["stopReason"] == "end_turn"

        assert (await first.call(3, **_prompt(session_id, "#again")))["error"]["message"] == WENT_ON
        await first.call(4, "session/load", {"sessionId": session_id, **folder})
        assert (await first.call(5, **_prompt(session_id, "#again")))["result"]["stopReason"] == "end_turn"
        asked = place.model.asked("#again")[-1]
        assert any("#think" in text for role, text in asked.messages if role == "user")
        for editor in (first, second):
            editor.leave()
            assert (await editor.ended())[0] == 0


def _prompt(session_id: str, text: str) -> JsonObject:
    prompt = [{"type": "text", "text": f"Please {text}"}]
    return {"method": "session/prompt", "params": {"sessionId": session_id, "prompt": prompt}}
