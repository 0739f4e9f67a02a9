"""Commands are values that survive their journey through JSON."""

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given

from tests.strategies import values_of
from trunkline import commands
from trunkline.commands import Answer, Command, Prompt
from trunkline.content import ImageBlock, TextBlock


@given(values_of(Command))
def test_any_command_survives_json(command: Command) -> None:
    decoded: Any = msgspec.json.decode(msgspec.json.encode(command), type=Command)
    assert decoded == command
    assert type(decoded) is type(command)


def test_every_command_is_exported() -> None:
    assert {kind.__name__ for kind in get_args(Command)} | {"Command"} == set(commands.__all__)


def test_an_unknown_command_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"type":"explode"}', type=Command)


def test_a_prompt_is_made_from_text_or_blocks() -> None:
    image = ImageBlock(mime_type="image/png", data="AAAA")
    assert Prompt.of("hi", key="k") == Prompt(content=(TextBlock(text="hi"),), key="k")
    assert Prompt.of([TextBlock(text="hi"), image]).text == "hi"
    assert Prompt.of(image).content == (image,)
    assert f"{Prompt.of('hello')}" == "hello"


def test_an_answer_selects_unless_it_says_otherwise() -> None:
    assert Answer(question_id="q1", option_id="allow_once").outcome == "selected"
