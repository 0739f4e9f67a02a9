"""What an agent says and does, as cards on our own page; hostile content is shown and does nothing."""

from collections.abc import Callable

import pytest

from tests.browser.own_page import ANSWER, OwnPage, check_smooth

pytestmark = pytest.mark.slow

Converse = Callable[..., OwnPage]


def test_markdown_is_drawn_with_code_tables_tasks_and_links(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("markdown")
    page = talk.page
    page.see(".markdown h3", "Findings")
    page.see(".markdown .table-scroll td.short[align=right]", "1,200")
    page.see(".markdown .hljs-keyword", "def")
    page.see(".markdown li .code pre", "echo nested")
    assert page.texts(".markdown .task") == ["☑", "☐"]
    talk.rests()
    links = {
        name: [page.attribute(".markdown a", attribute, text=name) for attribute in ("href", "rel", "target")]
        for name in ("a site", "reference")
    }
    assert links == {
        "a site": ["https://example.com/page", "noopener noreferrer nofollow", "_blank"],
        "reference": ["https://example.com/reference", "noopener noreferrer nofollow", "_blank"],
    }
    page.click(".markdown > .code .copy-button")
    page.see(".markdown > .code .copy-button", "Copied")
    page.click(".markdown li .code button")
    page.see(".markdown li .code button", "Copied")


def test_a_line_that_the_agent_ended_stays_one(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("lines")
    talk.hears("That was all.")
    talk.rests()
    shown = talk.page.evaluate("document.querySelector('.markdown').innerText")
    assert shown == "total 2\na.txt\nb.txt\n\nThat was all."


def test_a_long_answer_of_every_kind_of_block_is_whole_and_does_not_hold_up_the_page(
    converse: Converse,
) -> None:
    def play(talk: OwnPage) -> None:
        page = talk.page
        talk.say("essay")
        page.wait(
            "document.querySelector('.markdown > :last-child')?.textContent.includes('The essay ends.')"
        )
        talk.rests()
        counts = page.evaluate(
            "['h3', 'ul > li', 'tbody tr', '.code']"
            ".map((what) => document.querySelectorAll(`.markdown ${what}`).length)"
        )
        # Each chapter has a heading, two tasks, a row and two pieces of code.
        assert counts == [60, 1500 + 120, 800 + 60, 1 + 120]
        code = page.evaluate("document.querySelector('.markdown > .code:nth-last-child(2)').innerText")
        assert code.count("compute(") == 3000

    # A burst of 50,000 words in a second: the page answers to keys and clicks in between.
    check_smooth(lambda: converse("hostile"), play, 500)


def test_hostile_content_is_shown_and_does_nothing(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("hostile")
    talk.hears("All was said.")
    talk.rests()
    page = talk.page
    page.click(".tool-head", "Fetch")
    page.see(".tool .output-text", "</code></pre><script>")
    page.click(".tool .disclosure-head", "Input")
    shown = "\n".join(talk.answers())
    for words in (
        '<script>window.broken = "script"</script>',
        "onerror",
        "<svg onload",
        "<iframe",
        "(javascript:window.broken='link')",
        "<style>body",
        "image: a picture",
    ):
        assert words in shown, words
    page.see(".markdown kbd", "Ctrl")
    assert page.evaluate("window.broken") is None
    inside = f"{ANSWER} :is(script, iframe, svg circle, style, form, object)"
    assert page.count(inside) == 0
    assert page.count(f"{ANSWER} a[href^='javascript']") == 0
    # The SVG is a picture in a page of its own; what is elsewhere is a link, and nobody asked for it.
    assert page.evaluate(
        "[...document.querySelectorAll('img.media')].map((image) => image.src.slice(0, 5))"
    ) == ["blob:"]
    page.see(".media-note", "image that cannot be shown here (text/html)")
    page.see(".media-note a", "https://example.invalid/remote.png")
    page.see(".notice-warning", "<script>window.broken=6</script>")
    assert not [line for line in page.console() if "example.invalid" in line]


def test_pictures_keep_their_size_and_shape(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("pictures")
    talk.hears("Those were all.")
    page = talk.page
    page.wait(
        "[...document.querySelectorAll('img.media')].filter((one) => one.naturalWidth > 0).length === 3"
    )
    sizes = page.evaluate(
        "[...document.querySelectorAll('img.media')].map((one) =>"
        "[one.clientWidth, one.clientHeight].map(Math.round))"
    )
    # The tall one is made smaller; none is made wider, and the smallest can be seen.
    assert sizes[0] == [300, 100]
    assert sizes[1][1] <= 24 * 16
    assert abs(sizes[1][0] * 20 - sizes[1][1]) <= 20 * 2 or sizes[1][0] <= 24
    assert max(sizes[2]) <= 24


def test_a_wide_table_scrolls_and_its_sentences_stay_lines(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("ledger")
    page = talk.page
    page.see(".table-scroll td", "Supermarket")
    talk.rests()
    box = "document.querySelector('.table-scroll')"
    assert page.evaluate(f"{box}.scrollWidth > {box}.clientWidth")
    assert page.evaluate(f"{box}.clientHeight") < 240
    assert talk.overflow() <= 0


def test_right_to_left_is_mirrored_and_what_is_folded_is_inside(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("folded")
    talk.hears("Left to right again.")
    talk.rests()
    page = talk.page
    blocks = "[...document.querySelectorAll('.markdown :is(ul, blockquote, table)')]"
    assert page.evaluate(f"{blocks}.map((one) => getComputedStyle(one).direction)") == ["rtl"] * 3
    inside = "document.querySelector('.markdown details').checkVisibility.call("
    inside += "document.querySelector('.markdown details strong'), { visibilityProperty: true })"
    assert not page.evaluate(inside)
    page.click(".markdown summary", "More of it")
    page.see(".markdown details strong", "away")
    page.see(".markdown details .code", "fold()")


def test_thoughts_are_one_line_until_they_are_opened(converse: Converse) -> None:
    talk = converse()
    talk.say("/thoughts")
    talk.hears("this is the answer")
    page = talk.page
    page.see(".thought .disclosure-head[aria-expanded=false]", "Thought for a moment")
    assert "The question is simple" not in "\n".join(talk.answers())
    page.press("Enter", ".thought .disclosure-head")
    page.see(".thought", "The question is simple. An example will do.")


def test_a_thought_says_how_long_it_took_also_after_a_reload(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("ponder")
    talk.page.see(".thought-growing", "Thinking")
    talk.hears("I thought about it.")
    talk.page.see(".thought .disclosure-head", "Thought for 1 s")
    talk.page.reload()
    talk.page.see(".thought .disclosure-head", "Thought for 1 s")


def test_a_call_is_a_card_with_input_output_and_result(converse: Converse) -> None:
    talk = converse()
    talk.say("/tools")
    talk.hears("There are two notes")
    page = talk.page
    page.see(".tool[data-status=completed] .tool-head[aria-expanded=false]", "Search the notes")
    page.see(".tool-summary", "Found 2 notes.")
    assert page.count(".tool .icon-search") == 1
    page.click(".tool-head")
    page.see(".tool .output-text", "notes/design.md")
    page.see(".tool-name", "search")
    page.click(".tool .disclosure-head", "Input")
    page.see(".tool-input pre", '"query": "trunkline"')
    page.click(".tool .disclosure-head", "Raw result")
    page.see(".tool .code", '"hits"')


def test_calls_that_run_fail_and_are_cancelled_say_so(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    talk.say("/parallel-tools")
    page.see(".tool[data-status=failed] .tool-reason", "the station does not answer")
    page.see(".tool[data-status=completed]", "Weather in Oslo")
    talk.rests()
    talk.say("/wait-for-cancel")
    page.see(".tool[data-status=in_progress] .tool-status", "running")
    page.click("button.stop")
    page.see(".tool[data-status=cancelled] .tool-status", "cancelled")
    page.see(".turn-end", "Stopped.")


def test_a_change_of_a_file_has_numbers_signs_and_marks(converse: Converse) -> None:
    talk = converse()
    talk.say("/diff")
    talk.hears("friendlier")
    page = talk.page
    page.see(".diff-path", "greeting.py")
    assert page.texts(".diff-table .diff-text") == [
        "def greet():",
        '    return "hello"',
        '    return "hello, world"',
    ]
    assert [sign[:1] for sign in page.texts(".diff-table .diff-sign")] == ["", "\N{MINUS SIGN}", "+"]
    assert page.evaluate(
        "[...document.querySelectorAll('.diff-table tr')]"
        ".map((row) => [...row.querySelectorAll('.diff-number')].map((cell) => cell.dataset.line ?? ''))"
    ) == [["1", "1"], ["2", ""], ["", "2"]]
    page.see(".diff-plus .diff-part", ", world")
    page.see(".locations", "greeting.py")


def test_a_terminal_shows_its_lines_and_its_end(converse: Converse) -> None:
    talk = converse()
    talk.say("/terminal")
    talk.hears("counted to three")
    page = talk.page
    page.see(".terminal .output-text", "line 3")
    page.see(".terminal-end", "exit 0")


def test_colours_of_output_are_kept_and_controls_are_shown(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("ansi")
    talk.hears("The tests ran.")
    page = talk.page
    assert page.texts(".tool-summary")[0].startswith("5 passed, 1 failed orange")
    page.click(".tool-head", "Run the tests")
    page.see(".output-text .ansi-2.ansi-bold", "5 passed")
    page.see(".output-text .ansi-1", "1 failed")
    controls = page.texts(".output-text .hidden-character")
    assert controls == ["\\x1b", "\\x1b", "\\x1b", "\\x07"]
    assert "after the controls <b>not bold</b>" in page.texts(".output-text")[0]


def test_huge_output_and_huge_changes_are_bounded(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("huge")
    talk.hears("That was much.")
    page = talk.page
    # What a box scrolls does not make the conversation longer.
    page.wait(
        "document.querySelector('.scroller').scrollHeight"
        " === Math.max(document.querySelector('.transcript').offsetHeight,"
        " document.querySelector('.scroller').clientHeight)"
    )
    page.click(".tool-head", "Count")
    page.see(".output .more", "earlier lines are not shown")
    assert page.texts(".output-text")[0].count("\n") <= 201
    page.click(".output .more button", "Show them")
    page.see(".output-text", "line 10001")
    assert page.texts(".output-text")[0].count("\n") <= 20_001
    big, one = ".diff:has-text('big.txt')", ".diff:has-text('one.txt')"
    page.see(f"{big} .more", "2700 more lines are not shown")
    assert page.count(f"{big} tr") == 300
    # Seven lines around the one that changed, and two folds.
    assert page.count(f"{one} tr") == 10
    page.click(f"{one} .diff-fold button", "696 unchanged lines")
    page.see(f"{one} .more", "more lines are not shown")


def test_plans_notices_lanes_media_sources_and_compactions_have_their_cards(converse: Converse) -> None:
    talk = converse()
    page = talk.page
    talk.say("/plan")
    talk.hears("I checked it twice.")
    page.see(".plan", "3 of 3 done")
    talk.say("/notice")
    talk.hears("There were three notices.")
    page.see(".notice-info", "A tip")
    page.see(".notice-warning", "Slow network")
    page.see(".notice-error[role=alert]", "A source is gone")
    talk.say("/subagents")
    talk.hears("The tower is 330 metres high.")
    page.click(".lane > .disclosure > .disclosure-head", "researcher")
    page.see(".lane", "I look at the map.")
    page.see(".lane .lane", "checker")
    talk.say("/media")
    talk.hears("and a document.")
    page.see("img.media")
    page.see("audio.media")
    page.see(".attachment a", "The guide")
    page.click(".attachment .disclosure-head", "notes.md")
    page.see(".attachment .output-text", "One line.")
    talk.say("/sources")
    page.see(".sources a", "On water")
    page.see(".sources", "A physics book")
    talk.say("/compaction")
    talk.hears("The context is short again.")
    page.click(".compaction .disclosure-head", "The context was shortened here")
    page.see(".compaction", "towers and T-shirts")
    talk.say("/activity")
    talk.hears("The files are copied.")
    page.see(".activity", "Copying files")
    page.see(".activity", "100 %")


def test_a_turn_that_fails_names_the_code_and_the_next_step(converse: Converse) -> None:
    talk = converse()
    talk.say("/fails")
    talk.page.see(".notice-error .notice-code", "agent_failed")
    talk.page.see(".notice-error", "the demo failed on purpose")
    talk.page.see(".notice-next", "Send the message again")


def test_a_turn_in_which_nothing_came_says_so(converse: Converse) -> None:
    talk = converse("hostile")
    talk.say("silent")
    talk.page.see(".turn-end", "The agent ended its turn without an answer.")
    talk.say("ledger")
    talk.hears("Supermarket")
    talk.rests()
    assert talk.page.count(".turn-end") == 1
    talk.page.reload()
    talk.page.see(".turn-end", "The agent ended its turn without an answer.")
    assert talk.page.count(".turn-end") == 1


def test_axe_finds_nothing_serious_in_any_card(converse: Converse, axe: str) -> None:
    talk = converse("hostile")
    page = talk.page
    page.theme("light")
    for prompt, words in (
        ("markdown", "A step with code"),
        ("ansi", "The tests ran."),
        ("hostile", "All was said."),
        ("huge", "That was much."),
    ):
        talk.say(prompt)
        talk.hears(words)
        talk.rests()
    for name in ("Run the tests", "Fetch"):
        page.click(".tool-head", name)
    page.evaluate(axe)
    assert talk.findings() == []
    page.theme("dark")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    assert talk.findings() == []
    page.theme("light")


def test_cards_fit_a_narrow_screen_and_change_with_the_theme(converse: Converse) -> None:
    talk = converse("hostile")
    page = talk.page
    page.theme("light")
    talk.say("markdown")
    page.see(".markdown h3", "Findings")
    talk.rests()
    light = page.evaluate("getComputedStyle(document.querySelector('.code')).backgroundColor")
    page.theme("dark")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    dark = page.evaluate("getComputedStyle(document.querySelector('.code')).backgroundColor")
    assert light != dark
    page.resize(360, 700)
    assert talk.overflow() <= 0
    page.resize(900, 700)
    page.theme("light")
