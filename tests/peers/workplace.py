"""A folder in which a real coding agent works: its home, its scripted model, and our journal."""

import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.hubs import collect, only
from tests.peers.coding_agents import CodingAgent, install
from tests.peers.model.replies import Hold, Refuse, Script, say, think
from tests.peers.model.server import ScriptedModel
from tests.process_state import eventually
from trunkline import events as ev
from trunkline.agents.acp import AcpAgent
from trunkline.commands import Answer
from trunkline.conversation import Call, CallPart, Conversation, TextPart, ThoughtPart
from trunkline.journal import open_journal
from trunkline.questions import Permission
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.session.settings import Settings

SECONDS = 60.0
"""How long one turn of a real agent may take on a busy machine."""
LINE = "echo made > made.txt && cat made.txt"
"""A whole shell line, which no program can be started with."""


def script_for(agent: CodingAgent, work: Path) -> Script:
    """What the model says to each prompt."""
    return {
        "#greet": [(say("Hello ", "wor", "ld."),)],
        "#think": [(think("**Plan** I think."), say("I thought."))],
        "#shell": [(say("I will."), agent.shell(LINE)), (say("I did."),)],
        "#write": [(agent.write(work / "written.txt", "hello\n"),), (say("Written."),)],
        "#wait": [(say("First ", Hold(), "second."),)],
        "#error": [(Refuse(400, "scripted refusal"),)],
        "#again": [(say("Still here."),)],
        "#both": [
            (agent.shell("echo one > one.txt"), agent.write(work / "two.txt", "two\n")),
            (say("Both."),),
        ],
    }


class Workplace:
    """An agent, its model and its folders; ``session`` lets it work."""

    def __init__(self, root: Path, agent: CodingAgent, folder: Path, model: ScriptedModel) -> None:
        """Lay the folders out."""
        self.agent = agent
        self.model = model
        self.work = folder / "work"
        self.work.mkdir()
        self.journal = f"sqlite:{folder / 'journal.db'}"
        self.installed = install(root, agent, folder / "home", model)

    @asynccontextmanager
    async def hub(self) -> AsyncGenerator[Hub]:
        """A process of ours, as far as a session is concerned: with nothing but the journal from before."""
        source = AcpAgent(self.installed.command, self.agent.arguments, env=self.installed.env, env_allow=())
        journal = await open_journal(self.journal)
        try:
            async with Hub(source, journal, settings=Settings(), target=self.installed.target) as hub:
                yield hub
        finally:
            await journal.close()

    @asynccontextmanager
    async def session(self, session_id: str | None = None) -> AsyncGenerator[Session]:
        """A new session, or one that the journal has, in a hub of its own."""
        async with self.hub() as hub:
            if session_id is None:
                yield await hub.create(cwd=str(self.work))
            else:
                yield await hub.session(session_id)

    # -- processes ---------------------------------------------------------------------------------

    def processes(self) -> dict[int, list[str]]:
        """Every process that was started with the home of this place, however it was started, by id."""
        mark = f"HOME={self.installed.home}".encode()
        found: dict[int, list[str]] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    words = (folder / "cmdline").read_bytes().decode().split("\0")
                    found[int(folder.name)] = words
        return found

    def kill_agent(self) -> None:
        """End the agent as a crash does: the process that speaks to us, without a word to the others."""
        agents = [pid for pid, words in self.processes().items() if self._is_agent(words)]
        for pid in agents:
            os.kill(pid, signal.SIGKILL)
        assert agents

    def kill_what_it_started(self) -> None:
        """End the processes that the agent has started, and leave the one that speaks to us."""
        for pid, words in self.processes().items():
            if not self._is_agent(words) and "python" not in words[0]:
                os.kill(pid, signal.SIGKILL)

    def _is_agent(self, words: Sequence[str]) -> bool:
        return "node" in Path(words[0]).name and any(self.installed.command in word for word in words[:3])

    def wait_until_left(self) -> None:
        """Wait until no process is left."""
        eventually(lambda: not self.processes(), 10)


def choosing(session: Session, kind: str) -> dict[type[ev.Event], Callable[[Any], Any]]:
    """How to react to every permission: by an option of a kind."""

    async def answer(asked: ev.Asked) -> None:
        assert isinstance(asked.question, Permission)
        option = next(option for option in asked.question.options if option.kind == kind)
        await session.answer(Answer(question_id=asked.question_id, option_id=option.option_id))

    return {ev.Asked: answer}


async def ask(session: Session, prompt: str, answer: str = "allow_once") -> list[Any]:
    """Prompt, answer every permission alike, and give all events of the turn."""
    return await collect(session, prompt, choosing(session, answer), SECONDS)


# -- what a conversation means ----------------------------------------------------------------------


def turn_parts(conversation: Conversation, number: int = -1) -> list[tuple[str, str]]:
    """One turn, part by part in order: text and thoughts in their words, calls by how they ended."""
    turn_id = conversation.turns[number].turn_id
    parts: list[tuple[str, str]] = []
    for message in conversation.messages:
        if message.turn_id != turn_id:
            continue
        if message.role == "user":
            parts.append(("user", message.text))
        for part in message.parts:
            match part:
                case TextPart():
                    parts.append(("text", part.text))
                case ThoughtPart():
                    parts.append(("thought", " ".join(part.text.split())))
                case CallPart():
                    parts.append(("call", conversation.calls[part.call_id].status))
                case _:
                    parts.append(("other", str(part)))
    return _joined(parts)


def _joined(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Texts side by side as one: where a message ends is each agent's own affair."""
    joined: list[tuple[str, str]] = []
    for kind, words in parts:
        if joined and kind == joined[-1][0] == "text":
            joined[-1] = (kind, joined[-1][1] + words)
        else:
            joined.append((kind, words))
    return joined


def shown(call: Call) -> str:
    """Everything that is known of a call, as text to look into."""
    return msgspec.json.encode(call).decode()


def is_asked(events: list[Any]) -> bool:
    return bool(only(events, ev.Asked))
