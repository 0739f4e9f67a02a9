"""One session in an editor and in a web page: ``trunkline acp`` and ``trunkline serve`` on one journal."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from tests.agents.acp.splice.test_stdio import Program, begin, opened, program, scripted_target
from tests.faults.servers import Connection, Server, run_input, serving, text_of
from tests.hubs import soon, until
from tests.process_state import eventually
from trunkline.agents.acp.native_session import kept_id
from trunkline.agents.acp.splice.held_prompts import WENT_ON
from trunkline.journal import SessionKey, open_journal

T = TypeVar("T")
Json = dict[str, Any]


class Page:
    """A web page: it sends prompts to the server, and follows one session."""

    def __init__(self, server: Server, session_id: str) -> None:
        self.server = server
        self.session_id = session_id
        self.events: list[Json] = []
        self._news = asyncio.Condition()
        self._runs = 0

    async def run(self, text: str) -> str:
        """Run a prompt as an AG-UI client does, and give the answer's text."""
        self._runs += 1
        body = run_input(text, self.session_id, f"r{self._runs}")
        heard = await _in_thread(lambda: self.server.run(body))
        assert heard[-1]["type"] == "RUN_FINISHED", heard
        return text_of(heard)

    async def known(self) -> None:
        """Wait until the server knows the session: the journal is written behind the editor's back."""
        path = f"/sessions/{self.session_id}"
        await _in_thread(lambda: eventually(lambda: self.server.ask("GET", path)[0] == 200))

    async def command(self, **command: Any) -> tuple[int, Any]:
        """Send a command to the session."""
        path = f"/sessions/{self.session_id}/commands"
        return await _in_thread(lambda: self.server.ask("POST", path, json.dumps(command).encode()))

    @asynccontextmanager
    async def following(self) -> AsyncGenerator[None]:
        """Follow the session as SSE."""
        connection = await _in_thread(self.server.connect)
        following = asyncio.create_task(self._follow(connection))
        try:
            yield
        finally:
            connection.socket.shutdown(2)
            with suppress(OSError, ValueError):
                await soon(following)
            connection.hang_up()

    async def _follow(self, connection: Connection) -> None:
        path = f"/sessions/{self.session_id}"
        await _in_thread(lambda: connection.request("GET", path, accept="text/event-stream"))
        events = await _in_thread(connection.events)
        while (event := await _in_thread(lambda: next(events, None))) is not None:
            async with self._news:
                self.events.append(event)
                self._news.notify_all()

    async def seen(self, text: str, *, turns: int) -> None:
        """Wait until the page shows a text, and the ends of so many turns."""

        def shown() -> bool:
            said = "".join(_event(one).get("delta", "") for one in self.events)
            ends = sum(_event(one).get("type") == "turn_finished" for one in self.events)
            return text in said and ends == turns

        async with asyncio.timeout(30), self._news:
            await self._news.wait_for(shown)

    async def history(self) -> list[str]:
        """The prompts and the ends of turns that the journal has, in order."""
        records = await _in_thread(lambda: self.server.records(self.session_id))
        told: list[str] = []
        for event in records:
            if event["type"] == "user_message":
                told.append(event["content"][0]["text"])
            elif event["type"] in ("turn_finished", "turn_failed"):
                told.append(event.get("stop_reason", "end_turn" if "finished" in event["type"] else "failed"))
        return told


def _event(shown: Json) -> Json:
    return shown.get("event", shown)


async def _in_thread(work: Callable[[], T]) -> T:
    return await soon(asyncio.to_thread(work), 40)


@asynccontextmanager
async def served(folder: Path, target: str) -> AsyncGenerator[Server]:
    """``trunkline serve`` on the journal of the folder."""
    server = serving(folder, target)
    try:
        yield await asyncio.to_thread(server.__enter__)
    finally:
        await asyncio.to_thread(server.__exit__, None, None, None)


def remembering(folder: Path) -> str:
    """The TARGET of an agent whose sessions are known to all of its processes."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return scripted_target("--home", str(home))


async def native_id(folder: Path, session_id: str) -> str:
    """The agent's id of a session."""
    journal = await open_journal(f"sqlite:{folder / 'journal.db'}")
    try:
        info = await journal.get(SessionKey("local", session_id))
        assert info is not None
        found = kept_id(info.kept)
        assert found is not None
        return found
    finally:
        await journal.close()


def has_open(editor: Program, name: str) -> bool:
    """Whether the program of an editor has opened a file."""
    files = list(Path(f"/proc/{editor.process.pid}/fd").iterdir())
    with suppress(OSError):
        return any(file.readlink().name == name for file in files)
    return False


