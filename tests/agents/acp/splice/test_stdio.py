"""The splice as a program: every byte between a real editor and a real agent, and every way to end."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.agents.acp.scripted import scripted
from tests.agents.acp.splice.pairs import BRISK, AgentEnd, End, target_of
from tests.hubs import collect, soon, text_of, until
from tests.process_state import wait_until_gone
from trunkline.agents.targets import resolve_target
from trunkline.commands import Answer
from trunkline.folding import fold
from trunkline.journal import SessionKey, open_journal
from trunkline.session.hub import Hub
from trunkline.session.session import Session

Json = dict[str, Any]


class Program(End):
    """``trunkline acp`` with an editor that the test plays."""

    def __init__(self, process: asyncio.subprocess.Process, journal: str) -> None:
        super().__init__()
        self.process = process
        self.journal = journal
        self.reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(1 << 16):
            self.hear(data)

    def write_line(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    async def call(self, id: Any, method: str, params: Json) -> Json:
        """Ask, and give the answer."""
        self.send(id=id, method=method, params=params)
        return await self.until(id=id)

    async def ended(self) -> tuple[int, str]:
        """How it ended, and what it said on stderr."""
        assert self.process.stderr is not None
        said = await soon(self.process.stderr.read(), 30)
        return await soon(self.process.wait(), 30), said.decode()

    def leave(self) -> None:
        """Close its stdin, as an editor that ends."""
        assert self.process.stdin is not None
        self.process.stdin.close()


@asynccontextmanager
async def program(target: str, folder: Path, options: Sequence[str] = ()) -> AsyncGenerator[Program]:
    journal = f"sqlite:{folder / 'journal.db'}"
    words = [sys.executable, "-m", "trunkline", "acp", target, "--journal", journal, *options]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *words, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, limit=1 << 22
    )
    started = Program(process, journal)
    try:
        yield started
    finally:
        if process.returncode is None:
            process.kill()
        await soon(process.wait(), 30)
        await soon(started.reading)


@asynccontextmanager
async def with_puppet(folder: Path) -> AsyncGenerator[tuple[Program, AgentEnd]]:
    agent = AgentEnd(folder / "puppet")
    async with agent.listening(), program(target_of(agent.path), folder) as editor:
        await soon(agent.connected_event.wait(), 30)
        yield editor, agent


# -- every byte --------------------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.integers().map(str),
    st.integers(10**30, 10**40).map(str),
    st.sampled_from(["1e3", "-0", "1E400", "0.10", "-1.5e-999", "123456789012345678901234567890.0"]),
)
TEXTS = st.one_of(
    st.text(max_size=8).map(json.dumps),
    st.text(max_size=8).map(lambda text: json.dumps(text.replace("\n", ""), ensure_ascii=False)),
    st.sampled_from(['"\\ud83d"', '"\\u00e9\\/"', '"\u2028\u0085"', '"trunkline-1"']),
).filter(lambda text: "\n" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text))
SPACES = st.sampled_from(["", " ", "\t", "  "])
SCALARS = st.one_of(NUMBERS, TEXTS, st.sampled_from(["true", "false", "null"]))


def objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Objects, also with one name twice."""
    names = st.one_of(TEXTS, st.sampled_from(['"a"', '"a"', '"path"', '"sessionId"']))
    members = st.tuples(names, SPACES, values).map(lambda one: f"{one[0]}{one[1]}:{one[1]}{one[2]}")
    return st.lists(members, max_size=4).map(lambda found: "{" + ", ".join(found) + "}")


def deep(value: str) -> str:
    return "[" * 250 + value + "]" * 250


JSON = st.recursive(
    SCALARS,
    lambda values: st.one_of(
        objects(values),
        st.lists(values, max_size=3).map(lambda found: "[" + " ,".join(found) + "]"),
        values.map(deep),
    ),
    max_leaves=6,
)
IDS = st.one_of(
    st.sampled_from(["0", "-1", "null", '"x"', "1.5", "12345678901234567890123", '"trunkline-1"']),
    NUMBERS.filter(lambda number: "." not in number and "e" not in number.lower()),
)
METHODS = st.sampled_from(["_x/one", "craft/drain", "session/unknown", "x", "", "terminal/output"]).map(
    json.dumps
)


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    """A message of any shape, as it might be written."""
    space = draw(SPACES)
    members = ['"jsonrpc":"2.0"']
    kind = draw(st.sampled_from(["request", "notification", "result", "error"]))
    if kind != "notification":
        members.append(f'"id":{space}{draw(IDS)}')
    if kind in ("request", "notification"):
        members.append(f'"method"{space}:{draw(METHODS)}')
        members.append(f'"params":{draw(objects(JSON))}')
    else:
        members.append(f'"{kind}":{space}{draw(JSON)}')
    members += draw(st.lists(JSON.map(lambda value: f'"extra":{value}'), max_size=2))
    return ("{" + space + f"{space},".join(draw(st.permutations(members))) + space + "}").encode()


