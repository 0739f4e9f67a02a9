"""``registry:ID``: agents of the public ACP registry, from a snapshot of its facts in ``registry.json``.

https://github.com/agentclientprotocol/registry says of each agent how it is started: by ``npx`` with an npm
package, by ``uvx`` with one of PyPI, or as a program that people install by themselves. We download nothing.
A program that is on PATH is started as it is; else npx or uvx fetch the version of the snapshot, or the one
that is asked for with ``registry:ID@VERSION``.
"""

from __future__ import annotations

import functools
import re
import shlex
import shutil
from collections.abc import Callable
from importlib import resources
from typing import Literal

import msgspec

from trunkline.errors import TargetError, did_you_mean

__all__ = ["Launch", "Registry", "RegistryAgent", "find_agent", "launch_of", "parse_name", "read_registry"]

# What npm and PyPI take as a version or a tag. Nothing else may get there: npx takes addresses, too.
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}")
_RUNNERS = {"npx": "Node.js (https://nodejs.org)", "uvx": "uv (https://docs.astral.sh/uv)"}


class RegistryAgent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the registry says of one agent."""

    id: str
    name: str
    home: str
    kind: Literal["npx", "uvx", "program"]
    package: str | None = None
    version: str | None = None
    program: str | None = None
    """The name of its executable, where it is known: that of the package too."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}


class Registry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A snapshot: where it is from, of which day it is, and its agents by id."""

    source: str
    date: str
    agents: tuple[RegistryAgent, ...]


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """The command that starts an agent."""

    command: str
    args: tuple[str, ...]
    env: dict[str, str]
    downloads: bool
    """Whether the command may fetch code from the network and run it."""

    @property
    def line(self) -> str:
        """The whole command as one would type it."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        return " ".join((*variables, shlex.join((self.command, *self.args))))


@functools.cache
def read_registry() -> Registry:
    """Read the snapshot that is part of this package."""
    data = resources.files("trunkline.agents.acp").joinpath("registry.json").read_bytes()
    return msgspec.json.decode(data, type=Registry)


def parse_name(name: str) -> tuple[RegistryAgent, str | None]:
    """Take ``ID`` or ``ID@VERSION`` apart; give the agent and the version."""
    agent_id, at, version = name.partition("@")
    agent = find_agent(agent_id)
    if not at:
        return agent, None
    if not _VERSION.fullmatch(version):
        raise TargetError(f"{version!r} is not a version: write registry:{agent.id}@1.2.3 or @latest")
    if agent.package is None:
        raise TargetError(
            f"{agent.name} is a program that you install yourself ({agent.home}): choose its version there"
        )
    return agent, version


def find_agent(agent_id: str) -> RegistryAgent:
    """Give an agent of the snapshot; TargetError names those that are like it."""
    registry = read_registry()
    agents = {agent.id: agent for agent in registry.agents}
    if agent_id in agents:
        return agents[agent_id]
    raise TargetError(
        f"the registry of {registry.date} has no agent {agent_id!r}{_like(agent_id, registry)} "
        "`trunkline agents` lists all"
    )


def _like(agent_id: str, registry: Registry) -> str:
    """Say which ids are like this one: by spelling, by a word in them, or by the agent's name."""
    word = agent_id.lower()
    if len(word) > 2:
        texts = {agent.id: f"{agent.id} {agent.package} {agent.name}".lower() for agent in registry.agents}
        if near := [one for one, text in texts.items() if word in text]:
            return f"; did you mean {' or '.join(near[:3])}?"
    hint = did_you_mean(word, [agent.id for agent in registry.agents])
    return hint or "."


def launch_of(
    agent: RegistryAgent, version: str | None = None, *, which: Callable[[str], str | None] = shutil.which
) -> Launch:
    """Give the command that starts an agent; TargetError if what it needs is not installed."""
    if agent.program is not None and version is None and which(agent.program):
        return Launch(command=agent.program, args=agent.args, env=agent.env, downloads=False)
    if agent.package is None:
        raise TargetError(f"{agent.name} is not installed: {agent.program} is not on PATH. See {agent.home}")
    if not which(agent.kind):
        raise TargetError(
            f"{agent.name} is started by {agent.kind}, which is not on PATH: install {_RUNNERS[agent.kind]}"
        )
    return _package_launch(agent, version or agent.version or "latest")


def _package_launch(agent: RegistryAgent, version: str) -> Launch:
    if agent.kind == "npx":
        words = ("-y", f"{agent.package}@{version}")
    else:
        # uvx takes the newest with "@latest"; "==" wants a number.
        words = (f"{agent.package}@{version}" if version == "latest" else f"{agent.package}=={version}",)
    return Launch(command=agent.kind, args=(*words, *agent.args), env=agent.env, downloads=True)
