"""The scripted agent: deterministic, offline, and able to do everything an agent can do.

It is the agent behind the TARGETs ``demo`` and ``demo-auth``, and the one to test a front end with.
A prompt of the form ``/NAME`` plays a scenario; anything else is echoed, word by word.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from trunkline import events as ev
from trunkline._version import __version__
from trunkline.agents.interface import AgentCard, AuthMethod, LoginCommand, PromptCapabilities, Sayable
from trunkline.commands import Prompt
from trunkline.content import TextBlock
from trunkline.demos import login
from trunkline.demos.scenarios import SCENARIOS
from trunkline.demos.scenarios.talk import split_words
from trunkline.errors import AuthenticationRequired, InvalidCommand
from trunkline.options import Choice, ChoiceGroup, ConfigOption
from trunkline.session.context import SessionView, TurnContext

_CONTEXT_SIZE = 8192
_HINT = "Say something and I will repeat it, or try /tools, /permission or /plan."

_OPTIONS = (
    ConfigOption(
        option_id="mode",
        name="Mode",
        description="How much the agent may do by itself",
        category="mode",
        value="ask",
        choices=(
            Choice(value="ask", name="Ask", description="Ask before every change"),
            Choice(value="code", name="Code", description="Change files"),
            Choice(value="plan", name="Plan", description="Think, and change nothing"),
        ),
    ),
    ConfigOption(
        option_id="model",
        name="Model",
        category="model",
        value="demo-small",
        groups=(
            ChoiceGroup(
                group="small",
                name="Small",
                choices=(
                    Choice(value="demo-small", name="Demo Small"),
                    Choice(value="demo-tiny", name="Demo Tiny"),
                ),
            ),
            ChoiceGroup(
                group="large", name="Large", choices=(Choice(value="demo-large", name="Demo Large"),)
            ),
        ),
    ),
    ConfigOption(
        option_id="think_aloud",
        name="Think aloud",
        description="Show a thought before an echo",
        category="thought_level",
        value=False,
    ),
)

_AUTH_METHODS = (
    AuthMethod(method_id="demo-login", name="Demo login", description="Logs in until the program ends"),
    AuthMethod(
        method_id="demo-terminal",
        name="Log in from a terminal",
        description="Asks there, and lasts",
        kind="terminal",
        args=("--login", "demo-terminal"),
    ),
)


class ScriptedAgent:
    """An agent that does what its prompt says, the same way every time."""

    def __init__(self, authentication: bool = False) -> None:
        """Play the scenarios; with ``authentication`` only after a login."""
        self.card = AgentCard(
            name="demo",
            title="Demo",
            version=__version__,
            description="A scripted agent that shows everything a front end may meet",
            prompt=PromptCapabilities(image=True, audio=True, embedded_context=True),
            options=_OPTIONS,
            commands=tuple(scenario.info for scenario in SCENARIOS.values()),
            auth_methods=_AUTH_METHODS if authentication else (),
        )
        self._logged_in = not authentication

    # -- logging in --

    async def open_session(self, session: SessionView) -> None:
        """Refuse to work before a login."""
        if not self._logged_in and not login.is_kept():
            raise AuthenticationRequired("the demo wants a login first: authenticate with 'demo-login'")

    async def authenticate(self, method_id: str) -> None:
        """Log in; the terminal's method is for a terminal to run, so only the agent's own is taken."""
        self._check_method(method_id, "agent")
        self._logged_in = True

    async def logout(self) -> None:
        """Log out; a session that is open already goes on."""
        self._logged_in = not self.card.auth_methods
        if self.card.auth_methods:
            login.discard()

    def login_command(self, method_id: str) -> LoginCommand:
        """Give the demo's login program."""
        self._check_method(method_id, "terminal")
        return LoginCommand(argv=(sys.executable, "-m", "trunkline.demos.login"))

    def _check_method(self, method_id: str, kind: str) -> None:
        if method_id not in {method.method_id for method in self.card.auth_methods if method.kind == kind}:
            known = ", ".join(method.method_id for method in self.card.auth_methods) or "none"
            raise InvalidCommand(f"there is no way to log in by {method_id!r} here; known methods: {known}")

    # -- answering --

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Sayable]:
        """Play the scenario that the prompt names, or echo it."""
        text = " ".join(block.text for block in prompt.content if isinstance(block, TextBlock)).strip()
        line = text.partition("\n")[0]
        name, _, argument = line.removeprefix("/").partition(" ")
        scenario = SCENARIOS.get(name) if line.startswith("/") else None
        if await _is_first_prompt(ctx):
            ctx.title(f"Demo: {scenario.name}" if scenario else line[:60] or "Demo")
        written, ended = 0, False
        playing = _echo(ctx, text) if scenario is None else scenario.play(ctx, argument.strip())
        async with aclosing(cast("Any", playing)):
            async for item in playing:
                written += len(item.split()) if isinstance(item, str) else 0
                ended = ended or isinstance(item, ev.TurnFinished | ev.TurnFailed)
                yield item
        if not ended:
            yield _account(ctx, read=len(text.split()), written=written)


async def _is_first_prompt(ctx: TurnContext) -> bool:
    memory = ctx.session.memory
    if memory.get("greeted"):
        return False
    memory["greeted"] = True
    return not (await ctx.history()).messages


async def _echo(ctx: TurnContext, text: str) -> AsyncIterator[Sayable]:
    attached = [block for block in ctx.prompt.content if not isinstance(block, TextBlock)]
    if ctx.session.config.get("think_aloud"):
        yield ev.Thought(message_id=ctx.message_id, delta="I will repeat what was said.")
    for word in split_words(text if text or attached else _HINT):
        yield word
    for block in attached:
        # Front ends send attachments in many shapes: saying what arrived shows that it did.
        about = getattr(block, "mime_type", None) or getattr(block, "uri", "")
        yield f" [{type(block).__name__.removesuffix('Block').lower()} {about}]"


def _account(ctx: TurnContext, *, read: int, written: int) -> ev.ContextUsage:
    """Count a word as a token, for the turn and for the session."""
    model = str(ctx.session.config.get("model", "demo-small"))
    ctx.usage(ev.TokenUsage(provider="demo", model=model, input_tokens=read, output_tokens=written))
    memory = ctx.session.memory
    memory["used"] = used = min(memory.get("used", 0) + read + written, _CONTEXT_SIZE)
    return ev.ContextUsage(used=used, size=_CONTEXT_SIZE, cost=ev.Cost(amount=used / 1_000_000))