async def test_every_line_passes_unchanged_between_real_processes(tmp_path: Path) -> None:
    async with with_puppet(tmp_path) as (editor, agent):
        loop = asyncio.get_running_loop()

        async def pass_all(sender: End, receiver: End, lines: list[bytes], cut: int) -> None:
            data = b"".join(line + b"\n" for line in lines)
            sender.write_line(data[:cut])
            await asyncio.sleep(0)
            sender.write_line(data[cut:])
            assert [await receiver.line() for _ in lines] == lines

        @settings(
            max_examples=60,
            deadline=None,
            database=None,
            suppress_health_check=[
                HealthCheck.too_slow,
                HealthCheck.data_too_large,
                HealthCheck.large_base_example,
            ],
        )
        @given(st.lists(messages(), min_size=1, max_size=8), st.integers(0, 400), st.booleans())
        def check(lines: list[bytes], cut: int, from_editor: bool) -> None:
            ends = (editor, agent) if from_editor else (agent, editor)
            asyncio.run_coroutine_threadsafe(pass_all(*ends, lines, cut), loop).result(20)

        await asyncio.to_thread(check)


async def test_a_line_of_600_kilobytes_and_ten_thousand_lines_pass_unchanged(tmp_path: Path) -> None:
    async with with_puppet(tmp_path) as (editor, agent):
        lines = [
            json.dumps({"jsonrpc": "2.0", "method": "_x/n", "params": {"n": n}}).encode()
            for n in range(10_000)
        ]
        lines.append(b'{"jsonrpc":"2.0","method":"_x/long","params":"' + b"x" * 600_000 + b'"}')
        for sender, receiver in ((editor, agent), (agent, editor)):
            sender.write_line(b"\n".join(lines) + b"\n")
            assert [await receiver.line() for _ in lines] == lines


# -- ends --------------------------------------------------------------------------------------------


def scripted_target(*options: str) -> str:
    command, args = scripted(*options)
    return "acp:" + " ".join([command, *args])


async def opened(editor: Program, folder: Path) -> str:
    await editor.call(0, "initialize", {"protocolVersion": 1})
    answer = await editor.call(1, "session/new", {"cwd": str(folder), "mcpServers": []})
    return answer["result"]["sessionId"]


async def pid_of(editor: Program, session_id: str) -> int:
    """The number of the agent's process."""
    params = {"sessionId": session_id, "prompt": [{"type": "text", "text": "pid"}]}
    editor.send(id="pid", method="session/prompt", params=params)
    update = await editor.until(method="session/update")
    await editor.until(id="pid")
    return int(update["params"]["update"]["content"]["text"])


