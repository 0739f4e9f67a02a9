"""The tables are complete and say what they promise."""

from typing import get_args

import pytest

from tests.strategies import event_kinds
from trunkline import events as ev
from trunkline.grammar import RULES, STATUS_TABLE, TURN_TABLE, Phase
from trunkline.grammar.table import Action


def test_every_event_has_a_row_and_every_row_is_an_event() -> None:
    assert set(TURN_TABLE) == set(event_kinds())


@pytest.mark.parametrize("kind", event_kinds())
def test_a_row_has_an_action_for_every_phase(kind: type[ev.Event]) -> None:
    assert len(TURN_TABLE[kind]) == len(Phase)


def test_every_action_is_used() -> None:
    assert {action for row in TURN_TABLE.values() for action in row} == set(Action)


def test_only_what_begins_a_turn_or_belongs_to_the_session_is_emitted_while_idle() -> None:
    legal = (Action.BEGIN, Action.EMIT, Action.EMIT_FOR_SESSION)
    assert {kind for kind, row in TURN_TABLE.items() if row[Phase.IDLE] in legal} == {
        ev.TurnStarted, ev.PromptQueued, ev.PromptDropped, ev.Rewound, ev.RunOpened, ev.RunClosed, ev.Notice,
        ev.ConfigChanged, ev.CommandsChanged, ev.InfoChanged, ev.ContextUsage, ev.Custom, ev.Raw, ev.Decided,
    }  # fmt: skip


def test_every_status_has_a_row_and_may_be_repeated() -> None:
    assert set(STATUS_TABLE) == set(get_args(ev.ToolStatus))
    assert all(status in row for status, row in STATUS_TABLE.items())


def test_a_final_status_stays_and_the_others_can_reach_every_final_one() -> None:
    for status, row in STATUS_TABLE.items():
        assert row == {status} if status in ev.FINAL_STATUSES else row > ev.FINAL_STATUSES
    assert "pending" not in STATUS_TABLE["in_progress"]


def test_every_rule_tells_what_was_done_about_it() -> None:
    for sentence in RULES.values():
        assert sentence.startswith("it "), sentence
        assert "; " in sentence, sentence
