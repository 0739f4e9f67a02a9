"""The workspace: a session's files and terminals, kept inside its folders, and the policy for both.

``Files`` and ``Terminals`` enforce where; ``Policy`` says whether. They do not know each other: the session
gives both a guard (``guard.py``) that asks its policy.
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
