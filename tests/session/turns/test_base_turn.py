"""Tests of what every turn does, whoever drives it: what it emits, and the one way in which it ends."""

from typing import Any

import pytest

from trunkline import events as ev
from trunkline.commands import Prompt
from trunkline.content import ImageBlock, TextBlock
from trunkline.errors import AgentProtocolError
from trunkline.questions import Form
from trunkline.session.context import TurnContext
from trunkline.session.questions import OpenQuestions
from trunkline.session.turns.base_turn import BaseTurn, with_well_formed_text
from trunkline.session.view import SessionView

FORM = Form(message="Who?", fields={"type": "object", "properties": {}})
CANCELLED = ev.TurnFinished(turn_id="t", stop_reason="cancelled")


class Turn(BaseTurn):
    """A turn that keeps its events."""

    prefix = "t"

    def __init__(self) -> None:
        self.emitted: list[Any] = []
        self.questions = OpenQuestions(self.emitted.append)
        super().__init__("t", "the agent", self.questions, self.emitted.append)
        self.ctx = TurnContext(_with_emit(self), Prompt(), SessionView(session_id="s"))

    def emit(self, item: Any) -> None:
        event = self._event_of(item)
        self._release_held_before(event)
        self.emitted.append(event)

    def emit_text(self, text: str, message_id: str) -> None:
        self.emit(text)

    def end(self, terminal: Any) -> bool:
        return self._end(terminal)


def _with_emit(turn: Any) -> Any:
    return turn


class Words(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "item", ["hi", Words("hi"), TextBlock(text="hi"), ev.Text(message_id="t.1", delta="hi")]
)
def test_text_in_every_form_is_a_text(item: Any) -> None:
    turn = Turn()
    turn.emit(item)
    (text,) = turn.emitted
    assert (type(text), type(text.delta), text.delta, text.message_id) == (ev.Text, str, "hi", "t.1")


def test_a_block_is_media_and_anything_else_is_refused_by_name() -> None:
    turn = Turn()
    turn.emit(ImageBlock(data="eA==", mime_type="image/png"))
    assert type(turn.emitted[0]) is ev.Media
    with pytest.raises(AgentProtocolError, match="the agent gave an object of type int: give text"):
        turn.emit(42)


def test_a_held_call_ends_when_the_agent_goes_on_and_not_before() -> None:
    turn = Turn()
    turn.hold("c")
    turn.emit(ev.ToolUpdate(call_id="c", output="x"))
    turn.emit("next")
    assert [type(event) for event in turn.emitted] == [ev.ToolUpdate, ev.ToolUpdate, ev.Text]
    assert turn.emitted[1].status == "completed"


@pytest.mark.parametrize(
    ("terminal", "call", "question"),
    [
        (ev.TurnFinished(turn_id="t"), "completed", "expired"),
        (CANCELLED, None, "cancelled"),
        (ev.TurnFailed(turn_id="t", code="x", message="\ud800"), None, "expired"),
    ],
    ids=["finished", "cancelled", "failed"],
)
async def test_a_turn_ends_once_with_its_questions_and_its_tokens(
    terminal: Any, call: str | None, question: str
) -> None:
    turn = Turn()
    turn.hold("c")
    turn.count(ev.TokenUsage(input_tokens=3))
    waiting = turn.questions.ask(ev.Asked(turn_id="t", question_id="q", question=FORM), expires_in=60)
    assert turn.end(terminal)
    assert not turn.end(CANCELLED)
    assert not turn.live
    _, *released, answered, last = turn.emitted
    assert [one.status for one in released] == ([call] if call else [])
    assert (answered.outcome, (await waiting).outcome) == (question, question)
    assert last == turn.terminal
    assert (type(last), last.usage) == (type(terminal), (ev.TokenUsage(input_tokens=3),))
    assert getattr(last, "message", "\N{REPLACEMENT CHARACTER}") == "\N{REPLACEMENT CHARACTER}"


def test_text_with_half_a_character_is_mended() -> None:
    good = ev.Text(message_id="m", delta="plain")
    assert with_well_formed_text(good) is good
    bad = ev.Text(message_id="m", delta="é\ud800")
    assert with_well_formed_text(bad).delta == "é\N{REPLACEMENT CHARACTER}"
