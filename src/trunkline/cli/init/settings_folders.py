"""The folders in which editors keep their settings, on each platform."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import NamedTuple


class SettingsFolders(NamedTuple):
    """What decides where settings are: the platform, the home folder and the environment."""

    platform: str
    """As ``sys.platform``."""
    home: PurePath
    environment: Mapping[str, str]

    @property
    def xdg_config(self) -> PurePath:
        """Where programs keep settings that follow the XDG specification, as Zed and Neovim do."""
        given = self.environment.get("XDG_CONFIG_HOME", "")
        # "All paths set in these environment variables must be absolute. If an implementation encounters a
        # relative path in any of these variables it should consider the path invalid and ignore it."
        # (https://specifications.freedesktop.org/basedir-spec/latest/)
        return self._path(given) if given.startswith("/") else self.home / ".config"

    @property
    def application_data(self) -> PurePath:
        """Where desktop applications, as VS Code, keep their settings."""
        if self.platform == "win32":
            given = self.environment.get("APPDATA", "")
            return self._path(given) if given else self.home / "AppData" / "Roaming"
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.xdg_config

    @property
    def zed(self) -> PurePath:
        """Zed's folder: XDG on Linux, ``~/.config`` also on macOS (https://zed.dev/docs/configuring-zed)."""
        if self.platform == "win32":
            return self.application_data / "Zed"
        return (self.home / ".config" if self.platform == "darwin" else self.xdg_config) / "zed"

    @property
    def neovim(self) -> PurePath:
        """Neovim's folder (https://neovim.io/doc/user/starting.html#standard-path)."""
        if self.platform == "win32":
            given = self.environment.get("LOCALAPPDATA", "")
            return (self._path(given) if given else self.home / "AppData" / "Local") / "nvim"
        return self.xdg_config / "nvim"

    def user_settings(self, application: str) -> PurePath:
        """The settings of VS Code (``Code``) or of an editor made from it."""
        return self.application_data / application / "User" / "settings.json"

    def _path(self, text: str) -> PurePath:
        return PureWindowsPath(text) if self.platform == "win32" else PurePosixPath(text)


def this_machine() -> SettingsFolders:
    """The folders of the person who runs this program."""
    return SettingsFolders(sys.platform, PurePath(os.path.expanduser("~")), os.environ)
