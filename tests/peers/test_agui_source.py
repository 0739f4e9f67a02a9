"""AG-UI servers of other people as agents on the trunk: what they do is what shows up here.

The same prompts are played on ag-ui-langgraph, on pydantic-ai and on a server of ours, each in a process
and an environment of its own.
"""

import asyncio
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.faults.servers import SECRET, serving
from tests.hubs import BRISK, collect, hub_for, only, soon, text_of, until
from tests.peers.client_plans import ABLE, Stage
from tests.peers.session_views import heard_view
from tests.peers.test_python_sdk import driver_in
from trunkline import events as ev
from trunkline.agents.agui import AguiAgent
from trunkline.commands import Answer, Prompt
from trunkline.folding import fold
from trunkline.journal import open_journal
from trunkline.questions import ClientCall, Form, Permission
from trunkline.session.hub import Hub
from trunkline.session.session import Session

pytestmark = pytest.mark.slow

PICK = {"name": "pick_colour", "description": "Let the person pick.", "parameters": {"type": "object"}}
Choose = Callable[[ev.Asked], Answer]


@contextmanager
def peer(name: str, root: Path) -> Generator[str]:
    """A server of the peers' environment; gives its address."""
    python, _ = driver_in("agui-peers", root)
    program = root / f"tests/peers/python/{name}.py"
    with subprocess.Popen([python, program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


@asynccontextmanager
async def talking(url: str) -> AsyncGenerator[Session]:
    async with hub_for(AguiAgent(url)) as hub:
        yield await hub.create()


async def play(session: Session, prompt: Prompt | str, choose: Choose | None = None) -> list[Any]:
    """Play a turn; questions are answered when all of them were asked."""
    asked: list[ev.Asked] = []

    async def note(question: ev.Asked) -> None:
        asked.append(question)

    async def answer(_: ev.TurnSuspended) -> None:
        assert choose is not None
        waiting, asked[:] = asked[:], []
        for question in waiting:
            await session.answer(choose(question))

    return await collect(session, prompt, {ev.Asked: note, ev.TurnSuspended: answer})


def allow(asked: ev.Asked, kind: str = "allow_once", **fields: Any) -> Answer:
    assert isinstance(asked.question, Permission), asked.question
    option = next(option for option in asked.question.options if option.kind == kind)
    return Answer(question_id=asked.question_id, option_id=option.option_id, **fields)


def reject(asked: ev.Asked) -> Answer:
    return allow(asked, "reject_once")


def finished(events: list[Any]) -> bool:
    return isinstance(events[-1], ev.TurnFinished) and events[-1].stop_reason == "end_turn"


async def until_end(reader: Any) -> AsyncIterator[Any]:
    async with asyncio.timeout(20):
        async for entry in reader:
            yield entry
            if isinstance(entry.event, ev.TurnFinished | ev.TurnFailed):
                return


class SourceContract:
    """What has to be the same whoever serves the agent."""

    @classmethod
    def serve(cls, root: Path, folder: Path) -> Any:
        """A context manager that gives the address."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def url(cls, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
        with cls.serve(root, tmp_path_factory.mktemp("peer")) as url:
            yield url

    @pytest.fixture(autouse=True)
    def token(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TRUNKLINE_AGUI_TOKEN", SECRET)

    async def test_two_turns_are_one_conversation(self, url: str) -> None:
        async with talking(url) as session:
            assert text_of(await play(session, "hello there")) == "hello there "
            again = await play(session, "and?")
            assert text_of(again) == "hello there | and? "
            assert finished(again)
            folded = await session.history()
            assert [message.text for message in folded.messages] == [
                "hello there",
                "hello there ",
                "and?",
                "hello there | and? ",
            ]

    async def test_a_call_has_its_arguments_its_result_and_one_place(self, url: str) -> None:
        async with talking(url) as session:
            events = await play(session, "tool")
            (call,) = fold(events).calls.values()
            assert (call.name, call.input, call.status) == ("weather", {"city": "Paris"}, "completed")
            assert call.raw_output == "Sunny in Paris"
            assert text_of(events) == "Sunny in Paris. "
            assert only(events, ev.Notice) == []
            again = fold(await play(session, "tool"))
            assert [(call.input, call.raw_output) for call in again.calls.values()] == [
                ({"city": "Paris"}, "Sunny in Paris")
            ], "also when the model uses its id again"
            assert text_of(await play(session, "and?")) == "tool | tool | and? "

    @pytest.mark.parametrize(("choose", "expected"), [(allow, "sold shoes"), (reject, "")], ids=["yes", "no"])
    async def test_an_interrupt_is_a_question_and_the_answer_decides(
        self, choose: Choose, expected: str, url: str
    ) -> None:
        async with talking(url) as session:
            events = await play(session, "sell", choose)
            (asked,) = only(events, ev.Asked)
            (call,) = fold(events).calls.values()
            assert isinstance(asked.question, Permission)
            assert asked.question.call_id == call.call_id
            assert call.input == {"what": "shoes"}
            assert ("sold" in text_of(events)) is bool(expected)
            assert expected in text_of(events)
            assert finished(events)

    async def test_what_a_person_edits_is_what_is_done(self, url: str) -> None:
        async with talking(url) as session:
            events = await play(session, "sell", lambda asked: allow(asked, input={"what": "hats"}))
            assert "sold hats" in text_of(events)

    async def test_two_questions_are_asked_together_and_each_has_its_own_answer(self, url: str) -> None:
        async with talking(url) as session:

            def choose(asked: ev.Asked) -> Answer:
                assert isinstance(asked.question, Permission)
                wanted = fold(events).calls[asked.question.call_id].input == {"what": "shoes"}
                return allow(asked) if wanted else reject(asked)

            asked: list[ev.Asked] = []
            events: list[Any] = []
            async with asyncio.timeout(20):
                async for event in session.stream("sell both"):
                    events.append(event)
                    if isinstance(event, ev.Asked):
                        asked.append(event)
                    if isinstance(event, ev.TurnSuspended):
                        assert len(asked) == 2
                        await session.answer(*map(choose, asked))
            assert finished(events), events[-1]
            assert "sold shoes" in text_of(events)
            assert "sold hats" not in text_of(events)
            assert len(fold(events).calls) == 2

    async def test_an_answer_after_a_restart_reaches_the_server(self, url: str, tmp_path: Path) -> None:
        journal = await open_journal(f"sqlite:{tmp_path / 'journal.db'}")
        async with Hub(AguiAgent(url), journal, settings=BRISK, target="peer") as hub:
            session = await hub.create("durable")
            await session.prompt("sell")
            await until(lambda: session.is_suspended)
        async with Hub(AguiAgent(url), journal, settings=BRISK, target="peer") as hub:
            session = await hub.session("durable")
            await session.own()
            (asked,) = session.open_questions.values()
            async with session.follow() as reader:
                await session.answer(allow(asked))
                events = [entry.event async for entry in until_end(reader)]
            assert "sold shoes" in text_of(events)
            assert len((await session.history()).calls) == 1
        await journal.close()

    async def test_state_is_shown_and_given_back(self, url: str) -> None:
        async with talking(url) as session:
            await play(session, "state")
            state: dict[str, Any] = session.view.state
            assert state["visits"] == 1
            assert "messages" not in state, "the conversation is told once"

    reason: ClassVar[str] = "the provider hung up"
    """What the server tells of an exception of its agent."""

    async def test_an_agent_that_fails_fails_here_with_what_its_server_tells(self, url: str) -> None:
        async with talking(url) as session:
            events = await play(session, "fail")
            assert text_of(events) == "Before. "
            assert isinstance(events[-1], ev.TurnFailed)
            assert self.reason in events[-1].message
            assert finished(await play(session, "and?"))

    async def test_a_cancelled_turn_ends_at_once_and_the_next_one_is_answered(self, url: str) -> None:
        async with talking(url) as session:
            turn = asyncio.ensure_future(play(session, "slow"))
            await until(lambda: session.stored_seq > 2)
            await soon(session.cancel(), 5)
            events = await turn
            assert isinstance(events[-1], ev.TurnFinished)
            assert events[-1].stop_reason == "cancelled"
            assert finished(await play(session, "and?"))

    async def test_a_tool_of_the_front_end_is_run_there_and_its_result_arrives(self, url: str) -> None:
        async with talking(url) as session:

            def run(asked: ev.Asked) -> Answer:
                assert isinstance(asked.question, ClientCall)
                assert (asked.question.name, asked.question.input) == ("pick_colour", {"of": ["red", "blue"]})
                return Answer(question_id=asked.question_id, outcome="accepted", content="blue")

            events = await play(session, Prompt.of("pick", tools=(PICK,)), run)
            assert "blue. " in text_of(events)
            (call,) = fold(events).calls.values()
            assert call.status == "completed"
            assert finished(events)


class TestOurs(SourceContract):
    """A server of ours, which tells exceptions by their type."""

    reason = "RuntimeError"

    @classmethod
    @contextmanager
    def serve(cls, root: Path, folder: Path) -> Generator[str]:
        with serving(folder, f"{root}/tests/peers/agents.py:shop") as server:
            yield f"http://127.0.0.1:{server.port}/agui"


class TestPydanticAi(SourceContract):
    """pydantic-ai 2.66."""

    @classmethod
    def serve(cls, root: Path, folder: Path) -> Any:
        return peer("serve_pydantic_ai", root)


class TestLangGraph(SourceContract):
    """ag-ui-langgraph 0.0.47, told to say interrupts as outcomes."""

    @classmethod
    def serve(cls, root: Path, folder: Path) -> Any:
        return peer("serve_langgraph", root)

    async def test_a_question_without_a_form_is_answered_with_a_text(self, url: str) -> None:
        async with talking(url) as session:

            def name(asked: ev.Asked) -> Answer:
                assert isinstance(asked.question, Form)
                assert asked.question.message == "What is your name?"
                return Answer(question_id=asked.question_id, outcome="accepted", content={"answer": "Ada"})

            assert "They said Ada" in text_of(await play(session, "ask", name))

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [({}, "sold shoes. "), ({"input": {"what": "hats"}}, "sold hats. "), ({"kind": "reject_once"}, "")],
        ids=["approve", "edit", "reject"],
    )
    async def test_a_review_of_langchains_middleware_is_a_permission(
        self, answer: dict[str, Any], expected: str, url: str
    ) -> None:
        async with talking(f"{url}/review") as session:
            events = await play(session, "review", lambda asked: allow(asked, **answer))
            (asked,) = only(events, ev.Asked)
            (call,) = fold(events).calls.values()
            assert isinstance(asked.question, Permission)
            assert asked.question.call_id == call.call_id
            assert expected in text_of(events)
            assert ("sold" in text_of(events)) is bool(expected)
            assert finished(events)


class TestLangGraphByDefault(TestLangGraph):
    """The same with the settings it comes with: interrupts are custom events, and nothing is an outcome."""

    @pytest.fixture(scope="class")
    @classmethod
    def url(cls, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
        with cls.serve(root, tmp_path_factory.mktemp("peer")) as url:
            yield f"{url}/default"


def test_a_server_of_somebody_else_shows_up_in_an_editor(root: Path, tmp_path: Path) -> None:
    """``trunkline acp agui:URL``, driven by a client on the official SDK."""
    with peer("serve_langgraph", root) as url:
        stage = Stage(tmp_path, driver_in("acp-sdk-1.0rc", root))
        report = stage.play(
            [
                stage.new("s"),
                stage.prompt("hello", "s", "hello there"),
                stage.prompt("sell", "s", "sell both", answers=["approve", "reject"]),
                stage.prompt("fail", "s", "fail"),
            ],
            target=f"agui:{url}",
            capabilities=ABLE,
        )
    steps = report["steps"]
    assert steps["hello"]["result"]["stopReason"] == "end_turn"
    ((_, output),) = next(iter(heard_view(steps["hello"]["heard"])["messages"].values()))
    assert output == "hello there "
    # Behind Reject there is a form, for a reason or an answer in the tool's place.
    requests = [item["params"] for item in steps["sell"]["heard"] if "method" in item]
    asked = [params for params in requests if "toolCall" in params]
    assert [params["toolCall"]["rawInput"] for params in asked] == [{"what": "shoes"}, {"what": "hats"}]
    calls = heard_view(steps["sell"]["heard"])["calls"].values()
    assert [call["status"] for call in calls] == ["completed", "completed"]
    assert "the provider hung up" in steps["fail"]["error"]["data"]["details"]
