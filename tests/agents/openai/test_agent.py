from tests.agents.openai.sdk_agents import agent_of, broken, call, named, sent, weather
from tests.hubs import collect, only, run_turn, session_for, text_of
from trunkline import events as ev
from trunkline.folding import fold


async def test_an_unmodified_agent_streams_its_answer() -> None:
    agent, _ = agent_of("It is sunny.")
    events = await run_turn(agent, "How is the weather?")
    assert text_of(events) == "It is sunny."
    assert isinstance(events[-1], ev.TurnFinished)
    assert events[-1].stop_reason == "end_turn"


async def test_a_call_goes_from_pending_over_in_progress_to_completed_under_its_own_id() -> None:
    agent, _ = agent_of([call("weather", "w1", city="Paris")], "Sunny.")
    events = await run_turn(agent, "How is the weather?")
    assert [event.status for event in only(events, ev.ToolUpdate) if event.status] == [
        "in_progress",
        "completed",
    ]
    made = named(fold(events))["w1"]
    assert (made.name, made.input, made.raw_output) == ("weather", {"city": "Paris"}, "It is sunny in Paris.")


async def test_a_tool_that_raises_is_failed_and_the_model_is_told() -> None:
    agent, model = agent_of([call("broken", "b1", why="no fuel")], "Sorry.", tools=[broken, weather])
    events = await run_turn(agent)
    shown = named(fold(events))["b1"]
    assert shown.status == "failed"
    assert "no fuel" in (shown.reason or "")
    assert sent(model)[-1][0] == "output b1"
    assert text_of(events) == "Sorry."


async def test_the_next_turn_knows_what_was_said_and_done() -> None:
    agent, model = agent_of([call("weather", "w1", city="Paris")], "Sunny.", "As I said.")
    async with session_for(agent) as session:
        await collect(session, "How is Paris?")
        await collect(session, "Again?")
    assert sent(model) == [
        ("user", "How is Paris?"),
        ("call w1", '{"city":"Paris"}'),
        ("output w1", "It is sunny in Paris."),
        ("assistant", "Sunny."),
        ("user", "Again?"),
    ]
