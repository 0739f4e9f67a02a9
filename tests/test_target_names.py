"""TARGETs as texts: prefixes, files, modules and names are told apart, without a look at the disk."""

from pathlib import Path

import pytest

from trunkline.target_names import PREFIXES, TargetParts, normalize_target, split_target


@pytest.mark.parametrize(
    ("target", "parts", "is_file"),
    [
        ("demo", TargetParts("", "demo"), False),
        ("finance:openai", TargetParts("", "finance", "openai"), False),
        ("package.module:agent", TargetParts("", "package.module", "agent"), False),
        ("a/b.py", TargetParts("", "a/b.py"), True),
        ("a/b.py:agent.inner", TargetParts("", "a/b.py", "agent.inner"), True),
        ("a/b.py:", TargetParts("", "a/b.py", ""), True),
        ("c:b.py", TargetParts("", "c:b.py"), True),
        ("acp:python agent.py", TargetParts("acp", "python agent.py"), False),
        ("acp:python agent.py:x", TargetParts("acp", "python agent.py:x"), False),
        ("agui:http://127.0.0.1:8000/agui", TargetParts("agui", "http://127.0.0.1:8000/agui"), False),
        ("registry:gemini@1.0", TargetParts("registry", "gemini@1.0"), False),
        ("pty:", TargetParts("pty", ""), False),
        ("acp", TargetParts("", "acp"), False),
    ],
)
def test_a_target_is_taken_apart(target: str, parts: TargetParts, is_file: bool) -> None:
    assert split_target(target) == parts
    assert parts.is_file is is_file
    if not parts.prefix:
        assert parts.with_source(parts.source) == target
    else:
        assert parts.prefix in PREFIXES


def test_a_target_is_written_so_that_it_means_the_same_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert normalize_target("a/../main.py:agent") == f"{tmp_path.resolve()}/main.py:agent"
    assert normalize_target(f"{tmp_path}/main.py:x.y") == f"{tmp_path.resolve()}/main.py:x.y"
    for same in ("demo", "module:attr", "main.py", "acp:python main.py:x", "pty:run main.py"):
        assert normalize_target(same) == same
