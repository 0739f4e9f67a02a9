"""Round trips on settings files as people have them: the block is there, everything else is untouched."""

import json
import stat
from pathlib import Path

import pytest

from tests.cli.init.conftest import Run
from trunkline.cli.init import jsonc
from trunkline.cli.init.agent_launch import own_command

ZED = b"""// Zed settings
//
// For information on how to configure Zed, see the Zed
// documentation: https://zed.dev/docs/configuring-zed
{
  "ui_font_size": 16,
  "theme": {
    "mode": "system", // follows the desktop
    "light": "One Light",
    "dark": "One Dark",
  },
  "agent_servers": {
    // The one from work.
    "Claude": { "type": "registry" },
  },
  /* languages */ "languages": { "Python": { "tab_size": 4 } },
}
"""
JETBRAINS = b"""{
    "default_mcp_settings": {},
    "agent_servers": {
        "Kimi": {"command": "/opt/kimi", "args": ["acp"], "env": {"KIMI_API_KEY": "sk-kimi-0123456789abcdef"}}
    }
}"""
VSCODE = '\ufeff{\r\n\t// Editor\r\n\t"editor.fontSize": 14,\r\n\t"files.exclude": {"**/*.pyc": true},\r\n\t"name": "Jos\u00e9"\r\n}\r\n'.encode()  # noqa: E501
ACPX = b'{"defaultAgent":"codex","ttl":300,"agents":{}}\n'
FILES = {
    "zed": (".config/zed/settings.json", ZED, ["agent_servers"]),
    "jetbrains": (".jetbrains/acp.json", JETBRAINS, ["agent_servers"]),
    "vscode": (".config/Code/User/settings.json", VSCODE, ["acp.agents"]),
    "cursor": (".config/Cursor/User/settings.json", VSCODE, ["acp.agents"]),
    "acpx": (".acpx/config.json", ACPX, ["agents"]),
}
EDITORS = pytest.mark.parametrize("editor", FILES)


def settings(home: Path, editor: str, *, written: bool = True) -> Path:
    """The settings file of an editor, with what a person has in it."""
    name, data, _ = FILES[editor]
    path = home / name
    path.parent.mkdir(parents=True)
    if written:
        path.write_bytes(data)
    return path


def _equal_at_start(one: bytes, other: bytes) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), len(one))


def entry(path: Path, editor: str, name: str = "Hello") -> dict[str, object]:
    """What the file says of the agent."""
    value = jsonc.parse(path.read_text("utf-8"))
    for key in FILES[editor][2]:
        value = value[key]
    return value[name.lower() if editor == "acpx" else name]


@EDITORS
def test_the_agent_is_added_and_every_other_byte_stays(editor: str, home: Path, init: Run) -> None:
    path = settings(home, editor)
    before = path.read_bytes()
    assert init(editor, "agent.py", "--yes").code == 0
    after = path.read_bytes()
    # What was inserted is in few pieces: without them the text is the one before.
    rest = iter(after)
    assert all(byte in rest for byte in before)
    assert _equal_at_start(before, after) + _equal_at_start(before[::-1], after[::-1]) >= len(before) - 1
    command, *words = own_command()
    found = entry(path, editor)
    assert found["command"] == command
    assert Path(command).is_absolute()
    assert found["args"] == [*words, "acp", f"{Path.cwd()}/agent.py:hello"]
    assert found.get("type") == ("custom" if editor == "zed" else None)
    assert found.get("env") == (None if editor == "acpx" else {})
    assert (b"\r\n" in after) == (b"\r\n" in before)
    assert after.count(b"\n") - after.count(b"\r\n") == (0 if b"\r\n" in before else after.count(b"\n"))


@EDITORS
def test_undo_restores_the_file_exactly(editor: str, home: Path, init: Run) -> None:
    path = settings(home, editor)
    before = path.read_bytes()
    init(editor, "agent.py", "--yes")
    assert init(editor, "--undo", "--yes").code == 0
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@EDITORS
def test_undo_takes_the_block_out_of_a_file_that_was_changed_since(
    editor: str, home: Path, init: Run
) -> None:
    path = settings(home, editor)
    meant = jsonc.parse(path.read_text("utf-8"))
    init(editor, "agent.py", "--yes")
    text = path.read_bytes().decode()
    path.write_bytes(jsonc.apply(text, jsonc.set_key(text, ["later"], 1)).encode())
    assert init(editor, "--undo", "--yes").code == 0
    assert jsonc.parse(path.read_text("utf-8")) == {**meant, "later": 1}
    for comment in ("// The one from work.", "// follows the desktop", "// Editor"):
        assert (comment in path.read_text("utf-8")) == (comment.encode() in FILES[editor][1])


