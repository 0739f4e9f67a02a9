"""The workspace: a session's files and terminals, kept inside its folders, and the policy for both.

``Files`` and ``Terminals`` enforce where; ``Policy`` says whether. They do not know each other: the session
gives both a guard (``guard.py``) that asks its policy.

* ``always``: what an "always" covers: a tool of one kind; of commands a program with its subcommand
* ``call_paths``: the paths that a call names, by its arguments
* ``diffs``: what an edit, a write or a patch changes in files
* ``environment_marks``: variables that only say who runs a command
* ``file_completion``: the names of files for completion behind an @
* ``files``: reads, writes, lists and removes files; their sizes, text and newlines
* ``guard``: what files and terminals ask before an agent's access
* ``launch_checks``: what a command must be before it is started: words, folder, variables, limits
* ``own_files_in_commands``: whether a command names a file that we obey
* ``path_errors``: what is said about a path that cannot be used
* ``patterns``: patterns for paths and command lines
* ``policy``: what an agent may do: ask, allow or deny
* ``policy_file``: policies by name or from a file
* ``programs_in_commands``: which programs a command may run, for rules that deny or ask, if it can be told
* ``protected``: files that an agent may not write
* ``roots``: the only way into a session's folders: past no ``..`` and no link
* ``rules``: requests, and what a rule matches
* ``runners``: programs that run other programs
* ``terminal``: one command and its output
* ``terminal_access``: what an agent can rely on in terminals, ours or the editor's
* ``terminals``: the commands of a session
"""

from trunkline.transports.process.environment import DEFAULT_ENV_ALLOW, scrub
from trunkline.workspace.files import DEFAULT_PROTECTED, Files
from trunkline.workspace.policy import Policy, Verdict
from trunkline.workspace.rules import Decision, Request, Rule
from trunkline.workspace.terminal import Exit, Terminal, TerminalOutputView
from trunkline.workspace.terminals import Terminals

__all__ = [
    "DEFAULT_ENV_ALLOW",
    "DEFAULT_PROTECTED",
    "Decision",
    "Exit",
    "Files",
    "Policy",
    "Request",
    "Rule",
    "Terminal",
    "TerminalOutputView",
    "Terminals",
    "Verdict",
    "scrub",
]
