"""What each editor is told."""

from pathlib import PurePosixPath

from trunkline.cli.init.agent_launch import Launch
from trunkline.cli.init.editors import entry_name, found_editors, known_editors
from trunkline.cli.init.settings_folders import SettingsFolders

EDITORS = known_editors(SettingsFolders("linux", PurePosixPath("/nowhere/at/all"), {}))
LAUNCH = Launch("Hello", "/bin/trunkline", ("acp", "demo"), {"A": "1"})


def test_the_words_are_those_of_the_help() -> None:
    assert " ".join(EDITORS) == "zed jetbrains vscode cursor neovim emacs jupyter marimo acpx"


def test_each_editor_has_an_entry_or_a_block() -> None:
    for editor in EDITORS.values():
        assert (editor.entry is None) != (editor.block is None)
        assert (editor.settings is None) == (editor.entry is None)
        assert editor.then.format(name="n", slug="s")


def test_acpx_takes_a_command_with_blanks_as_one_list() -> None:
    entry = EDITORS["acpx"].entry
    assert entry is not None
    assert entry(LAUNCH) == {"command": "/bin/trunkline", "args": ["acp", "demo"]}
    assert entry(LAUNCH._replace(command="/my tools/t")) == {"argv": ["/my tools/t", "acp", "demo"]}


def test_a_name_for_a_command_line_is_a_word() -> None:
    assert entry_name(EDITORS["acpx"], "My Agent") == "my-agent"
    assert entry_name(EDITORS["zed"], "My Agent") == "My Agent"


def test_an_editor_without_folder_and_program_is_not_found() -> None:
    here = {key: editor._replace(programs=()) for key, editor in EDITORS.items()}
    assert found_editors(here) == []
    there = {"zed": EDITORS["zed"]._replace(folders=(PurePosixPath("/"),))}
    assert [editor.key for editor in found_editors(there)] == ["zed"]
