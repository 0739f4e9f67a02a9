"""Whatever an agent sends, the decoder gives a legal stream, and loses nothing that our own encoder says."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.legal_sessions import LegalSession, legal_sessions
from tests.protocols.acp import recorded
from tests.protocols.acp.wire_updates import STEPS, SUBAGENT_STEPS, Step, updates

from trunkline import events as ev
from trunkline.content import LinkBlock, TerminalBlock, TextBlock, text_of
from trunkline.conversation import Call, Conversation, MediaPart, Message, SourcePart, TextPart, ThoughtPart
from trunkline.cursor import Entry
from trunkline.folding import fold
from trunkline.frontends.acp.encoder import AcpEncoder, EndPrompt
from trunkline.grammar import Grammar, Phase
from trunkline.grammar.event_check import check_event
from trunkline.protocols.acp import wire
from trunkline.protocols.acp.decoder import AcpDecoder, is_of_session
from trunkline.protocols.acp.profiles import CLAUDE_CODE, STANDARD, Profile
from trunkline.protocols.acp.replay import decode_replay

# -- any agent -------------------------------------------------------------------------------------


class Drive:
    """Does with a decoder what an agent on the trunk does, and puts the turns around it."""

    def __init__(self, profile: Profile) -> None:
        """Begin without a turn."""
        self.decoder = AcpDecoder(profile)
        self.out: list[ev.Event] = []
        self.turns = 0
        self.open = False

    def play(self, steps: Sequence[Step]) -> list[ev.Event]:
        """Do all of it, end the turn, and give what was emitted."""
        for name, value in steps:
            match name:
                case "begin_turn":
                    self.end()
                    self.begin()
                    self.decoder.begin_turn(f"t{self.turns}", value)
                case "close":
                    self.end(value)
                case "terminal":
                    self.take(self.decoder.terminal(value, "out", {"exitCode": 1} if value == "z" else None))
                case "set_option":
                    self.take(self.decoder.set_option(value, "b"))
                case _:
                    self.take(getattr(self.decoder, name)(value))
        self.end()
        return self.out

    def take(self, events: list[ev.AnyEvent]) -> None:
        """Emit events, and begin a turn for those that came out of turn."""
        if self.decoder.in_turn and not self.open:
            self.begin()
        for event in events:
            assert is_of_session(event) or self.open
            turn_id = None if is_of_session(event) else f"t{self.turns}"
            self.out.append(msgspec.structs.replace(event, turn_id=turn_id))

    def begin(self) -> None:
        """Begin a turn."""
        self.turns += 1
        self.open = True
        self.out.append(ev.TurnStarted(turn_id=f"t{self.turns}"))

    def end(self, stop_reason: str = "end_turn") -> None:
        """End the turn, if there is one."""
        self.take(self.decoder.close(stop_reason))
        assert self.decoder.close(stop_reason) == []
        if self.open:
            self.open = False
            end: Any = stop_reason
            self.out.append(ev.TurnFinished(turn_id=f"t{self.turns}", stop_reason=end))


profiles = st.sampled_from([STANDARD, CLAUDE_CODE])


@given(STEPS | SUBAGENT_STEPS, profiles)
def test_any_prefix_of_anything_is_legal_and_ends_legally(steps: list[Step], profile: Profile) -> None:
    grammar = Grammar()
    for event in Drive(profile).play(steps):
        grammar.feed(event)
    assert grammar.violations == []
    assert grammar.phase is Phase.IDLE


@given(STEPS, profiles)
def test_each_event_comes_back_from_the_journal_as_it_was(steps: list[Step], profile: Profile) -> None:
    for event in Drive(profile).play(steps):
        assert ev.decode_event(ev.encode_event(event)) == event
        check_event(event, "the agent", foreign_words=True)


@given(st.lists(updates, max_size=25), profiles)
def test_any_replay_is_a_row_of_whole_turns(replay: list[Any], profile: Profile) -> None:
    events = decode_replay(replay, profile=profile)
    grammar = Grammar()
    for event in events:
        grammar.feed(event)
    assert grammar.violations == []
    assert grammar.phase is Phase.IDLE


@given(updates)
def test_an_update_is_never_lost(update: Any) -> None:
    """What gives no event was an empty piece, an echo, or a fact that was known."""
    decoder = AcpDecoder()
    decoder.begin_turn("t", [])
    events = decoder.feed(update) + decoder.close()
    if not events:
        assert isinstance(update, dict)
        kind: Any = cast("dict[str, Any]", update)["sessionUpdate"]
        assert kind.endswith("_chunk") or kind == "config_option_update"


@given(st.sampled_from([name for name in recorded.NAMES if name.endswith("-turn")]), st.data())
def test_a_recorded_wire_may_break_off_anywhere(name: str, data: st.DataObject) -> None:
    wires = recorded.updates(name)
    steps: list[Step] = [("feed", update) for update in wires[: data.draw(st.integers(0, len(wires)))]]
    grammar = Grammar()
    for event in Drive(CLAUDE_CODE).play([("begin_turn", []), *steps]):
        grammar.feed(event)
    assert grammar.violations == []


# -- our own encoder -------------------------------------------------------------------------------

SHOWS_ALL = wire.ClientCapabilities(
    session=wire.ClientSessionCapabilities(
        notices=wire.NoticeCapabilities(),
        compaction=wire.CompactionCapabilities(),
        config_options=wire.SessionConfigOptionsCapabilities(boolean=wire.BooleanConfigOptionCapabilities()),
    ),
    elicitation=wire.ElicitationCapabilities(
        form=wire.ElicitationFormCapabilities(), url=wire.ElicitationUrlCapabilities()
    ),
)


def over_the_wire(events: Sequence[ev.Event]) -> list[ev.Event]:
    """Encode events for an editor, and decode what it is sent."""
    encoder, decoder = AcpEncoder("s", SHOWS_ALL, replay=True), AcpDecoder()
    out: list[ev.Event] = []
    turn_id: str | None = None
    for number, event in enumerate(events):
        if isinstance(event, ev.TurnStarted):
            turn_id = event.turn_id
            decoder.begin_turn(f"decoded.{turn_id}")
            out.append(event)
        entry = Entry(seq=number + 1, offset=0, fence=1, at=0.0, event=cast("Any", event))
        for line in encoder.feed(entry):
            if isinstance(line, bytes):
                decoded = decoder.feed(orjson.loads(line)["params"]["update"])
                out += [msgspec.structs.replace(one, turn_id=turn_id) for one in decoded]
            elif isinstance(line, EndPrompt):
                end = line.terminal
                reason = end.stop_reason if isinstance(end, ev.TurnFinished) else "failed"
                out += [msgspec.structs.replace(one, turn_id=turn_id) for one in decoder.close(reason)]
                out.append(end)
    return out


def as_acp_carries(folded: Conversation) -> dict[str, Any]:
    """Give a conversation without what the loss table of ACP names."""
    return {
        # A call does not say which message it is part of: one that began with a call begins later.
        "messages": {one.message_id: shown for one in folded.messages if (shown := _message(one))[2]},
        "calls": {call.call_id: _call(call, folded) for call in folded.calls.values()},
        "turns": [(turn.turn_id, turn.status, turn.stop_reason) for turn in folded.turns],
        "plan": folded.plan,
        "notices": [(notice.title, notice.severity, notice.description) for notice in folded.notices],
        "compactions": {name: (one.status, one.summary) for name, one in folded.compactions.items()},
        "title": folded.title,
        "usage": folded.usage and (folded.usage.used, folded.usage.size, folded.usage.cost),
        "options": folded.options,
        "commands": folded.commands,
    }


def _message(message: Message) -> tuple[str, str | None, list[Any]]:
    """A message without its calls and signatures; a source is a link, and a whole block of text is text."""
    parts: list[Any] = list(message.content)
    for part in message.parts:
        shown: Any = None
        match part:
            case TextPart():
                shown = ("text", part.text)
            case MediaPart(content=TextBlock(text=text)):
                shown = ("text", text)
            case ThoughtPart():
                shown = ("thought", part.text)
            case MediaPart():
                shown = part.content
            case SourcePart():
                uri = part.url or f"source:{part.source_id}"
                name = part.title or part.document or uri
                shown = LinkBlock(uri=uri, name=name, mime_type=part.mime_type)
            case _:
                continue
        if parts and isinstance(shown, tuple) and isinstance(parts[-1], tuple) and parts[-1][0] == shown[0]:
            parts[-1] = (shown[0], parts[-1][1] + shown[1])
        else:
            parts.append(shown)
    return message.role, message.lane, parts


def _call(call: Call, folded: Conversation) -> dict[str, Any]:
    """A call whose output, reason and terminals are blocks of its content."""
    arguments: Any = call.arguments or None
    if arguments is not None:
        with suppress(orjson.JSONDecodeError):
            arguments = orjson.loads(arguments)
    content: list[Any] = []
    for block in call.content:
        if isinstance(block, TerminalBlock):
            screen = folded.terminals[block.terminal_id]
            code = f"\n[exit code {screen.exit_code}]" if screen.exit_code else ""
            block = TextBlock(text=screen.data + code)
        content.append(block)
    if call.output:
        content.append(TextBlock(text=call.output))
    if call.reason and not text_of(tuple(content)).startswith(call.reason):
        content.append(TextBlock(text=f"{call.status.capitalize()}: {call.reason}"))
    shown = " ".join((call.title or call.name).split()) or call.name
    return {
        "name": call.name,
        "title": shown,
        "kind": call.kind,
        "lane": call.lane,
        "status": "failed" if call.status in ("denied", "cancelled") else call.status,
        "input": arguments if call.input is None else call.input,
        "raw_output": call.raw_output,
        "content": content,
        "locations": call.locations,
    }


@given(legal_sessions())
def test_what_our_encoder_sends_is_what_was_said(story: LegalSession) -> None:
    ends = (n for n, event in enumerate(story.events) if isinstance(event, ev.Rewound))
    events = story.events[: next(ends, len(story.events))]
    decoded = over_the_wire(events)

    assert as_acp_carries(fold(decoded)) == as_acp_carries(fold(events))
    grammar = Grammar()
    for event in decoded:
        grammar.feed(event)
    assert grammar.violations == []


SCENARIOS = sorted((Path(__file__).parents[2] / "transcripts").glob("*.jsonl"))


@pytest.mark.parametrize("path", SCENARIOS, ids=[path.stem for path in SCENARIOS])
def test_a_scenario_over_the_wire_folds_the_same(path: Path) -> None:
    events = [ev.decode_event(line) for line in path.read_text(encoding="utf-8").splitlines()]
    decoded, said = as_acp_carries(fold(over_the_wire(events))), as_acp_carries(fold(events))
    assert decoded == said
    assert list(decoded["messages"]) == list(said["messages"])
