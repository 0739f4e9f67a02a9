"""``trunkline serve``: agents for web front ends, over HTTP."""

from __future__ import annotations

import math
import os
import re
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from trunkline.agents.interface import Agent, HasCommand
from trunkline.agents.targets import name_target
from trunkline.cli.browser import OpenedPage
from trunkline.cli.config_option import config_of
from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.logs import show_access_log
from trunkline.cli.options import FOLDER, env_file_option, journal_option, policy_option
from trunkline.cli.reloading import reload_server
from trunkline.cli.server_extra import needs_server_extra
from trunkline.cli.start import prepare_process
from trunkline.cli.tab_suggestions import complete_targets
from trunkline.cli.target_argument import from_config
from trunkline.cli.terminal.spinner import shown_waiting
from trunkline.cli.units import parse_age, parse_size, parse_wait
from trunkline.errors import ConfigurationError
from trunkline.own_files import protect_own_file
from trunkline.target_names import normalize_target
from trunkline.transports.process.own_exit_processes import end_descendants
from trunkline.transports.process.own_exit_threads import run_async
from trunkline.transports.process.reloader import reloaded
from trunkline.transports.process.secrets import erase_argument, take_secret
from trunkline.workspace.policy import Policy

if TYPE_CHECKING:
    from trunkline.server.limits import Limits

_NAMED_TARGET = re.compile(r"([A-Za-z0-9._~-]+)=(.+)")

_VERSIONS: dict[str, Literal[5, 6, 7]] = {"5": 5, "6": 6, "7": 7}

_HELP = """Serve the agents TARGET... over HTTP: a page, useChat, AG-UI, CopilotKit, ACP, UnifiedMessage.

The first line that is printed is the link of the page; it logs one browser in. Only this machine can
call the server, and only with the token that is printed once at the start. The first TARGET answers at
/api/chat and /agui, each at /api/chat/NAME and /agui/NAME; NAME=TARGET chooses the name.

\b
Examples:
  trunkline serve demo --open
  trunkline serve "acp:npx -y @agentclientprotocol/claude-agent-acp" --cwd .
  trunkline serve agent.py:hello --cwd . --port 0
  trunkline serve chat=agent.py:hello review=agent.py:review
  trunkline serve agent.py:hello --allow-origin http://localhost:5173
  TRUNKLINE_TOKEN=... trunkline serve agent.py:hello --host 0.0.0.0 --allow-host chat.example.org

\b
Then:
  useChat          new DefaultChatTransport({api: "http://127.0.0.1:8000/api/chat",
                                             headers: {Authorization: "Bearer TOKEN"}})
  CopilotKit       <CopilotKit runtimeUrl="http://127.0.0.1:8000/copilotkit"
                               headers={{Authorization: "Bearer TOKEN"}}>
  AG-UI            new HttpAgent({url: "http://127.0.0.1:8000/agui",
                                  headers: {Authorization: "Bearer TOKEN"}})
  UnifiedMessage   ws://127.0.0.1:8000/unified/SESSION?create=1
  By hand          curl -N http://127.0.0.1:8000/agui -H "Authorization: Bearer TOKEN"
                     -H "Content-Type: application/json" -d '{"threadId": "t1", "runId": "r1",
                     "messages": [{"id": "1", "role": "user", "content": "hello"}]}'

A token is SECRET, PRINCIPAL=SECRET or PRINCIPAL:SCOPE,SCOPE=SECRET. A principal sees its own sessions
only. The scopes are follow, prompt, answer and admin; without any, all of them.
"""


def _split_name(text: str) -> tuple[str | None, str]:
    """Take NAME=TARGET apart."""
    named = _NAMED_TARGET.fullmatch(text)
    return (named[1], named[2]) if named else (None, text)


def _chosen_targets(
    context: click.Context, parameter: click.Parameter, targets: tuple[str, ...]
) -> tuple[str, ...]:
    """Put TARGETs in the place of names of the configuration file; without a name, all that it has."""
    if context.resilient_parsing:
        return targets
    config = config_of(context)
    if not targets and config is not None and config.agents:
        targets = tuple(config.agents)
    if not targets:
        raise click.UsageError(
            "Missing argument 'TARGET...': which agents? For example: trunkline serve demo"
        )
    chosen: list[str] = []
    for text in targets:
        name, target = _split_name(text)
        whole = from_config(target, context)
        if name is None and config is not None and target in config.agents:
            name = target
        chosen.append(whole if name is None else f"{name}={whole}")
    return tuple(chosen)


