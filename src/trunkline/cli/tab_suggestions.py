"""What the Tab key offers in a shell: TARGETs, sessions and policies. Nothing is imported or run for it."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from trunkline.errors import TrunklineError
from trunkline.safe_text import one_line
from trunkline.target_names import split_target

_MOST = 50
_AGENT = re.compile(r"^(?:async )?def (\w+)\(|^(\w+)(?:: *\w+)? *= *\S", re.MULTILINE)
_NAMES = ("finance", "demo", "demo-auth", "finance:openai", "finance:langchain")
_LARGEST_FILE = 1 << 20


def complete_targets(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the agents of the configuration file, ours, and Python files with the names in them."""
    parts = split_target(incomplete)
    if parts.is_file and parts.attr is not None:
        file, begun = parts.source, parts.attr
        return [CompletionItem(f"{file}:{name}") for name in _names_in(Path(file)) if name.startswith(begun)]
    found = [name for name in (*_configured(), *_NAMES) if name.startswith(incomplete)]
    folder, _, start = incomplete.rpartition("/")
    with suppress(OSError):
        for entry in sorted(os.scandir(folder or "."), key=lambda entry: entry.name):
            # A line end in a name would be an offer of its own for the shell.
            if not (entry.name.startswith(start) and entry.name.isprintable()):
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.endswith(".py"):
                found.append(path)
            elif folder or start:
                found += [f"{path}/"] if entry.is_dir() and not entry.name.startswith(".") else []
    return [CompletionItem(one) for one in found[:_MOST]]


def _configured() -> list[str]:
    from trunkline.config_file import find_config, read_config

    with suppress(TrunklineError, OSError):
        path = find_config()
        return [] if path is None else list(read_config(path).agents)
    return []


def _names_in(path: Path) -> list[str]:
    """The public names at the top of a file, by its text."""
    with suppress(OSError, UnicodeDecodeError):
        with path.open(encoding="utf-8") as file:
            text = file.read(_LARGEST_FILE)
        names = [first or second for first, second in _AGENT.findall(text)]
        return [name for name in dict.fromkeys(names) if not name.startswith("_")][:_MOST]
    return []


def complete_policies(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of policies, and files that may hold one."""
    from trunkline.workspace.policy import POLICY_NAMES

    found = [CompletionItem(name) for name in POLICY_NAMES if name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="file")]


def complete_sessions(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the newest sessions of the journal, with their titles."""
    from trunkline.cli.journals import all_sessions, name_of, opened_journal

    async def read() -> list[CompletionItem]:
        found: list[CompletionItem] = []
        async with asyncio.timeout(2), opened_journal(context.params.get("journal")) as journal:
            async for info in all_sessions(journal, 500, begun=True):
                named = name_of(info) or info.session_id
                if named.startswith(incomplete):
                    found.append(CompletionItem(named, help=one_line(info.title or "", 60)))
                if len(found) == _MOST:
                    break
        return found

    with suppress(TrunklineError, TimeoutError, OSError):
        return asyncio.run(read())
    return []
