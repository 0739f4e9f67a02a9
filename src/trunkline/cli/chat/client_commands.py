"""The slash commands of the chat itself, such as ``/mode``, ``/undo``, ``/sessions`` and ``/page``.

Every other ``/name`` must be a command of the agent. ``//text`` sends ``/text`` to the agent as it is.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from trunkline.cli.journals import find_session, short_ids
from trunkline.cli.sessions.listing import titled
from trunkline.cli.terminal.display import Display
from trunkline.cli.terminal.past_turns import draw_turns
from trunkline.cli.terminal.suggestions import value_text, values_of
from trunkline.cli.units import age_of
from trunkline.content import text_of
from trunkline.errors import InvalidCommand, TrunklineError
from trunkline.options import ConfigOption
from trunkline.safe_text import one_line
from trunkline.session.hub import Hub
from trunkline.session.session import Session

COMMANDS = {
    "help": "This list",
    "mode": "Show or choose the agent's mode: /mode NAME",
    "option": "Show or choose an option of the agent: /option NAME VALUE",
    "undo": "Take the last prompt and its answer back; files stay as they are",
    "history": "Show the whole conversation",
    "new": "Begin a new session",
    "sessions": "List the sessions of this agent; /sessions ID goes to one",
    "page": "Print a link to this session in a browser (chat --page)",
    "quit": "Leave",
}
_NAME = re.compile(r"/([A-Za-z][\w:.-]*)(?:\s+(.*))?", re.DOTALL)
_LISTED = 15
_YES, _NO = frozenset({"on", "yes", "true"}), frozenset({"off", "no", "false"})


class Send(NamedTuple):
    """Send this text to the agent."""

    text: str


class Leave(NamedTuple):
    """Leave the chat."""


class Edit(NamedTuple):
    """Let the person edit this text as the next prompt."""

    text: str


class GoTo(NamedTuple):
    """Go on in another session."""

    session: Session


Next = Send | Leave | Edit | GoTo | None
"""What to do after a line; None: nothing more."""


class ClientCommands:
    """Carries out the commands of the chat in one session."""

    def __init__(
        self,
        hub: Hub,
        session: Session,
        display: Display,
        page_link: Callable[[Session], str] | None = None,
    ) -> None:
        """Prepare; ``page_link`` makes a link to a session where a page is served beside the chat."""
        self._hub = hub
        self._session = session
        self._display = display
        self._page_link = page_link
        self._handlers: dict[str, Callable[[str], Awaitable[Next]]] = {
            "help": self._help,
            "mode": self._mode,
            "option": self._option,
            "undo": self._undo,
            "history": self._history,
            "new": self._new,
            "sessions": self._sessions,
            "page": self._page,
        }

    async def read(self, line: str) -> Next:
        """Give what to do with a line; a command of the chat is carried out."""
        if line.startswith("//"):
            return Send(line[1:])
        match = _NAME.fullmatch(line)
        if match is None:
            return Send(line)
        name, rest = match[1], (match[2] or "").strip()
        if name in ("quit", "exit"):
            return Leave()
        if name in self._handlers:
            return await self._handlers[name](rest)
        if await self._is_offered(name):
            return Send(line)
        known = [*COMMANDS, *(command.name for command in self._session.view.commands)]
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean /{one_line(near[0], 60)}?" if near else "/help lists all."
        name = one_line(name, 60)
        self._display.note(f"There is no command /{name}: {hint} //{name} sends it as text.", style="yellow")
        return None

    async def _is_offered(self, name: str) -> bool:
        """Whether the agent has a command; one that was not started yet may say so only now."""
        if any(command.name == name for command in self._session.view.commands):
            return True
        try:
            await self._session.prepare()
        except TrunklineError:
            return True  # Why it cannot be prepared is told when the prompt is sent.
        return any(command.name == name for command in self._session.view.commands)

    async def _help(self, rest: str) -> Next:
        agents = {one.name: one.description for one in self._session.view.commands}
        own_help = agents.pop("help", None)
        rows = [(f"//{name}" if name in COMMANDS else f"/{name}", about) for name, about in agents.items()]
        rows += [(f"/{name}", about) for name, about in COMMANDS.items()]
        width = min(max(len(name) for name, _ in rows), 24)
        self._display.note(
            "\n".join(f"  {one_line(name, 30):<{width}}  {one_line(about, 100)}" for name, about in rows)
        )
        self._display.note(
            "Alt-Enter or \\ Enter: a new line · @: a file · Ctrl-R: search · Ctrl-X Ctrl-E: your editor\n"
            "Ctrl-C: cancel what runs, twice to leave · //text sends /text as it is"
        )
        return None if own_help is None else Send("/help")

    async def _page(self, rest: str) -> Next:
        if self._page_link is None:
            self._display.note("no page is served: start the chat with --page", style="yellow")
        else:
            self._display.note(f"Open  {self._page_link(self._session)}", style="")
        return None

    # -- options --

    async def _mode(self, rest: str) -> Next:
        modes = [option for option in await self._options() if option.category == "mode"]
        if not modes:
            self._display.note("this agent has no modes", style="yellow")
        elif rest:
            await self._choose(modes[0], rest)
        else:
            self._list_values(modes[0])
        return None

    async def _option(self, rest: str) -> Next:
        options = await self._options()
        option_id, _, value = rest.partition(" ")
        if not options:
            self._display.note("this agent has no options", style="yellow")
        elif not option_id:
            for option in options:
                shown = value_text(option.value)
                self._display.note(f"  {one_line(option.option_id, 30):<16}  {one_line(shown, 30)}")
        else:
            found = [one for one in options if option_id.lower() in (one.option_id.lower(), one.name.lower())]
            if not found:
                listed = ", ".join(one_line(one.option_id, 30) for one in options)
                self._display.note(f"there is no option {one_line(option_id)!r}; known: {listed}", "yellow")
            elif value.strip():
                await self._choose(found[0], value.strip())
            else:
                self._list_values(found[0])
        return None

    async def _options(self) -> tuple[ConfigOption, ...]:
        await self._session.prepare()
        return self._session.view.options

    async def _choose(self, option: ConfigOption, typed: str) -> None:
        value: str | bool
        if option.is_switch:
            if typed.lower() not in _YES | _NO:
                raise InvalidCommand(f"{option.name} is on or off, not {typed!r}")
            value = typed.lower() in _YES
        else:
            values = {one.name.lower(): one.value for one in option.all_choices()}
            values |= {one.value.lower(): one.value for one in option.all_choices()}
            value = values.get(typed.lower(), typed)
        await self._session.set_config(option.option_id, value, by="chat")

    def _list_values(self, option: ConfigOption) -> None:
        listed = [(one_line(value, 40), value, name) for value, name in values_of(option)]
        width = max((len(shown) for shown, _, _ in listed), default=0)
        for shown, value, name in listed:
            mark = "*" if value == value_text(option.value) else " "
            about = one_line(name, 60) if name != value else ""
            self._display.note(f"{mark} {shown:<{width}}  {about}".rstrip())

    # -- the conversation --

    async def _undo(self, rest: str) -> Next:
        conversation = await self._session.history()
        places = [at for at, one in enumerate(conversation.messages) if one.role == "user"]
        if not places:
            self._display.note("there is nothing to take back", style="yellow")
            return None
        last = conversation.messages[places[-1]]
        before = conversation.messages[places[-1] - 1].message_id if places[-1] else None
        await self._session.rewind(before, by="chat")
        self._display.note("taken back; what it did to files stays")
        return Edit(text_of(last.content))

    async def _history(self, rest: str) -> Next:
        draw_turns(self._display, await self._session.history(), last=None)
        return None

    # -- sessions --

    async def _new(self, rest: str) -> Next:
        return GoTo(await self._hub.create(cwd=self._session.info.cwd))

    async def _sessions(self, rest: str) -> Next:
        if rest:
            info = await find_session(self._hub.journal, rest, self._hub.target)
            if not self._hub.may_run(info):
                raise InvalidCommand(f"session {info.session_id} belongs to the agent {info.target!r}")
            return GoTo(await self._hub.session(info.session_id, principal=info.principal))
        found = await self._hub.list(principal=None, limit=200, begun=True)
        short = short_ids(found)
        for info in [one for one in found if self._hub.may_run(one)][:_LISTED]:
            mark = "*" if info.session_id == self._session.session_id else " "
            title = one_line(titled(info), 60)
            name = one_line(short[info.session_id], 40)
            self._display.note(f"{mark} {name:<12}  {age_of(info.updated_at):>7}  {title}")
        self._display.note("/sessions ID goes to one")
        return None
