"""The AG-UI side as its users write it: each example and each option, in every way to call an agent."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import tool

from tests.agents.langchain.agui_client import WAYS, Page, Way, model
from tests.agents.langchain.graphs import weather
from tests.agents.langchain.recorded_updates import PROMPT, on_thread
from tests.agents.langchain.test_usage_over_acp import gives, option_names
from tests.agents.langchain.untyped_langchain import create_agent
from tests.hubs import soon
from tests.server.running_server import served
from trunkline.agents.langchain import TrunklineContext, agui_agent, agui_middleware, agui_system, emit_plan
from trunkline.conformance.agui.event_verifier import breaches
from trunkline.errors import ConfigurationError
from trunkline.frontends.agui import AguiEvent, console_transport, encode, to_dict
from trunkline.testing.chat import ScriptedChatModel, call


@tool
def plan_ahead() -> str:
    """Show a plan, and say much."""
    emit_plan(["Look", "Tell"])
    return "x" * 200


def events_of(page: Page) -> list[str]:
    """The types of what a client got, without steps, each run of one type once."""
    kinds = [one["type"] for one in page.events if not one["type"].startswith("STEP")]
    return [kind for at, kind in enumerate(kinds) if not at or kind != kinds[at - 1]]


# -- approaches A and B ----------------------------------------------------------------------------

Call = tuple[Any, dict[str, Any]]
"""An agent, and what a run of it is given besides its input."""


def wrapper(script: Any, page: Page, **options: Any) -> Call:
    return agui_agent(script, [weather], transport=page, **options), {}


def wrapper_with_a_transport_per_run(script: Any, page: Page, **options: Any) -> Call:
    return agui_agent(script, [weather], **options), {"transport": page}


def bound_callbacks(script: Any, page: Page, **options: Any) -> Call:
    own = agui_middleware(page, **options)
    return create_agent(script, [weather], middleware=own).with_config({"callbacks": own.callbacks}), {}


def passed_callbacks(script: Any, page: Page, **options: Any) -> Call:
    middleware, callbacks = agui_system(page, **options)
    agent = create_agent(script, [weather], middleware=[*middleware])
    return agent, {"config": {"callbacks": callbacks}}


def transport_in_the_context(script: Any, page: Page, **options: Any) -> Call:
    middleware, callbacks = agui_system(**options)
    agent = create_agent(script, [weather], middleware=middleware, context_schema=TrunklineContext)
    return agent, {"config": {"callbacks": callbacks}, "context": TrunklineContext(transport=page)}


def only_the_middleware(script: Any, page: Page, **options: Any) -> Call:
    return create_agent(script, [weather], middleware=[agui_middleware(page, **options)]), {}


APPROACHES = pytest.mark.parametrize(
    "approach",
    [
        wrapper,
        wrapper_with_a_transport_per_run,
        bound_callbacks,
        passed_callbacks,
        transport_in_the_context,
        only_the_middleware,
    ],
    ids=lambda made: made.__name__,
)


@WAYS
@APPROACHES
async def test_a_client_sees_the_whole_run_however_the_agent_is_put_together(
    run: Way, approach: Callable[..., Call], page: Page
) -> None:
    agent, given = approach(model(), page)
    await run(agent, PROMPT, **given)
    kinds = events_of(page)
    assert (kinds[0], kinds[-1], page.outcome) == ("RUN_STARTED", "RUN_FINISHED", "success")
    assert page.text == "Let me look. It is sunny."
    assert page.call("call_1")["result"] == "It is sunny in Paris."
    pieces = [one for one in page.events if one["type"] == "TEXT_MESSAGE_CONTENT"]
    assert len(pieces) == 6, "word by word"


@WAYS
@APPROACHES
async def test_a_run_that_fails_ends_once_and_leaves_nothing_open(
    run: Way, approach: Callable[..., Call], page: Page
) -> None:
    agent, given = approach(ScriptedChatModel(["Well, ", ValueError("no more tokens")]), page)
    with pytest.raises(ValueError, match="no more tokens"):
        await run(agent, PROMPT, **given)
    kinds = events_of(page)
    assert (kinds[0], kinds[-1], kinds.count("RUN_ERROR")) == ("RUN_STARTED", "RUN_ERROR", 1)
    assert page.terminal["code"] == "MODEL_INVOCATION_ERROR"


@WAYS
async def test_the_callbacks_of_the_user_are_called_beside_ours(run: Way, page: Page) -> None:
    class Mine(BaseCallbackHandler):
        seen = 0

        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            self.seen += 1

    mine = Mine()
    config = on_thread("t1", mine)
    await run(agui_agent(model(), [weather], transport=page), PROMPT, config)
    assert (mine.seen, page.text) == (2, "Let me look. It is sunny.")
    assert config["callbacks"] == [mine]


@WAYS
async def test_the_transport_of_a_run_goes_before_that_of_the_middleware(run: Way, page: Page) -> None:
    base, second = Page(), Page()
    middleware, callbacks = agui_system(base)
    script = ScriptedChatModel("Hello.", each_turn=True)
    agent = create_agent(script, middleware=middleware, context_schema=TrunklineContext)
    for run_id, client in (("r1", page), ("r2", second)):
        config = {"configurable": {"thread_id": "t1", "run_id": run_id}, "callbacks": callbacks}
        await run(agent, PROMPT, config, context=TrunklineContext(transport=client))
        assert (client.text, client.events[0]["threadId"], client.events[0]["runId"]) == (
            "Hello.", "t1", run_id,
        )  # fmt: skip
    assert base.events == []


# -- approach C ------------------------------------------------------------------------------------


async def test_the_server_takes_a_request_and_streams_events() -> None:
    page = Page()
    page.say("Do I need a coat?")
    async with served(create_agent(model(), [weather])) as (_, http):
        answer = await soon(http.post("/agui", json=page.body()))
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert breaches(events) == []
    page.take(events)
    assert (page.text, page.outcome) == ("Let me look. It is sunny.", "success")


# -- transports ------------------------------------------------------------------------------------


class Emitter:
    """Transports as users write them: each keeps what its client would read."""

    def __init__(self, write: Callable[[AguiEvent], str]) -> None:
        self.read: list[str] = []
        self._write = write

    def emit(self, event: AguiEvent) -> None:
        self.read.append(self._write(event))


WRITERS: list[tuple[Callable[[AguiEvent], str], str]] = [
    (lambda event: json.dumps(to_dict(event)), ""),
    (lambda event: f"data: {json.dumps(to_dict(event))}\n\n", "data: "),
    (lambda event: encode(event).decode(), ""),
]


@WAYS
@pytest.mark.parametrize(("write", "prefix"), WRITERS, ids=["WebSocket", "server-sent events", "encoder"])
async def test_a_transport_is_an_object_that_can_emit(
    run: Way, write: Callable[[AguiEvent], str], prefix: str
) -> None:
    transport = Emitter(write)
    await run(agui_agent(model(), [weather], transport=transport), PROMPT)
    page = Page()
    page.take([json.loads(one.removeprefix(prefix)) for one in transport.read])
    assert (page.text, page.outcome) == ("Let me look. It is sunny.", "success")


@WAYS
async def test_a_transport_for_debugging_prints_everything(run: Way) -> None:
    screen = io.StringIO()
    agent = create_agent(
        model(), [weather], middleware=[agui_middleware(console_transport(screen), error_detail_level="full")]
    )
    await run(agent, PROMPT)
    kinds = [line.split()[0] for line in screen.getvalue().splitlines()]
    assert (kinds[0], kinds[-1]) == ("RUN_STARTED", "RUN_FINISHED")


# -- the options -----------------------------------------------------------------------------------


def result(page: Page) -> Any:
    return page.call("call_1")["result"]


def kinds_with(word: str) -> Callable[[Page], list[str]]:
    return lambda page: [one["type"] for one in page.events if word in one["type"]]


def ids(page: Page) -> tuple[str, str]:
    return page.events[0]["threadId"], page.events[0]["runId"]


Check = Callable[[Page], Any]
OPTIONS: list[tuple[dict[str, Any], Check, Any]] = [
    ({"emit_tool_results": True}, result, "x" * 200),
    ({"emit_tool_results": False}, result, None),
    ({"emit_activities": True}, kinds_with("ACTIVITY"), ["ACTIVITY_SNAPSHOT"]),
    ({"emit_activities": False}, kinds_with("CUSTOM"), ["CUSTOM"]),
    ({"max_ui_payload_size": 100}, result, "x" * 100 + "\n[cut here: 200 bytes in all]"),
    ({"max_ui_payload_size": 0}, result, "x" * 200),
    ({"thread_id_override": "t9"}, lambda page: ids(page)[0], "t9"),
    ({"run_id_override": "r9"}, lambda page: ids(page)[1], "r9"),
    ({"content_mapper": gives(None)}, result, "x" * 200),
    ({"content_mapper": gives([{"type": "text", "text": "short"}])}, result, "short"),
]


@WAYS
@pytest.mark.parametrize("approach", [wrapper, passed_callbacks], ids=lambda made: made.__name__)
@pytest.mark.parametrize(("options", "check", "expected"), OPTIONS, ids=option_names)
async def test_an_option_does_what_its_name_says(
    run: Way, approach: Any, options: dict[str, Any], check: Check, expected: Any, page: Page
) -> None:
    script = ScriptedChatModel(call("plan_ahead", {}), "Done.")
    if approach is wrapper:
        agent, given = agui_agent(script, [plan_ahead], transport=page, **options), {}
    else:
        middleware, callbacks = agui_system(page, **options)
        agent = create_agent(script, [plan_ahead], middleware=middleware)
        given = {"callbacks": callbacks}
    await run(agent, PROMPT, {"configurable": {"thread_id": "t1", "run_id": "r1"}, **given})
    assert check(page) == expected


@WAYS
@pytest.mark.parametrize("approach", [wrapper, passed_callbacks], ids=lambda made: made.__name__)
@pytest.mark.parametrize(
    ("level", "code", "words"),
    [
        ("full", "MODEL_INVOCATION_ERROR", "the key is sesame"),
        ("message", "MODEL_INVOCATION_ERROR", "ValueError"),
        ("code", "MODEL_INVOCATION_ERROR", "the run failed"),
        ("none", None, "the run failed"),
    ],
)
async def test_an_error_says_as_much_as_the_option_allows(
    run: Way, approach: Any, level: str, code: str | None, words: str, page: Page
) -> None:
    agent, given = approach(
        ScriptedChatModel(ValueError("the key is sesame")), page, error_detail_level=level
    )
    with pytest.raises(ValueError, match="sesame"):
        await run(agent, PROMPT, **given)
    assert (page.terminal.get("code"), words in page.terminal["message"]) == (code, True)
    assert ("sesame" in str(page.events)) == (level == "full")


@pytest.mark.parametrize("make", [agui_agent, agui_middleware, agui_system], ids=lambda made: made.__name__)
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"emit_tool_results": "yes"}, r"\w"),
        ({"emit_state_snapshots": "sometimes"}, "initial, final, all, none"),
        ({"emit_activities": 1}, r"\w"),
        ({"max_ui_payload_size": -1}, "max_ui_payload_size"),
        ({"chunk_large_results": True}, r"\w"),
        ({"thread_id_override": 7}, r"\w"),
        ({"error_detail_level": "loud"}, "full, message, code, none"),
        ({"transport": object()}, r"plain function emit\(event\)"),
    ],
    ids=lambda given: next(iter(given)),
)
def test_a_wrong_option_is_refused_when_the_agent_is_made(make: Any, wrong: dict[str, Any], why: str) -> None:
    with pytest.raises((ConfigurationError, TypeError), match=why):
        make(*([ScriptedChatModel()] if make is agui_agent else []), **wrong)
