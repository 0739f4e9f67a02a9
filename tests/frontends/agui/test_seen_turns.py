from trunkline.frontends.agui.seen_turns import Pages


def test_of_a_thread_that_began_here_every_page_is_known() -> None:
    pages = Pages()
    pages.visit("me", "t", None, is_new=True).note_shown(None, "one")

    assert not pages.visit("me", "t", None, is_new=False).may_be_behind(["zero"])
    assert pages.visit("me", "t", None, is_new=False).may_be_behind(["one"])
    pages.visit("me", "t", None, is_new=False).note_shown("one", "two")
    assert not pages.visit("me", "t", None, is_new=False).may_be_behind(["one"])


def test_of_another_thread_any_page_may_be_behind() -> None:
    pages = Pages()

    assert pages.visit("me", "t", None, is_new=False).may_be_behind(["one"])
    assert pages.visit("me", "t", "mine", is_new=False).may_be_behind(["one"])


def test_of_a_page_with_a_name_it_is_known_what_it_was_shown() -> None:
    pages = Pages()
    pages.visit("me", "t", "mine", is_new=False).note_shown(None, "two")
    mine, other = (pages.visit("me", "t", name, is_new=False) for name in ("mine", "other"))

    assert (mine.has_seen("two"), mine.may_be_behind(["one"]), mine.may_be_behind(["two"])) == (
        True,
        False,
        True,
    )
    assert (other.has_seen("two"), other.may_be_behind(["one"])) == (False, True)


def test_threads_of_two_people_are_two() -> None:
    pages = Pages()
    pages.visit("me", "t", "page", is_new=True).note_shown(None, "one")

    assert not pages.visit("you", "t", "page", is_new=False).has_seen("one")


def test_what_is_kept_is_bounded() -> None:
    pages = Pages()
    for number in range(5_000):
        pages.visit("me", f"t{number}", f"p{number}", is_new=True).note_shown(None, "one")
        pages.visit("me", "t", f"p{number}", is_new=False).note_shown(None, "one")

    assert pages.visit("me", "t0", None, is_new=False).may_be_behind(["one"]), "forgotten is unknown"
    assert not pages.visit("me", "t", "p0", is_new=False).has_seen("one")
    assert pages.visit("me", "t", "p4999", is_new=False).has_seen("one")
