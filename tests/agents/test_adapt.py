"""adapt(): what it takes, what it refuses and how, factories, and adapters of other packages."""

import functools
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.hubs import collect, echo, hub_for, run_turn, session_for, text_of
from trunkline import events as ev
from trunkline.agents.adapt import FactoryAgent, adapt
from trunkline.agents.function import FunctionAgent, agent
from trunkline.agents.interface import AgentCard, Sayable
from trunkline.commands import Prompt
from trunkline.conversation import Conversation
from trunkline.errors import AgentError, AuthenticationRequired, NotAnAgent
from trunkline.options import ConfigOption
from trunkline.session.context import SessionView, TurnContext
from trunkline.tools import ToolRegistry

OPTIONS = (ConfigOption(option_id="loud", name="Loud", value=False),)


class Whole:
    """An agent with every hook that concerns a session; it notes what is asked of it."""

    def __init__(self, calls: list[str] | None = None) -> None:
        self.card = AgentCard(name="whole")
        self.calls = [] if calls is None else calls

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield f"{id(self)}"

    async def open_session(self, session: SessionView) -> None:
        self.calls.append(f"open {session.session_id}")

    async def close_session(self, session: SessionView) -> None:
        self.calls.append(f"close {session.session_id}")

    async def rewind(self, session: SessionView, to_message_id: str | None) -> None:
        self.calls.append(f"rewind to {to_message_id}")

    async def set_config(
        self, session: SessionView, options: tuple[ConfigOption, ...]
    ) -> tuple[ConfigOption, ...] | None:
        self.calls.append(f"set {options[0].value}")
        return OPTIONS

    async def history(self, session: SessionView) -> Conversation | None:
        self.calls.append(f"remember {session.session_id}")
        return Conversation()

    async def fork(self, session: SessionView, origin: SessionView) -> None:
        self.calls.append(f"fork {session.session_id} of {origin.session_id}")

    async def delete_session(self, session: SessionView) -> None:
        self.calls.append(f"delete {session.session_id}")

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[Sayable]:
        yield f"resumed with {', '.join(answers)}"


class Talker:
    """Can be called."""

    async def __call__(self, prompt: Prompt) -> str:
        return prompt.text


# -- what is an agent --------------------------------------------------------------------------------


def test_an_agent_is_adapted_as_itself() -> None:
    whole, decorated = Whole(), agent(echo)
    assert adapt(whole) is whole
    assert adapt(decorated, name="other") is decorated


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (echo, "echo"),
        (Talker(), "Talker"),
        (functools.partial(echo), "echo"),
        (Talker().__call__, "__call__"),
    ],
)
async def test_anything_that_can_be_called_is_an_agent_of_that_name(thing: Any, name: str) -> None:
    adapted = adapt(thing)
    assert isinstance(adapted, FunctionAgent)
    assert adapted.card.name == name
    assert adapt(thing, name="chosen").card.name == "chosen"
    assert text_of(await run_turn(adapted, "hi")).strip() == "hi"


def test_a_class_is_refused_with_the_way_to_an_instance() -> None:
    with pytest.raises(NotAnAgent, match=r"Whole is a class, not an agent: .* as in Whole\(\)"):
        adapt(Whole)


@pytest.mark.parametrize(
    ("thing", "expected"), [(None, "None"), (42, "an object of type int"), ([], "an object of type list")]
)
def test_what_is_no_agent_is_refused_with_what_would_be_one(thing: Any, expected: str) -> None:
    with pytest.raises(NotAnAgent) as caught:
        adapt(thing)
    assert str(caught.value).startswith(
        f"{expected} is not an agent: use a function that takes (prompt, ctx)"
    )


def test_a_registry_is_refused_with_what_can_be_done_with_its_tools() -> None:
    with pytest.raises(NotAnAgent, match=r"is no agent: .*for_agent\(\).* or serve them .* trunkline mcp"):
        adapt(ToolRegistry())


def test_an_agent_without_a_proper_card_is_refused() -> None:
    class Odd:
        card: Any = "odd"

        def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            return echo(prompt)

    with pytest.raises(NotAnAgent, match=r"type Odd has run.*its card is not a trunkline.AgentCard"):
        adapt(Odd())


def test_a_callable_that_cannot_be_read_is_no_agent() -> None:
    class Unreadable:
        __signature__ = "none"

        def __call__(self) -> None: ...

    with pytest.raises(NotAnAgent, match="signature is unknown"):
        adapt(Unreadable())


# -- factories ---------------------------------------------------------------------------------------