@click.command("serve", help=_HELP)
@click.argument(
    "targets",
    nargs=-1,
    metavar="TARGET...",
    callback=_chosen_targets,
    shell_complete=complete_targets,
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0 is any free one.",
)
@click.option(
    "--token",
    "tokens",
    multiple=True,
    help="A token that opens the server (better: --token-file, which no shell remembers).",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with a token per line, readable by you alone (chmod 600); with none TRUNKLINE_TOKEN counts.",
)
@click.option(
    "--token-env",
    "token_env",
    multiple=True,
    metavar="NAME",
    help="A variable of the environment that holds a token, as --token takes it.",
)
@click.option("--allow-origin", multiple=True, metavar="ORIGIN", help="A page's origin that may call us.")
@click.option("--allow-host", multiple=True, metavar="HOST", help="A name of ours besides the address.")
@click.option(
    "--allow-mcp", multiple=True, metavar="HOST", help="A host whose MCP servers ACP clients may name."
)
@click.option(
    "--import-history",
    type=click.Choice(["marked", "drop"]),
    default="marked",
    show_default=True,
    help="What an agent gets of the history that a page brings to a new thread.",
)
@click.option(
    "--interrupts",
    type=click.Choice(["auto", "outcome", "event", "both"]),
    default="auto",
    show_default=True,
    help="How a page gets an interrupt() of a graph's own: as the outcome of the run, as the event "
    "on_interrupt of older pages, or both. auto: the event for CopilotKit, both for others.",
)
@click.option(
    "--emit-activities", is_flag=True, help="Send plans, media and running output as ACTIVITY events."
)
@click.option(
    "--ai-sdk",
    type=click.Choice(["5", "6", "7"]),
    default="7",
    show_default=True,
    help="The major version of the npm package ai on pages with useChat; ?v= in an address chooses another.",
)
@click.option(
    "--cwd",
    type=FOLDER,
    help="The folder of sessions from web pages (default: none, so they have no files and no terminals; "
    "an agent that speaks ACP works in this folder then).",
)
@policy_option
@journal_option
@env_file_option
@click.option(
    "--retain-age", type=parse_age, metavar="AGE", help="Delete sessions not used for this long: 30d."
)
@click.option(
    "--retain-bytes", type=parse_size, metavar="SIZE", help="Delete old turns of larger sessions: 100M."
)
@click.option(
    "--grace",
    type=parse_wait,
    metavar="AGE|never",
    help="How long a run goes on when its page is gone: 30s. 0s stops it at once, never lets it go on "
    "(default: 0s for AG-UI, 30s for CopilotKit). With useChat it goes on, see --abandon-after.",
)
@click.option(
    "--question-ttl",
    type=parse_age,
    default="1h",
    show_default=True,
    metavar="AGE",
    help="How long an approval or a question waits; then it counts as refused.",
)
@click.option(
    "--abandon-after",
    type=parse_wait,
    default="15min",
    show_default=True,
    metavar="AGE|never",
    help="Cancel a turn that nobody has followed for this long.",
)
@click.option(
    "--max-connections",
    type=click.IntRange(8),
    default=4096,
    show_default=True,
    help="Connections at once; others are told to come back later.",
)
@click.option(
    "--max-messages",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Messages in the history that a page with AG-UI or useChat sends along.",
)
@click.option(
    "--max-body", type=parse_size, metavar="SIZE", help="What a request may bring that is new: 4M by default."
)
@click.option(
    "--max-history",
    type=parse_size,
    metavar="SIZE",
    help="A request with its history, which pages send every time: eight times as much.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser of this machine.")
