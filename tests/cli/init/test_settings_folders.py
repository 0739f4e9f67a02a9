"""Where editors keep their settings, on each platform."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from trunkline.cli.init.editors import known_editors
from trunkline.cli.init.settings_folders import SettingsFolders, this_machine

LINUX = SettingsFolders("linux", PurePosixPath("/home/ann"), {})
XDG = SettingsFolders("linux", PurePosixPath("/home/ann"), {"XDG_CONFIG_HOME": "/conf"})
RELATIVE = SettingsFolders("linux", PurePosixPath("/home/ann"), {"XDG_CONFIG_HOME": "conf"})
MAC = SettingsFolders("darwin", PurePosixPath("/Users/ann"), {})
WINDOWS = SettingsFolders("win32", PureWindowsPath("C:/Users/ann"), {"APPDATA": "D:\\Roaming"})
BARE_WINDOWS = SettingsFolders("win32", PureWindowsPath("C:/Users/ann"), {})
LOCAL_WINDOWS = SettingsFolders("win32", PureWindowsPath("C:/Users/ann"), {"LOCALAPPDATA": "D:\\Local"})


@pytest.mark.parametrize(
    ("folders", "editor", "path"),
    [
        (LINUX, "zed", "/home/ann/.config/zed/settings.json"),
        (XDG, "zed", "/conf/zed/settings.json"),
        (RELATIVE, "zed", "/home/ann/.config/zed/settings.json"),
        (MAC, "zed", "/Users/ann/.config/zed/settings.json"),
        (WINDOWS, "zed", "D:\\Roaming\\Zed\\settings.json"),
        (LINUX, "jetbrains", "/home/ann/.jetbrains/acp.json"),
        (MAC, "jetbrains", "/Users/ann/.jetbrains/acp.json"),
        (WINDOWS, "jetbrains", "C:\\Users\\ann\\.jetbrains\\acp.json"),
        (LINUX, "vscode", "/home/ann/.config/Code/User/settings.json"),
        (MAC, "vscode", "/Users/ann/Library/Application Support/Code/User/settings.json"),
        (WINDOWS, "vscode", "D:\\Roaming\\Code\\User\\settings.json"),
        (BARE_WINDOWS, "cursor", "C:\\Users\\ann\\AppData\\Roaming\\Cursor\\User\\settings.json"),
        (MAC, "cursor", "/Users/ann/Library/Application Support/Cursor/User/settings.json"),
        (LINUX, "acpx", "/home/ann/.acpx/config.json"),
    ],
)
def test_an_editors_settings_are_where_it_looks_for_them(
    folders: SettingsFolders, editor: str, path: str
) -> None:
    assert str(known_editors(folders)[editor].settings) == path


def test_neovim_has_a_folder_on_each_platform() -> None:
    assert str(XDG.neovim) == "/conf/nvim"
    assert str(BARE_WINDOWS.neovim) == "C:\\Users\\ann\\AppData\\Local\\nvim"
    assert str(LOCAL_WINDOWS.neovim) == "D:\\Local\\nvim"


def test_this_machine_is_the_one_we_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert this_machine().home == PurePosixPath("/home/ann")
