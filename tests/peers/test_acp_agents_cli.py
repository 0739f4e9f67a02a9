"""One session with a real coding agent, at the command line, in an editor and in a web page."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_serve import serving as served
from tests.peers.agui import Browser, open_page
from tests.peers.client_plans import Stage, read_conversation
from tests.peers.coding_agents import CLAUDE, CLAUDE_CODE, CODEX, CodingAgent
from tests.peers.model.server import serving
from tests.peers.workplace import LINE, Workplace, script_for, turn_parts
from tests.process_state import eventually
from tests.server.running_server import SECRET
from trunkline import Conversation

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SECONDS = 90
DENIED, INTERRUPTED = 5, 130
ALLOW = {CLAUDE.name: "allow", CODEX.name: "approved"}
"""The ids of the options that allow a call once."""


class Person:
    """Somebody with a coding agent installed, who uses our commands."""

    def __init__(self, place: Workplace, folder: Path) -> None:
        self.place = place
        self.target = place.installed.target
        self.env = {
            **place.installed.env,
            "TRUNKLINE_JOURNAL": place.journal,
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start ``trunkline``."""
        return subprocess.Popen(
            [sys.executable, "-m", "trunkline", *arguments],
            cwd=self.place.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> str:
        """Run ``trunkline`` and give what it printed."""
        with self.start(*arguments) as running:
            out, errors = running.communicate(timeout=SECONDS)
        assert running.returncode == 0, errors
        return out

    def start_exec(self, prompt: str, *options: str) -> subprocess.Popen[str]:
        """Start ``trunkline exec``."""
        return self.start("exec", self.target, prompt, "--format", "json", *options)

    def execute(self, prompt: str, *options: str) -> tuple[int, dict[str, Any]]:
        """Run ``trunkline exec`` and give its exit code and its report."""
        with self.start_exec(prompt, *options) as running:
            out, errors = running.communicate(timeout=SECONDS)
        assert out, errors
        return running.returncode, json.loads(out)

    async def conversation(self, session_id: str) -> Conversation:
        """What the journal holds of a session."""
        return await read_conversation(self.place.journal, session_id)


class Editor(Stage):
    """The npm SDK's client as a person's editor, in the agent's folder."""

    def __init__(self, person: Person, root: Path) -> None:
        folder = person.place.work.parent / "editor"
        folder.mkdir()
        super().__init__(folder, ("node", str(root / "tests/peers/node/drive_client.mjs")))
        self.cwd = person.place.work
        self._person = person

    @property
    def environment(self) -> dict[str, str]:
        return self._person.env


def through_our_front_end(person: Person) -> list[str]:
    """How an editor starts the agent to open sessions by our ids; spliced, it would need the agent's own."""
    return [sys.executable, "-m", "trunkline", "acp", "--no-splice", person.target]


@pytest.fixture(params=[CLAUDE, CODEX], ids=lambda agent: agent.name)
def person(request: pytest.FixtureRequest, root: Path, tmp_path: Path) -> Generator[Person]:
    agent: CodingAgent = request.param
    with serving(script_for(agent, tmp_path / "work")) as model:
        place = Workplace(root, agent, tmp_path, model)
        yield Person(place, tmp_path)
        place.wait_until_left()
        assert {*model.outside} <= agent.reaches_for


def test_what_only_reads_may_run_and_all_else_is_refused(person: Person) -> None:
    code, told = person.execute("Please #greet me", "--approve", "reads")
    assert (code, told["text"], told["stop_reason"]) == (0, "Hello world.", "end_turn")
    code, told = person.execute("Please #shell it", "--approve", "reads", "--session", told["session_id"])
    assert (code, told["denied"], [call["status"] for call in told["calls"]]) == (DENIED, True, ["denied"])
    assert not (person.place.work / "made.txt").exists()


async def test_when_the_plug_is_pulled_nothing_is_left_behind_and_nothing_is_lost(person: Person) -> None:
    person.target = person.place.installed.npx_target
    _, told = person.execute("Please #greet me")
    session_id = told["session_id"]
    with person.start_exec("Please #wait here", "--session", session_id) as running:
        eventually(lambda: person.place.model.holds, SECONDS)
        running.kill()
        running.communicate(timeout=SECONDS)
    await asyncio.to_thread(person.place.wait_until_left)
    code, told = person.execute("Please do it #again", "--session", session_id)
    assert (code, told["text"]) == (0, "Still here.")
    conversation = await person.conversation(session_id)
    assert [turn.status for turn in conversation.turns] == ["finished", "failed", "finished"]
    assert conversation.turns[1].code == "interrupted"
    assert turn_parts(conversation, 1)[0] == ("user", "Please #wait here")


def test_ctrl_c_cancels_the_turn_and_ends_the_agent(person: Person) -> None:
    with person.start_exec("Please #wait here") as running:
        eventually(lambda: person.place.model.holds, SECONDS)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=SECONDS)
    assert (running.returncode, json.loads(out)["stop_reason"]) == (INTERRUPTED, "cancelled")


