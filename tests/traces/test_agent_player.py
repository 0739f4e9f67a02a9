"""A trace as a fake agent."""

from typing import Any

from trunkline.traces.agent_player import AgentPlayer
from trunkline.traces.trace import TraceLine

Message = dict[str, Any]


def client(message: Message) -> TraceLine:
    return TraceLine(0.0, "client->agent", message)


def agent(message: Message) -> TraceLine:
    return TraceLine(0.0, "agent->client", message)


def update(text: str) -> Message:
    return {"method": "session/update", "params": {"text": text}}


TRACE = [
    client({"id": 1, "method": "initialize"}),
    agent({"id": 1, "result": "hello"}),
    client({"id": 2, "method": "authenticate"}),
    agent({"id": 2, "result": "welcome"}),
    client({"id": 3, "method": "session/prompt"}),
    agent(update("one")),
    agent({"id": 7, "method": "session/request_permission"}),
    client({"id": 7, "result": "yes"}),
    agent(update("two")),
    agent({"id": 3, "result": "done"}),
    client({"id": 4, "method": "session/prompt"}),
    agent(update("three")),
    client({"method": "session/cancel"}),
    agent({"id": 4, "result": "cancelled"}),
]


def test_requests_are_answered_under_the_ids_of_this_client() -> None:
    player = AgentPlayer(TRACE)
    assert player.feed({"id": "a", "method": "initialize"}) == [{"id": "a", "result": "hello"}]
    assert player.feed({"id": "b", "method": "authenticate"}) == [{"id": "b", "result": "welcome"}]


def test_a_turn_waits_for_the_answer_of_the_client() -> None:
    player = AgentPlayer(TRACE)
    player.feed({"id": 0, "method": "initialize"})
    asked = player.feed({"id": 1, "method": "session/prompt"})
    assert asked == [update("one"), {"id": 7, "method": "session/request_permission"}]
    assert player.feed({"id": 7, "result": "no"}) == [update("two"), {"id": 1, "result": "done"}]


def test_what_a_client_leaves_out_is_left_out_with_what_it_brought_about() -> None:
    player = AgentPlayer(TRACE)
    player.feed({"id": 0, "method": "initialize"})
    said = player.feed({"id": 1, "method": "session/prompt"})
    assert {"id": 2, "result": "welcome"} not in said


def test_a_recorded_turn_that_was_cancelled_waits_for_the_cancel() -> None:
    player = AgentPlayer(TRACE)
    for number in (1, 2):
        player.feed({"id": number, "method": "initialize" if number == 1 else "session/prompt"})
    player.feed({"id": 7, "result": "yes"})
    assert player.feed({"id": 9, "method": "session/prompt"}) == [update("three")]
    assert player.feed({"method": "session/cancel"}) == [{"id": 9, "result": "cancelled"}]


def test_what_is_not_in_the_trace_is_refused_and_unknown_notifications_pass() -> None:
    player = AgentPlayer(TRACE)
    (refused,) = player.feed({"id": 5, "method": "session/fork"})
    assert refused["error"]["message"] == "the trace has no further session/fork"
    assert player.feed({"method": "$/something"}) == []
    assert player.feed({"id": 99, "result": "nobody asked"}) == []


def test_sessions_may_be_played_in_another_order() -> None:
    def prompt(number: int, session_id: str) -> Message:
        return {"id": number, "method": "session/prompt", "params": {"sessionId": session_id}}

    def said(session_id: str) -> Message:
        return {"method": "session/update", "params": {"sessionId": session_id}}

    trace = [client({"id": 1, "method": "session/new"}), agent({"id": 1, "result": {"sessionId": "a"}})]
    trace += [agent(said("a")), client({"id": 2, "method": "session/new"})]
    trace += [agent({"id": 2, "result": {"sessionId": "b"}})]
    for number, session_id in ((3, "a"), (4, "b")):
        trace += [client(prompt(number, session_id)), agent(said(session_id))]
        trace += [agent({"id": number, "result": session_id})]
    player = AgentPlayer(trace)
    assert player.feed({"id": 1, "method": "session/new"}) == [
        {"id": 1, "result": {"sessionId": "a"}},
        said("a"),
    ]
    player.feed({"id": 2, "method": "session/new"})
    assert player.feed(prompt(5, "b")) == [said("b"), {"id": 5, "result": "b"}]
    assert player.feed(prompt(6, "a")) == [said("a"), {"id": 6, "result": "a"}]
