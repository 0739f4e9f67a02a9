"""Requirements on an endpoint for useChat: requests, headers, chunks, parts, tools and the end."""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline.conformance.aisdk.kit import AisdkKit, requirement
from trunkline.conformance.aisdk.stream_rules import breaches
from trunkline.conformance.table import NotApplicable, fail, need
from trunkline.protocols.aisdk.wire import DONE, HEADERS, VERSIONS

# -- requests, headers and frames ------------------------------------------------------------------


@requirement("HTTP-001", "M", "A message is answered with 200 and a stream of server-sent events.")
def streams(kit: AisdkKit) -> None:
    exchange = kit.hello.exchange
    need(exchange.status == 200, f"the status is {exchange.status} {exchange.body[:200]!r} {exchange.fault}")
    need(exchange.content_type == "text/event-stream", f"the content type is {exchange.content_type!r}")


@requirement("HTTP-002", "M", "A body that is not JSON is refused with a 4xx status.")
def refuses_garbage(kit: AisdkKit) -> None:
    status = kit.post(b"{this is not JSON").status
    need(400 <= status < 500, f"the status is {status}")


@requirement("HTTP-003", "M", "A body without messages is refused with a 4xx status.")
def refuses_incomplete_input(kit: AisdkKit) -> None:
    status = kit.post({"id": kit.chat("incomplete"), "trigger": "submit-message"}).status
    need(400 <= status < 500, f"the status is {status}")


@requirement("HEADER-001", "M", "The stream says its version in x-vercel-ai-ui-message-stream.")
def says_its_version(kit: AisdkKit) -> None:
    name = "x-vercel-ai-ui-message-stream"
    value = kit.hello.exchange.headers.get(name)
    need(value == HEADERS[name], f"it is {value!r}")


@requirement("HEADER-002", "A", "Caches and proxies are told to leave the stream alone.")
def is_not_buffered(kit: AisdkKit) -> None:
    headers = kit.hello.exchange.headers
    need("no-cache" in headers.get("cache-control", ""), "there is no Cache-Control: no-cache")
    need(headers.get("x-accel-buffering") == "no", "there is no X-Accel-Buffering: no, so nginx buffers")


@requirement("SSE-001", "M", "Every frame holds one JSON object, or [DONE].")
def frames_chunks(kit: AisdkKit) -> None:
    for response in kit.responses:
        for frame in response.exchange.frames:
            try:
                if frame != DONE.encode():
                    msgspec.json.decode(frame, type=dict[str, Any])
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                fail(f"{error}: {frame[:200]!r}")


@requirement("SSE-002", "M", "The last frame is [DONE], and it comes once.")
def says_done(kit: AisdkKit) -> None:
    for response in kit.responses:
        frames = response.exchange.frames
        need(frames and frames[-1] == DONE.encode(), f"it is {frames[-1][:100] if frames else b''!r}")
        need(frames.count(DONE.encode()) == 1, "it comes more than once")


@requirement("SSE-003", "M", "The server ends the response, and its last frame by an empty line.")
def ends_frames(kit: AisdkKit) -> None:
    exchange = kit.hello.exchange
    need(exchange.ended and not exchange.fault, f"the response has no end: {exchange.fault}")
    ended = exchange.body.replace(b"\r\n", b"\n").endswith(b"\n\n")
    need(ended, f"it ends with {exchange.body[-40:]!r}; a browser discards the last frame")


# -- chunks and parts ------------------------------------------------------------------------------


@requirement("CHUNK-001", "M", "Every chunk is of a type that this version of the AI SDK knows.")
def sends_known_chunks(kit: AisdkKit) -> None:
    version = VERSIONS[kit.version]
    for response in kit.responses:
        for chunk in response.chunks:
            need(version.knows(str(chunk.get("type"))), f"{version.package} has no {chunk.get('type')!r}")


@requirement("CHUNK-002", "M", "Chunks have the keys of their type, and parts are opened, used and closed.")
def keeps_the_rules(kit: AisdkKit) -> None:
    for response in kit.responses:
        need(response.chunks, "no chunks came")
        found = [one for one in breaches(response.chunks, kit.version) if " has no " not in one]
        need(not found, "; ".join(found[:3]))


@requirement("MESSAGE-001", "M", "The first chunk is start.")
def starts(kit: AisdkKit) -> None:
    kind = kit.hello.chunks[0].get("type") if kit.hello.chunks else "nothing"
    need(kind == "start", f"it is {kind}")


@requirement("MESSAGE-002", "A", "start names the message, so that a page can store it.")
def names_the_message(kit: AisdkKit) -> None:
    value = kit.hello.chunks[0].get("messageId")
    need(isinstance(value, str) and value, f"messageId is {value!r}")


@requirement("PART-001", "M", "The answer is streamed as text parts with their ids.")
def streams_text(kit: AisdkKit) -> None:
    deltas = kit.hello.only("text-delta")
    need(deltas, "no text came")
    opened = {chunk.get("id") for chunk in kit.hello.only("text-start")}
    need(all(chunk.get("id") in opened for chunk in deltas), "text came for a part that was not started")


