"""AG-UI 1.0 as protobuf: each event as a frame of four bytes with its length and one message.

The numbers are those of npm ``@ag-ui/proto`` 1.0.0, whose own decoder reads every frame in the tests. What
is written is what JSON would have, so a client folds the same from either.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import msgspec

from trunkline.protocols.agui import wire

MEDIA_TYPE = "application/vnd.ag-ui.event+proto"
"""The client compares it letter by letter: nothing may stand behind it."""

Json = dict[str, Any]
Write = Callable[[Any], bytes]

# name[:kind][*]=number, where * means any number of them, and a kind that is left out means text.
_MESSAGES = """
Base        type:int=1 timestamp:int=2 rawEvent:json=3 metadata:object=4
Usage       provider=1 model=2 inputTokens:int=3 outputTokens:int=4 totalTokens:int=5 reasoningTokens:int=6
            cachedInputTokens:int=7 cacheWriteInputTokens:int=8
Interrupt   id=1 reason=2 message=3 toolCallId=4 responseSchema:json=5 expiresAt=6 metadata:json=7
            subagentRunId=8
Operation   op:op=1 path=2 from=3 value:json=4
Data        value=1 mimeType=2
Url         value=1 mimeType=2
File        value=1 provider=2 mimeType=3
Source      data:Data=1 url:Url=2 file:File=3
Text        text=1 id=2 metadata:json=3
Media       source:Source=1 metadata:json=2 id=3
Part        text:Text=1 image:Media=2 audio:Media=3 video:Media=4 document:Media=5
Function    name=1 arguments=2
ToolCall    id=1 type=2 function:Function=3 metadata:object=4 encryptedValue=5
Message     id=1 role=2 content=3 name=4 toolCalls:ToolCall*=5 toolCallId=6 error=7 contentParts:Part*=8
            metadata:object=9 subagentRunId=10 encryptedValue=11 activityType=12 contentObject:object=13
Tool        name=1 description=2 parameters:json=3 metadata:object=4
Context     description=1 value=2
Resume      interruptId=1 status=2 payload:json=3 metadata:object=4
Input       threadId=1 runId=2 parentRunId=3 state:json=4 messages:Message*=5 tools:Tool*=6 context:Context*=7
            forwardedProps:json=8 resume:Resume*=9 protocolVersion=10
"""

# The number of an event in the envelope, that of its type, and its fields; 1 is what all of them have.
_EVENTS = """
1 0 TEXT_MESSAGE_START messageId=2 role=3 name=4 subagentRunId=5
2 1 TEXT_MESSAGE_CONTENT messageId=2 delta=3 subagentRunId=4
3 2 TEXT_MESSAGE_END messageId=2 subagentRunId=3
4 3 TOOL_CALL_START toolCallId=2 toolCallName=3 parentMessageId=4 subagentRunId=5
5 4 TOOL_CALL_ARGS toolCallId=2 delta=3 subagentRunId=4
6 5 TOOL_CALL_END toolCallId=2 subagentRunId=3
7 6 STATE_SNAPSHOT snapshot:json=2 subagentRunId=3
8 7 STATE_DELTA delta:Operation*=2 subagentRunId=3
9 8 MESSAGES_SNAPSHOT messages:Message*=2
10 9 RAW event:json=2 source=3 subagentRunId=4
11 10 CUSTOM name=2 value:json=3 subagentRunId=4
12 11 RUN_STARTED threadId=2 runId=3 parentRunId=4 input:Input=5 protocolVersion=6
13 12 RUN_FINISHED threadId=2 runId=3 result:json=4 outcome=5 interrupts:Interrupt*=6 usage:Usage*=7
     pendingToolCallIds*=8
14 13 RUN_ERROR code=2 message=3 usage:Usage*=4
15 14 STEP_STARTED stepName=2 subagentRunId=3
16 15 STEP_FINISHED stepName=2 subagentRunId=3
17 19 TEXT_MESSAGE_CHUNK messageId=2 role=3 delta=4 name=5 subagentRunId=6
18 20 TOOL_CALL_CHUNK toolCallId=2 toolCallName=3 parentMessageId=4 delta=5 subagentRunId=6
19 16 SUBAGENT_STARTED subagentRunId=2 name=3 description=4 parentSubagentRunId=5 parentToolCallId=6
     parentMessageId=7
