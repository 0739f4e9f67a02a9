"""Tests of modes: chosen in a session or per thread, held against every call."""

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware, TodoListMiddleware, ToolCallLimitMiddleware
from langchain_core.messages import SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.agents.langchain.graphs import agent_of, calls_of, run_turn
from tests.agents.langchain.middleware.recording_channel import Ear
from tests.agents.langchain.untyped_langchain import create_agent, create_deep_agent
from tests.frontends.acp.memory_editor import editing
from tests.hubs import collect, hub_for, only, session_for, text_of
from trunkline import adapt
from trunkline import events as ev
from trunkline.agents.langchain.channel import use_channel
from trunkline.agents.langchain.middleware.mode import READY_MODES, Mode, ModeMiddleware
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware, Rule
from trunkline.commands import Answer
from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.questions import Permission
from trunkline.session.session import Session
from trunkline.testing.chat import ScriptedChatModel, call

PROMPT: Any = {"messages": [("user", "go")]}
ran: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


@tool
def read_note(name: str) -> str:
    """Read a note."""
    ran.append(f"read {name}")
    return "a note"


@tool
def write_note(name: str) -> str:
    """Write a note."""
    ran.append(f"write {name}")
    return "written"


TOOLS: tuple[BaseTool, ...] = (read_note, write_note)
WRITE = call("write_note", {"name": "a"}, "w1")
READ = call("read_note", {"name": "a"}, "r1")


async def in_mode(session: Session, mode: str) -> None:
    await session.set_config("mode", mode)


def on(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


# -- what the model gets ---------------------------------------------------------------------------


async def test_a_mode_shapes_prompt_tools_and_settings_of_the_next_model_call() -> None:
    modes = {
        "plain": Mode(),
        "terse": Mode(system_prompt="Be brief.", allowed_tools=["read_*"], model_settings={"temperature": 0}),
    }
    agent, model = agent_of(
        "One.", "Two.", tools=TOOLS, system_prompt="Be kind.", middleware=[ModeMiddleware(modes)]
    )
    async with session_for(agent) as session:
        await collect(session, "first")
        await in_mode(session, "terse")
        await collect(session, "second")
    first, second = model.calls
    assert (first.messages[0].text, first.tool_names) == ("Be kind.", ["read_note", "write_note"])
    assert (second.messages[0].text, second.tool_names) == ("Be kind.\n\nBe brief.", ["read_note"])
    assert "temperature" not in first.settings
    assert second.settings["temperature"] == 0


async def test_a_change_within_a_turn_counts_from_the_next_model_call_on() -> None:
    sessions: list[Session] = []

    @tool
    async def look_away() -> str:
        """Wait until somebody changes the mode."""
        await in_mode(sessions[0], "readonly")
        return "done"

    agent, model = agent_of(
        [call("look_away")], [WRITE], "Well.", tools=[*TOOLS, look_away], middleware=[ModeMiddleware()]
    )
    async with hub_for(agent) as hub:
        sessions.append(await hub.create())
        events = await collect(sessions[0], "go")
    assert [one.tool_names for one in model.calls][1:] == [["read_note"], ["read_note"]]
    assert ran == []
    assert calls_of(events)["w1"].status == "denied"


def test_a_system_message_of_blocks_keeps_them() -> None:
    own = {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}
    blocks = SystemMessage(content=[own])
    modes = {"terse": Mode(system_prompt="Be brief.")}
    model = ScriptedChatModel("One.")
    create_agent(model, [], system_prompt=blocks, middleware=[ModeMiddleware(modes)]).invoke(PROMPT)
    first, second = model.calls[0].messages[0].content
    assert first == own
    assert second == {"type": "text", "text": "\n\nBe brief."}


def test_a_mode_speaks_also_where_the_agent_has_no_prompt() -> None:
    model = ScriptedChatModel("One.")
    create_agent(model, [], middleware=[ModeMiddleware({"terse": Mode(system_prompt="Be brief.")})]).invoke(
        PROMPT
    )
    assert model.calls[0].messages[0] == SystemMessage("Be brief.", id=model.calls[0].messages[0].id)


class Choosing(AgentMiddleware[Any, Any, Any]):
    """Holds the model to a choice of tools."""

    def __init__(self, choice: Any, *more: Any) -> None:
        super().__init__()
        self._choice, self._more = choice, more

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(tool_choice=self._choice, tools=[*request.tools, *self._more]))


