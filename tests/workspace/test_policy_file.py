"""Policies by name and from files; what is wrong is named with its file, its line and its rule."""

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
        ('base = "READ-ONLY"', r"'READ-ONLY' is not a policy \(did you mean 'read-only'\?\): choose"),
        ("base = 5", "5 is not a policy: choose one of ask"),
        ("default = 5", "5 is not a decision: choose one of allow, ask, deny"),
        ("rules = 1", "policy.toml: the rules of a policy are a list of tables"),
        ('[rules]\ndecision = "deny"', r"in TOML write \[\[rules\]\], with two brackets, before each rule"),
        ('[[rules]]\ntool = "x"', "line 1: rule 1: a rule needs a decision: add one of allow, ask, deny"),
        ('[[rules]]\ndecision = "deny"\ntool = 5', "rule 1: the tool of a rule is text, not 5"),
        ('[[rules]]\ndecision = "deny"\npath = ["a"]', r"the path of a rule is text, not \['a'\]"),
        ('[[rules]]\ndecision = "deny"\ncommand = [1]', "the command of a rule is text or a list of texts"),
        ('[[rules]]\ndecision = "deny"\nkind = 5', "5 is not a kind: choose one of read"),
        ('rules = ["deny"]', "rule 1: a rule is a table of decision, tool, kind, path, command, not 'deny'"),
        ("[]", r"policy.toml: a policy is a table of base, default, rules, not \[\]"),
        ("\n", 'policy.toml is empty: write at least base = "ask", or a rule'),
        ("# base = 'deny'", "policy.toml is empty"),
        ("{}", "policy.toml is empty"),
        ('{"default": "deny", "default": "allow"}', "'default' is given twice"),
        ("#" * (1024 * 1024 + 1), "policy.toml has more than 1 MiB"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        load_policy(str(path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("policy.toml", b"\xff\xfe", "is no text in UTF-8: name a TOML or JSON file"),
        ("policy.yaml", b"base: ask", "is YAML, which is not read here: write the policy in TOML or JSON"),
        ("policy.json", b"", "policy.json is empty"),
        ("policy.json", b"base = 1", "policy.json is not JSON"),
        ("folder/policy.toml", b"base = 'ask'", "folder is a folder: name a TOML or JSON file in it"),
    ],
)
def test_a_file_that_is_no_policy_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        load_policy(str(path.parent if "folder" in name else path))


@pytest.mark.parametrize("name", ["readonly", "READ-ONLY", "Read_Only"])
def test_an_unknown_name_is_answered_with_the_near_one_and_all_of_them(name: str) -> None:
    expected = r"\(did you mean 'read-only'\?\): the policies are ask, .*; a file is TOML or JSON"
    with pytest.raises(ConfigurationError, match=expected):
        load_policy(name)


def test_a_json_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text('{"default": "deny"}', encoding="utf-8-sig")
    assert load_policy(str(file)).default == "deny"
