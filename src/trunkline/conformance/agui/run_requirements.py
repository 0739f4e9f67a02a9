"""Requirements on an AG-UI server: requests, frames, runs, messages, tools, state and interrupts."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from trunkline.agents.agui.event_shapes import check_shape
from trunkline.conformance.agui.kit import (
    AguiKit,
    Run,
    calls_in_snapshots,
    interrupts_of,
    outcome_of,
    requirement,
    streamed_calls,
)
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient, StreamFault
from trunkline.conformance.table import NotApplicable, fail, need
from trunkline.protocols.agui.event_types import EventType

_SEEN_WITHIN = 10.0
"""Seconds in which a server sees that a client left."""
_ENDS = ("RUN_FINISHED", "RUN_ERROR")
_KINDS = frozenset(str(kind.value) for kind in EventType)


# -- requests and frames ---------------------------------------------------------------------------


@requirement("HTTP-001", "M", "A run is answered with 200 and a stream of server-sent events.")
def streams(kit: AguiKit) -> None:
    exchange = kit.hello.exchange
    need(exchange.status == 200, f"the status is {exchange.status} {exchange.body[:200]!r} {exchange.fault}")
    need(exchange.content_type == "text/event-stream", f"the content type is {exchange.content_type!r}")


@requirement("HTTP-002", "M", "A body that is not JSON is refused with a 4xx status, before any event.")
def refuses_garbage(kit: AguiKit) -> None:
    status = kit.post(b"{this is not JSON").status
    need(400 <= status < 500, f"the status is {status}")


@requirement("HTTP-003", "M", "A body without a threadId is refused with a 4xx status.")
def refuses_incomplete_input(kit: AguiKit) -> None:
    body = kit.fresh("incomplete").body()
    del body["threadId"]
    status = kit.post(body).status
    need(400 <= status < 500, f"the status is {status}")


@requirement("HTTP-004", "A", "Caches and proxies are told to leave the stream alone.")
def is_not_buffered(kit: AguiKit) -> None:
    headers = kit.hello.exchange.headers
    need("cache-control" in headers, "there is no Cache-Control: no-cache")
    need(headers.get("x-accel-buffering") == "no", "there is no X-Accel-Buffering: no, so nginx buffers")


@requirement("SSE-001", "M", "Every event is the JSON object in the data of one frame.")
def frames_events(kit: AguiKit) -> None:
    for run in kit.runs:
        need(not run.exchange.fault, run.exchange.fault)
        for frame in run.exchange.frames:
            try:
                msgspec.json.decode(frame, type=dict[str, Any])
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                fail(f"{error}: {frame[:200]!r}")


@requirement("SSE-002", "M", "The last frame is ended by an empty line, and the response by the server.")
def ends_frames(kit: AguiKit) -> None:
    exchange = kit.hello.exchange
    need(exchange.ended, f"the response has no end: {exchange.fault}")
    ended = exchange.body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").endswith(b"\n\n")
    need(ended, f"it ends with {exchange.body[-40:]!r}; a browser discards the last event")


# -- runs ------------------------------------------------------------------------------------------


@requirement("RUN-001", "M", "The first event is RUN_STARTED.")
def starts(kit: AguiKit) -> None:
    for run in kit.runs:
        kind = run.events[0].get("type") if run.events else "nothing"
        need(kind == "RUN_STARTED", f"it is {kind}")


@requirement("RUN-002", "M", "A run has exactly one end, and nothing comes after it.")
def ends_once(kit: AguiKit) -> None:
    for run in kit.runs:
        ends = run.only(*_ENDS)
        need(len(ends) == 1, f"the ends are {[one['type'] for one in ends]}")
        need(run.events[-1] is ends[0], f"after {ends[0]['type']} comes {run.events[-1].get('type')}")


@requirement("RUN-003", "M", "An ordinary run ends with RUN_FINISHED.")
def finishes(kit: AguiKit) -> None:
    end = kit.hello.events[-1]
    need(end.get("type") == "RUN_FINISHED", f"it ends with {end}")


@requirement("RUN-004", "M", "The ids of the thread and of the run are the client's.")
def keeps_ids(kit: AguiKit) -> None:
    for run in kit.runs:
        for event in run.only("RUN_STARTED", "RUN_FINISHED"):
            for key in ("threadId", "runId"):
                need(event.get(key) == run.body[key], f"{event['type']}.{key} is {event.get(key)!r}")


@requirement("RUN-005", "A", "RUN_STARTED says the version of the protocol.")
def says_its_version(kit: AguiKit) -> None:
    version = kit.hello.events[0].get("protocolVersion")
    need(isinstance(version, str), f"protocolVersion is {version!r}")


@requirement("RUN-006", "A", "RUN_FINISHED says the outcome.")
def says_its_outcome(kit: AguiKit) -> None:
    outcome = outcome_of(kit.hello)
    need(outcome.get("type") == "success", f"the outcome is {outcome or 'missing'}")


@requirement("RUN-007", "A", "Steps that begin also end, each by its name.")
def pairs_steps(kit: AguiKit) -> None:
    _check_rules(kit, "STEP_STARTED", "STEP_FINISHED")


@requirement("RUN-008", "M", "Nothing is left open at the end of a run.")
def leaves_nothing_open(kit: AguiKit) -> None:
    _check_rules(kit, *_ENDS)


@requirement("EVENT-001", "M", "Every event is of a known type and has the fields of its type.")
def sends_known_events(kit: AguiKit) -> None:
    for run in kit.runs:
        for event in run.events:
            kind = event.get("type")
            need(kind in _KINDS, f"AG-UI has no {kind!r}")
            try:
                check_shape(str(kind), event)
            except msgspec.ValidationError as error:
                fail(f"{kind}: {error}")


@requirement("EVENT-002", "A", "Events have a timestamp, and time does not go back.")
def tells_the_time(kit: AguiKit) -> None:
    times = [event.get("timestamp") for event in kit.hello.events]
    need(all(isinstance(at, int | float) for at in times), "there are events without one")
    need(times == sorted(times, key=lambda at: at or 0), "it goes back")


# -- messages --------------------------------------------------------------------------------------


def _check_rules(kit: AguiKit, *kinds: str) -> None:
    for run in kit.runs:
        found = run.breaches(*kinds)
        need(not found, found[0] if found else "")


@requirement("TEXT-001", "M", "Text messages start, go on and end by their ids.")
def pairs_texts(kit: AguiKit) -> None:
    _check_rules(kit, "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END")


@requirement("TEXT-002", "A", "The answer is streamed as text, not only told by a snapshot.")
def streams_text(kit: AguiKit) -> None:
    need(kit.hello.only("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK"), "no text came")


@requirement("REASONING-001", "M", "Reasoning starts, goes on and ends by its ids.")
def pairs_reasoning(kit: AguiKit) -> None:
    if not any(run.only("REASONING_START", "REASONING_MESSAGE_START") for run in kit.runs):
        raise NotApplicable("no reasoning came")
    names = ("START", "END", "MESSAGE_START", "MESSAGE_CONTENT", "MESSAGE_END")
    _check_rules(kit, *(f"REASONING_{name}" for name in names))


@requirement("MESSAGES-001", "M", "The official client folds every stream without a warning.")
def can_be_folded(kit: AguiKit) -> None:
    for run in kit.runs:
        _fold(run)


def _fold(run: Run, *, snapshots: bool = True) -> ReferenceClient:
    """What a client holds after a run that began with nothing but the prompt."""
    client = ReferenceClient(run.client.thread_id)
    client.messages = [dict(message) for message in run.body["messages"]]
    events = [event for event in run.events if snapshots or event.get("type") != "MESSAGES_SNAPSHOT"]
    try:
        client.take(events)
    except StreamFault as error:
        fail(str(error))
    return client


@requirement("MESSAGES-002", "M", "A snapshot tells the messages by the ids and in the order of the stream.")
def tells_one_story(kit: AguiKit) -> None:
    with_snapshots = [run for run in kit.runs if run.only("MESSAGES_SNAPSHOT")]
    if not with_snapshots:
        raise NotApplicable("no snapshot of the messages came")
    for run in with_snapshots:
        streamed = [_key(one) for one in _fold(run, snapshots=False).messages if _counts(one)]
        snapshot = [_key(one) for one in run.only("MESSAGES_SNAPSHOT")[-1]["messages"] if _counts(one)]
        need(streamed == snapshot, f"streamed {streamed}, but the snapshot has {snapshot}")


def _counts(message: JsonObject) -> bool:
    return message["role"] in ("user", "assistant", "tool")


def _key(message: JsonObject) -> tuple[str, str]:
    return message["role"], message["id"]


@requirement("THREAD-001", "M", "A second run in the same thread, with its history, works.")
def goes_on(kit: AguiKit) -> None:
    client = _fold(kit.hello)
    client.runs = kit.hello.client.runs
    run = kit.say(client, kit.prompts.words)
    need(run.exchange.status == 200, f"the status is {run.exchange.status} {run.exchange.body[:200]!r}")
    last = run.events[-1] if run.events else {}
    need(last.get("type") == "RUN_FINISHED", f"it ends with {last}")


@requirement("THREAD-002", "M", "A prompt of any Unicode is answered by a run that ends.")
def takes_any_letters(kit: AguiKit) -> None:
    run = kit.say(kit.fresh("letters"), kit.prompts.words + " \u2014 \u65e5\u672c \U0001f680 \u202e \u2028")
    need(run.only(*_ENDS), f"there is no end: {run.exchange.status} {run.exchange.fault}")


# -- tools -----------------------------------------------------------------------------------------


@requirement("TOOL-001", "M", "Tool calls start, go on and end by their ids.")
def pairs_calls(kit: AguiKit) -> None:
    _ = kit.tool
    _check_rules(kit, "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END")


@requirement("TOOL-002", "M", "The pieces of a call's arguments are one JSON object.")
def streams_arguments(kit: AguiKit) -> None:
    for call_id, text in streamed_calls(kit.tool).items():
        try:
            msgspec.json.decode(text or "{}", type=dict[str, Any])
        except msgspec.DecodeError as error:
            fail(f"the arguments of {call_id} are {text[:200]!r}: {error}")


@requirement("TOOL-003", "M", "No argument of a call is lost: what was streamed is what the call has.")
def loses_no_arguments(kit: AguiKit) -> None:
    _ = kit.tool
    with_calls = [run for run in kit.runs if calls_in_snapshots(run)]
    if not with_calls:
        raise NotApplicable("no snapshot tells the arguments of the calls")
    for run in with_calls:
        streamed = streamed_calls(run)
        for call_id, whole in calls_in_snapshots(run).items():
            need(call_id in streamed, f"the call {call_id} was never streamed")
            pieces = streamed[call_id]
            need(
                _values(pieces) == _values(whole),
                f"{call_id} was streamed with {pieces or 'no arguments'}, but has {whole}",
            )


def _values(arguments: str) -> Any:
    try:
        return msgspec.json.decode(arguments or "{}")
    except msgspec.DecodeError:
        return arguments


@requirement("TOOL-004", "M", "A result names a call that was made before.")
def answers_known_calls(kit: AguiKit) -> None:
    made: set[str] = set()
    for event in kit.tool.events:
        if event.get("type") in ("TOOL_CALL_START", "TOOL_CALL_CHUNK"):
            made.add(str(event.get("toolCallId")))
        elif event.get("type") == "TOOL_CALL_RESULT":
            need(event["toolCallId"] in made, f"nobody made {event['toolCallId']!r}")


@requirement("TOOL-005", "A", "Every call of a server's tool gets its result in the run.")
def answers_every_call(kit: AguiKit) -> None:
    answered = {event["toolCallId"] for event in kit.tool.only("TOOL_CALL_RESULT")}
    open_calls: set[Any] = set(outcome_of(kit.tool).get("pendingToolCallIds") or ())
    open_calls |= {one.get("toolCallId") for one in interrupts_of(kit.tool)}
    left = set(streamed_calls(kit.tool)) - answered - open_calls
    need(not left, f"without a result: {sorted(left)}")


# -- state and interrupts --------------------------------------------------------------------------


@requirement("STATE-001", "M", "Changes of the state apply to what was told before.")
def patches_apply(kit: AguiKit) -> None:
    if not any(run.only("STATE_DELTA", "ACTIVITY_DELTA") for run in kit.runs):
        raise NotApplicable("no change of a state came")
    for run in kit.runs:
        _fold(run)


@requirement("INTERRUPT-001", "C", "An interrupt has an id of its own and a reason.")
def interrupts_clearly(kit: AguiKit) -> None:
    asked = interrupts_of(kit.asked)
    ids = [one.get("id") for one in asked]
    need(all(isinstance(one, str) and one for one in ids) and len(ids) == len(set(ids)), f"the ids are {ids}")
    need(all(one.get("reason") for one in asked), f"an interrupt has no reason: {asked}")


@requirement("INTERRUPT-002", "C", "A run that answers every interrupt ends the turn.")
def resumes(kit: AguiKit) -> None:
    client = _fold(kit.asked)
    client.runs = kit.asked.client.runs
    asked = interrupts_of(kit.asked)
    resume = [
        {"interruptId": one["id"], "status": "resolved", "payload": {"approved": True}} for one in asked
    ]
    run = kit.say(client, resume=resume)
    end = run.events[-1] if run.events else {}
    need(end.get("type") == "RUN_FINISHED", f"it ends with {end or run.exchange.body[:200]!r}")
    found = run.breaches()
    need(not found, found[0] if found else "")


# -- the end ---------------------------------------------------------------------------------------


@requirement("CANCEL-001", "A", "After a client left in the middle of a run, its thread takes the next run.")
def survives_a_client_that_leaves(kit: AguiKit) -> None:
    if kit.prompts.waiting is None:
        raise NotApplicable("there is no prompt whose run takes long (--long-prompt)")
    client = kit.fresh("left")
    left = kit.say(client, kit.prompts.waiting, leave=lambda frame: b"RUN_STARTED" not in frame)
    need(left.exchange.status == 200, f"the status is {left.exchange.status}")
    run = kit.say(client, kit.prompts.words)
    end = time.monotonic() + _SEEN_WITHIN
    # A server may take a moment to see that the client is gone.
    while run.exchange.status == 409 and time.monotonic() < end:
        time.sleep(0.1)
        run = kit.say(client, kit.prompts.words)
    need(run.exchange.status == 200, f"the status is {run.exchange.status} {run.exchange.body[:200]!r}")
    last = run.events[-1] if run.events else {}
    need(last.get("type") == "RUN_FINISHED", f"it ends with {last}")
