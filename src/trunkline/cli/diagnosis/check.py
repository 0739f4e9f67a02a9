"""``trunkline check``: whether an agent or a server keeps its protocol."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import orjson

from trunkline.cli.config_option import config_option, variables_for_child
from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.options import env_file_option
from trunkline.cli.signals import end_by_signals
from trunkline.cli.target_argument import target_argument
from trunkline.cli.units import parse_age
from trunkline.errors import ConfigurationError
from trunkline.target_names import split_target
from trunkline.transports.process.environment import scrub
from trunkline.transports.process.secrets import erase_argument

if TYPE_CHECKING:
    from trunkline.conformance.report import Report
    from trunkline.conformance.table import Verdict

_HELP = """Check whether TARGET keeps its protocol: a report of requirements, with links to them.

TARGET is an agent, which is started and driven over the Agent Client Protocol, or the address of a server:
http://HOST/PATH of AG-UI, or of useChat's UI message stream with --protocol aisdk. A requirement is
mandatory, of a capability (it counts if the agent offers that), or advice. The exit code is 1 when a
mandatory requirement or one of an offered capability fails; with --strict advice counts too.

The agent gets about 25 short prompts and one of 100,000 characters; if its model costs money, you pay for
them. --no-prompts sends nothing that needs a model. Only you know which prompt makes your agent call a tool
or ask a question: name it by the options, or those requirements are skipped.

\b
Examples:
  trunkline check demo
  trunkline check "acp:gemini --acp" --no-prompts
  trunkline check agent.py:hello --prompt "hi" --json
  trunkline check demo --only ACP-INIT-003 --only ACP-CANCEL-001
  trunkline check demo --no-prompts --junit > conformance.xml
