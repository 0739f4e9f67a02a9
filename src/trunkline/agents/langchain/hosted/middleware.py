"""The middlewares of an agent in somebody's own program, made together from one set of options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, cast

from langchain import agents
from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler
from trunkline.agents.langchain.hosted.run_channels import OwnRuns
from trunkline.agents.langchain.middleware._combined import CombinedMiddleware
from trunkline.agents.langchain.middleware.modes import ModeMiddleware
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware
from trunkline.agents.langchain.middleware.plan import PlanMiddleware
from trunkline.agents.langchain.middleware.session import SessionMiddleware
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.errors import ConfigurationError
from trunkline.session.hosted.frontends import load_front_end

__all__ = ["OwnMiddleware", "assemble", "check_names", "known_options", "share"]

# Every piece takes the options that it knows by name.
_PIECES: tuple[Callable[..., Any], ...] = (
    SessionMiddleware,
    ToolMiddleware,
    PermissionMiddleware,
    ModeMiddleware,
    PlanMiddleware,
    TrunklineCallbackHandler,
)
_RUN_OPTIONS = ("session_id_extractor", "tool_kind_mapper")
_NOT_OPTIONS = frozenset({"transport", "event_filter", "front_end"})
# ToolMiddleware has these two, and the event filter of the runs carries them out without it.
_FILTER_OPTIONS = ("emit_tool_start", "emit_tool_results")


class _OwnSession(SessionMiddleware):
    """Shows answers and the end of a run, whatever it shows of the state."""

    shows_answers = True


class OwnMiddleware(list[AgentMiddleware[Any, Any, Any]]):
    """The middleware of an agent that shows its runs; its ``callbacks`` go into the config of each run.

    It is one made of several, its ``pieces``.
    """

    def __init__(self, front_end: str, transport: Any, options: dict[str, Any]) -> None:
        """Make the pieces and the front end with their options; an unknown one raises ConfigurationError."""
        make_front_end = load_front_end(front_end)
        check_names(options, known_options(front_end))
        for_front_end = {name: options[name] for name in make_front_end.option_names if name in options}
        for_runs = {name: options[name] for name in _RUN_OPTIONS if name in options}
        # What of a result is shown is for the encoder to say, where the front end has that option.
        rest = {n: v for n, v in options.items() if not (n == "emit_tool_results" and n in for_front_end)}
        tools = ToolMiddleware(**share(rest, ToolMiddleware))
        self.runs = OwnRuns(
            make_front_end(**for_front_end), transport, event_filter=tools.event_filter, **for_runs
        )
        self.session = _OwnSession(**share(rest, SessionMiddleware))
        pieces: list[AgentMiddleware[Any, Any, Any]] = [self.session, tools]
        if rest.get("policy") is not None:
            pieces.append(PermissionMiddleware(**share(rest, PermissionMiddleware)))
        if rest.get("modes") is not None or rest.get("default_mode") is not None:
            pieces.append(ModeMiddleware(**share(rest, ModeMiddleware)))
        pieces.append(PlanMiddleware(**share(rest, PlanMiddleware)))
        self.pieces = tuple(pieces)
        without_middleware = {*for_front_end, *for_runs, *_FILTER_OPTIONS} - {"emit_state_snapshots"}
        without_middleware |= share(options, TrunklineCallbackHandler).keys()
        self.middleware_options = [
            name for name, value in options.items() if value is not None and name not in without_middleware
        ]
        """The given options that only a middleware inside the agent can carry out."""
        combined = CombinedMiddleware(pieces)
        super().__init__([combined])
        handler = TrunklineCallbackHandler(**share(rest, TrunklineCallbackHandler))
        self.callbacks: list[BaseCallbackHandler] = [handler]
        for piece in cast("list[Any]", [combined, *pieces, handler]):
            piece.channel_source = self.runs

    async def aclose(self) -> None:
        """Close what the middlewares opened."""
        await self.session.aclose()


def assemble(
    name: str,
    model_or_agent: Any,
    tools: Iterable[Any] | None,
    own: OwnMiddleware,
    middleware: Iterable[Any],
    known: Iterable[str],
    options: dict[str, Any],
) -> Runnable[Any, Any]:
    """Make an agent of a model with these middlewares, or take one that is built already as it is.

    ``known`` are the options that were taken out already.
    """
    if isinstance(model_or_agent, Runnable) and not isinstance(model_or_agent, BaseChatModel):
        extra = [*options, *(["tools"] if tools else []), *(["middleware"] if middleware else [])]
        if extra:
            raise ConfigurationError(
                f"this agent is built already, so {', '.join(extra)} cannot be added: "
                f"give {name} the model instead, or give them to create_agent"
            )
        if own.middleware_options:
            # Without the middleware a policy would be ignored, and every tool would run unasked.
            raise ConfigurationError(
                f"this agent is built already, so {', '.join(own.middleware_options)} cannot be carried out: "
                f"give {name} the model instead, or put {name.replace('_agent', '_middleware')}(...) with "
                "these options into create_agent"
            )
        return cast("Runnable[Any, Any]", model_or_agent)
    build = cast("Callable[..., Runnable[Any, Any]]", cast("Any", agents).create_agent)
    check_names(options, [*known, *inspect.signature(build).parameters])
    return build(model_or_agent, list(tools or ()), middleware=[*own, *middleware], **options)


def known_options(front_end: str) -> list[str]:
    """The names of the options of a front end and of the middlewares that go with it."""
    own = load_front_end(front_end).option_names
    pieces = {name for piece in _PIECES for name in inspect.signature(piece).parameters}
    return [*own, *sorted({*pieces, *_RUN_OPTIONS} - _NOT_OPTIONS - {*own})]


def check_names(options: dict[str, Any], known: Iterable[str]) -> None:
    """Refuse an option that does not exist."""
    for name in options:
        if name not in known:
            raise ConfigurationError(f"there is no option {name!r}; the options are {', '.join(known)}")


def share(options: dict[str, Any], piece: Callable[..., Any]) -> dict[str, Any]:
    """Those of the options that a piece knows."""
    known = inspect.signature(piece).parameters
    return {name: value for name, value in options.items() if name in known and name not in _NOT_OPTIONS}
