from trunkline import events as ev
from trunkline.questions import Link
from trunkline.session.ids import new_id
from trunkline.testing import ScriptedAgent, normalize, run_prompt


async def test_two_runs_of_one_story_are_equal_once_normalized() -> None:
    first, second = [await run_prompt(ScriptedAgent(), "/permission-twice") for _ in range(2)]

    assert first != second
    assert normalize(first) == normalize(second)


def test_ids_are_counted_by_kind_and_derived_ids_follow() -> None:
    turns = [new_id("turn"), new_id("turn")]
    events = [ev.Text(turn_id=turn, message_id=f"{turn}.1", delta=f"in {turn}") for turn in turns]

    assert normalize([*events, ev.TurnResumed(turn_id=turns[0])]) == [
        {"type": "text", "turn_id": "turn1", "message_id": "turn1.1", "delta": "in turn1"},
        {"type": "text", "turn_id": "turn2", "message_id": "turn2.1", "delta": "in turn2"},
        {"type": "turn_resumed", "turn_id": "turn1"},
    ]


def test_times_are_left_out_and_other_ids_stay() -> None:
    asked = ev.Asked(question_id="q_1", question=Link(url="https://example.com"), expires_at=1.5)

    assert normalize([asked]) == [
        {"type": "asked", "question_id": "q_1", "question": {"type": "link", "url": "https://example.com"}}
    ]