20 17 SUBAGENT_FINISHED subagentRunId=2 result:json=3 outcome=4 interruptIds*=5
21 18 SUBAGENT_ERROR subagentRunId=2 message=3 code=4
22 21 TOOL_CALL_RESULT subagentRunId=2 messageId=3 toolCallId=4 content=5 role=6 contentParts:Part*=7
23 22 ACTIVITY_SNAPSHOT subagentRunId=2 messageId=3 activityType=4 contentObject:object=5 replace:int=6
24 23 ACTIVITY_DELTA subagentRunId=2 messageId=3 activityType=4 patch:Operation*=5
25 24 REASONING_START subagentRunId=2 messageId=3
26 25 REASONING_MESSAGE_START subagentRunId=2 messageId=3 role=4
27 26 REASONING_MESSAGE_CONTENT subagentRunId=2 messageId=3 delta=4
28 27 REASONING_MESSAGE_END subagentRunId=2 messageId=3
29 28 REASONING_MESSAGE_CHUNK subagentRunId=2 messageId=3 delta=4
30 29 REASONING_END subagentRunId=2 messageId=3
31 30 REASONING_ENCRYPTED_VALUE subagentRunId=2 subtype=3 entityId=4 encryptedValue=5
"""

_ALL_HAVE = "base:Base=1"
_OPERATIONS = {"add": 0, "remove": 1, "replace": 2, "move": 3, "copy": 4, "test": 5}
_UNIONS = ("Part", "Source")
_SMALL = [bytes([number]) for number in range(0x80)]
_VARINT, _SIZED = 0, 2
"""Whether a value says by itself where it ends, or its size comes first."""


def frame_event(event: wire.AguiEvent) -> bytes:
    """Write an event as one frame."""
    plain: Json = msgspec.json.decode(wire.encode(event))
    tag, number, fields = _TYPES[plain["type"]]
    body = tag + _sized(_message(fields, {"base": {**plain, "type": number}, **plain}))
    return struct.pack(">I", len(body)) + body


def _message(fields: dict[str, Write], given: Json) -> bytes:
    return b"".join([fields[name](value) for name, value in _spread(given).items() if name in fields])


def _spread(given: Json) -> Json:
    """Put a value of a union into the field that the schema has for its type."""
    content = given.get("content")
    if isinstance(content, list):
        given = {**given, "content": None, "contentParts": content}
    elif isinstance(content, dict):
        given = {**given, "content": None, "contentObject": content}
    outcome = given.get("outcome")
    if isinstance(outcome, dict):
        outcome = cast("Json", outcome)
        given = {**outcome, **given, "outcome": outcome.get("type")}
    return given


# -- values ----------------------------------------------------------------------------------------


def _varint(number: int) -> bytes:
    if 0 <= number < 0x80:
        return _SMALL[number]
    number &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _sized(body: bytes) -> bytes:
    return _varint(len(body)) + body


def _text(text: str) -> bytes:
    return _sized(text.encode())


def _double(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # The factorial of 500, say; it is infinite to a client that reads it in JSON, too.
        return math.inf if number > 0 else -math.inf


def _json(value: Any, *, bare: bool = False) -> bytes:
    """Write any value, as google.protobuf.Value; a bare object is a google.protobuf.Struct."""
    if value is None:
        return b"\x02\x08\x00"
    if isinstance(value, bool):
        return b"\x02\x20\x01" if value else b"\x02\x20\x00"
    if isinstance(value, int | float):
        return b"\x09\x11" + struct.pack("<d", _double(value))
    if isinstance(value, str):
        return _sized(b"\x1a" + _text(value))
    # Loops, for the sake of deep values: a comprehension is one more level of calls.
    out: list[bytes] = []
    if isinstance(value, list):
        for one in cast("list[Any]", value):
            out += (b"\x0a", _json(one))
        return _sized(b"\x32" + _sized(b"".join(out)))
    for key, one in cast("Json", value).items():
        out += (b"\x0a", _sized(b"\x0a" + _text(key) + b"\x12" + _json(one)))
    entries = _sized(b"".join(out))
    return entries if bare else _sized(b"\x2a" + entries)


def _operation(op: str) -> bytes:
    # An operation that has no number is left out by the client with a warning, as it is in JSON.
    return _varint(_OPERATIONS.get(op, len(_OPERATIONS)))


# -- the schema ------------------------------------------------------------------------------------

_FIELDS: dict[str, dict[str, Write]] = {}
_WRITERS: dict[str, tuple[int, Write]] = {
    "": (_SIZED, _text),
    "int": (_VARINT, _varint),
    "op": (_VARINT, _operation),
    "json": (_SIZED, _json),
    "object": (_SIZED, partial(_json, bare=True)),
}


def _writer(kind: str) -> tuple[int, Write]:
    if kind in _WRITERS:
        return _WRITERS[kind]
    fields = _FIELDS[kind]
    if kind in _UNIONS:
        # What is none of the union's types becomes an empty one, which the client leaves out with a warning.
        return _SIZED, lambda value: _sized(_message(fields, {value.get("type"): value}))
    return _SIZED, lambda value: _sized(_message(fields, value))


def _read_field(spec: str) -> tuple[str, Write]:
    left, _, number = spec.partition("=")
    name, _, kind = left.rstrip("*").partition(":")
    wire_type, write = _writer(kind)
    tag = _tag(number, wire_type)
    if left.endswith("*"):
        return name, lambda values: b"".join([tag + write(one) for one in values or ()])
    if kind == "json":
        return name, lambda value: tag + write(value)
    return name, lambda value: b"" if value is None else tag + write(value)


def _tag(number: str, wire_type: int) -> bytes:
    return _varint(int(number) << 3 | wire_type)


def _read_lines(schema: str) -> list[list[str]]:
    return [line.split() for line in schema.strip().replace("\n    ", "").split("\n")]


for _name, *_specs in _read_lines(_MESSAGES):
    _FIELDS[_name] = dict(map(_read_field, _specs))
_TYPES = {
    name: (_tag(arm, _SIZED), int(number), dict(map(_read_field, [_ALL_HAVE, *specs])))
    for arm, number, name, *specs in _read_lines(_EVENTS)
}
