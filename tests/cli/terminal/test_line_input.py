import asyncio
import io
import os
from collections.abc import Iterator

import pytest

from trunkline.cli.terminal.line_input import PlainInput, wait_for_pause
from trunkline.cli.terminal.plain_screen import PlainScreen
from trunkline.cli.terminal.stdin_lines import StdinLines


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Both ends of a pipe."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


async def test_a_question_gets_the_next_line_and_the_prompt_the_one_after_it(pipe: tuple[int, int]) -> None:
    shown = io.StringIO()
    lines = PlainInput(StdinLines(pipe[0]), PlainScreen(shown))
    async with asyncio.timeout(5):
        prompt = asyncio.create_task(lines.read("> ", is_prompt=True))
        await asyncio.sleep(0)
        question = asyncio.create_task(lines.read("a/r > "))
        await asyncio.sleep(0)
        os.write(pipe[1], b"a\nhello\n")
        assert (await question, await prompt) == ("a", "hello")
    assert shown.getvalue() == "> a/r > a\n> hello\n"


async def test_a_line_that_nobody_waits_for_any_more_is_for_the_next_reader(pipe: tuple[int, int]) -> None:
    lines = PlainInput(StdinLines(pipe[0]), PlainScreen(io.StringIO()))
    async with asyncio.timeout(5):
        question = asyncio.create_task(lines.read("a/r > "))
        await asyncio.sleep(0)
        question.cancel()
        await asyncio.wait({question})
        os.write(pipe[1], b"hello\n")
        assert await lines.read("> ") == "hello"


async def test_text_to_edit_is_shown_above_and_closing_ends_the_wait(pipe: tuple[int, int]) -> None:
    shown = io.StringIO()
    lines = PlainInput(StdinLines(pipe[0]), PlainScreen(shown))
    async with asyncio.timeout(5):
        reading = asyncio.create_task(lines.read("> ", initial='{"a": 1}'))
        await asyncio.sleep(0)
        lines.redraw()
        assert not lines.clear()
        lines.restore()
        lines.close()
        assert await reading is None
    assert shown.getvalue() == '{"a": 1}\n> > \n'
    lines.redraw()
    assert shown.getvalue().count("> ") == 2


@pytest.mark.parametrize(
    ("texts", "looks"), [([""], 1), (["a", "a"], 2), (["a", "ab", "ab"], 3), (["a", ""], 2)]
)
async def test_a_question_waits_while_a_person_types_a_line(texts: list[str], looks: int) -> None:
    left = iter([*texts, *["never looked at"] * 9])
    seen: list[str] = []

    def typed() -> str:
        seen.append(next(left))
        return seen[-1]

    await wait_for_pause(typed, 0)
    assert len(seen) == looks
