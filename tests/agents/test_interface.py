"""The agent interface: what makes an agent, and the hooks that a session looks for by name."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from tests.hubs import echo, make
from trunkline.agents import interface
from trunkline.agents.interface import Agent, AgentCard, AuthMethod, PromptCapabilities
from trunkline.commands import Prompt
from trunkline.events import CommandInfo
from trunkline.options import ConfigOption
from trunkline.session.context import TurnContext


class Small:
    card = AgentCard(name="small")

    def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        return echo(prompt)


class Whole(Small):
    async def open_session(self, session: Any) -> None: ...
    async def close_session(self, session: Any) -> None: ...
    def resume(self, answers: Any, ctx: TurnContext) -> AsyncIterator[str]:
        return echo(Prompt())

    async def rewind(self, session: Any, to_message_id: str | None) -> None: ...
    async def set_config(self, session: Any, options: Any) -> None: ...
    async def authenticate(self, method_id: str) -> None: ...
    async def logout(self) -> None: ...
    async def history(self, session: Any) -> None: ...
    async def still_waits(self, session: Any, durable_keys: Any) -> bool:
        return True

    async def complete(self, session: Any, command: str, text: str) -> list[Any]:
        return []


HOOKS = (
    interface.OpensSessions,
    interface.ClosesSessions,
    interface.Resumes,
    interface.Rewinds,
    interface.SetsConfig,
    interface.Authenticates,
    interface.HasHistory,
    interface.RemembersQuestions,
    interface.Completes,
)


def test_a_card_and_run_make_an_agent() -> None:
    assert isinstance(Small(), Agent)
    assert isinstance(make(echo), Agent)
    assert not isinstance(object(), Agent)


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_is_found_by_its_method_and_only_then(hook: type[Any]) -> None:
    assert isinstance(Whole(), hook)
    assert not isinstance(Small(), hook)


def test_a_card_has_safe_defaults_and_survives_json() -> None:
    assert msgspec.json.encode(AgentCard(name="a")) == b'{"name":"a"}'
    card = AgentCard(
        name="a",
        title="A",
        version="2",
        description="Does things",
        prompt=PromptCapabilities(image=True, audio=True, embedded_context=False),
        options=(ConfigOption(option_id="loud", name="Loud", value=True),),
        commands=(CommandInfo(name="go", hint="where"),),
        auth_methods=(AuthMethod(method_id="login", name="Log in", kind="terminal", args=("login",)),),
    )
    assert msgspec.json.decode(msgspec.json.encode(card), type=AgentCard) == card


def test_a_card_is_a_frozen_value() -> None:
    card = AgentCard(name="a")
    with pytest.raises(AttributeError):
        card.name = "b"  # pyright: ignore[reportAttributeAccessIssue]
    assert card == AgentCard(name="a")
