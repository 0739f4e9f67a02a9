"""``trunkline chat``: a conversation in this terminal."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager, nullcontext

import click

from trunkline.agents.interface import Agent
from trunkline.agents.targets import BUILT_IN, name_target
from trunkline.cli.chat.client_commands import COMMANDS
from trunkline.cli.chat.loop import ChatLoop
from trunkline.cli.chat.page import opened_page
from trunkline.cli.chat.resume_line import ResumeLine
from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.open_hub import SessionChoice, open_session, opened_hub
from trunkline.cli.options import FOLDER, env_file_option, journal_option, policy_option, session_options
from trunkline.cli.signals import handle_signals
from trunkline.cli.start import prepare_process
from trunkline.cli.target_argument import target_argument
from trunkline.cli.terminal.devices import open_devices
from trunkline.cli.terminal.spinner import shown_waiting
from trunkline.cli.terminal.stdin_lines import StdinLines
from trunkline.cli.terminal.suggestions import Suggestion, suggest
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.transports.process.own_exit_processes import end_descendants
from trunkline.transports.process.own_exit_threads import run_async
from trunkline.workspace.file_completion import find_file_names
from trunkline.workspace.policy import Policy

_TOUR = ("hello", "/tools", "/permission", "a", "/plan", "/subagents")
_FINANCE_TOUR = (
    "How much did I spend on groceries last month?",
    "and in September?",
    "Why was October higher than September?",
    "Which subscriptions got dearer?",
    "Chart my spending by category last month",
)

_HELP = """Talk to the agent TARGET in this terminal.

Type a prompt and press Enter; Alt-Enter, or a backslash before Enter, begins a new line. /help lists the
commands of the agent and of the chat, /quit leaves. A line that you send while the agent works joins its
turn, or waits for the end of it. Ctrl-C cancels what runs; with nothing to cancel, twice leaves.

With --continue and --session, the last turns are shown, and questions that are open are asked again. A turn
that another process runs is followed, and can be answered and cancelled here.

With --page, the same conversation is in a browser of this machine too, for as long as the chat runs: open the
link that is printed. /page prints another one, as each works once.

When stdin is not a terminal, each of its lines is a prompt, or the answer to a question; with none at all,
demo and finance play a short tour.

\b
Examples:
  trunkline chat finance
  trunkline chat finance --page
  trunkline chat demo
  trunkline chat "acp:gemini --acp"
  trunkline chat agent.py:hello --continue
  trunkline chat agent.py:hello --session work
  printf 'hello\\n/tools\\n' | trunkline chat demo

Exit codes: 0 you left, 130 you left by Ctrl-C, 143 and 129 ended by SIGTERM and SIGHUP (each cancels the turn
first).
"""


@click.command("chat", help=_HELP)
@target_argument
@session_options
@click.option("--all", "shows_all", is_flag=True, help="Show the whole session, not only its last turns.")
@click.option("--cwd", type=FOLDER, help="The agent's folder in a new session (default: this one).")
@click.option("--page", is_flag=True, help="Serve the page beside the chat; its link is printed.")
@policy_option
@journal_option
@env_file_option
@yes_option
def command(
    target: str,
    session_id: str | None,
    continue_: bool,
    shows_all: bool,
    cwd: str | None,
    page: bool,
    policy: Policy | None,
    journal: str | None,
    yes: bool,
) -> int:
    choice = SessionChoice(session_id, continue_, cwd).check()
    if choice.is_new and shows_all:
        raise click.UsageError("--all is for a session that you go on with: add --continue or --session ID")
    prepare_process(shows_failures=True)
    confirm_launch([target], yes=yes)
    with shown_waiting("loading the agent"):
        target, agent = name_target(target)
    try:
        return run_async(_chat(agent, target, choice, policy, journal, page=page, shows_all=shows_all))
    finally:
        end_descendants()


async def _chat(
    agent: Agent,
    target: str,
    choice: SessionChoice,
    policy: Policy | None,
    journal: str | None,
    *,
    page: bool,
    shows_all: bool,
) -> int:
    stdin = StdinLines()
    tour = False
    if not stdin.is_terminal:
        first = await stdin.line()
        tour = first is None and target in BUILT_IN and choice == SessionChoice()
        own = _FINANCE_TOUR if target.startswith("finance") else _TOUR
        stdin.type(*(own if tour else () if first is None else (first,)))
    # The tour writes a file, which does not belong into the user's folder.
    folder = tempfile.TemporaryDirectory(prefix="trunkline-tour-") if tour else nullcontext(choice.cwd)
    resume = ResumeLine(target, journal)
    loop: ChatLoop | None = None

    def complete(before: str) -> list[Suggestion]:
        return [] if loop is None else _suggest(loop.session, before)

    def interrupt() -> None:
        if loop is not None:
            loop.interrupt()

    # Signals are handled until everything is closed: a window that closes sends its signal twice.
    with ExitStack() as handling, folder as cwd:
        async with _opened(agent, target, journal, policy, cwd, page=page) as (hub, page_link):
            session = await open_session(hub, choice._replace(cwd=cwd))
            async with open_devices(stdin, complete, interrupt) as (lines, display):
                loop = ChatLoop(
                    hub, session, lines, display, resume.at_once, page_link=page_link, shows_all=shows_all
                )
                handling.enter_context(handle_signals(loop.interrupt))
                code = await loop.run()
                line = await resume.find(hub.journal, loop.session)
                if line is not None and not tour:
                    display.note(line, style="")
                return code


@asynccontextmanager
async def _opened(
    agent: Agent, target: str, journal: str | None, policy: Policy | None, cwd: str | None, *, page: bool
) -> AsyncGenerator[tuple[Hub, Callable[[Session], str] | None]]:
    """Give the hub of the chat, and where a page is served too, what makes its links."""
    if page:
        async with opened_page(agent, target, journal, policy, cwd) as (hub, links):
            yield hub, links.link
    else:
        async with opened_hub(agent, target, journal, policy) as hub:
            yield hub, None


def _suggest(session: Session, before: str) -> list[Suggestion]:
    view = session.view
    agents = [
        (command.name, command.description) for command in view.commands if command.name not in COMMANDS
    ]
    folders = [folder for folder in (view.cwd, *view.roots) if folder is not None]
    commands = [*agents, *COMMANDS.items()]
    return suggest(before, commands, view.options, lambda typed: find_file_names(folders, typed))