async def test_a_factory_makes_an_agent_per_session_and_closes_it_with_its_session() -> None:
    calls: list[str] = []

    def build(session: SessionView) -> Whole:
        """Builds."""
        return Whole(calls)

    factory = adapt(build)
    assert isinstance(factory, FactoryAgent)
    assert (factory.card.name, factory.card.description) == ("build", "Builds.")
    async with hub_for(factory) as hub:
        one, two = await hub.create("one"), await hub.create("two")
        first = text_of(await collect(one, "hi"))
        assert text_of(await collect(one, "again")) == first
        assert text_of(await collect(two, "hi")) != first
        await one.close()
        assert [line for line in calls if "remember" not in line] == ["open one", "open two", "close one"]
    assert calls[-1] == "close two"


async def test_principals_with_sessions_of_the_same_id_do_not_share_an_agent() -> None:
    def build(session: SessionView) -> Any:
        return lambda: session.principal

    async with hub_for(adapt(build)) as hub:
        ann = await hub.create("thread", principal="ann")
        bob = await hub.create("thread", principal="bob")
        for session in (ann, bob, ann):
            assert text_of(await collect(session, "who?")) == session.info.principal


async def test_a_factory_may_be_async_and_give_another_factory() -> None:
    async def build(session: SessionView) -> Any:
        def inner(session: SessionView) -> Any:
            return echo

        return inner

    assert text_of(await run_turn(adapt(build), "hi there")) == "hi there "


async def test_a_factory_passes_every_hook_on() -> None:
    whole = Whole()
    view = SessionView(session_id="s")
    factory = FactoryAgent(lambda session: whole, AgentCard(name="f"))
    await factory.open_session(view)
    await factory.rewind(view, "m1")
    assert await factory.set_config(view, OPTIONS) == OPTIONS
    assert await factory.history(view) == Conversation()
    await factory.fork(view, SessionView(session_id="o"))
    await factory.delete_session(view)
    await factory.close_session(view)
    assert whole.calls == [
        "open s", "rewind to m1", "set False", "remember s", "fork s of o", "delete s", "close s",
    ]  # fmt: skip
    assert view.memory == {}


async def test_a_memory_is_asked_without_opening_the_session() -> None:
    whole = Whole()
    view = SessionView(session_id="s")
    factory = FactoryAgent(lambda session: whole, AgentCard(name="f"))
    assert await factory.history(view) == Conversation()
    await factory.fork(view, SessionView(session_id="o"))
    await factory.delete_session(view)
    assert whole.calls == ["remember s", "fork s of o", "delete s"]
    assert view.memory == {}


async def test_hooks_that_a_made_agent_lacks_do_nothing() -> None:
    async with hub_for(adapt(_build_echo)) as hub:
        session = await hub.create()
        session.view.options = OPTIONS
        await collect(session, Prompt.of("hi", message_id="m1"))
        await session.rewind("m1")
        await session.set_config("loud", True)
        assert session.view.config == {"loud": True}
        fork = await hub.fork(session)
        await session.close()
        assert (await (await hub.session(session.session_id)).history()).messages
        assert await hub.delete(fork.session_id)


def _build_echo(session: SessionView) -> Any:
    return echo


