from trunkline.cli.terminal.live_area import LiveArea


def test_a_turn_shows_that_it_works_then_what_it_does_and_then_nothing() -> None:
    now = 100.0
    area = LiveArea(lambda: now)
    assert (area.lines(10), area.moves) == ([], False)
    area.begin()
    now += 3
    area.begin()
    assert area.moves
    assert area.lines(10)[-1].endswith(" working 3 s · Ctrl-C stops")
    area.begin_call("c", "Run tests")
    now += 120
    assert area.lines(10)[-1].endswith(" Run tests 2 min")
    area.waits_for_person = True
    assert (area.lines(10), area.moves) == ([], False)
    area.waits_for_person = False
    area.end_call("c")
    area.growing = "\n".join(map(str, range(50)))
    assert area.lines(4)[:3] == ["47", "48", "49"]
    area.end()
    assert area.lines(10) == []