@click.option("--access-log", is_flag=True, help="Print a line for each request that was answered.")
@click.option(
    "--reload",
    "reload",
    is_flag=True,
    help="Start again when a Python file beside the agent changes; port, token and logins stay.",
)
@click.option(
    "--insecure-no-auth", is_flag=True, help="Let every program of this machine in, without a token."
)
@yes_option
def command(
    targets: tuple[str, ...],
    host: str,
    port: int,
    tokens: tuple[str, ...],
    token_file: Path | None,
    token_env: tuple[str, ...],
    allow_origin: tuple[str, ...],
    allow_host: tuple[str, ...],
    allow_mcp: tuple[str, ...],
    import_history: Literal["marked", "drop"],
    interrupts: Literal["auto", "outcome", "event", "both"],
    emit_activities: bool,
    ai_sdk: Literal["5", "6", "7"],
    cwd: str | None,
    policy: Policy | None,
    journal: str | None,
    retain_age: float | None,
    retain_bytes: int | None,
    grace: float | None,
    question_ttl: float,
    abandon_after: float,
    max_connections: int,
    max_messages: int,
    max_body: int | None,
    max_history: int | None,
    opens: bool,
    access_log: bool,
    reload: bool,
    insecure_no_auth: bool,
    yes: bool,
) -> int | None:
    given_by = reloaded()
    if reload and given_by is None:
        confirm_launch([_split_name(target)[1] for target in targets], yes=yes)
        named = [_split_name(target)[1] for target in targets]
        return reload_server(host, port, named, tokens=tokens, variables=token_env)
    prepare_process()
    with needs_server_extra():
        from trunkline.frontends.agui.options import AguiOptions
        from trunkline.frontends.aisdk.options import AisdkOptions
        from trunkline.server.asgi import asgi
        from trunkline.server.listening_socket import bind, url_of
        from trunkline.server.run import listen
        from trunkline.server.security.hosts import is_address, is_loopback
        from trunkline.server.security.tokens import Access, new_secret
        from trunkline.server.session_settings import session_settings

    if question_ttl <= 0:
        raise click.UsageError("--question-ttl must be more than 0s: nobody could answer in time")
    given = _read_tokens(tokens, token_file, token_env)
    public = not is_loopback(host)
    if insecure_no_auth and (public or given):
        raise click.UsageError("--insecure-no-auth is for this machine alone: leave --host and tokens out")
    if public and not given:
        raise ConfigurationError(
            f"{host} can be reached from other machines: give a token of your own (--token-file, or "
            "TRUNKLINE_TOKEN), or leave --host out"
        )
    confirm_launch([_split_name(target)[1] for target in targets], yes=yes)
    agents = _resolve(targets)
    state = {} if given_by is None else given_by.state
    made = None if given or insecure_no_auth else state.get("token") or new_secret()
    app = asgi(
        {name: agent for name, (agent, _) in agents.items()},
        targets={name: target for name, (_, target) in agents.items()},
        journal=journal,
        cwd=cwd,
        policy=policy,
        settings=session_settings(
            retain_age=retain_age,
            retain_bytes=retain_bytes,
            question_ttl=question_ttl,
            abandon_after=None if abandon_after == math.inf else abandon_after,
        ),
        limits=_limits(max_body, max_history, connections=max_connections, messages=max_messages),
        tokens=given or made,
        authenticate=(lambda scope: Access()) if insecure_no_auth else None,
        allow_origins=allow_origin,
        allow_mcp=allow_mcp,
        agui=AguiOptions(
            import_history=import_history,
            interrupts=interrupts,
            emit_activities=emit_activities,
            on_disconnect="continue" if grace == math.inf else "cancel",
            disconnect_grace=None if grace == math.inf else grace,
        ),
        aisdk=AisdkOptions(version=_VERSIONS[ai_sdk], import_history=import_history),
        allow_hosts=[*allow_host, *(() if is_address(host) else (host,))],
    )
    with bind(host, port) if given_by is None else given_by.listener as listener:
        url = url_of(listener)
        # A link that logs in is for a person at this machine: logs of a public server are read by others.
        code = None if public else app.new_login_code()
        page = f"{url}/#code={code}" if code else f"{url}/"
        lines = [f"Open  {page}", *_startup_lines(url, list(agents), made, ai_sdk, unlocked=insecure_no_auth)]
        if state:
            app.restore_logins(state["logins"])
            lines = [f"Trunkline serves {', '.join(agents)} again: {page}"]
        opened = OpenedPage(page) if opens and not state else None

        def on_ready() -> None:
            click.echo("\n".join(lines), err=True)
            if opened is not None:
                opened.show()

        if access_log:
            show_access_log()
        parent = None if given_by is None else given_by.parent
        try:
            run_async(listen(app, listener, on_ready=on_ready, parent=parent))
        finally:
            if opened is not None:
                opened.remove()
            if given_by is not None:
                given_by.keep({"token": made, "logins": app.login_state()})
            end_descendants()
    return None