async def prompt(editor: Program, session_id: str, text: str) -> str:
    """Let the editor send a prompt; gives what the agent says."""
    begin(editor, session_id, text)
    said = ""
    while (message := await soon(editor.next(), 30)).get("id") != "p":
        said += message.get("params", {}).get("update", {}).get("content", {}).get("text", "")
    return said


async def test_a_session_of_a_page_goes_on_in_an_editor_and_in_the_page_again(tmp_path: Path) -> None:
    target = remembering(tmp_path)
    async with served(tmp_path, target) as server:
        page = Page(server, "t1")
        assert await page.run("from the page") == "You said from the page"
        known = await native_id(tmp_path, "t1")
        async with page.following():
            async with program(target, tmp_path) as editor:
                await editor.call(0, "initialize", {"protocolVersion": 1})
                await editor.call(1, "session/load", {"sessionId": known, "cwd": "/", "mcpServers": []})
                assert await prompt(editor, known, "from the editor") == "You said from the editor"
                await page.seen("You said from the editor", turns=2)
                # The page's prompt runs at the editor's agent, and is not shown in the editor.
                assert await page.run("while both are there") == "You said while both are there"
                assert '"from the editor"' in await prompt(editor, known, "recall")
                editor.leave()
                code, said = await editor.ended()
                assert code == 0
                assert "not journalled" not in said
            assert '"from the editor"' in await page.run("recall")  # Another process, which has loaded it.
            await page.seen("You said while both are there", turns=5)
        texts = ["from the page", "from the editor", "while both are there", "recall", "recall"]
        assert await page.history() == [part for text in texts for part in (text, "end_turn")]


async def test_a_session_of_an_editor_goes_on_in_a_page_and_in_an_editor_again(tmp_path: Path) -> None:
    target = remembering(tmp_path)
    async with served(tmp_path, target) as server:
        async with program(target, tmp_path) as editor:
            session_id = await opened(editor, tmp_path)
            assert await prompt(editor, session_id, "one") == "You said one"
            page = Page(server, session_id)
            await page.known()
            async with page.following():
                await page.seen("You said one", turns=1)
            editor.leave()
            assert (await editor.ended())[0] == 0
        status, answer = await page.command(type="prompt", content=[{"type": "text", "text": "two"}])
        assert status == 200, answer
        async with page.following():
            await page.seen("You said two", turns=2)
        async with program(target, tmp_path) as again:
            await again.call(0, "initialize", {"protocolVersion": 1})
            await again.call(1, "session/resume", {"sessionId": session_id, "cwd": "/", "mcpServers": []})
            assert '"two"' in await prompt(again, session_id, "recall")
            again.leave()
            assert "not journalled" not in (await again.ended())[1]
        assert await page.history() == ["one", "end_turn", "two", "end_turn", "recall", "end_turn"]


async def test_a_prompt_of_an_editor_waits_for_the_turn_of_the_page(tmp_path: Path) -> None:
    target = remembering(tmp_path)
    async with served(tmp_path, target) as server:
        page = Page(server, "t1")
        await page.run("first")
        known = await native_id(tmp_path, "t1")
        load: Json = {"sessionId": known, "cwd": "/", "mcpServers": []}
        async with page.following():
            await page.command(type="prompt", content=[{"type": "text", "text": "silent"}])
            await page.seen("waiting", turns=1)
            async with program(target, tmp_path) as editor:
                await editor.call(0, "initialize", {"protocolVersion": 1})
                await editor.call(1, "session/load", load)
                begin(editor, known, "meanwhile")
                await until(lambda: has_open(editor, "journal.db"), 30)
                assert (await page.command(type="cancel"))[0] == 200
                while (answer := await soon(editor.next(), 30)).get("id") != "p":
                    pass
                # The agent of the editor was asked for the session before that turn was over.
                assert answer["error"]["message"] == WENT_ON
                await editor.call(2, "session/load", load)
                assert await prompt(editor, known, "now") == "You said now"
                await page.seen("You said now", turns=3)
                editor.leave()
                assert "not journalled" not in (await editor.ended())[1]
        assert await page.history() == ["first", "end_turn", "silent", "cancelled", "now", "end_turn"]


async def test_a_hand_over_is_no_command_of_a_client(tmp_path: Path) -> None:
    async with served(tmp_path, remembering(tmp_path)) as server:
        page = Page(server, "t1")
        await page.run("first")
        status, answer = await page.command(type="hand_over", to="me")
        assert (status, "no command of a client" in str(answer)) == (422, True)
