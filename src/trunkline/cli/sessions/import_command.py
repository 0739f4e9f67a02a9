"""``trunkline sessions import``: sessions that exist at an agent alone become sessions of the journal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import click

from trunkline.cli.first_launch import confirm_launch, yes_option
from trunkline.cli.journals import SHORT, all_sessions
from trunkline.cli.options import FOLDER, env_file_option, journal_option
from trunkline.cli.target_argument import target_argument
from trunkline.errors import InvalidCommand, TrunklineError
from trunkline.safe_text import one_line

if TYPE_CHECKING:
    from trunkline.agents.interface import Agent, ImportsSessions, OwnSession
    from trunkline.session.hub import Hub

_HELP = """Import sessions that exist only at the agent TARGET.

Without an ID, they are listed. The beginning of an ID is enough.

The agent replays each session, and what it replays is written to the journal. From then on the session goes
on from every front end, and the journal is its history. Files of `trunkline sessions export` are no agents,
and cannot be imported.

\b
Examples:
  trunkline sessions import "acp:npx -y @agentclientprotocol/claude-agent-acp"
  trunkline sessions import "acp:npx -y @agentclientprotocol/claude-agent-acp" 0199a213-81c0-7800
  trunkline sessions import "acp:opencode acp" --all --cwd ~/work
"""


@click.command("import", help=_HELP)
@target_argument
@click.argument("session_ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "all_", is_flag=True, help="Import all that are listed.")
@click.option("--cwd", type=FOLDER, help="Only sessions in this folder.")
@yes_option
@journal_option
@env_file_option
def command(
    target: str, session_ids: tuple[str, ...], all_: bool, cwd: str | None, yes: bool, journal: str | None
) -> int:
    if all_ and session_ids:
        raise click.UsageError("--all imports every session: name none")
    # Of the commands about sessions only this one needs agents.
    from trunkline.agents.interface import ImportsSessions
    from trunkline.agents.targets import resolve_target
    from trunkline.cli.open_hub import opened_hub
    from trunkline.cli.start import prepare_process
    from trunkline.transports.process.own_exit_processes import end_descendants
    from trunkline.transports.process.own_exit_threads import run_async

    prepare_process()
    confirm_launch([target], yes=yes)
    if target.endswith((".jsonl", ".json", ".md")):
        raise click.UsageError(
            f"{target} is a file: what `sessions export` wrote cannot be imported; name an ACP agent"
        )
    agent = resolve_target(target)
    if not isinstance(agent, ImportsSessions):
        raise click.UsageError(f"{target} has no sessions of its own: it is no ACP agent")

    async def run() -> int:
        async with opened_hub(cast("Agent", agent), target, journal, None) as hub:
            return await _Import(hub, agent).run(session_ids, cwd, all_=all_)

    try:
        return run_async(run())
    finally:
        end_descendants()


class _Import:
    """Lists the sessions of an agent, and brings some into the journal."""

    def __init__(self, hub: Hub, agent: ImportsSessions) -> None:
        self._hub = hub
        self._agent = agent

    async def run(self, wanted: Sequence[str], cwd: str | None, *, all_: bool) -> int:
        """Give the exit code."""
        from trunkline.agents.interface import OwnSession

        await self._hub.prepare_agent()
        known = await self._known()
        listed = await self._listed(cwd, needed=not wanted)
        if not wanted and not all_:
            return self._show(listed, known)
        chosen = [*listed.values()]
        if wanted:
            # One that is not listed may be there all the same.
            chosen = [_find(listed, one) or OwnSession(session_id=one) for one in wanted]
        failed = 0
        for own in chosen:
            if (ours := known.get(own.session_id)) is not None:
                click.echo(f"{one_line(own.session_id)} is in the journal already: {ours}", err=True)
                continue
            try:
                click.echo(await self._bring(own, cwd))
            except TrunklineError as error:
                failed += 1
                click.echo(
                    f"{one_line(own.session_id)} was not imported: {one_line(str(error), 500)}", err=True
                )
        return 1 if failed else 0

    async def _known(self) -> dict[str, str]:
        """The sessions of the journal by their ids at the agent."""
        found: dict[str, str] = {}
        async for info in all_sessions(self._hub.journal):
            for value in (info.kept or {}).values() if self._hub.may_run(info) else ():
                native = cast("dict[str, Any]", value).get("session_id") if isinstance(value, dict) else None
                if isinstance(native, str):
                    found[native] = info.session_id
        return found

    async def _listed(self, cwd: str | None, *, needed: bool) -> dict[str, OwnSession]:
        try:
            return {own.session_id: own for own in await self._agent.list_sessions(cwd)}
        except TrunklineError:
            if needed:
                raise
            return {}  # Those that were named can be loaded all the same.

    def _show(self, listed: dict[str, OwnSession], known: dict[str, str]) -> int:
        if not listed:
            click.echo("The agent has no sessions.", err=True)
            return 0
        rows = [("ID", "LAST USED", "IMPORTED", "TITLE")]
        size = _shortest(listed)
        for own in listed.values():
            used = one_line(own.updated_at or "", 200)[:16].replace("T", " ")
            imported = known.get(own.session_id, "no")[:SHORT]
            rows.append((one_line(own.session_id[:size]), used, imported, own.title or own.cwd or ""))
        width = max(len(row[0]) for row in rows)
        for id_, used, imported, title in rows:
            line = f"{id_:<{width}}  {used:<16}  {imported:<{SHORT}}  "
            click.echo(f"{line}{one_line(title, max(20, 80 - len(line)))}".rstrip())
        click.echo("Import some: trunkline sessions import TARGET ID..., or --all", err=True)
        return 0

    async def _bring(self, own: OwnSession, cwd: str | None) -> str:
        """Make a session of ours, and let the agent fill it."""
        folder = own.cwd or cwd or os.getcwd()
        session = await self._hub.create(cwd=folder)
        try:
            await self._agent.link_session(session.view, own.session_id)
            # It is filled when it is opened: see session/imported_history.
            await session.close()
            filled = await self._hub.session(session.session_id)
            if filled.last_turn_id is None:
                raise InvalidCommand("the agent replayed nothing of it; the log says why")
            if own.title is not None:
                filled.title.set(own.title)
            await filled.close()
        except BaseException:
            # Not by the hub: the agent would delete its own session too.
            await session.close()
            await self._hub.journal.delete(session.key)
            raise
        return session.session_id


def _shortest(listed: Iterable[str]) -> int:
    """Give how many characters tell the ids of an agent apart."""
    ids = set(listed)
    return next(size for size in count(SHORT) if len({one[:size] for one in ids}) == len(ids))


def _find(listed: Mapping[str, OwnSession], wanted: str) -> OwnSession | None:
    """Give the session with this id, or the only one whose id begins so."""
    found = [own for one, own in listed.items() if one == wanted] or [
        own for one, own in listed.items() if one.startswith(wanted)
    ]
    if len(found) > 1:
        raise InvalidCommand(f"{len(found)} sessions of the agent begin with {wanted!r}: give more of the id")
    return found[0] if found else None