def _limits(max_body: int | None, max_history: int | None, *, connections: int, messages: int) -> Limits:
    from trunkline.server.limits import Limits

    body = Limits().body_bytes if max_body is None else max_body
    history = 8 * body if max_history is None else max_history
    if body < 1024 or history < body:
        raise click.UsageError("--max-body must be at least 1K, and --max-history no less than --max-body")
    return Limits(
        body_bytes=body,
        history_bytes=history,
        reading_bytes=4 * history,
        connections=connections,
        messages=messages,
    )


def _read_tokens(tokens: Sequence[str], token_file: Path | None, variables: Sequence[str]) -> list[str]:
    given = list(tokens)
    for token in given:
        erase_argument(token)
    for name in variables:
        secret = take_secret(name)
        if not secret:
            raise ConfigurationError(f"the variable {name} holds no token: set it, or leave its name out")
        given.append(secret)
    if token_file is not None:
        lines = (line.strip() for line in _read_private(token_file).splitlines())
        given += [line for line in lines if line and not line.startswith("#")]
        if not given:
            raise ConfigurationError(f"{token_file} has no token in it: write one per line")
    alone = take_secret("TRUNKLINE_TOKEN")
    return given or ([alone] if alone else [])


def _read_private(path: Path) -> str:
    """Read a file that only its owner may read or write."""
    protect_own_file(path, "the file of tokens", secret=True)
    with path.open(encoding="utf-8") as file:
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode) and found.st_mode & 0o077:
            raise ConfigurationError(
                f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):04o}), and so are its tokens: "
                f"chmod 600 {shlex.quote(str(path))}"
            )
        return file.read()


def _resolve(targets: Sequence[str]) -> dict[str, tuple[Agent, str]]:
    """Load every TARGET under its own name, or the one that was chosen for it."""
    from trunkline.server.agents import address_name

    found: dict[str, tuple[Agent, str]] = {}
    for text in targets:
        chosen, target = _split_name(text)
        with shown_waiting("loading the agent"):
            target, agent = name_target(target)
        if isinstance(agent, HasCommand):
            agent.check_command()
        name = chosen or address_name(agent)
        if name in found:
            raise click.UsageError(f"two agents are called {name!r}: choose with NAME=TARGET")
        found[name] = (agent, normalize_target(target))
    return found


def _startup_lines(
    url: str, names: list[str], token: str | None, ai_sdk: str, *, unlocked: bool
) -> list[str]:
    """Say where everything is."""
    lines = [f"Trunkline serves {', '.join(names)} on {url.removeprefix('http://')}"]
    for kind, path in (("useChat", "/api/chat"), ("AG-UI", "/agui")):
        each = "" if len(names) == 1 else f" (each: {url}{path}/NAME)"
        version = f" for the AI SDK {ai_sdk} (--ai-sdk)" if kind == "useChat" else ""
        lines += [f"  {kind:<11} {url}{path}{version}{each}"]
    lines += [
        f"  CopilotKit  {url}/copilotkit",
        f"  ACP         {url}/acp",
        f"  unified     {url.replace('http', 'ws', 1)}/unified/SESSION",
        f"  sessions    {url}/sessions",
    ]
    if unlocked:
        return [*lines, "There is no token: every program of this machine may use it. Ctrl-C stops."]
    lines += [f"  token       {token}"] if token else []
    return [*lines, "Every request needs the token, as the header Authorization: Bearer TOKEN. Ctrl-C stops."]
