"""UnifiedMessage over a WebSocket: several clients, the same messages, answers, replays, refusals."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.hubs import make, soon, until
from tests.server.running_server import BEARER, SECRET, listening, served
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Response

import trunkline
from trunkline.agents.interface import AgentCard
from trunkline.commands import Prompt
from trunkline.errors import AgentError, AuthenticationRequired
from trunkline.frontends.unified.options import UnifiedOptions
from trunkline.protocols.unified.wire import is_unified_message
from trunkline.server.limits import Limits
from trunkline.server.security.tokens import Token
from trunkline.testing import ScriptedAgent

Message = dict[str, Any]
CARD = AgentCard(name="tester")


class Client:
    """A client that keeps all that it is shown."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.seen: list[Message] = []

    async def send(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def next(self) -> Message:
        message = json.loads(await soon(self.socket.recv()))
        assert is_unified_message(message), message
        self.seen.append(message)
        return message

    async def until(self, kind: str, **metadata: Any) -> Message:
        """Read up to the next message of a type."""
        while True:
            message = await self.next()
            about = message["metadata"]
            if message["type"] == kind and all(about.get(k) == v for k, v in metadata.items()):
                return message

    @property
    def shared(self) -> list[Message]:
        """What every client of the session is shown: what has a place in it."""
        return [message for message in self.seen if "seq" in message["metadata"]]


@asynccontextmanager
async def on(place: str, path: str, headers: dict[str, str] = BEARER) -> AsyncGenerator[Client]:
    async with connect(f"ws://{place}/unified/{path}", additional_headers=headers, max_size=None) as socket:
        yield Client(socket)


@asynccontextmanager
async def serving(agent: Any = None, **options: Any) -> AsyncGenerator[str]:
    async with served(agent, **options) as (_, client):
        yield client.base_url.netloc.decode()


async def test_a_turn_from_the_first_message_to_its_result() -> None:
    async with serving() as place, on(place, "s1?create=1") as client:
        init = await client.next()
        assert init["type"] == "session_init"
        assert init["metadata"]["session_id"] == "s1"
        assert init["metadata"]["capabilities"]["streaming"] is True
        assert init["metadata"]["currentModeId"] == "ask"
        assert init["metadata"]["availableCommands"]
        await client.send("user_message", content="/tools", id="0b0c3a52-1f0e-4a3c-9a55-2b1c5a9d7e10")
        result = await client.until("result")
        await client.until("status_change", status="idle")
        answer = next(one for one in client.seen if one["type"] == "assistant")
        assert {"text", "tool_use"} <= {one["type"] for one in answer["content"]}
        assert result["metadata"]["stopReason"] == "end_turn"
        own = next(one for one in client.seen if one["type"] == "user_message")
        assert own["id"] == "0b0c3a52-1f0e-4a3c-9a55-2b1c5a9d7e10"
        reply = next(one for one in client.seen if one["type"] == "control_response")
        assert (reply["metadata"]["subtype"], reply["parentId"]) == ("success", own["id"])
        assert reply["metadata"]["turn_id"] == result["metadata"]["turn_id"]


async def test_two_clients_see_the_same_and_the_first_answer_wins() -> None:
    async with serving() as place, on(place, "s1?create=1") as one, on(place, "s1") as other:
        await one.send("user_message", content="/permission")
        asked = await one.until("permission_request")
        await other.until("permission_request")
        request_id = asked["metadata"]["request_id"]
        await one.send("permission_response", request_id=request_id, behavior="allow", id="first")
        await other.until("permission_response", request_id=request_id)
        await other.send("permission_response", request_id=request_id, behavior="deny", id="second")
        late = await other.until("control_response", request_id="second")
        assert late["metadata"]["subtype"] == "error"
        assert late["metadata"]["error_code"] == "already_answered"
        assert late["metadata"]["answered_by"] == "unified:local"
        for client in (one, other):
            await _to_end(client)
        assert one.shared == other.shared
        (answered,) = [m for m in one.shared if m["type"] == "permission_response"]
        assert (answered["metadata"]["behavior"], answered["metadata"]["by"]) == ("allow", "unified:local")


async def _to_end(client: Client) -> None:
    """Read on until the turn is over, if it is not yet."""
    if not any(_is_end(message) for message in client.seen):
        await client.until("status_change", status="idle")


def _is_end(message: Message) -> bool:
    return message["type"] == "status_change" and message["metadata"]["status"] == "idle"


async def test_a_client_that_comes_back_sees_exactly_what_it_lacks() -> None:
    async with serving() as place:
        async with on(place, "s1?create=1") as client:
            for text in ("one two three", "/tools"):
                await client.send("user_message", content=text)
                await client.until("status_change", status="idle")
            shared = client.shared
        numbers = sorted({message["metadata"]["seq"] for message in shared})
        for number in (1, numbers[3], numbers[len(numbers) // 2], numbers[-1]):
            async with on(place, f"s1?from={number}") as again:
                await again.until("status_change", seq=numbers[-1], status="idle")
                expected = [m for m in shared if m["metadata"]["seq"] >= number]
                assert _texts(again.shared) == _texts(expected)
                assert not again.seen[0]["metadata"]["replay"]["gap"]
        # After a cursor in the middle of a text.
        cut = next(m for m in shared if m["type"] == "stream_event")
        async with on(place, f"s1?after={cut['metadata']['cursor']}") as again:
            await again.until("status_change", seq=numbers[-1], status="idle")
            assert _texts(again.shared) == _texts(shared[shared.index(cut) + 1 :])


def _texts(messages: list[Message]) -> list[Any]:
    """What messages say; pieces of one text, or of one call's arguments, may be joined."""
    out: list[Any] = []
    for message in messages:
        delta = message["metadata"].get("event", {}).get("delta")
        if delta is None:
            out.append((message["type"], message["id"], message["content"]))
            continue
        kind, text = delta.values()
        if out and out[-1][0] == kind:
            out[-1] = (kind, out[-1][1] + text)
        else:
            out.append((kind, text))
    return out


async def test_a_place_that_is_not_there_is_a_gap_and_everything_is_shown() -> None:
    async with serving() as place:
        async with on(place, "s1?create=1") as client:
            await client.send("user_message", content="hi")
            await client.until("status_change", status="idle")
        for query in ("from=100000", "after=7-100000.0"):
            async with on(place, f"s1?{query}") as again:
                init = await again.next()
                assert init["metadata"]["replay"] == {"from": 1, "gap": True}
                await again.until("result")
                assert len(again.shared) >= 4


async def test_a_client_that_leaves_leaves_the_turn_running() -> None:
    go = asyncio.Event()

    async def slow(prompt: Prompt) -> AsyncIterator[str]:
        yield "before "
        await go.wait()
        yield "after"

    async with serving(make(slow)) as place:
        async with on(place, "s1?create=1") as client:
            await client.send("user_message", content="hi")
            await client.until("stream_event")
        go.set()
        async with on(place, "s1?from=1") as again:
            answer = await again.until("assistant")
            assert answer["content"] == [{"type": "text", "text": "before after"}]


async def test_a_client_that_comes_into_a_running_turn_sees_it_from_its_start() -> None:
    async with serving() as place, on(place, "s1?create=1") as one:
        await one.send("user_message", content="/permission")
        asked = await one.until("permission_request")
        async with on(place, "s1") as late:
            init = await late.next()
            assert init["metadata"]["status"] in ("running", "waiting")
            assert await late.until("permission_request") == asked


async def test_an_interrupt_cancels_and_a_second_message_waits_its_turn() -> None:
    async with serving() as place, on(place, "s1?create=1") as client:
        await client.send("user_message", content="/wait-for-cancel")
        await client.until("status_change", status="running")
        await client.send("user_message", content="then this")
        await client.until("status_change", subtype="prompt_queued")
        await client.send("interrupt")
        first = await client.until("result")
        assert first["metadata"]["error_code"] == "aborted"
        assert (await client.until("result"))["metadata"]["stopReason"] == "end_turn"


async def test_an_interrupt_counts_while_the_agent_is_still_being_started() -> None:
    opening, may_open = asyncio.Event(), asyncio.Event()

    async def tick(prompt: Prompt) -> AsyncIterator[str]:
        while True:
            yield "tick "
            await asyncio.sleep(0.001)

    class Slow:
        card = make(tick).card

        async def open_session(self, session: Any) -> None:
            opening.set()
            await may_open.wait()

        def run(self, prompt: Prompt, ctx: Any) -> AsyncIterator[str]:
            return tick(prompt)

    async with serving(Slow()) as place, on(place, "s1?create=1") as client:
        await client.send("user_message", content="go")
        await soon(opening.wait())
        await client.send("interrupt", id="stop")
        await client.until("control_response", request_id="stop")
        may_open.set()
        assert (await client.until("result"))["metadata"]["stopReason"] == "cancelled"


async def test_model_mode_commands_and_initialize() -> None:
    async with serving() as place, on(place, "s1?create=1") as client:
        await client.send("set_model", model="demo-large")
        assert (await client.until("configuration_change"))["metadata"]["model"] == "demo-large"
        await client.send("set_permission_mode", mode="plan")
        assert (await client.until("configuration_change"))["metadata"]["modeId"] == "plan"
        await client.send("control_request", request_id="r1", request={"subtype": "initialize"})
        answer = await client.until("control_response", request_id="r1")
        assert "demo-large" in [one["value"] for one in answer["metadata"]["response"]["models"]]
        await client.send("control_request", request_id="r2", request={"subtype": "interrupt"})
        assert (await client.until("control_response", request_id="r2"))["metadata"]["subtype"] == "success"
        await client.send("control_request", request_id="r3", request={"subtype": "set_model", "model": "no"})
        assert (await client.until("control_response", request_id="r3"))["metadata"]["subtype"] == "error"
        await client.send("slash_command", command="/plan")
        plan = await client.until("status_change", subtype="plan")
        assert plan["metadata"]["entries"] == plan["metadata"]["planEntries"] != []


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        ("nonsense", "no JSON"),
        ("[]", "no UnifiedMessage"),
        ("{}", "no UnifiedMessage"),
        ('{"type": "assistant"}', "no UnifiedMessage"),
        ('{"type": "foo"}', "there is no message of type 'foo': send one of user_message, "),
        ('{"type": "user_message", "content": ""}', "is empty"),
        ('{"type": "set_model", "model": "none"}', "has no value"),
        ('{"type": "permission_response", "request_id": "x", "behavior": "allow"}', "no open question"),
        ("[" * 100 + "]" * 100, "nested deeper"),
    ],
)
async def test_bad_input_is_answered_and_disturbs_nothing(frame: str, why: str) -> None:
    async with serving() as place, on(place, "s1?create=1") as client:
        await client.socket.send(frame)
        refused = await client.until("control_response")
        assert refused["metadata"]["subtype"] == "error"
        assert why in refused["metadata"]["error"]
        await client.send("user_message", content="hi")
        await client.until("result")


async def test_a_missing_login_is_the_status_of_the_login_and_a_result() -> None:
    class Locked:
        card = CARD

        async def open_session(self, session: Any) -> None:
            raise AuthenticationRequired("log in first")

        async def run(self, prompt: Prompt, ctx: Any) -> AsyncIterator[str]:
            yield ""

    async with serving(Locked()) as place, on(place, "s1?create=1") as client:
        await client.send("user_message", content="hi")
        status = await client.until("auth_status")
        assert status["metadata"]["error"] == "log in first"
        assert (await client.until("result"))["metadata"]["error_code"] == "provider_auth"
        assert (await client.until("control_response"))["metadata"]["error_code"] == "authentication_required"


async def test_a_handshake_does_not_wait_for_a_program_that_starts_slowly() -> None:
    begin = asyncio.Event()

    class Late(ScriptedAgent):
        async def prepare(self) -> None:
            await soon(begin.wait())

    async with serving(Late(), limits=Limits(open_seconds=0.01)) as place, on(place, "s1?create=1") as client:
        await client.send("user_message", content="hi")
        begin.set()
        assert (await client.next())["type"] == "session_init"
        assert (await client.until("result"))["metadata"]["stopReason"] == "end_turn"


async def test_a_program_that_cannot_start_after_the_handshake_closes_with_the_reason() -> None:
    class Missing(ScriptedAgent):
        async def prepare(self) -> None:
            await asyncio.sleep(0.05)
            raise AgentError("the program is not there: install it " + "ä" * 100)

    limits = Limits(open_seconds=0.01)
    async with serving(Missing(), limits=limits) as place, on(place, "s1?create=1") as client:
        with pytest.raises(ConnectionClosed) as closed:
            await client.next()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason[:25]) == (1011, "the program is not there:")


