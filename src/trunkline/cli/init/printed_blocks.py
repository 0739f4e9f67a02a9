"""What a person pastes: configurations that are programs (Lua, Emacs Lisp), and marimo's command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from trunkline.cli.init.agent_launch import Launch
from trunkline.cli.init.variables import PLAIN

_ICON = Path(__file__).parents[2] / "server/page/assets/icon.svg"


def placeholder(name: str, value: str) -> str:
    """Stand for a value that is not printed: what holds no secret is printed as it is."""
    return value if name in PLAIN else f"<value of {name}>"


def slug(name: str) -> str:
    """Make a name a word of lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "agent"


def _quoted(text: str) -> str:
    """Write a text in quotes, as Lua and Emacs Lisp both read it."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


def _lua_list(words: list[str]) -> str:
    return "{ " + ", ".join(_quoted(word) for word in words) + " }"


def _lua_table(launch: Launch) -> str:
    pairs = [
        f"[{_quoted(name)}] = {_quoted(placeholder(name, value))}" for name, value in launch.variables.items()
    ]
    return "{ " + ", ".join(pairs) + " }" if pairs else "{}"


def codecompanion(launch: Launch) -> str:
    """Give the Lua of CodeCompanion.nvim: an adapter that extends one with no login of its own."""
    key = slug(launch.name).replace("-", "_")
    return f"""require("codecompanion").setup({{
  adapters = {{
    acp = {{
      [{_quoted(key)}] = function()
        return require("codecompanion.adapters").extend("goose", {{
          name = {_quoted(key)},
          formatted_name = {_quoted(launch.name)},
          commands = {{ default = {_lua_list([launch.command, *launch.args])} }},
          env = {_lua_table(launch)},
        }})
      end,
    }},
  }},
  interactions = {{ chat = {{ adapter = {_quoted(key)} }} }},
}})
"""


def avante(launch: Launch) -> str:
    """Give the Lua of avante.nvim."""
    key = slug(launch.name)
    return f"""require("avante").setup({{
  provider = {_quoted(key)},
  acp_providers = {{
    [{_quoted(key)}] = {{
      command = {_quoted(launch.command)},
      args = {_lua_list(list(launch.args))},
      env = {_lua_table(launch)},
    }},
  }},
}})
"""


def neovim(launch: Launch) -> str:
    """Give both blocks for Neovim."""
    return f"-- CodeCompanion.nvim\n{codecompanion(launch)}\n-- or avante.nvim\n{avante(launch)}"


def emacs(launch: Launch) -> str:
    """Give the Emacs Lisp of agent-shell: a command that starts the agent."""
    key = slug(launch.name)
    name = _quoted(launch.name)
    prompt = _quoted(f"{launch.name}> ")
    words = " ".join(_quoted(word) for word in launch.args)
    variables = " ".join(
        _quoted(f"{name}={placeholder(name, value)}") for name, value in launch.variables.items()
    )
    given = f"\n                                             :environment-variables '({variables})"
    return f"""(defun {key}-agent ()
  "Talk to the agent {launch.name.replace('"', "'").replace(chr(92), "/")}."
  (interactive)
  (agent-shell-start
   :config (agent-shell-make-agent-config
            :identifier '{key} :mode-line-name {name} :buffer-name {name}
            :shell-prompt {prompt} :shell-prompt-regexp (regexp-quote {prompt})
            :client-maker (lambda (buffer)
                            (acp-make-client :command {_quoted(launch.command)}
                                             :command-params '({words}){given if variables else ""}
                                             :context-buffer buffer)))))
"""


def marimo(launch: Launch) -> str:
    """Give the command that serves the agent where marimo looks for Claude: it takes no other agents."""
    line = shlex.join([launch.command, *launch.args])
    return f"npx stdio-to-ws {shlex.quote(line)} --port 3017\n"


def persona(launch: Launch) -> str:
    """Give the file of a persona of Jupyter AI 3."""
    kind = "".join(part.capitalize() for part in slug(launch.name).split("-"))
    kind = kind if kind[0].isalpha() else f"Agent{kind}"
    words = [launch.command, *launch.args]
    title = f"The agent {launch.name} in Jupyter AI; written by `trunkline init jupyter`."
    return f"""{title!a}

from jupyter_ai_acp_client.base_acp_persona import BaseAcpPersona
from jupyter_ai_persona_manager import PersonaDefaults


class {kind}Persona(BaseAcpPersona):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, executable={words!a}, **kwargs)

    @property
    def defaults(self):
        return PersonaDefaults(
            name={launch.name!a},
            description={f"{launch.name}, by Trunkline"!a},
            avatar_path={str(_ICON)!a},
            system_prompt="unused: the agent has its own",
        )
"""