async def test_one_session_goes_on_at_the_command_line_in_an_editor_and_in_a_page(
    person: Person, root: Path, browser: Browser, tmp_path: Path
) -> None:
    _, told = person.execute("Please #greet me", "--approve", "reads")
    session_id = told["session_id"]

    editor = Editor(person, root)
    report = editor.play(
        [
            editor.open("load", "load", session_id),
            editor.prompt("shell", session_id, "Please #shell it", answers=[ALLOW[person.place.agent.name]]),
        ],
        command=through_our_front_end(person),
    )
    assert "result" in report["steps"]["load"], report["steps"]["load"]
    assert report["steps"]["shell"]["result"]["stopReason"] == "end_turn"

    (person.place.work / "made.txt").unlink()
    with served(person.target, "--token", SECRET, cwd=tmp_path, **person.env) as child:
        page = await open_page(browser, f"{child.url}/agui", session_id)
        await page.say("Please #shell it")
        assert [one["reason"] for one in page.interrupts] == ["tool_call"]
        await page.run(resume=page.resume({"approved": True}))
        assert (person.place.work / "made.txt").exists()
        await page.say("Please do it #again")
        assert page.messages[-1]["content"] == "Still here."
        child.end()

    code, told = person.execute("Please #think of it", "--session", session_id)
    assert (code, told["text"]) == (0, "I thought.")
    conversation = await person.conversation(session_id)
    ran = [("user", "Please #shell it"), ("text", "I will."), ("call", "completed"), ("text", "I did.")]
    assert [turn_parts(conversation, number) for number in range(5)] == [
        [("user", "Please #greet me"), ("text", "Hello world.")],
        ran,
        ran,
        [("user", "Please do it #again"), ("text", "Still here.")],
        [("user", "Please #think of it"), ("thought", "**Plan** I think."), ("text", "I thought.")],
    ]
    asked = person.place.model.asked("#think")[-1]
    said = "\n".join(text for role, text in asked.messages if role == "user")
    assert all(word in said for word in ("#greet", "#shell", "#again"))


@pytest.mark.parametrize("person", [CLAUDE_CODE], ids=lambda agent: agent.name, indirect=True)
async def test_files_and_terminals_of_the_agent_are_the_editors(person: Person, root: Path) -> None:
    editor = Editor(person, root)
    report = editor.play(
        [
            editor.new("s"),
            editor.prompt("shell", "s", "Please #shell it", answers=["allow"]),
            editor.prompt("write", "s", "Please #write it", answers=["allow"]),
        ],
        command=through_our_front_end(person),
    )
    heard = [item for step in report["steps"].values() for item in step["heard"]]
    (created,) = [item["params"] for item in heard if item.get("method") == "terminal/create"]
    assert (created["command"], created.get("args")) == (LINE, None)
    written = person.place.work / "written.txt"
    assert report["files"] == {str(written): "hello\n"}
    assert not written.exists(), "the editor has it, and has not saved it"
    told = await person.conversation(report["sessions"]["s"])
    assert [turn_parts(told, number)[-2:] for number in range(2)] == [
        [("call", "completed"), ("text", "I did.")],
        [("call", "completed"), ("text", "Written.")],
    ]
    (terminal,) = told.terminals.values()
    assert (terminal.data, terminal.exit_code) == ("made\n", 0)


async def test_a_session_that_only_the_agent_knows_is_imported_and_goes_on(person: Person) -> None:
    _, told = person.execute("Please #greet me")
    person.execute("Please #shell it", "--approve", "all", "--session", told["session_id"])
    elsewhere = ("--journal", f"sqlite:{person.place.work.parent / 'elsewhere.db'}")
    imported = person.run("sessions", "import", person.target, "--all", *elsewhere).split()
    assert len(imported) == 1
    code, again = person.execute("Please do it #again", "--session", imported[0], *elsewhere)
    assert (code, again["text"]) == (0, "Still here.")
    conversation = await read_conversation(elsewhere[1], imported[0])
    assert [message.text for message in conversation.messages if message.text] == [
        "Please #greet me",
        "Hello world.",
        "Please #shell it",
        "I will.",
        "I did.",
        "Please do it #again",
        "Still here.",
    ]
    (call,) = conversation.calls.values()
    assert call.status == "completed"
