"""How many pages lack the end of a turn."""

from trunkline.frontends.aisdk.lost_ends import LostEnds

CHAT = ("local", "c1")


def test_as_many_as_left_come_back() -> None:
    lost = LostEnds()
    assert not lost.take(CHAT, "t1")
    lost.add(CHAT, "t1")
    lost.add(CHAT, "t1")
    assert not lost.take(("bob", "c1"), "t1")
    assert [lost.take(CHAT, "t1") for _ in range(3)] == [True, True, False]


def test_a_page_that_is_loaded_may_be_one_that_left() -> None:
    lost = LostEnds()
    lost.expect(CHAT, "t1")
    lost.expect(CHAT, "t1")
    assert lost.count(CHAT, "t1") == 1
    lost.add(CHAT, "t1")
    lost.expect(CHAT, "t1")
    assert lost.count(CHAT, "t1") == 2


def test_only_the_last_turn_of_a_chat_counts_and_only_the_newest_chats() -> None:
    lost = LostEnds()
    lost.add(CHAT, "t1")
    lost.add(CHAT, "t2")
    assert (lost.count(CHAT, "t1"), lost.count(CHAT, "t2")) == (0, 1)
    for number in range(1023):
        lost.add(("local", f"other{number}"), "t1")
    assert lost.count(CHAT, "t2") == 1
    lost.add(("local", "one more"), "t1")
    assert lost.count(CHAT, "t2") == 0
