"""The blocks that people paste."""

import ast
import shlex

from trunkline.cli.init.agent_launch import Launch
from trunkline.cli.init.printed_blocks import avante, codecompanion, emacs, marimo, persona, slug

LAUNCH = Launch(
    'My "Agent"', "/opt/my tools/trunkline", ("acp", "/a b\\c.py:x"), {"K": "secret", "PATH": "/bin"}
)


def test_a_block_of_lua_has_the_words_in_quotes() -> None:
    text = codecompanion(LAUNCH)
    assert r'{ "/opt/my tools/trunkline", "acp", "/a b\\c.py:x" }' in text
    assert r'formatted_name = "My \"Agent\""' in text
    assert 'env = { ["K"] = "<value of K>", ["PATH"] = "/bin" }' in text
    assert text.count("{") == text.count("}")
    assert text.count("(") == text.count(")")
    assert 'args = { "acp", ' in avante(LAUNCH)
    assert "env = {}," in avante(LAUNCH._replace(variables={}))


def test_a_name_that_is_no_name_in_lua_stands_in_quotes() -> None:
    for name, key in (("3D", "3d"), ("Repeat", "repeat")):
        launch = LAUNCH._replace(name=name, variables={"end": "1"})
        assert f'      ["{key}"] = function()\n' in codecompanion(launch)
        assert 'env = { ["end"] = ' in avante(launch)


def test_a_block_of_emacs_lisp_is_balanced_and_inherits_without_variables() -> None:
    text = emacs(LAUNCH)
    assert text.count("(") == text.count(")")
    assert ':environment-variables \'("K=<value of K>" "PATH=/bin")' in text
    assert "(defun my-agent-agent ()" in text
    assert ":environment-variables" not in emacs(LAUNCH._replace(variables={}))


def test_the_command_for_marimo_is_one_word_of_a_shell() -> None:
    words = shlex.split(marimo(LAUNCH))
    assert words[:2] == ["npx", "stdio-to-ws"]
    assert shlex.split(words[2]) == [LAUNCH.command, *LAUNCH.args]


def test_a_persona_is_a_program_whatever_the_name_is() -> None:
    for name in ('My "Agent"', "3D", "日本", 'a"""b', "a'\"b\\"):
        tree = ast.parse(persona(LAUNCH._replace(name=name)))
        [kind] = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        assert kind.name.endswith("Persona")
    assert repr([LAUNCH.command, *LAUNCH.args]) in persona(LAUNCH)


def test_a_slug_is_never_empty() -> None:
    assert slug("My Agent!") == "my-agent"
    assert slug("日本") == "agent"
