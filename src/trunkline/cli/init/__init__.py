"""``trunkline init``: an agent in the configuration of an editor.

* ``agent_launch``: the command, arguments and variables that start an agent from anywhere
* ``command``: the command itself
* ``difference``: what would change, as lines without secrets
* ``editors``: each editor: where its settings are, and what is written there
* ``jsonc``: edits of JSON with comments that keep every other byte
* ``jsonc_nodes``: the values of a text of JSON with comments, with their places
* ``printed_blocks``: what a person pastes: Neovim, Emacs, marimo
* ``settings_file``: reads, writes, backs up and restores one settings file
* ``settings_folders``: the folders in which editors keep their settings, on each platform
* ``settings_text``: the text of a settings file with an agent in it, or without it again
* ``setup``: one agent in one editor: shows, asks and writes
* ``undo``: takes out again what was written
* ``variables``: variables for the agent, and the keys of providers
* ``written_entries``: what was written where, for the next time and for --undo
"""
