"""``trunkline completion``: the script that lets a shell complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_HELP = """Print the script that completes commands, options, TARGETs and sessions in your shell.

\b
Examples:
  trunkline completion bash
  trunkline completion zsh
  trunkline completion fish

\b
Install it:
  bash   echo 'eval "$(trunkline completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(trunkline completion zsh)"' >> ~/.zshrc
  fish   echo 'trunkline completion fish | source' >> ~/.config/fish/config.fish
"""


_BASH = r"""
%(complete_func)s() {
    local IFS=$'\n' words=() word completion type value start
    # For bash a colon ends a word; in a TARGET it does not.
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ ${#words[@]} -gt 0 && ( $word == :* || ${words[-1]} == *: ) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    start=
    [[ $COMP_WORDBREAKS == *:* ]] && start=${words[-1]%%"${words[-1]##*:}"}
    while IFS=',' read -r type value; do
        if [[ $type == dir ]]; then
            compopt -o dirnames
        elif [[ $type == file ]]; then
            compopt -o default
        elif [[ $type == plain ]]; then
            # What is offered becomes a part of the command line as it is, where $(...) would run.
            printf -v value %%q "${value#"$start"}"
            COMPREPLY+=("$value")
        fi
    done < <(COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) %(complete_var)s=bash_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


@click.command("completion", help=_HELP)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    # No check of the shell's version: the script may be written for another machine.
    script = kind(context.find_root().command, {}, "trunkline", "_TRUNKLINE_COMPLETE")
    template = _BASH if shell == "bash" else script.source_template
    click.echo(template % script.source_vars())