async def test_an_error_of_ours_is_not_told_in_its_own_words(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        card = CARD

        async def open_session(self, session: Any) -> None:
            raise KeyError("/etc/secret")

        async def run(self, prompt: Prompt, ctx: Any) -> AsyncIterator[str]:
            yield ""

    async with serving(Broken()) as place, on(place, "s1?create=1") as client:
        await client.send("user_message", content="hi")
        refused = await client.until("control_response")
        assert refused["metadata"]["subtype"] == "error"
        assert "secret" not in json.dumps(refused)


# -- who may do what -------------------------------------------------------------------------------


async def refusal_of(place: str, path: str, headers: dict[str, str] = BEARER) -> Response:
    with pytest.raises(InvalidStatus) as refused:
        async with on(place, path, headers):
            pass
    return refused.value.response


async def status_of(place: str, path: str, headers: dict[str, str] = BEARER) -> int:
    return (await refusal_of(place, path, headers)).status_code


async def test_what_is_refused_before_the_socket_opens() -> None:
    other = "fedcba9876543210"
    tokens = [Token(secret=SECRET), Token(secret=other, principal="anna")]
    anna = {"authorization": f"Bearer {other}"}
    async with serving(tokens=tokens) as place:
        async with on(place, "s1?create=1"):
            pass
        assert await status_of(place, "s1", anna) == 404, "another principal's session does not exist"
        unknown = await refusal_of(place, "unknown")
        assert unknown.status_code == 404
        assert b"add ?create=1 to the address to make it" in bytes(unknown.body or b"")
        assert await status_of(place, "") == 404
        assert await status_of(place, "s1", {}) == 401
        assert await status_of(place, "s1", {**BEARER, "origin": "https://evil.example"}) == 403
        assert await status_of(place, "s1?from=x") == 422
        assert await status_of(place, "s1?after=x") == 422
        assert await status_of(place, "s1?from=1&after=1-1") == 422
        assert await status_of(place, "s2?create=1&agent=nobody") == 404


async def test_scopes_separate_following_from_prompting_and_answering() -> None:
    names = ("follow", "prompt", "answer")
    secrets = {name: f"{name}-0123456789abcdef" for name in names}
    scopes = {"follow": ["follow"], "prompt": ["follow", "prompt"], "answer": ["answer"]}
    tokens = [Token(secret=secrets[name], scopes=frozenset(scopes[name])) for name in names]
    bearer = {name: {"authorization": f"Bearer {secrets[name]}"} for name in names}
    async with serving(tokens=tokens) as place:
        assert await status_of(place, "s1?create=1", bearer["follow"]) == 403
        assert await status_of(place, "s1", bearer["answer"]) == 403
        async with (
            on(place, "s1?create=1", bearer["prompt"]) as writer,
            on(place, "s1", bearer["follow"]) as reader,
        ):
            await writer.send("user_message", content="/permission")
            request = (await writer.until("permission_request"))["metadata"]["request_id"]
            await writer.send("permission_response", request_id=request, behavior="allow")
            assert "scope" in (await writer.until("control_response", subtype="error"))["metadata"]["error"]
            await reader.until("permission_request")
            for kind in ("interrupt", "user_message"):
                await reader.send(kind, content="x")
                await reader.until("control_response", subtype="error")


async def close_code(client: Client) -> int | None:
    """How the server closed a socket."""
    try:
        while True:
            await client.next()
    except ConnectionClosed:
        return client.socket.close_code


async def test_frames_that_are_no_text_too_large_or_too_many_close_the_socket() -> None:
    async with serving(limits=Limits(body_bytes=1000, waiting_frames=2)) as place:
        async with on(place, "s1?create=1") as client:
            await client.socket.send(b"{}")
            assert await close_code(client) == 1003
        async with on(place, "s1") as client:
            await client.socket.send("x" * 1001)
            assert await close_code(client) == 1009


async def test_a_client_that_sends_faster_than_its_agent_starts_is_closed() -> None:
    never = asyncio.Event()

    class Stuck:
        card = CARD

        async def open_session(self, session: Any) -> None:
            await never.wait()

        async def run(self, prompt: Prompt, ctx: Any) -> AsyncIterator[str]:
            yield ""

    async with serving(Stuck(), limits=Limits(waiting_frames=2)) as place:
        for kind in ("user_message", "control_request"):
            async with on(place, "s1?create=1") as client:
                for _ in range(5):
                    await client.send(kind, content="x", request={"subtype": "initialize"})
                assert await close_code(client) == 1008


async def test_a_silent_socket_is_kept_alive_both_ways() -> None:
    async with serving(limits=Limits(keep_alive_seconds=0.05)) as place, on(place, "s1?create=1") as client:
        await client.send("keep_alive")
        await client.until("control_response", subtype="keep_alive")
        await client.until("control_response", subtype="keep_alive")
        assert [m["type"] for m in client.seen if m["type"] != "control_response"] == ["session_init"]


async def test_a_server_that_goes_down_ends_the_turn_and_says_where_to_come_back() -> None:
    async with served() as (app, http):
        place = http.base_url.netloc.decode()
        async with on(place, "s1?create=1") as client:
            await client.send("user_message", content="/wait-for-cancel")
            await client.until("status_change", status="running")
            await soon(app.aclose())
            await client.until("result")
            assert await close_code(client) == 1001


async def test_the_last_client_that_leaves_is_no_follower_any_more() -> None:
    async with served() as (app, http):
        place = http.base_url.netloc.decode()
        async with on(place, "s1?create=1") as client:
            await client.next()
            session = await (await app.agents.hub()).session("s1")
            await until(lambda: session.followers == 1)
        await until(lambda: session.followers == 0)


@pytest.mark.parametrize(("server", "is_told"), [("127.0.0.1", True), ("10.0.0.7", False)])
async def test_the_texts_of_exceptions_stay_on_this_machine(server: str, is_told: bool) -> None:
    async def fails(prompt: Prompt) -> AsyncIterator[str]:
        yield "so far "
        raise RuntimeError("a file of the server")

    options = UnifiedOptions(error_detail_level="full")
    app = trunkline.asgi(make(fails), tokens=SECRET, unified=options, allow_hosts="127.0.0.1")

    async def called_by(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "server": (server, 80)}, receive, send)

    async with listening(called_by) as place, on(place, "s1?create=1") as client:
        await client.send("user_message", content=[{"type": "text", "text": "go"}])
        await client.until("result")
        assert ("a file of the server" in json.dumps(client.seen)) is is_told