@pytest.mark.parametrize(
    ("allowed", "choice", "kept"),
    [
        (["read_*"], "write_note", None),
        (["read_*"], {"type": "function", "function": {"name": "write_note"}}, None),
        (["read_*"], "read_note", "read_note"),
        (["read_*"], "any", "any"),
        (["read_*"], "auto", "auto"),
        ([], "any", None),
    ],
)
def test_a_choice_of_tools_is_dropped_when_it_cannot_be_made(allowed: Any, choice: Any, kept: Any) -> None:
    model = ScriptedChatModel("One.")
    middleware = [Choosing(choice), ModeMiddleware({"few": Mode(allowed_tools=allowed)})]
    create_agent(model, list(TOOLS), middleware=middleware).invoke(PROMPT)
    assert model.calls[0].settings.get("tool_choice") == kept


def test_tools_of_the_provider_are_known_by_name_or_type() -> None:
    given: Any = (
        {"type": "web_search"},
        {"type": "function", "function": {"name": "delete_all", "parameters": {}}},
    )
    model = ScriptedChatModel("One.")
    middleware = [Choosing(None, *given), ModeMiddleware(default_mode="readonly")]
    create_agent(model, list(TOOLS), middleware=middleware).invoke(PROMPT)
    assert [one.get("function", one).get("name", one["type"]) for one in model.calls[0].tools] == [
        "read_note",
        "web_search",
    ]


# -- the ready modes -------------------------------------------------------------------------------


async def test_agentic_runs_everything_without_asking() -> None:
    agent, _ = agent_of([READ, WRITE], "Done.", tools=TOOLS, middleware=[ModeMiddleware()])
    async with hub_for(agent) as hub, editing(hub) as editor:
        await editor.prompt(await editor.open(), "go")
    assert sorted(ran) == ["read a", "write a"]
    assert editor.asked("session/request_permission") == []


@pytest.mark.parametrize(
    ("choice", "done"), [("allow_once", ["read a", "write a"]), ("reject_once", ["read a"])]
)
async def test_interactive_asks_before_what_does_more_than_read(choice: str, done: list[str]) -> None:
    agent, model = agent_of([READ, WRITE], "Done.", tools=TOOLS, middleware=[ModeMiddleware()])
    async with hub_for(agent) as hub, editing(hub) as editor:
        session = await editor.open()
        await editor.call("session/set_mode", sessionId=session, modeId="interactive")
        editor.permit(choice)
        await editor.prompt(session, "go")
    [asked] = editor.asked("session/request_permission")
    assert asked["toolCall"]["toolCallId"] == "w1"
    assert sorted(ran) == done
    assert model.calls[0].tool_names == ["read_note", "write_note"]


async def test_readonly_offers_and_runs_only_what_reads() -> None:
    agent, model = agent_of([READ, WRITE], "Done.", tools=TOOLS, middleware=[ModeMiddleware()])
    async with session_for(agent) as session:
        await in_mode(session, "readonly")
        events = await collect(session, "go")
    assert ran == ["read a"]
    assert model.calls[0].tool_names == ["read_note"]
    shown = calls_of(events)
    assert (shown["r1"].status, shown["w1"].status) == ("completed", "denied")
    told = next(
        one for one in model.calls[1].messages if isinstance(one, ToolMessage) and one.status == "error"
    )
    assert told.tool_call_id == "w1"
    assert "mode 'readonly' does not allow it" in told.text