@requirement("FINISH-001", "M", "A response ends with exactly one finish or error.")
def finishes(kit: AisdkKit) -> None:
    for response in kit.responses:
        ends = [chunk["type"] for chunk in response.only("finish", "error", "abort")]
        need(len([one for one in ends if one != "abort"]) == 1, f"the ends are {ends}")
        need(response.chunks[-1].get("type") in ("finish", "error"), f"the last is {response.chunks[-1]}")


@requirement("FINISH-002", "M", "An ordinary response ends with finish, and a reason that is known.")
def finishes_well(kit: AisdkKit) -> None:
    end = kit.hello.chunks[-1]
    need(end.get("type") == "finish", f"it ends with {end}")
    reason = end.get("finishReason")
    known = VERSIONS[kit.version].finish_reasons
    need(reason is None or reason in known, f"the reason is {reason!r}")


# -- tools -----------------------------------------------------------------------------------------


@requirement("TOOL-001", "M", "The pieces of a call's input are the input that is then told.")
def streams_inputs(kit: AisdkKit) -> None:
    pieces: dict[str, str] = {}
    for chunk in kit.tool.chunks:
        if chunk["type"] == "tool-input-delta":
            call_id = chunk["toolCallId"]
            pieces[call_id] = pieces.get(call_id, "") + chunk["inputTextDelta"]
        elif chunk["type"] == "tool-input-available" and chunk["toolCallId"] in pieces:
            try:
                streamed = msgspec.json.decode(pieces[chunk["toolCallId"]])
            except msgspec.DecodeError as error:
                fail(f"the pieces of {chunk['toolCallId']} are no JSON: {error}")
            need(streamed == chunk["input"], f"streamed {streamed}, but the input is {chunk['input']}")


@requirement("TOOL-002", "M", "The output of a call comes after its input, and for a call that was made.")
def answers_known_calls(kit: AisdkKit) -> None:
    known: set[str] = set()
    outputs = 0
    for chunk in kit.tool.chunks:
        if chunk["type"] in ("tool-input-available", "tool-input-error"):
            known.add(chunk["toolCallId"])
        elif chunk["type"].startswith("tool-output"):
            outputs += 1
            need(chunk["toolCallId"] in known, f"{chunk['type']} before the input: {chunk}")
    if not outputs:
        raise NotApplicable("no call had an output")


@requirement("TOOL-003", "A", "Every call that was begun has an input, and an output or a question.")
def ends_every_call(kit: AisdkKit) -> None:
    begun = {chunk["toolCallId"] for chunk in kit.tool.only("tool-input-start", "tool-input-available")}
    ends = ("tool-output-available", "tool-output-error", "tool-output-denied", "tool-input-error")
    ended = {chunk["toolCallId"] for chunk in kit.tool.only(*ends, "tool-approval-request")}
    reason = kit.tool.chunks[-1].get("finishReason")
    left = begun - ended
    need(not left or reason == "tool-calls", f"without an end: {sorted(left)}")


# -- chats -----------------------------------------------------------------------------------------


@requirement("CHAT-001", "M", "A second message in the same chat, with its history, is answered.")
def goes_on(kit: AisdkKit) -> None:
    text = "".join(chunk["delta"] for chunk in kit.hello.only("text-delta"))
    chat = kit.chat("hello")
    answer_id = kit.hello.chunks[0].get("messageId") or f"{chat}-a1"
    asked = {"id": f"{chat}-u0", "role": "user", "parts": [{"type": "text", "text": kit.prompts.words}]}
    answer = {"id": answer_id, "role": "assistant", "parts": [{"type": "text", "text": text}]}
    response = kit.say(chat, kit.prompts.words, earlier=[asked, answer])
    exchange = response.exchange
    need(exchange.status == 200, f"the status is {exchange.status} {exchange.body[:200]!r}")
    need(response.only("finish"), f"it does not finish: {response.chunks[-1:]}")


@requirement("CHAT-002", "M", "A message of any Unicode is answered by a stream that finishes.")
def takes_any_letters(kit: AisdkKit) -> None:
    odd = kit.prompts.words + " \u2014 \u65e5\u672c \U0001f680 \u202e \u2028"
    response = kit.say(kit.chat("letters"), odd)
    need(response.only("finish"), f"it does not finish: {response.exchange.status} {response.chunks[-1:]}")


@requirement("CHAT-003", "A", "Chats do not mix: two chats at one time have messages of their own.")
def keeps_chats_apart(kit: AisdkKit) -> None:
    other = kit.say(kit.chat("other"), kit.prompts.words)
    ids = [response.chunks[0].get("messageId") for response in (kit.hello, other)]
    if None in ids:
        raise NotApplicable("messages have no ids")
    need(ids[0] != ids[1], f"both messages are {ids[0]!r}")