def begin(editor: Program, session_id: str, text: str) -> None:
    params = {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
    editor.send(id="p", method="session/prompt", params=params)


async def kept(editor: Program, session_id: str) -> list[str]:
    """How the turns of a session ended, in the journal."""
    journal = await open_journal(editor.journal)
    try:
        records = await journal.read(SessionKey("local", session_id))
    finally:
        await journal.close()
    conversation = fold(record.event for record in records if record.event is not None)
    return [str(turn.stop_reason or turn.message) for turn in conversation.turns]


async def test_an_agent_that_is_killed_ends_us_with_the_reason_and_fails_the_turn(tmp_path: Path) -> None:
    async with program(scripted_target(), tmp_path) as editor:
        session_id = await opened(editor, tmp_path)
        pid = await pid_of(editor, session_id)
        begin(editor, session_id, "silent")
        await editor.until(method="session/update")
        os.kill(pid, signal.SIGKILL)
        assert "it was ended by SIGKILL" in (await editor.until(id="p"))["error"]["message"]
        code, said = await editor.ended()
        assert code == 1
        assert "it was ended by SIGKILL" in said
        assert (await kept(editor, session_id))[0] == "end_turn"
        assert "SIGKILL" in (await kept(editor, session_id))[1]


async def test_a_crash_is_reported_with_its_code_and_the_end_of_stderr(tmp_path: Path) -> None:
    async with program(scripted_target(), tmp_path) as editor:
        session_id = await opened(editor, tmp_path)
        begin(editor, session_id, "crash")
        message = (await editor.until(id="p"))["error"]["message"]
        assert "it ended with code 3: it went boom" in message
        assert (await editor.ended())[0] == 1


async def test_when_the_editor_leaves_the_turn_is_cancelled_and_nothing_is_left(tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper"
    async with program(scripted_target("--stays", "--setsid", str(sleeper)), tmp_path) as editor:
        session_id = await opened(editor, tmp_path)
        pid = await pid_of(editor, session_id)
        begin(editor, session_id, "silent")
        await editor.until(method="session/update")
        editor.leave()
        assert (await editor.ended())[0] == 0
        wait_until_gone(pid, int(sleeper.read_text()))
        assert await kept(editor, session_id) == ["end_turn", "cancelled"]


async def test_a_signal_ends_us_as_an_editor_that_leaves(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        folder = tmp_path / number.name
        folder.mkdir()
        async with program(scripted_target(), folder) as editor:
            session_id = await opened(editor, folder)
            pid = await pid_of(editor, session_id)
            editor.process.send_signal(number)
            assert (await editor.ended())[0] == 0
            wait_until_gone(pid)


async def test_when_we_are_killed_the_agent_and_all_it_started_end(tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper"
    target = scripted_target("--stays", "--ignore", "TERM,INT", "--setsid", str(sleeper))
    async with program(target, tmp_path) as editor:
        pid = await pid_of(editor, await opened(editor, tmp_path))
        editor.process.kill()
        await soon(editor.process.wait())
        wait_until_gone(pid, int(sleeper.read_text()))


async def test_an_endless_line_of_the_agent_ends_at_the_limit(tmp_path: Path) -> None:
    async with program(scripted_target(), tmp_path) as editor:
        session_id = await opened(editor, tmp_path)
        begin(editor, session_id, "endless")
        answer = await soon(editor.until(id="p"), 60)
        assert "a line of more than 67108864 bytes" in answer["error"]["message"]
        assert (await editor.ended())[0] == 1


async def test_a_command_that_is_not_there_is_the_answer_to_the_first_request(tmp_path: Path) -> None:
    async with program("acp:no-such-agent --acp", tmp_path) as editor:
        answer = await editor.call(0, "initialize", {"protocolVersion": 1})
        assert answer["error"]["message"].startswith("Agent command not found: no-such-agent")
        code, said = await editor.ended()
        assert (code, "Agent command not found" in said) == (2, True)


async def test_a_banner_is_not_forwarded_and_noted_on_stderr(tmp_path: Path) -> None:
    async with program(scripted_target("--banner"), tmp_path) as editor:
        await editor.call(0, "initialize", {"protocolVersion": 1})
        editor.leave()
        code, said = await editor.ended()
        assert (code, "lines on stdout that are no messages" in said) == (0, True)


async def test_without_the_splice_our_own_front_end_answers(tmp_path: Path) -> None:
    async with program(scripted_target(), tmp_path, ["--no-splice"]) as editor:
        answer = await editor.call(0, "initialize", {"protocolVersion": 1})
        assert answer["result"]["agentInfo"]["name"] == "scripted-agent"
        assert "list" in answer["result"]["agentCapabilities"]["sessionCapabilities"]
        new = await editor.call(1, "session/new", {"cwd": str(tmp_path), "mcpServers": []})
        assert new["result"]["sessionId"].startswith("sess_")


async def test_the_switch_is_refused_where_there_is_nothing_to_splice(tmp_path: Path) -> None:
    async with program("demo", tmp_path, ["--no-splice"]) as editor:
        code, said = await editor.ended()
        assert (code, "--no-splice is for agents that speak ACP" in said) == (2, True)


# -- another process ---------------------------------------------------------------------------------


@asynccontextmanager
async def follower(editor: Program, target: str, session_id: str) -> AsyncGenerator[Session]:
    """The session in another process, as far as the journal is concerned: as a page or a chat has it."""
    journal = await open_journal(editor.journal)
    agent = resolve_target(target)
    try:
        async with asyncio.timeout(30), Hub(agent, journal, target=target, settings=BRISK) as hub:
            # The journal is written behind the editor's back.
            while await journal.get(SessionKey("local", session_id)) is None:
                await hub.changed(0.1)
            yield await hub.session(session_id)
    finally:
        await journal.close()


async def test_a_permission_is_answered_first_by_a_client_of_another_process(tmp_path: Path) -> None:
    target = scripted_target()
    async with program(target, tmp_path) as editor:
        session_id = await opened(editor, tmp_path)
        begin(editor, session_id, "ask")
        asked = await editor.until(method="session/request_permission")
        async with follower(editor, target, session_id) as page:
            await until(lambda: bool(page.open_questions), 30)
            (question_id,) = page.open_questions
            await soon(page.answer(Answer(question_id=question_id, option_id="n", by="page")))
        withdrawn = await editor.until(method="$/cancel_request")
        assert withdrawn["params"] == {"requestId": asked["id"]}
        update = await editor.until(method="session/update")
        assert update["params"]["update"]["content"]["text"] == "got n"
        await editor.until(id="p")
        editor.leave()
        assert (await editor.ended())[0] == 0


async def test_a_prompt_of_another_process_runs_at_the_editors_agent(tmp_path: Path) -> None:
    target = scripted_target()
    async with program(target, tmp_path) as editor:
        session_id = await opened(editor, tmp_path)
        pid = await pid_of(editor, session_id)
        async with follower(editor, target, session_id) as page:
            heard = await collect(page, "pid", within=30)
        assert text_of(heard) == str(pid)
        begin(editor, session_id, "hello")  # What the page was told is not shown here.
        update = await editor.until(method="session/update")
        assert update["params"]["update"]["content"]["text"] == "You said hello"
        editor.leave()
        assert (await editor.ended())[0] == 0
