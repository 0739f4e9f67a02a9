"""The editors that are known: where each keeps its agents, and what is written there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from trunkline.cli.init import printed_blocks
from trunkline.cli.init.agent_launch import Launch
from trunkline.cli.init.printed_blocks import slug
from trunkline.cli.init.settings_folders import SettingsFolders


class Editor(NamedTuple):
    """One editor, on one machine."""

    key: str
    """The word on the command line."""
    title: str
    folders: tuple[PurePath, ...]
    """Of its settings: one that is there shows that the editor is."""
    programs: tuple[str, ...]
    settings: PurePath | None = None
    """The JSON file with its agents; None where a person pastes a block, or a file of its own is written."""
    keys: tuple[str, ...] = ()
    """The keys in the file above the name of an agent."""
    project: str | None = None
    """The settings file in a project's folder."""
    entry: Callable[[Launch], dict[str, Any]] | None = None
    block: Callable[[Launch], str] | None = None
    """What a person pastes, or the text of a file of its own."""
    own_file: Callable[[Launch], str] | None = None
    """The path of a file of its own, from the current folder."""
    takes_variables: bool = True
    """Whether variables can be written for an agent; else it gets those of the program that starts it."""
    names_are_words: bool = False
    """Whether the name of an agent is typed on a command line."""
    then: str = ""
    """What to do next."""


def _plain(launch: Launch) -> dict[str, Any]:
    return {"command": launch.command, "args": list(launch.args), "env": dict(launch.variables)}


def _zed(launch: Launch) -> dict[str, Any]:
    # Without it a current Zed takes the entry for one of its registry.
    return {"type": "custom", **_plain(launch)}


def _acpx(launch: Launch) -> dict[str, Any]:
    # acpx refuses "command must be an unquoted executable with no whitespace when args is present"; argv,
    # which takes any path, is not known to older versions.
    if any(sign.isspace() or sign in "'\"" for sign in launch.command):
        return {"argv": [launch.command, *launch.args]}
    return {"command": launch.command, "args": list(launch.args)}


def _persona_path(launch: Launch) -> str:
    # Jupyter AI loads the files in this folder that have "persona" in their names.
    return f".jupyter/personas/{slug(launch.name).replace('-', '_')}_persona.py"


def known_editors(folders: SettingsFolders) -> dict[str, Editor]:
    """Give every editor by its word, with its paths on a platform."""
    home = folders.home
    code, cursor = folders.user_settings("Code"), folders.user_settings("Cursor")
    extension = 'install the extension "ACP Client" (formulahendry.acp-client), open its panel and choose'
    editors = [
        Editor(
            "zed",
            "Zed",
            (folders.zed,),
            ("zed", "zeditor"),
            settings=folders.zed / "settings.json",
            keys=("agent_servers",),
            entry=_zed,
            then="open the agent panel, press + and choose {name}; dev: open acp logs shows the wire",
        ),
        Editor(
            "jetbrains",
            "JetBrains",
            (home / ".jetbrains", folders.application_data / "JetBrains"),
            ("idea", "pycharm", "webstorm", "goland", "clion"),
            settings=home / ".jetbrains" / "acp.json",
            keys=("agent_servers",),
            entry=_plain,
            then="open AI Chat and choose {name} (not in a project inside WSL)",
        ),
        Editor(
            "vscode",
            "VS Code",
            (code.parent,),
            ("code",),
            settings=code,
            keys=("acp.agents",),
            project=".vscode/settings.json",
            entry=_plain,
            then=f"{extension} {{name}}",
        ),
        Editor(
            "cursor",
            "Cursor",
            (cursor.parent,),
            ("cursor",),
            settings=cursor,
            keys=("acp.agents",),
            project=".vscode/settings.json",
            entry=_plain,
            then=f"{extension} {{name}}",
        ),
        Editor(
            "neovim",
            "Neovim",
            (folders.neovim,),
            ("nvim",),
            block=printed_blocks.neovim,
            then="put one of them where you set the plugin up; CodeCompanion needs Neovim 0.11 or newer",
        ),
        Editor(
            "emacs",
            "Emacs",
            (home / ".emacs.d", folders.xdg_config / "emacs"),
            ("emacs",),
            block=printed_blocks.emacs,
            then="put it behind (require 'agent-shell) in your init file, then M-x {slug}-agent",
        ),
        Editor(
            "jupyter",
            "Jupyter AI",
            (),
            ("jupyter-lab",),
            block=printed_blocks.persona,
            own_file=_persona_path,
            takes_variables=False,
            then="start jupyter lab in this folder (it needs jupyter-ai 3 and jupyter-ai-acp-client) and "
            "choose {name} under the message of a chat",
        ),
        Editor(
            "marimo",
            "marimo",
            (),
            ("marimo",),
            block=printed_blocks.marimo,
            takes_variables=False,
            then="run it beside marimo, and choose Claude in marimo's agent panel: marimo knows five fixed "
            "agents, each by its port (3017 is Claude's)",
        ),
        Editor(
            "acpx",
            "acpx",
            (home / ".acpx",),
            ("acpx",),
            settings=home / ".acpx" / "config.json",
            keys=("agents",),
            project=".acpxrc.json",
            entry=_acpx,
            takes_variables=False,
            names_are_words=True,
            then='acpx {name} exec "hello"',
        ),
    ]
    return {editor.key: editor for editor in editors}


def found_editors(editors: Mapping[str, Editor]) -> list[Editor]:
    """Give the editors that are on this machine: by a folder of settings, or by a program in PATH."""
    return [
        editor
        for editor in editors.values()
        if any(Path(folder).is_dir() for folder in editor.folders)
        or any(shutil.which(program) for program in editor.programs)
    ]


def entry_name(editor: Editor, name: str) -> str:
    """Give the name of an agent as an editor can have it."""
    return slug(name) if editor.names_are_words else name
