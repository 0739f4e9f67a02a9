"""Which stream of an HTTP client a message goes to."""

import json
from typing import Any

from trunkline.frontends.acp.http_streams import AcpStreams
from trunkline.protocols.jsonrpc.messages import Message, Notification, Request, Response, parse


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def update(session_id: str) -> bytes:
    return line(method="session/update", params={"sessionId": session_id, "update": {}})


def streams() -> AcpStreams:
    return AcpStreams(lambda why: None)


def asked(made: AcpStreams, id: Any, method: str, **params: Any) -> None:
    message = parse(line(id=id, method=method, params=params))
    assert isinstance(message, Request)
    made.note_message(message)


async def test_what_names_a_session_goes_to_its_stream_even_before_that_is_read() -> None:
    made = streams()
    assert made.address(update("s")) == "s"
    permission = line(id=1, method="session/request_permission", params={"sessionId": "s"})
    assert made.address(permission) == "s"


async def test_what_names_none_goes_to_the_connection() -> None:
    made = streams()
    asked(made, 1, "session/new", cwd="/", mcpServers=[])
    assert made.address(line(id=1, result={"sessionId": "s"})) is None
    assert made.address(line(method="_news", params={})) is None
    assert made.address(line(method="_news")) is None
    assert made.address(line(id=None, error={"code": -32700, "message": "no"})) is None
    assert made.address(line(method="_news", params=["no", "object"])) is None


async def test_an_answer_follows_the_updates_before_it() -> None:
    made = streams()
    asked(made, "p", "session/prompt", sessionId="s")
    made.write(update("s") + b"\n")
    made.write(line(id="p", result={}) + b"\n")
    taken = [json.loads(message) for message in await made.outbox("s").take()]
    assert [message.get("id") for message in taken] == [None, "p"]


async def test_an_answer_about_an_unknown_stream_goes_to_the_connection() -> None:
    made = streams()
    asked(made, 1, "session/prompt", sessionId="unknown")
    assert made.address(line(id=1, error={})) is None
    assert made.find("unknown") is None, "strangers leave nothing behind"


async def test_an_answer_about_a_stream_with_a_reader_goes_there() -> None:
    made = streams()
    made.outbox("unknown").attach()
    asked(made, 1, "session/prompt", sessionId="unknown")
    assert made.address(line(id=1, error={})) == "unknown"


async def test_a_load_is_shown_where_its_client_listens() -> None:
    made = streams()
    asked(made, 1, "session/load", sessionId="s")
    assert made.address(update("s")) is None
    assert made.address(line(id=1, result={})) is None
    assert made.address(update("s")) == "s", "from the answer on the client knows the stream"

    made.outbox("t").attach()
    asked(made, 2, "session/load", sessionId="t")
    assert made.address(update("t")) == "t"
    assert made.address(line(id=2, result={})) == "t", "the answer comes after the history, not beside it"


async def test_messages_about_a_request_follow_it() -> None:
    made = streams()
    create = {"sessionId": "s", "mode": "url", "elicitationId": "link"}
    made.address(line(id=7, method="elicitation/create", params=create))
    assert made.address(line(method="$/cancel_request", params={"requestId": 7})) == "s"
    made.note_message(Response(7, {"action": "accept"}))
    assert made.address(line(method="$/cancel_request", params={"requestId": 7})) is None
    assert made.address(line(method="elicitation/complete", params={"elicitationId": "link"})) == "s"


async def test_what_is_remembered_is_bounded() -> None:
    made = streams()
    for id in range(5000):
        made.address(line(id=id, method="fs/read_text_file", params={"sessionId": "s"}))
    assert made.address(line(method="$/cancel_request", params={"requestId": 0})) is None
    assert made.address(line(method="$/cancel_request", params={"requestId": 4999})) == "s"


async def test_notifications_and_strange_params_need_no_way_back() -> None:
    made = streams()
    strange: list[Message] = [
        Notification("session/cancel", {"sessionId": "s"}),
        Request(1, "session/prompt", {"sessionId": 3}),
        Request(2, "session/prompt", ["s"]),
    ]
    for message in strange:
        made.note_message(message)
    assert made.address(line(id=1, error={})) is None
    assert made.address(line(id=2, error={})) is None
