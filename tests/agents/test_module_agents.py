"""Which agents a module has, for a TARGET that names none of them."""

from pathlib import Path

import pytest

from trunkline.agents.targets import name_target
from trunkline.errors import TargetError


def write(folder: Path, text: str) -> str:
    path = folder / "hello.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


ONE = "import trunkline\n@trunkline.agent\nasync def hello(prompt, ctx):\n    yield 'hi'\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (ONE, "hello"),
        (ONE + "agent = hello\n", "hello"),
        (ONE + "def helper(prompt):\n    return ''\n", "hello"),
        ("async def hello(prompt, ctx):\n    yield 'hi'\ndef _hidden(prompt):\n    return ''\n", "hello"),
        ("from os.path import join\nasync def make(session):\n    yield print\nnumber = 3\n", "make"),
        (
            "from langchain.agents import create_agent\n"
            "from trunkline.testing.chat import ScriptedChatModel\n"
            "model = ScriptedChatModel('hi')\nagent = create_agent(model, tools=[])\n",
            "agent",
        ),
    ],
)
def test_the_only_agent_of_a_file_needs_no_name(tmp_path: Path, text: str, name: str) -> None:
    path = write(tmp_path, text)
    named = name_target(path)
    assert named.target == f"{path}:{name}"
    assert named.agent.card.name == name


def test_a_file_with_several_agents_offers_them(tmp_path: Path) -> None:
    path = write(tmp_path, ONE + ONE.replace("hello", "other"))
    with pytest.raises(TargetError) as caught:
        name_target(path)
    assert str(caught.value) == f"{path} has 2 agents: choose one of {path}:hello, {path}:other"


def test_a_file_without_an_agent_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "import os\nclass Thing: ...\ndef helper(a, b, c): ...\n")
    with pytest.raises(TargetError, match="has no agent: name what makes one"):
        name_target(path)


def test_a_file_that_is_not_there_is_answered_with_the_one_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, ONE)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError, match=r"did you mean hello.py\?"):
        name_target("helo.py")
    with pytest.raises(TargetError, match=r"unknown target 'hello'; did you mean 'hello.py'\?"):
        name_target("hello")