@pytest.mark.parametrize(
    ("name", "hints", "allowed"),
    [
        ("frobnicate", {"readOnlyHint": True}, True),
        ("frobnicate", None, False),
        ("get_report", {"readOnlyHint": False}, False),
        ("get_report", {"destructiveHint": True}, False),
        ("get_report", {"readOnlyHint": None}, True),
    ],
)
def test_readonly_believes_what_an_mcp_server_says_of_its_tools(name: str, hints: Any, allowed: bool) -> None:
    @tool(name)
    def made() -> str:
        """Do something."""
        return "done"

    made.metadata = hints
    model = ScriptedChatModel([call(name)], "Done.")
    agent = create_agent(model, [made], middleware=[ModeMiddleware(default_mode="readonly")])
    answer = agent.invoke(PROMPT)["messages"][2]
    assert (model.calls[0].tool_names == [name]) is (answer.text == "done") is allowed


def test_a_mapper_says_what_a_tool_does() -> None:
    model = ScriptedChatModel("Done.")
    middleware = ModeMiddleware(
        default_mode="readonly", tool_kind_mapper=lambda name: "read" if name == "write_note" else None
    )
    create_agent(model, list(TOOLS), middleware=[middleware]).invoke(PROMPT)
    assert model.calls[0].tool_names == ["read_note", "write_note"]


async def test_planning_asks_for_a_plan_shows_it_and_puts_the_work_off() -> None:
    agent, model = agent_of(
        [WRITE],
        "So:\n1. Read the note\n2. Write it",
        tools=TOOLS,
        middleware=[ModeMiddleware(default_mode="planning")],
    )
    events = await run_turn(agent, "go")
    assert ran == []
    assert "planning mode" in model.calls[0].messages[0].text
    assert "write_note is put off: mode 'planning'" in model.calls[1].messages[-1].text
    [plan] = only(events, ev.Plan)
    assert [entry.content for entry in plan.entries] == ["Read the note", "Write it"]


async def test_planning_lets_the_todo_tool_make_the_plan() -> None:
    agent, model = agent_of(
        [call("write_todos", {"todos": [{"content": "Look", "status": "pending"}]})],
        "That is:\n1. Look\n2. Nothing else",
        tools=TOOLS,
        middleware=[ModeMiddleware(default_mode="planning"), TodoListMiddleware()],
    )
    events = await run_turn(agent, "go")
    assert model.calls[0].tool_names == ["write_todos", "read_note"]
    assert [[entry.content for entry in plan.entries] for plan in only(events, ev.Plan)] == [["Look"]]


# -- subagents -------------------------------------------------------------------------------------


def deep(*answers: Any, **options: Any) -> Any:
    """A deep agent whose subagent writes a note, if it can."""
    delegate = call("task", {"description": "delve", "subagent_type": "general-purpose"}, "t1")
    model = ScriptedChatModel(by_prompt={"delve": answers, "": [[delegate], "Done."]})
    return create_deep_agent(model=model, tools=list(TOOLS), **options)