@EDITORS
def test_running_it_twice_changes_nothing(editor: str, home: Path, init: Run) -> None:
    path = settings(home, editor)
    init(editor, "agent.py", "--yes")
    once = path.read_bytes()
    again = init(editor, "agent.py:hello", "--yes")
    assert again.code == 0
    assert "already, just so" in again.err
    assert path.read_bytes() == once


@EDITORS
def test_a_file_that_was_not_there_is_made_for_its_owner_alone_and_removed_again(
    editor: str, home: Path, init: Run
) -> None:
    path = settings(home, editor, written=False)
    assert init(editor, "agent.py", "--yes").code == 0
    assert json.loads(path.read_bytes())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert init(editor, "--undo", "--yes").code == 0
    assert not path.exists()


def test_what_was_there_is_kept_beside_it_with_its_mode(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    path.chmod(0o640)
    said = init("zed", "agent.py", "--yes").err
    backup = path.with_name("settings.json.trunkline-backup")
    assert backup.read_bytes() == ZED
    assert str(backup) in said
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, backup)] == [0o640, 0o640]


def test_an_entry_of_ours_is_renewed_and_undo_goes_back_to_before_the_first(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    init("zed", "agent.py", "--yes")
    assert init("zed", "agent.py", "--policy", "allow-reads", "--yes").code == 0
    assert "allow-reads" in path.read_text()
    init("zed", "--undo", "--yes")
    assert path.read_bytes() == ZED


def test_an_entry_of_ours_is_renewed_in_a_file_that_was_changed_since(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    init("zed", "agent.py", "--yes")
    path.write_bytes(path.read_bytes() + b"// a note\n")
    assert init("zed", "agent.py", "--policy", "ask", "--yes").code == 0
    init("zed", "--undo", "--yes")
    assert path.read_bytes() == ZED + b"// a note\n"


def test_an_entry_of_somebody_else_is_not_overwritten(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    refused = init("zed", "agent.py", "--name", "Claude", "--yes")
    assert refused.code == 2
    assert "--force" in refused.err
    assert path.read_bytes() == ZED
    assert init("zed", "agent.py", "--name", "Claude", "--yes", "--force").code == 0
    assert entry(path, "zed", "Claude")["type"] == "custom"
    path.write_bytes(path.read_bytes() + b"\n")
    init("zed", "--undo", "--yes")
    assert path.read_bytes() == ZED + b"\n"


def test_an_entry_that_a_person_has_edited_is_theirs(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    init("zed", "agent.py", "--yes")
    edited = path.read_bytes().replace(b'"env": {}', b'"env": {"DEBUG": "1"}')
    path.write_bytes(edited)
    assert init("zed", "agent.py", "--yes").code == 2
    assert init("zed", "--undo", "--yes").code == 2
    assert path.read_bytes() == edited
    assert init("zed", "--undo", "--yes", "--force").code == 0
    assert jsonc.parse(path.read_text()) == jsonc.parse(ZED.decode())


def test_two_agents_are_undone_one_after_the_other(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    init("zed", "agent.py", "--yes")
    init("zed", "agent.py", "--name", "Second", "--yes")
    which = init("zed", "--undo", "--yes")
    assert which.code == 2
    assert "'Hello', 'Second'" in which.err
    init("zed", "--undo", "--name", "Hello", "--yes")
    assert list(jsonc.parse(path.read_text())["agent_servers"]) == ["Claude", "Second"]
    init("zed", "--undo", "--yes")
    assert jsonc.parse(path.read_text()) == jsonc.parse(ZED.decode())


def test_a_link_stays_a_link(home: Path, init: Run, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles" / "zed.json"
    dotfiles.parent.mkdir()
    dotfiles.write_bytes(ZED)
    path = settings(home, "zed", written=False)
    path.symlink_to(dotfiles)
    init("zed", "agent.py", "--yes")
    assert path.is_symlink()
    assert "Hello" in dotfiles.read_text()
    init("zed", "--undo", "--yes")
    assert path.is_symlink()
    assert dotfiles.read_bytes() == ZED


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"agent_servers": {', "line 1"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"agent_servers": []}', '"agent_servers" is not an object'),
    ],
)
def test_a_broken_file_is_left_alone_and_the_block_is_printed(
    data: bytes, said: str, home: Path, init: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret-secret")
    path = settings(home, "zed")
    path.write_bytes(data)
    printed = init("zed", "agent.py", "--env", "OPENAI_API_KEY", "--yes")
    assert printed.code == 1
    assert said in printed.err
    assert str(path) in printed.err
    block = printed.json["agent_servers"]["Hello"]
    assert block["env"] == {"OPENAI_API_KEY": "<value of OPENAI_API_KEY>"}
    assert "secret" not in printed.out + printed.err
    assert path.read_bytes() == data


def test_where_nothing_can_be_written_the_block_is_printed(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    blocked = home / ".config" / "Code"
    blocked.write_text("a file where a folder should be")
    printed = init("vscode", "agent.py", "--yes")
    assert printed.code == 1
    assert "cannot be changed" in printed.err
    assert "Hello" in printed.json["acp.agents"]
    assert path.read_bytes() == ZED


def test_nothing_is_written_without_a_yes(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    for options, code in ((["--dry-run"], 0), ([], 1)):
        shown = init("zed", "agent.py", *options)
        assert shown.code == code
        assert '+    "Hello": {' in shown.err
        assert path.read_bytes() == ZED
    init("zed", "agent.py", "--yes")
    written = path.read_bytes()
    assert init("zed", "--undo").code == 1
    assert init("zed", "--undo", "--dry-run").code == 0
    assert path.read_bytes() == written


def test_no_secret_is_shown_neither_ours_nor_that_of_a_neighbour(
    home: Path, init: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    path = settings(home, "jetbrains")
    shown = init("jetbrains", "agent.py", "--env", "ANTHROPIC_API_KEY", "--env", "PIN=12345", "--yes")
    assert shown.code == 0
    assert entry(path, "jetbrains")["env"] == {"ANTHROPIC_API_KEY": "sk-ant-0123456789abcdef", "PIN": "12345"}
    for secret in ("0123456789abcdef", "12345"):
        assert secret not in shown.out + shown.err
    assert "sk-… (23 characters)" in shown.err
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fedcba9876543210")
    renewed = init("jetbrains", "agent.py", "--env", "ANTHROPIC_API_KEY", "--env", "PIN=12345", "--yes")
    assert renewed.code == 0
    assert entry(path, "jetbrains")["env"] == {"ANTHROPIC_API_KEY": "sk-ant-fedcba9876543210", "PIN": "12345"}
    assert "fedcba" not in renewed.err
    assert "fedcba" not in init("jetbrains", "--undo", "--yes").err


def test_undo_of_nothing_says_so(home: Path, init: Run) -> None:
    settings(home, "zed")
    assert "has written nothing" in init("zed", "--undo").err
    init("zed", "agent.py", "--yes")
    (home / ".config/zed/settings.json").unlink()
    assert "is gone" in init("zed", "--undo", "--yes").err


def test_undo_of_an_entry_that_somebody_removed_says_so_once(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    before = path.read_bytes()
    init("zed", "agent.py", "--yes")
    path.write_bytes(before)
    for options in (["--dry-run"], ["--yes"]):
        undone = init("zed", "--undo", *options)
        assert (undone.code, "is out of" in undone.err, "took" in undone.err) == (0, True, False), undone.err
    assert path.read_bytes() == before
    assert "has written nothing" in init("zed", "--undo").err


def test_undo_without_its_backup_takes_the_block_out(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    init("zed", "agent.py", "--yes")
    path.with_name("settings.json.trunkline-backup").unlink()
    init("zed", "--undo", "--yes")
    assert path.read_bytes() == ZED


def test_undo_of_a_file_that_was_broken_since_says_what_to_take_out(home: Path, init: Run) -> None:
    path = settings(home, "zed")
    init("zed", "agent.py", "--yes")
    path.write_bytes(path.read_bytes() + b"}")
    said = init("zed", "--undo", "--yes")
    assert said.code == 2
    assert "take 'Hello' out yourself" in said.err


def test_a_persona_of_jupyter_is_a_file_of_its_own(home: Path, init: Run) -> None:
    assert init("jupyter", "agent.py", "--yes").code == 0
    path = Path(".jupyter/personas/hello_persona.py")
    text = path.read_text()
    compile(text, str(path), "exec")
    assert repr(f"{Path.cwd()}/agent.py:hello") in text
    assert "already" in init("jupyter", "agent.py", "--yes").err
    assert init("jupyter", "--undo", "--yes").code == 2
    path.write_text(text + "# mine\n")
    assert init("jupyter", "agent.py", "--policy", "ask", "--yes").code == 2
    assert init("jupyter", "--undo", "--name", "Hello", "--yes").code == 2
    path.write_text(text)
    assert init("jupyter", "--undo", "--name", "Hello", "--yes").code == 0
    assert not path.exists()


def test_a_disk_that_is_full_leaves_everything_as_it_was(
    home: Path, init: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settings(home, "zed")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    printed = init("zed", "agent.py", "--yes")
    assert printed.code == 1
    assert "No space left on device" in printed.err
    assert "Hello" in printed.json["agent_servers"]
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == ZED


def test_a_state_folder_that_cannot_be_written_is_told(
    home: Path, init: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settings(home, "zed")
    monkeypatch.setenv("XDG_STATE_HOME", str(path))
    said = init("zed", "agent.py", "--yes")
    assert said.code == 0
    assert "--undo will not know of this" in said.err