async def test_a_turn_goes_on_in_the_agent_that_a_factory_made_or_is_refused() -> None:
    answers = {"key": ev.Answered(question_id="q", outcome="accepted")}

    def build(session: SessionView) -> Any:
        return Whole() if session.session_id == "able" else echo

    factory = FactoryAgent(build, AgentCard(name="f"))

    async def go_on(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        await factory.open_session(ctx.session)
        async for item in factory.resume(answers, ctx):
            yield item

    async with hub_for(go_on) as hub:
        assert text_of(await collect(await hub.create("able"), "x")) == "resumed with key"
        failed = (await collect(await hub.create("unable"), "x"))[-1]
        assert isinstance(failed, ev.TurnFailed)
        assert failed.message == "f cannot go on after a restart: send the prompt again"


async def test_a_factory_that_fails_names_the_cause_and_is_tried_again() -> None:
    problems: list[Exception] = [KeyError("API_KEY"), AuthenticationRequired("log in first")]

    def build(session: SessionView) -> Any:
        if problems:
            raise problems.pop(0)
        return echo

    async with session_for(adapt(build)) as session:
        with pytest.raises(AgentError, match="build could not make an agent for this session: KeyError"):
            await session.prompt("hi")
        with pytest.raises(AuthenticationRequired, match="log in first"):
            await session.prompt("hi")
        assert text_of(await collect(session, "hi")) == "hi "


async def test_a_factory_that_gives_no_agent_is_refused() -> None:
    def build(session: SessionView) -> Any:
        return 42

    async with session_for(adapt(build)) as session:
        with pytest.raises(NotAnAgent, match="an object of type int is not an agent"):
            await session.prompt("hi")
        assert (await session.history()).messages == []


@pytest.mark.parametrize(
    ("is_factory", "source"),
    [
        (True, "lambda session: 0"),
        (True, "lambda session, model='x', **more: 0"),
        (True, "lambda *, session: 0"),
        (False, "lambda session, ctx: 0"),
        (False, "lambda prompt: 0"),
        (False, "lambda session=None: 0"),
    ],
)
def test_a_factory_is_known_by_its_one_parameter_named_session(is_factory: bool, source: str) -> None:
    assert isinstance(adapt(eval(source)), FactoryAgent) is is_factory


# -- adapters of other packages ----------------------------------------------------------------------

PACKAGE = """
import trunkline


class Graph:
    def __call__(self, prompt):
        return "called as a function"


class Unknown:
    pass


class Strange:
    pass


def adapt_graph(thing):
    if isinstance(thing, Graph):
        return trunkline.agent(name="graph")(lambda: "as a graph")


def adapt_strange(thing):
    return 42 if isinstance(thing, Strange) else None


def adapt_badly(thing):
    raise ValueError("of no use")


def refuse(thing):
    raise trunkline.TrunklineError("graphs need a checkpointer")
"""

CHILD = """
import json, sys
import trunkline, frames

results = []
for expression in sys.argv[1:]:
    try:
        agent = trunkline.adapt(eval(expression))
        results.append(agent.card.name)
    except trunkline.TrunklineError as error:
        results.append(f"{type(error).__name__}: {error}")
print(json.dumps(results))
"""


def adapt_in_child(folder: Path, points: list[str], *expressions: str) -> list[str]:
    """Install a tiny distribution with these entry points and adapt things where it is installed."""
    (folder / "frames.py").write_text(PACKAGE)
    about = folder / "frames-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: frames\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("\n".join(["[trunkline.adapters]", *points, ""]))
    program = f"import sys; sys.path.insert(0, {str(folder)!r})\n{CHILD}"
    command = [sys.executable, "-c", program, *expressions]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    return json.loads(done.stdout)


def test_an_installed_adapter_recognises_its_own_objects_before_anything_else_does(tmp_path: Path) -> None:
    points = ["graph = frames:adapt_graph"]
    got = adapt_in_child(tmp_path, points, "frames.Graph()", "frames.adapt_graph", "frames.Unknown()")
    assert got[:2] == ["graph", "adapt_graph"]
    assert got[2].startswith("NotAnAgent: an object of type Unknown is not an agent")


def test_a_broken_adapter_is_named_and_does_not_stop_the_others(tmp_path: Path) -> None:
    points = ["absent = frames:nothing", "bad = frames:adapt_badly", "graph = frames:adapt_graph"]
    got = adapt_in_child(tmp_path, points, "frames.Graph()", "frames.adapt_graph", "frames.Unknown()")
    assert got[:2] == ["graph", "adapt_graph"]
    assert got[2].startswith(
        "ConfigurationError: no adapter took an object of type Unknown, and the adapter "
    )
    assert "'absent' (frames:nothing) failed with AttributeError: " in got[2]
    assert "'bad' (frames:adapt_badly) failed with ValueError: of no use" in got[2]
    assert got[2].endswith("repair or uninstall the package that brings it")


def test_an_adapter_that_gives_something_else_or_refuses_is_reported(tmp_path: Path) -> None:
    points = ["strange = frames:adapt_strange"]
    got = adapt_in_child(tmp_path, points, "frames.Strange()")
    assert "'strange' (frames:adapt_strange) gave an object of type int instead of an agent" in got[0]


def test_the_error_text_of_an_adapter_reaches_the_person(tmp_path: Path) -> None:
    got = adapt_in_child(tmp_path, ["refusing = frames:refuse"], "frames.Graph()")
    assert got == ["TrunklineError: graphs need a checkpointer"]


def test_an_object_of_langchain_without_our_adapter_says_that_trunkline_is_not_wholly_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_points(**which: str) -> tuple[()]:
        return ()

    monkeypatch.setattr("trunkline.agents.adapt.entry_points", no_points)
    graph = type("Graph", (), {"__module__": "langgraph.graph"})
    for thing in (graph(), type("Mine", (graph,), {})()):
        with pytest.raises(NotAnAgent, match=r"own adapter is not registered; install Trunkline again"):
            adapt(thing)