async def test_readonly_holds_below_the_task_tool() -> None:
    async with session_for(adapt(deep([WRITE, READ], "Reported.", middleware=[ModeMiddleware()]))) as session:
        await in_mode(session, "readonly")
        events = await collect(session, "go")
    assert ran == ["read a"]
    [shown] = [one for one in calls_of(events).values() if one.name == "write_note"]
    assert shown.status == "denied"
    assert "mode 'readonly'" in (shown.reason or "")
    assert text_of([event for event in events if event.lane is None]) == "Done."


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_readonly_holds_below_the_task_tool_without_a_session(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    agent = deep([WRITE, READ], "Reported.", middleware=[ModeMiddleware(default_mode="readonly")])
    if way == "invoke":
        result = agent.invoke(PROMPT)
    else:
        result = await agent.ainvoke(PROMPT)
    assert ran == ["read a"]
    assert result["messages"][-1].text == "Done."
    assert caplog.text == ""


@pytest.mark.parametrize("choice", ["allow_once", "reject_once"])
async def test_interactive_asks_below_the_task_tool(choice: str) -> None:
    async with (
        hub_for(adapt(deep([WRITE], "Reported.", middleware=[ModeMiddleware()]))) as hub,
        editing(hub) as editor,
    ):
        session = await editor.open()
        await editor.call("session/set_mode", sessionId=session, modeId="interactive")
        editor.permit(choice)
        await editor.prompt(session, "go")
    assert len(editor.asked("session/request_permission")) == 1
    assert ran == (["write a"] if choice == "allow_once" else [])


@pytest.mark.parametrize("mode_first", [True, False])
@pytest.mark.parametrize("below", [True, False])
async def test_a_call_that_mode_and_policy_gate_is_asked_about_once(mode_first: bool, below: bool) -> None:
    both: list[Any] = [ModeMiddleware(default_mode="interactive"), PermissionMiddleware({"read_*": Rule()})]
    middleware = both if mode_first else both[::-1]
    agent = (
        deep([WRITE, READ], "Reported.", middleware=middleware)
        if below
        else create_agent(ScriptedChatModel([WRITE, READ], "Done."), list(TOOLS), middleware=middleware)
    )
    async with hub_for(adapt(agent)) as hub, editing(hub) as editor:
        editor.permit("allow_once")
        await editor.prompt(await editor.open(), "go")
    asked = [one["toolCall"]["toolCallId"][:2] for one in editor.asked("session/request_permission")]
    assert sorted(asked) == ["r1", "w1"]
    assert sorted(ran) == ["read a", "write a"]


# -- choosing --------------------------------------------------------------------------------------


async def test_an_editor_chooses_a_mode_by_its_option_too() -> None:
    agent, model = agent_of("Done.", tools=TOOLS, middleware=[ModeMiddleware()])
    async with hub_for(agent) as hub, editing(hub) as editor:
        session = await editor.open()
        await editor.call("session/set_config_option", sessionId=session, configId="mode", value="readonly")
        refused = await editor.refused(
            "session/set_config_option", sessionId=session, configId="mode", value="yolo"
        )
        await editor.prompt(session, "go")
    assert "choose one of agentic, interactive, readonly, planning" in refused.message
    assert model.calls[0].tool_names == ["read_note"]


async def test_two_sessions_of_one_agent_have_modes_of_their_own() -> None:
    agent, model = agent_of("One.", "Two.", tools=TOOLS, middleware=[ModeMiddleware()])
    async with hub_for(agent) as hub:
        first, second = await hub.create(), await hub.create()
        await in_mode(first, "readonly")
        await collect(first, "go")
        await collect(second, "go")
    assert [one.tool_names for one in model.calls] == [["read_note"], ["read_note", "write_note"]]


async def test_a_tool_ends_the_planning() -> None:
    modes = ModeMiddleware(default_mode="planning")

    @tool
    def exit_plan_mode() -> str:
        """Begin to work."""
        modes.switch_mode("agentic")
        return "go"

    agent, model = agent_of(
        [call("exit_plan_mode")], [WRITE], "Done.", tools=[*TOOLS, exit_plan_mode], middleware=[modes]
    )
    async with hub_for(agent) as hub, editing(hub) as editor:
        await editor.prompt(await editor.open(), "go")
    assert editor.updates("current_mode_update")[-1]["currentModeId"] == "agentic"
    assert model.calls[0].tool_names == ["read_note", "exit_plan_mode"]
    assert ran == ["write a"]


def test_without_a_session_each_thread_has_its_mode() -> None:
    modes = ModeMiddleware()
    model = ScriptedChatModel("One.", "Two.", "Three.")
    agent = create_agent(model, list(TOOLS), middleware=[modes])
    modes.set_mode("1", "readonly")
    agent.invoke(PROMPT, on("1"))
    agent.invoke(PROMPT, on("2"))
    modes.set_mode("1", "agentic")
    agent.invoke(PROMPT, on("1"))
    both = ["read_note", "write_note"]
    assert [one.tool_names for one in model.calls] == [["read_note"], both, both]


def test_the_modes_of_the_threads_used_last_are_kept() -> None:
    modes = ModeMiddleware()
    for number in range(10_000):
        modes.set_mode(str(number), "readonly")
    modes.mode_of(Ear("0"))
    modes.set_mode("one more", "readonly")
    kept = [modes.mode_of(Ear(thread)) for thread in ("0", "1", "2", "one more")]
    assert kept == ["readonly", "agentic", "readonly", "readonly"]


def test_a_tool_changes_the_mode_of_a_thread() -> None:
    modes = ModeMiddleware()

    @tool
    def calm_down() -> str:
        """Change nothing from now on."""
        modes.switch_mode("readonly")
        return "calm"

    model = ScriptedChatModel([call("calm_down")], "Done.", [call("calm_down")], "Done.")
    agent = create_agent(model, [*TOOLS, calm_down], middleware=[modes])
    agent.invoke(PROMPT, on("1"))
    assert [len(one.tools) for one in model.calls] == [3, 1]
    with pytest.raises(InvalidCommand, match="give its config a thread_id"):
        agent.invoke(PROMPT)


def test_a_channel_without_modes_hears_of_a_change() -> None:
    modes, ear = ModeMiddleware(), Ear("1")
    with use_channel(ear):
        modes.switch_mode("planning")
    assert modes.mode_of(ear) == "planning"
    [changed] = only(ear.heard, ev.ConfigChanged)
    assert changed.options == modes.options("planning")


def test_outside_of_a_run_there_is_no_mode_to_change() -> None:
    modes = ModeMiddleware()
    modes.set_mode("1", "readonly")
    assert modes.mode_of(None) == "agentic"
    with pytest.raises(InvalidCommand, match="no thread"):
        modes.switch_mode("readonly")


def test_a_plain_run_in_planning_mode_shows_its_plan_to_whoever_listens() -> None:
    model = ScriptedChatModel("So:\n1. Look\n2. Write", "So:\n1. Sleep\n2. Eat")
    agent = create_agent(model, list(TOOLS), middleware=[ModeMiddleware(default_mode="planning")])
    ear = Ear()
    with use_channel(ear):
        agent.invoke(PROMPT)
    agent.invoke(PROMPT)
    assert ear.plans == [["Look", "Write"]]


def test_a_call_is_asked_about_each_time_also_when_a_careless_model_repeats_its_id() -> None:
    model = ScriptedChatModel([WRITE], [WRITE], "Done.")
    agent = create_agent(model, list(TOOLS), middleware=[ModeMiddleware(default_mode="interactive")])
    ear = Ear()
    with use_channel(ear):
        agent.invoke(PROMPT)
    assert (len(ear.asked), ran) == (2, ["write a", "write a"])


@pytest.mark.parametrize("change", ["set_mode", "switch_mode", "options"])
def test_an_unknown_mode_is_refused_with_the_known_ones(change: str) -> None:
    modes = ModeMiddleware()
    given: Any = ("1", "yolo") if change == "set_mode" else ("yolo",)
    with pytest.raises(InvalidCommand, match="no mode 'yolo'; choose one of agentic, interactive, readonly"):
        getattr(modes, change)(*given)


def test_a_mode_of_the_session_that_an_agent_does_not_know_is_not_its_mode() -> None:
    assert ModeMiddleware(default_mode="readonly").mode_of(Ear(mode="theirs")) == "readonly"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"modes": {}}, "modes map ids to Mode.*agentic, interactive, readonly, planning"),
        ({"modes": [Mode()]}, "modes map ids to Mode"),
        ({"modes": {"a": Mode(), "b": "x"}}, r"the mode 'b' is a Mode\(...\) or a dict of name, description"),
        ({"modes": {"b": {"colour": "red"}}}, "the mode 'b' has no field 'colour': it has name, description"),
        ({"modes": {"b": {"allowed_kinds": ["no"]}}}, "allowed_kinds cannot be"),
        ({"modes": {"": Mode()}}, "the id of a mode is a text, not ''"),
        ({"modes": {1: Mode()}}, "the id of a mode is a text, not 1"),
        ({"default_mode": "yolo"}, "default_mode 'yolo' is not one of agentic, interactive"),
    ],
)
def test_modes_that_could_never_work_are_refused(wrong: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        ModeMiddleware(**wrong)


def test_a_mode_may_be_a_dict_of_its_fields() -> None:
    given: Any = {"careful": {"system_prompt": "Look twice.", "allowed_kinds": ["read"]}}
    assert ModeMiddleware(given).modes == {
        "careful": Mode(system_prompt="Look twice.", allowed_kinds=["read"])
    }


def test_the_option_of_a_session_names_and_describes_the_modes() -> None:
    modes = {"deep_dive": Mode(description="Reads all"), "readonly": READY_MODES["readonly"]}
    [option] = ModeMiddleware(modes).options()
    assert (option.option_id, option.category, option.value) == ("mode", "mode", "deep_dive")
    assert [choice.name for choice in option.choices] == ["Deep dive", "Read only"]
    assert option.choices[0].description == "Reads all"


# -- asking ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "done"), [("allow_once", ["write a"]), ("reject_once", [])])
def test_a_plain_agent_asks_too(answer: str, done: list[str]) -> None:
    model = ScriptedChatModel([WRITE], "Done.")
    agent = create_agent(model, list(TOOLS), middleware=[ModeMiddleware(default_mode="interactive")])
    ear = Ear(answer=answer)
    with use_channel(ear):
        agent.invoke(PROMPT)
    assert len(ear.asked) == 1
    assert ran == done


async def test_what_a_person_edits_is_what_runs() -> None:
    modes = ModeMiddleware(default_mode="interactive")
    agent, _ = agent_of([WRITE], "Done.", tools=TOOLS, middleware=[modes])

    async def edit(asked: ev.Asked) -> None:
        assert isinstance(asked.question, Permission)
        option = asked.question.options[0].option_id
        await session.answer(
            Answer(question_id=asked.question_id, outcome="selected", option_id=option, input={"name": "b"})
        )

    async with session_for(agent) as session:
        await collect(session, "go", {ev.Asked: edit})
    assert ran == ["write b"]


def test_nobody_to_ask_means_no() -> None:
    model = ScriptedChatModel([WRITE], "Done.")
    modes = ModeMiddleware(default_mode="interactive")
    result = create_agent(model, list(TOOLS), middleware=[modes]).invoke(PROMPT)
    assert result["messages"][2].status == "error"
    assert ran == []


def test_with_a_checkpointer_a_plain_run_stops_and_goes_on() -> None:
    model = ScriptedChatModel([WRITE], "Done.")
    modes = ModeMiddleware(default_mode="interactive")
    agent = create_agent(model, list(TOOLS), middleware=[modes], checkpointer=InMemorySaver())
    stopped = agent.invoke(PROMPT, on("1"))
    assert (len(stopped["__interrupt__"]), ran) == (1, [])
    agent.invoke(Command(resume={"type": "approve"}), on("1"))
    assert ran == ["write a"]


def test_a_call_that_another_middleware_ends_is_left_alone() -> None:
    model = ScriptedChatModel([WRITE], [WRITE], "Done.")
    limit: Any = ToolCallLimitMiddleware(run_limit=1)
    create_agent(model, list(TOOLS), middleware=[ModeMiddleware(), limit]).invoke(PROMPT)
    assert ran == ["write a"]
