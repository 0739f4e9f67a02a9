"""TARGETs: every form, and for every failure the words that lead out of it."""

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hubs import hub_for, run_turn, text_of
from trunkline.agents.acp import AcpAgent
from trunkline.agents.adapt import FactoryAgent
from trunkline.agents.targets import BUILT_IN, load_target, resolve_target
from trunkline.errors import AuthenticationRequired, NotAnAgent, TargetError

HELLO = """
from __future__ import annotations
import trunkline
import asyncio


@trunkline.agent(name="greeter")
async def hello(prompt, ctx):
    yield "hello"


def plain(prompt):
    return "plain"


def build(session):
    return plain


class Team:
    first = hello
    number = 42

    class inner:
        second = plain


team = Team()
NUMBER = 42
"""

WAITING = """
import asyncio


async def find():
    await asyncio.sleep(0)
    return "found"


WORD = asyncio.run(find())


def hello(prompt):
    return WORD
"""


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder and leave no trace in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    importlib.invalidate_caches()
    yield tmp_path
    for name in set(sys.modules) - before:
        module_file = getattr(sys.modules[name], "__file__", None) or ""
        if module_file.startswith(str(tmp_path)):
            del sys.modules[name]


def write(name: str, text: str = HELLO) -> None:
    """Write a file of the person's."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def refused(target: str) -> str:
    """Give the words with which a TARGET is refused."""
    with pytest.raises(TargetError) as caught:
        resolve_target(target)
    return str(caught.value)


async def say(target: str) -> str:
    """Give what the agent of a TARGET answers."""
    return text_of(await run_turn(resolve_target(target), "hi"))


# -- forms -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("greetings:hello", "hello"),
        ("greetings.py:hello", "hello"),
        ("./greetings.py:plain", "plain"),
        ("greetings:team.first", "hello"),
        ("greetings.py:Team.inner.second", "plain"),
        ("greetings.py:build", "plain"),
    ],
)
async def test_a_module_or_a_file_and_a_name_in_it_are_a_target(target: str, expected: str) -> None:
    write("greetings.py")
    assert await say(target) == expected


async def test_a_file_may_lie_anywhere(tmp_path: Path) -> None:
    write("deep/in/greetings.py")
    assert await say("deep/in/greetings.py:hello") == "hello"
    assert await say(f"{tmp_path}/deep/in/greetings.py:hello") == "hello"


async def test_a_file_that_waits_for_something_at_its_top_can_be_imported_while_a_loop_runs() -> None:
    write("waiting.py", WAITING)
    loop = asyncio.get_running_loop()
    assert await say("waiting.py:hello") == "found"
    assert asyncio.get_running_loop() is loop


async def test_a_module_in_a_package_is_a_target() -> None:
    write("house/__init__.py", "")
    write("house/greetings.py")
    assert await say("house.greetings:hello") == "hello"


def test_an_agent_is_called_by_its_own_card_or_by_the_name_that_was_typed() -> None:
    write("greetings.py")
    assert resolve_target("greetings.py:hello").card.name == "greeter"
    assert resolve_target("greetings.py:plain").card.name == "plain"
    factory = resolve_target("greetings.py:build")
    assert isinstance(factory, FactoryAgent)
    assert factory.card.name == "build"


async def test_a_file_imports_its_neighbours_as_a_script_would() -> None:
    write("place/neighbour.py", "WORD = 'from next door'")
    write("place/main.py", "import neighbour\ndef agent():\n    return neighbour.WORD\n")
    assert await say("place/main.py:agent") == "from next door"


async def test_a_file_may_define_dataclasses_and_has_its_guard_left_alone() -> None:
    write(
        "main.py",
        "from __future__ import annotations\n"
        "import dataclasses\n"
        "@dataclasses.dataclass\n"
        "class Word:\n    text: str\n"
        "def agent():\n    return Word('ok').text\n"
        "if __name__ == '__main__':\n    raise SystemExit\n",
    )
    assert await say("main.py:agent") == "ok"


def test_the_folder_of_a_file_is_looked_at_once() -> None:
    write("greetings.py")
    for _ in range(2):
        resolve_target("greetings.py:hello")
    assert sys.path.count(str(Path.cwd())) == 1


async def test_demo_is_the_scripted_agent() -> None:
    assert "hi" in await say("demo")


async def test_demo_auth_wants_a_login_first() -> None:
    agent = resolve_target("demo-auth")
    assert agent.card.auth_methods
    async with hub_for(agent) as hub:
        with pytest.raises(AuthenticationRequired):
            await (await hub.create()).prompt("hi")


# -- failures that teach -----------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_answered_with_near_names(tmp_path: Path) -> None:
    write("greetings.py")
    write("place/agents.py")
    assert refused("greeting.py:hello") == (
        f"there is no file 'greeting.py' in {tmp_path.resolve()}; did you mean greetings.py?"
    )
    assert refused("place/agent.py:hello").endswith(
        f" in {tmp_path.resolve()}/place; did you mean agents.py?"
    )
    assert refused("other/xyz.py:hello") == f"there is no file 'other/xyz.py' (looked from {Path.cwd()})"


def test_a_folder_with_the_name_of_a_file_is_no_file(tmp_path: Path) -> None:
    Path("odd.py").mkdir()
    assert refused("odd.py:hello") == f"there is no file 'odd.py' (looked from {Path.cwd()})"


@pytest.mark.parametrize("target", ["nowhere_to_be_found:hello", "json.nothing:x", "nowhere.sub:hello"])
def test_a_module_that_is_not_there_is_answered_with_what_to_do(target: str) -> None:
    name = target.partition(":")[0]
    output = refused(target)
    assert output.startswith(
        f"there is no module {name!r}: run from the folder that holds it, install it, or "
    )
    assert f"path/to/{name.split('.')[-1]}.py:NAME" in output
    assert "Known forms: module:attr, path/file.py:attr, acp:COMMAND ARGS, registry:ID, agui:URL, " in output
    assert output.endswith(", ".join(BUILT_IN))


def test_a_missing_name_is_answered_with_the_nearest_ones() -> None:
    write("greetings.py")
    assert refused("greetings.py:helo") == "greetings.py has no 'helo'; did you mean hello?"
    assert refused("greetings:team.frist") == "greetings has no 'frist'; did you mean first?"


def test_a_name_with_nothing_near_is_answered_with_the_agents_there() -> None:
    write("greetings.py", f"{HELLO}\nfrom trunkline import Agent\n")
    output = "greetings.py has no 'zzz'; its agents are hello, and functions work too: build, plain"
    assert refused("greetings.py:zzz") == output


def test_a_name_in_a_place_without_agents_is_answered_with_what_is_there() -> None:
    write("things.py", "one = two = None\n")
    assert refused("things.py:zzz") == "things.py has no 'zzz'; it has one, two"
    write("made.py", "import json\nfrom pathlib import Path\nfrom textwrap import dedent\ngraph = Path()\n")
    assert refused("made.py:zzz") == "made.py has no 'zzz'; it has graph"
    write("empty.py", "")
    assert refused("empty.py:zzz") == "empty.py has no 'zzz'; it has nothing public"


@pytest.mark.parametrize(
    ("attr", "expected"),
    [
        ("NUMBER", "an object of type int is not an agent: use a function"),
        ("team", "an object of type Team is not an agent: use a function"),
        ("Team", "Team is a class, not an agent: give an instance"),
    ],
)
def test_something_else_than_an_agent_is_named_with_its_target(attr: str, expected: str) -> None:
    write("greetings.py")
    with pytest.raises(NotAnAgent) as caught:
        resolve_target(f"greetings.py:{attr}")
    assert str(caught.value).startswith(f"greetings.py:{attr}: {expected}")


def test_an_agent_of_the_registry_is_started_by_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("npx", "")
    Path("npx").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    agent = resolve_target("registry:gemini@1.2.3")
    assert isinstance(agent, AcpAgent)
    assert agent.command_line == ("npx", "-y", "@google/gemini-cli@1.2.3", "--acp")
    assert "did you mean gemini?" in refused("registry:gemeni")
    assert "goose is not on PATH" in refused("registry:goose")


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("dmo", "; did you mean 'demo'?"),
        ("http://127.0.0.1:8000/agui", "; did you mean 'agui:http://127.0.0.1:8000/agui'?"),
        ("greetings.py::hello", "; did you mean 'greetings.py:hello'?"),
        ("greetings.hello", "; did you mean 'greetings:hello'?"),
        ("place", "; did you mean 'place/main.py'?"),
        ("many/", "; did you mean 'many/agent.py'?"),
        ("none", "."),
        ("", "."),
        ("something", "."),
        ("greetings:", "; did you mean 'greetings.py:NAME'?"),
        ("place/main:hello", "; did you mean 'place/main.py:hello'?"),
        (":hello", "."),
        (".relative:hello", "."),
    ],
)
def test_an_unknown_form_is_answered_with_the_known_ones(target: str, hint: str) -> None:
    write("greetings.py")
    for file in ("place/main.py", "many/agent.py", "many/other.py", "none/one.py", "none/other.py"):
        write(file)
    assert refused(target) == (
        f"unknown target {target!r}{hint} Known forms: "
        "module:attr, path/file.py:attr, acp:COMMAND ARGS, registry:ID, agui:URL, pty:COMMAND, "
        "demo, demo-auth, finance, finance:openai, finance:langchain"
    )


def test_a_file_target_whose_object_is_wanted_as_it_is_needs_a_name() -> None:
    with pytest.raises(TargetError, match=r"does not say what in the file: write greetings.py:NAME"):
        load_target("greetings.py")


# -- the person's own mistakes -----------------------------------------------------------------------

BROKEN = {
    "import of a missing package": (
        "import absent_package\n",
        "ModuleNotFoundError: No module named 'absent_package' "
        "(install 'absent_package' into this environment)",
    ),
    "error": ("def f():\n    return 1 / 0\nf()\n", "ZeroDivisionError: division by zero"),
    "syntax": ("def f(:\n", "SyntaxError: "),
    "import of a missing name": ("from json import nothing\n", "ImportError: cannot import name 'nothing'"),
}


@pytest.mark.parametrize("place", ["broken.py", "broken"])
@pytest.mark.parametrize(("source", "expected"), BROKEN.values(), ids=BROKEN)
def test_an_error_in_the_file_is_named_and_its_own_traceback_goes_to_stderr_only(
    place: str, source: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("broken.py", source)
    words = refused(f"{place}:agent")
    assert words.startswith(f"{place} failed while it was imported: {expected}")
    assert "Traceback" not in words
    out, err = capsys.readouterr()
    assert out == ""
    assert str(Path("broken.py").resolve()) in err
    assert expected.partition(" (install")[0].rstrip() in err
    for ours in ("targets.py", "importlib", "trunkline"):
        assert ours not in err.replace(str(Path.cwd()), "")


@pytest.mark.parametrize("switch", ["", "1"])
def test_frames_of_a_library_are_shown_on_demand(
    switch: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUNKLINE_TRACEBACK", switch)
    Path("site-packages").mkdir()
    write("site-packages/some_library.py", "def connect():\n    raise ValueError('no key')\n")
    monkeypatch.setattr(sys, "path", [str(Path("site-packages").resolve()), *sys.path])
    write("keyless.py", "import some_library\nsome_library.connect()\n")
    assert refused("keyless.py:agent") == "keyless.py failed while it was imported: ValueError: no key"
    err = capsys.readouterr().err
    assert "some_library.connect()" in err
    assert ("site-packages" in err) is bool(switch)


def test_a_traceback_is_whole_with_the_cause_and_the_neighbour_it_came_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(
        "neighbour.py",
        "try:\n    {}['key']\nexcept KeyError as e:\n    raise RuntimeError('wrapped') from e\n",
    )
    write("main.py", "import neighbour\n")
    assert refused("main.py:agent") == "main.py failed while it was imported: RuntimeError: wrapped"
    err = capsys.readouterr().err
    assert "KeyError: 'key'" in err
    assert "neighbour.py" in err
    assert "main.py" in err


@pytest.mark.parametrize("place", ["leaving.py", "leaving"])
def test_a_file_that_ends_the_program_is_refused_with_the_remedy(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("leaving.py", "import sys\nsys.exit(3)\n")
    output = refused(f"{place}:agent")
    assert output.startswith(
        f"{place} ended the program while it was imported (sys.exit(3)): put what runs it"
    )
    assert "__main__" in output
    assert "leaving.py" in capsys.readouterr().err


def test_a_file_that_failed_can_be_repaired_and_tried_again() -> None:
    write("main.py", "1 / 0\n")
    refused("main.py:hello")
    assert "trunkline_target_main" not in sys.modules
    write("main.py", HELLO)
    assert resolve_target("main.py:hello").card.name == "greeter"


def test_ctrl_c_during_an_import_stays_what_it_is() -> None:
    write("main.py", "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        resolve_target("main.py:agent")