"""

_SCRIPTED = ("demo", "demo-auth")
"""Our own agents whose scenarios bring everything about."""


class _Wanted(NamedTuple):
    """What the options say."""

    prompt: str | None
    tool_prompt: str | None
    long_prompt: str | None
    permission_prompt: str | None
    token: str | None
    ai_sdk: int
    timeout: float
    only: tuple[str, ...]
    strict: bool
    login: bool


@click.command("check", help=_HELP)
@target_argument
@click.option(
    "--protocol",
    type=click.Choice(["acp", "agui", "aisdk"]),
    help="The protocol (default: acp for an agent, agui for an address).",
)
@click.option("--prompt", metavar="TEXT", help='An ordinary prompt (default: "Say hello.").')
@click.option("--no-prompts", is_flag=True, help="Send no prompt: check only what needs no model.")
@click.option("--tool-prompt", metavar="TEXT", help="A prompt that calls a tool (agui, aisdk).")
@click.option(
    "--long-prompt", metavar="TEXT", help="A prompt whose turn takes seconds, to be cancelled (acp, agui)."
)
@click.option("--permission-prompt", metavar="TEXT", help="A prompt that asks for a permission (acp, agui).")
@click.option("--login", is_flag=True, help="Also log in and out by the agent's first method (acp).")
@click.option(
    "--token", metavar="SECRET", help="The bearer token of a server (default: TRUNKLINE_TOKEN, if it is set)."
)
@click.option(
    "--ai-sdk",
    type=click.Choice(["5", "6", "7"]),
    default=None,
    help="The major version of the npm package ai (aisdk; default: 6).",
)
@click.option("--only", multiple=True, metavar="ID", help="Check this requirement only; may be repeated.")
@click.option("--strict", is_flag=True, help="Advice counts too.")
@click.option("--timeout", default="20s", metavar="TIME", help="How long one answer may take (default: 20s).")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--junit", "as_junit", is_flag=True, help="Print the report as JUnit XML.")
@config_option
@env_file_option
@yes_option
def command(
    target: str,
    protocol: str | None,
    prompt: str | None,
    no_prompts: bool,
    tool_prompt: str | None,
    long_prompt: str | None,
    permission_prompt: str | None,
    login: bool,
    token: str | None,
    ai_sdk: str | None,
    only: tuple[str, ...],
    strict: bool,
    timeout: str,
    as_json: bool,
    as_junit: bool,
    yes: bool,
) -> int:
    is_address = target.startswith(("http://", "https://", "agui:"))
    protocol = protocol or ("agui" if is_address else "acp")
    _refuse_what_cannot_apply(
        protocol,
        is_address=is_address,
        token=token,
        ai_sdk=ai_sdk,
        login=login,
        no_prompts=no_prompts,
        prompts=(prompt, tool_prompt, long_prompt, permission_prompt),
        permission_prompt=permission_prompt,
        tool_prompt=tool_prompt,
        long_prompt=long_prompt,
    )
    if token is not None:
        erase_argument(token)
    token = token or os.environ.get("TRUNKLINE_TOKEN")
    if token is not None and not token.isascii():
        raise click.UsageError("a token has letters, digits and signs of ASCII only")
    if as_json and as_junit:
        raise click.UsageError("--json and --junit are two forms of one report: choose one")
    wanted = _Wanted(
        None if no_prompts else prompt or "Say hello.",
        tool_prompt,
        long_prompt,
        permission_prompt,
        token,
        int(ai_sdk or 6),
        parse_age(timeout),
        tuple(name.upper() for name in only),
        strict,
        login,
    )
    confirm_launch([target], yes=yes)
    if sys.stderr.isatty():
        click.echo("checking; an agent that answers slowly takes a minute or more ...", err=True)
    try:
        with end_by_signals():
            report = _check(target.removeprefix("agui:"), protocol, wanted)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"check needs the package {error.name}: pip install 'trunkline[check]'"
        ) from error
    if as_json:
        click.echo(orjson.dumps(report.as_json(), option=orjson.OPT_INDENT_2))
    elif as_junit:
        click.echo(report.as_junit())
    else:
        for line in report.lines():
            click.echo(line)
        if protocol == "acp" and not report.counts["pass"]:
            click.echo(f"`trunkline doctor {shlex.quote(target)}` looks for the cause", err=True)
    return 0 if report.conformant else 1


def _refuse_what_cannot_apply(
    protocol: str,
    *,
    is_address: bool,
    token: str | None,
    ai_sdk: str | None,
    login: bool,
    no_prompts: bool,
    prompts: Sequence[str | None],
    permission_prompt: str | None,
    tool_prompt: str | None,
    long_prompt: str | None,
) -> None:
    if is_address == (protocol == "acp"):
        kind = "an agent that speaks ACP on stdio, not an address" if is_address else "an address: http://..."
        raise click.UsageError(f"--protocol {protocol} checks {kind}")
    if not is_address and token is not None:
        raise click.UsageError("--token is for the address of a server")
    if ai_sdk is not None and protocol != "aisdk":
        raise click.UsageError("--ai-sdk is for --protocol aisdk")
    if login and protocol != "acp":
        raise click.UsageError("--login is for agents that speak ACP")
    if no_prompts and (is_address or any(prompts)):
        raise click.UsageError("--no-prompts is for agents that speak ACP, and not together with a prompt")
    if protocol == "aisdk" and (permission_prompt or long_prompt) is not None:
        name = "--permission-prompt" if permission_prompt is not None else "--long-prompt"
        raise click.UsageError(f"{name} is for acp and agui")
    if tool_prompt is not None and protocol == "acp":
        raise click.UsageError("--tool-prompt is for agui and aisdk; for acp name a --permission-prompt")


def _check(target: str, protocol: str, wanted: _Wanted) -> Report:
    began = time.monotonic()
    if protocol == "acp":
        from trunkline.conformance.acp.kit import TABLE

        verdicts = _check_acp(target, wanted)
        table: Any = TABLE
    elif protocol == "agui":
        from trunkline.conformance.agui import kit, run

        _check_names(wanted.only, run.REQUIREMENTS)
        prompts = kit.Prompts(
            wanted.prompt or "", wanted.tool_prompt, wanted.permission_prompt, wanted.long_prompt
        )
        table, verdicts = kit.TABLE, run.judge(target, prompts, **_http_options(wanted))
    else:
        from trunkline.conformance.aisdk import kit as aisdk_kit
        from trunkline.conformance.aisdk import run as aisdk_run

        _check_names(wanted.only, aisdk_run.REQUIREMENTS)
        aisdk_prompts = aisdk_kit.Prompts(wanted.prompt or "", wanted.tool_prompt)
        options = _http_options(wanted)
        table, verdicts = (
            aisdk_kit.TABLE,
            aisdk_run.judge(target, aisdk_prompts, version=wanted.ai_sdk, **options),
        )
    from trunkline.conformance.report import Report

    return Report.of(table, target, verdicts, time.monotonic() - began, strict=wanted.strict)


def _http_options(wanted: _Wanted) -> dict[str, Any]:
    return {
        "headers": {"authorization": f"Bearer {wanted.token}"} if wanted.token else {},
        "token": secrets.token_hex(4),
        "patience": wanted.timeout,
        "only": wanted.only or None,
    }


def _check_names(only: Sequence[str], rows: Mapping[str, Any]) -> None:
    """Refuse ids that the table does not have."""
    unknown = [name for name in only if name not in rows]
    if unknown:
        raise click.UsageError(f"there is no requirement {unknown[0]}; there are {', '.join(rows)}")


# -- agents over ACP -------------------------------------------------------------------------------


def _check_acp(target: str, wanted: _Wanted) -> Mapping[str, Verdict]:
    from trunkline.conformance.acp.kit import AgentUnderTest
    from trunkline.conformance.acp.run import REQUIREMENTS, judge

    _check_names(wanted.only, REQUIREMENTS)
    _load(target)
    scripted = target in _SCRIPTED and wanted.prompt is not None
    with tempfile.TemporaryDirectory(prefix="trunkline-check-") as folder:
        work = Path(folder, "work")
        work.mkdir()
        journal = f"sqlite:{folder}/journal.db"
        env: dict[str, str] = {}
        argv = acp_command(target, env, journal)
        subject = AgentUnderTest(
            argv,
            work,
            env=env,
            environ=scrub(os.environ, ["*"]),
            started_in=Path.cwd(),
            words=wanted.prompt,
            waiting=wanted.long_prompt or ("/wait-for-cancel" if scripted else wanted.prompt),
            asking=wanted.permission_prompt or ("/permission" if scripted else None),
            ability_prompts=_ability_prompts(wanted, scripted=scripted),
            allow_login=wanted.login or target in _SCRIPTED,
            allow_logout=wanted.login or target in _SCRIPTED,
            patience=wanted.timeout,
        )
        try:
            verdicts, _ = judge(subject, wanted.only or None)
        except OSError as error:
            hint = f"see `trunkline doctor {shlex.quote(target)}`"
            raise ConfigurationError(f"{argv[0]!r} cannot be started: {error.strerror}; {hint}") from error
        return verdicts


def _load(target: str) -> None:
    """Refuse a TARGET of ours that cannot be loaded: each requirement would be skipped for it."""
    from trunkline.agents.targets import BUILT_IN, resolve_target

    if not split_target(target).prefix and target not in BUILT_IN:
        with contextlib.redirect_stdout(sys.stderr):  # What the file prints is none of our report.
            resolve_target(target)


def _ability_prompts(wanted: _Wanted, *, scripted: bool) -> tuple[str, ...]:
    if scripted:
        return ("/permission", "/terminal", "/form", "/edit", "/link")
    return tuple(words for words in (wanted.permission_prompt,) if words is not None)


def acp_command(target: str, env: dict[str, str], journal: str) -> list[str]:
    """Give the command that speaks ACP for a TARGET; ``env`` gets the variables that it needs."""
    parts = split_target(target)
    if parts.prefix == "acp":
        from trunkline.agents.targets import acp_words

        return acp_words(parts.source)
    if parts.prefix == "registry":
        from trunkline.agents.acp.registry import launch_of, parse_name

        launch = launch_of(*parse_name(parts.source))
        env.update(launch.env)
        return [launch.command, *launch.args]
    # Whatever else is an agent of ours: served as an editor starts it.
    whole = parts.with_source(str(Path(parts.source).resolve())) if parts.is_file else target
    env.update(variables_for_child(click.get_current_context(silent=True)))
    return [sys.executable, "-m", "trunkline", "acp", whole, "--journal", journal]
