"""Policies by name and from files; what is wrong is named with its file, its line and its rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from trunkline.errors import ConfigurationError
from trunkline.workspace import Policy, Rule
from trunkline.workspace.policy_file import load_policy

TOML = """
base = "allow-reads"

[[rules]]
decision = "deny"
command = "rm *"

[[rules]]
decision = "ask"
path = "migrations/**"
"""


def test_a_name_gives_a_ready_policy() -> None:
    assert load_policy("read-only") == Policy.read_only()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("policy.toml", TOML),
        ("policy.txt", TOML),
        (
            "policy.json",
            '{"base": "allow-reads", "rules": [{"decision": "deny", "command": "rm *"},'
            ' {"decision": "ask", "path": "migrations/**"}]}',
        ),
    ],
)
def test_a_file_is_toml_or_json(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    expected = Policy.allow_reads().also(
        Rule(decision="deny", command="rm *"), Rule(decision="ask", path="migrations/**")
    )
    assert load_policy(str(path)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base = \n", "policy.toml is not TOML: .* line 1"),
        ("{\n  oops", "policy.toml is not JSON: .* line 2"),
        (TOML.replace("deny", "forbid"), "policy.toml, line 4: rule 1: 'forbid' is not a decision"),
        (TOML.replace("path", "paths"), "policy.toml, line 8: rule 2: a rule has no field 'paths'"),
        ('rules = [{decision = "deny", kind = "run"}]', "policy.toml: rule 1: 'run' is not a kind"),
        ("defaults = 1", "policy.toml: a policy has no field 'defaults': it has base, default, rules"),
        ('base = "yolo"', "policy.toml: 'yolo' is not a policy: choose one of ask"),
        ("rules = 1", "policy.toml: the rules of a policy are a list of tables"),
        ("#" * (1024 * 1024 + 1), "policy.toml has more than 1 MiB"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        load_policy(str(path))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match=r"policy\.toml cannot be read"):
        load_policy(str(path))


def test_an_unknown_name_is_answered_with_the_near_one_and_all_of_them() -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean 'read-only'.* allow-reads, accept-edits"):
        load_policy("readonly")


def test_a_json_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text('{"default": "deny"}', encoding="utf-8-sig")
    assert load_policy(str(file)).default == "deny"


def test_a_json_key_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text('{"default": "deny", "default": "allow"}')
    with pytest.raises(ConfigurationError, match="'default' is given twice"):
        load_policy(str(file))
