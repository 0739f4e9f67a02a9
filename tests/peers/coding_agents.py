"""Real coding agents from npm, each with a home of its own and a scripted model behind it."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.peers.model.replies import Use
from tests.peers.model.server import ScriptedModel


@dataclass(frozen=True)
class CodingAgent:
    """How one agent is started, and what its tools are called."""

    name: str
    """The folder in tests/peers, and below it the program."""
    program: str
    arguments: tuple[str, ...]
    environment: Callable[[Path, str], Mapping[str, str]]
    """From its home and the model's address. It may write files into the home."""
    shell: Callable[[str], Use]
    write: Callable[[Path, str], Use]
    reaches_for: frozenset[str] = frozenset()
    """What it tries to reach outside of this machine, whatever it is told; the proxy refuses it."""


@dataclass(frozen=True)
class Installed:
    """A coding agent that can be started."""

    agent: CodingAgent
    command: str
    home: Path
    env: Mapping[str, str]

    @property
    def target(self) -> str:
        """What a command line is given."""
        return "acp:" + shlex.join([self.command, *self.agent.arguments])

    @property
    def npx_target(self) -> str:
        """The same through npx, which starts a shell, which starts the agent."""
        folder = str(Path(self.command).parents[2])
        return "acp:" + shlex.join(
            ["npx", "--no", "--prefix", folder, self.agent.program, *self.agent.arguments]
        )


def _claude(home: Path, model: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "sk-scripted",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "",  # Where it is set to anything but 1, root cannot use Claude Code.
        "CLAUDE_CODE_DISABLE_FAST_MODE": "1",  # Else it asks its maker whether there is one.
    }


def _gemini(home: Path, model: str) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"GOOGLE_GEMINI_BASE_URL": model, "GEMINI_API_KEY": "scripted"}


def _codex(home: Path, model: str) -> Mapping[str, str]:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        'model = "gpt-5.2-codex"\n'  # One that it knows, else it warns in every turn.
        'model_provider = "scripted"\n'
        'approval_policy = "untrusted"\n'
        'sandbox_mode = "danger-full-access"\n'  # Its own sandbox does not work in every container.
        "[model_providers.scripted]\n"
        'name = "Scripted"\n'
        f'base_url = "{model}/v1"\n'
        'wire_api = "responses"\n'
        'env_key = "SCRIPTED_API_KEY"\n',
        encoding="utf-8",
    )
    return {"CODEX_HOME": str(home / ".codex"), "SCRIPTED_API_KEY": "scripted", "OPENAI_API_KEY": "scripted"}


def _patch(path: Path, text: str) -> str:
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch"


CLAUDE = CodingAgent(
    "claude-agent-acp",
    "claude-agent-acp",
    (),
    _claude,
    lambda line: Use("Bash", {"command": line, "description": "Run it"}),
    lambda path, text: Use("Write", {"file_path": str(path), "content": text}),
)
CLAUDE_CODE = CodingAgent(
    "claude-code-acp",
    "claude-code-acp",
    (),
    _claude,
    lambda line: Use("mcp__acp__Bash", {"command": line, "description": "Run it", "timeout": 60_000}),
    lambda path, text: Use("mcp__acp__Write", {"file_path": str(path), "content": text}),
    frozenset({"api.anthropic.com:443"}),
)
GEMINI = CodingAgent(
    "gemini-cli",
    "gemini",
    ("--acp",),
    _gemini,
    lambda line: Use("run_shell_command", {"command": line, "description": "Run it"}),
    lambda path, text: Use("write_file", {"file_path": str(path), "content": text}),
)
CODEX = CodingAgent(
    "codex-acp",
    "codex-acp",
    (),
    _codex,
    lambda line: Use("exec_command", {"cmd": line}),
    lambda path, text: Use("apply_patch", _patch(path, text)),
)
AGENTS = (CLAUDE, CLAUDE_CODE, GEMINI, CODEX)


@cache
def program_of(root: Path, agent: CodingAgent) -> str:
    """The program, which ``make setup`` has installed."""
    made = subprocess.run(
        [root / "scripts/peer-node", agent.name], capture_output=True, text=True, check=True, timeout=300
    )
    return f"{made.stdout.strip()}/node_modules/.bin/{agent.program}"


def install(root: Path, agent: CodingAgent, home: Path, model: ScriptedModel) -> Installed:
    """Give an agent a home and a model. All else that it tries to reach is refused by the model's server."""
    home.mkdir(exist_ok=True)
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    nothing_outside = {f"{scheme}_PROXY": model.url for scheme in ("HTTP", "HTTPS")}
    nothing_outside |= {name.lower(): url for name, url in nothing_outside.items()}
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "npm_config_update_notifier": "false",
        **nothing_outside,
        **agent.environment(home, model.url),
    }
    return Installed(agent, program_of(root, agent), home, env)
