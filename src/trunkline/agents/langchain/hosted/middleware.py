"""The middlewares of an agent in somebody's own program, made together from one set of options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler

from trunkline.agents.langchain.callbacks.hosted_handler import TrunklineCallbackHandler
from trunkline.agents.langchain.hosted.run_channels import OwnRuns
from trunkline.agents.langchain.middleware._combined import CombinedMiddleware
from trunkline.agents.langchain.middleware.mode import ModeMiddleware
from trunkline.agents.langchain.middleware.permission import PermissionMiddleware
from trunkline.agents.langchain.middleware.plan import PlanMiddleware
from trunkline.agents.langchain.middleware.session import SessionMiddleware
from trunkline.agents.langchain.middleware.tools import ToolMiddleware
from trunkline.agents.langchain.user_functions import contain_extractor
from trunkline.errors import ConfigurationError, did_you_mean
from trunkline.session.hosted.frontends import load_front_end

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
# ToolMiddleware has these, and the runs carry them out without it.
_FILTER_OPTIONS = ("emit_tool_start", "emit_tool_results", "content_mapper")
# SessionMiddleware has these two, and the wrapper of an agent that is built already carries them out.
_STATE_OPTIONS = ("emit_state_snapshots", "state_mapper")
_NEEDS = {
    "description": "policy",
    "persist": "policy",
    "subagents": "policy",
    "mcp_tool_options": "mcp_servers",
}
"""Options that say more about another one."""


class _OwnSession(SessionMiddleware):
    """Shows answers and the end of a run, whatever it shows of the state."""

    shows_answers = True


class _Callbacks(list[BaseCallbackHandler]):
    """The callbacks for the config of a run."""

    def __getattr__(self, name: str) -> Any:
        """Say what is wrong, where LangChain takes the list for one of its handlers."""
        if name.startswith(("on_", "ignore_", "raise_error", "run_inline")):
            raise ConfigurationError(
                'the callbacks are a list already: write {"callbacks": callbacks}, not [callbacks]'
            )
        raise AttributeError(name)


class OwnMiddleware(CombinedMiddleware, Sequence[Any]):
    """The middleware of an agent that shows its runs; its ``callbacks`` go into the config of each run.

    It is one made of several, its ``pieces``. It is also a list of itself, so that ``middleware=own``,
    ``middleware=[own]`` and ``middleware=[*own, another]`` all mean the same.
    """

    def __init__(self, front_end: str, transport: Any, options: dict[str, Any]) -> None:
        """Make the pieces and the front end with their options; an unknown one raises ConfigurationError."""
        make_front_end = load_front_end(front_end)
        check_names(front_end, options, known_options(front_end))
        for name, needed in _NEEDS.items():
            if options.get(name) is not None and options.get(needed) is None:
                raise ConfigurationError(f"{name} does nothing without {needed}: give both, or leave it out")
        if (extractor := options.get("session_id_extractor")) is not None:
            options = {**options, "session_id_extractor": contain_extractor(extractor)}
        for_front_end = {name: options[name] for name in make_front_end.option_names if name in options}
        for_runs = {name: options[name] for name in _RUN_OPTIONS if name in options}
        # What of a result is shown is for the encoder to say, where the front end has that option.
        rest = {n: v for n, v in options.items() if not (n == "emit_tool_results" and n in for_front_end)}
        tools = ToolMiddleware(**share(rest, ToolMiddleware))
        for_runs["tool_kind_mapper"] = rest["tool_kind_mapper"] = tools.tool_kind_mapper
        self.runs = OwnRuns(
            make_front_end(**for_front_end),
            transport,
            event_filter=tools.event_filter,
            content_mapper=tools.content_mapper,
            **for_runs,
        )
        self.session = _OwnSession(**share(rest, SessionMiddleware))
        pieces: list[AgentMiddleware[Any, Any, Any]] = [self.session, tools]
        if rest.get("policy") is not None:
            pieces.append(PermissionMiddleware(**share(rest, PermissionMiddleware)))
        if rest.get("modes") is not None or rest.get("default_mode") is not None:
            pieces.append(ModeMiddleware(**share(rest, ModeMiddleware)))
        pieces.append(PlanMiddleware(**share(rest, PlanMiddleware)))
        super().__init__(pieces, f"Trunkline.{front_end}")
        without_middleware = {*for_front_end, *for_runs, *_FILTER_OPTIONS, *_STATE_OPTIONS}
        without_middleware |= share(options, TrunklineCallbackHandler).keys()
        self.middleware_options = [
            name for name, value in options.items() if value is not None and name not in without_middleware
        ]
        """The given options that only a middleware inside the agent can carry out."""
        handler = self.handler = TrunklineCallbackHandler(**share(rest, TrunklineCallbackHandler))
        self.callbacks: list[BaseCallbackHandler] = _Callbacks([handler])
        for piece in cast("list[Any]", [self, *pieces, handler]):
            piece.channel_source = self.runs

    def __getitem__(self, index: Any) -> Any:
        """The middleware itself."""
        return cast("list[Any]", [self])[index]

    def __len__(self) -> int:
        """LangChain calls it as one."""
        return 1

    def __add__(self, others: Iterable[Any]) -> list[Any]:
        """A list of this middleware and others."""
        return [self, *others]

    def __radd__(self, others: Iterable[Any]) -> list[Any]:
        """A list of other middlewares and this one."""
        return [*others, self]

    async def aclose(self) -> None:
        """Close what the middlewares opened."""
        await self.session.aclose()


def known_options(front_end: str) -> list[str]:
    """The names of the options of a front end and of the middlewares that go with it."""
    own = load_front_end(front_end).option_names
    pieces = {name for piece in _PIECES for name in inspect.signature(piece).parameters}
    return [*own, *sorted({*pieces, *_RUN_OPTIONS} - _NOT_OPTIONS - {*own})]


def check_names(front_end: str, options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse an option that does not exist here; of some the front end knows where they belong."""
    elsewhere: Mapping[str, str] = getattr(load_front_end(front_end), "options_elsewhere", {})
    for name in options:
        if name in elsewhere:
            raise ConfigurationError(f"{name} cannot be given here: {elsewhere[name]}")
        if name not in known:
            for other in {"acp", "agui"} - {front_end}:
                if name in load_front_end(other).option_names:
                    raise ConfigurationError(f"{name} is an option of {other}_agent only: leave it out here")
            hint = did_you_mean(name, known) or "."
            raise ConfigurationError(f"there is no option {name!r}{hint} The options are {', '.join(known)}")


def share(options: dict[str, Any], piece: Callable[..., Any]) -> dict[str, Any]:
    """Those of the options that a piece knows."""
    known = inspect.signature(piece).parameters
    return {name: value for name, value in options.items() if name in known and name not in _NOT_OPTIONS}
