"""The registry: tools by name, called in a turn and outside of one."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.hubs import collect, events_of, forever, only, run_turn, session_for, soon, text_of

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.content import TextBlock
from trunkline.errors import ConfigurationError
from trunkline.questions import Permission
from trunkline.session.session import Session
from trunkline.tools import Table, ToolContext, ToolDenied, ToolError, ToolRegistry, model_text, tool
from trunkline.workspace import Policy, Rule


@tool(
    kind="execute",
    title="SQL: {query}",
    permission="ask",
    options={"allow_once": "Allow once", "allow_always": "Always allow SQL", "reject_once": "Reject"},
)
async def run_sql(query: str, limit: int = 100, *, ctx: ToolContext) -> Table:
    """Run one read-only query.

    Args:
        query: one SELECT
    """
    ctx.progress("reading\n")
    return Table(("query", "limit"), [(query, limit)])


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    assert threading.current_thread() is not threading.main_thread()
    return a + b


@tool(name="broken")
def break_down() -> None:
    """Break down."""
    raise RuntimeError("out of paper")


REGISTRY = ToolRegistry([run_sql, add, break_down])


class Seed:
    """A tool as the seed has them."""

    name = "sync_transactions"
    description = "Sync with the bank"

    def execute(self, **kwargs: Any) -> dict[str, Any]:
        """Sync."""
        return {"status": "ok", **kwargs}


def calling(*calls: tuple[str, dict[str, Any]]) -> Callable[..., AsyncIterator[str]]:
    """An agent that calls tools one after another and says what a model would read."""

    async def agent(prompt: Prompt) -> AsyncIterator[str]:
        tools = REGISTRY.for_agent()
        for name, arguments in calls:
            try:
                yield model_text(await tools[name](**arguments))
            except (ToolError, RuntimeError) as error:
                yield f"[{type(error).__name__}: {error}]"

    return agent


def pressing(session: Session, option_id: str, **fields: Any) -> Any:
    """Press this button whenever a permission is asked for."""

    async def press(asked: ev.Asked) -> None:
        await session.answer(Answer(question_id=asked.question_id, option_id=option_id, **fields))

    return {ev.Asked: press}


def statuses(events: list[ev.Event]) -> list[str]:
    """What became of the calls, step by step."""
    return [str(update.status) for update in only(events, ev.ToolUpdate) if update.status]


SQL = ("run_sql", {"query": "SELECT 1"})
ADD = ("add", {"a": 2})

# -- in a turn ---------------------------------------------------------------------------------------


async def test_a_call_is_shown_from_its_arguments_to_its_result() -> None:
    events = await run_turn(calling(ADD))
    (call,) = only(events, ev.ToolCall)
    assert (call.name, call.kind) == ("add", "other")
    assert statuses(events) == ["in_progress", "completed"]
    first, last = only(events, ev.ToolUpdate)[0], only(events, ev.ToolUpdate)[-1]
    assert first.input == {"a": 2}
    assert (last.raw_output, last.content) == (3, (TextBlock(text="```json\n3\n```"),))
    assert text_of(events) == "3"


async def test_a_person_is_asked_with_the_words_of_the_tool_and_sees_progress_and_a_table() -> None:
    async with session_for(calling(SQL)) as session:
        events = await collect(session, "go", pressing(session, "allow_once"))
    (call,) = only(events, ev.ToolCall)
    assert (call.title, call.kind) == ("SQL: SELECT 1", "execute")
    (asked,) = only(events, ev.Asked)
    assert isinstance(asked.question, Permission)
    assert asked.question.call_id == call.call_id
    assert [option.name for option in asked.question.options] == [
        "Allow once",
        "Always allow SQL (run_sql)",
        "Reject",
    ]
    assert "reading\n" in [update.output for update in only(events, ev.ToolUpdate)]
    assert statuses(events) == ["in_progress", "completed"]
    shown = only(events, ev.ToolUpdate)[-1].content
    assert shown == (TextBlock(text="| query | limit |\n| --- | --- |\n| SELECT 1 | 100 |"),)
    assert text_of(events) == '{"columns":["query","limit"],"rows":[["SELECT 1",100]]}'


async def test_always_holds_for_every_later_call_of_the_tool_and_is_recorded() -> None:
    async with session_for(calling(SQL, ("run_sql", {"query": "SELECT 2"}))) as session:
        events = await collect(session, "go", pressing(session, "allow_always"))
        assert len(only(events, ev.Asked)) == 1
        (decided,) = only(await events_of(session), ev.Decided)
        assert (decided.allowed, decided.by, decided.tool) == (True, "earlier answer", "run_sql")
        assert not only(await collect(session, "again"), ev.Asked)


async def test_a_refused_call_is_denied_and_does_not_run() -> None:
    async with session_for(calling(SQL)) as session:
        events = await collect(session, "go", pressing(session, "reject_once"))
    assert statuses(events) == ["denied"]
    assert text_of(events) == "[ToolDenied: run_sql did not run: the user refused it]"


@pytest.mark.parametrize("name", ["run_sql", "add"])
async def test_the_policy_of_the_operator_denies_also_what_the_tool_allows(name: str) -> None:
    policy = Policy.allow_all().also(Rule(decision="deny", tool=name))
    events = await run_turn(calling(SQL, ADD), policy=policy)
    assert sorted(statuses(events)) == ["completed", "denied", "in_progress"]
    assert len(only(events, ev.Asked)) == 0


async def test_a_policy_that_asks_asks_about_every_tool() -> None:
    async with session_for(calling(ADD), policy=Policy.ask()) as session:
        events = await collect(session, "go", pressing(session, "allow_once"))
    assert len(only(events, ev.Asked)) == 1
    assert text_of(events) == "3"


async def test_wrong_arguments_fail_the_call_with_the_name_of_the_argument() -> None:
    events = await run_turn(calling(("add", {"a": "two"}), ("add", {"c": 1})))
    assert statuses(events) == ["failed", "failed"]
    reasons = [update.reason for update in only(events, ev.ToolUpdate) if update.status]
    assert reasons[0] == "add did not run: the argument 'a': expected `int`, got `str`"
    assert "'c'" in (reasons[1] or "")


async def test_what_a_tool_raises_fails_its_call_and_is_raised() -> None:
    events = await run_turn(calling(("broken", {})))
    assert statuses(events) == ["in_progress", "failed"]
    assert text_of(events) == "[RuntimeError: out of paper]"


async def test_the_id_that_a_model_gave_is_the_id_of_the_call() -> None:
    async def agent() -> None:
        assert await REGISTRY.call("add", '{"a": 4}', call_id="call_abc") == 5

    (call,) = only(await run_turn(agent), ev.ToolCall)
    assert call.call_id == "call_abc"


async def test_a_cancelled_turn_settles_the_call() -> None:
    started = asyncio.Event()

    @tool
    async def wait() -> None:
        """Wait."""
        started.set()
        await forever()

    async def agent() -> None:
        await ToolRegistry([wait]).call("wait")

    async with session_for(agent) as session:
        running = asyncio.create_task(collect(session, "go"))
        await soon(started.wait())
        await session.cancel()
        assert statuses(await soon(running)) == ["in_progress", "cancelled"]


# -- outside of a turn -------------------------------------------------------------------------------


async def test_outside_of_a_session_a_tool_that_asks_is_refused_with_a_sentence() -> None:
    with pytest.raises(
        ToolDenied, match="run_sql did not run: it needs a permission and there is no session"
    ):
        await REGISTRY.call(*SQL)
    assert isinstance(await REGISTRY.call(*SQL, on_no_session="allow"), Table)
    assert isinstance(await REGISTRY.for_agent(on_no_session="allow")["run_sql"](query="x"), Table)
    assert await REGISTRY.call(*ADD) == 3
    with pytest.raises(ConfigurationError, match="on_no_session is 'refuse' or 'allow'"):
        await REGISTRY.call(*ADD, on_no_session="run")  # pyright: ignore[reportArgumentType]


async def test_an_unknown_tool_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ToolError, match="no tool 'sub'; there are run_sql, add, broken"):
        await REGISTRY.call("sub")
    with pytest.raises(KeyError, match="no tool 'sub'"):
        REGISTRY["sub"]


# -- registering -------------------------------------------------------------------------------------


def test_a_name_is_taken_once() -> None:
    registry = ToolRegistry([add])
    with pytest.raises(ConfigurationError, match="there is a tool 'add' already"):
        registry.register(add)
    assert list(registry) == ["add"]
    assert len(registry) == 1


def test_register_is_a_decorator_with_and_without_keywords() -> None:
    registry = ToolRegistry()

    @registry.register
    def look() -> str:
        """Look."""
        return ""

    @registry.register(kind="edit", name="put")
    def place(x: int) -> str:
        """Put."""
        return ""

    assert (look.kind, place.kind, list(registry)) == ("other", "edit", ["look", "put"])
    with pytest.raises(ConfigurationError, match="look is a tool already"):
        registry.register(look, kind="read")


async def test_an_object_with_a_name_and_execute_is_a_tool() -> None:
    registry = ToolRegistry([Seed()])
    assert registry.schemas() == [
        {
            "name": "sync_transactions",
            "description": "Sync with the bank",
            "parameters": {"type": "object", "properties": {}},
        }
    ]
    assert await registry.call("sync_transactions", {"days": 3}) == {"status": "ok", "days": 3}


def test_the_schemas_are_those_of_the_arguments() -> None:
    assert REGISTRY.schemas()[0] == {
        "name": "run_sql",
        "description": "Run one read-only query.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "one SELECT"},
                "limit": {"type": "integer", "default": 100},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    }
