"""Modes: how an agent works, chosen by the person and in force from the next model call on.

A mode adds to the system prompt, offers the model fewer tools, and asks before it lets others run. What is
not offered is not run either: a call that the model makes all the same is answered with an error that
names the mode. Calls inside subagents pass a gate of their own, so no mode ends at the ``task`` tool.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import SystemMessage
from langgraph.config import get_config

from trunkline import events as ev
from trunkline.agents.langchain.callbacks.begin_run import begin_run
from trunkline.agents.langchain.channel import Channel
from trunkline.agents.langchain.channel_lookup import ChannelSource, find_channel, is_nested
from trunkline.agents.langchain.errors import answer_error
from trunkline.agents.langchain.middleware._hooks import (
    MODEL_HOOKS,
    NO_PAYLOADS,
    TOOL_HOOKS,
    inline,
    remove_hooks,
)
from trunkline.agents.langchain.middleware._run_observer import add_to_state
from trunkline.agents.langchain.middleware.mode_definition import READY_MODES, Mode
from trunkline.agents.langchain.middleware.plan import show_plan_of
from trunkline.agents.langchain.permissions.decide import PermissionRule as Rule
from trunkline.agents.langchain.permissions.decide import decide, decide_sync, discard_verdict
from trunkline.agents.langchain.permissions.subagent_modes import forbid_calls_below
from trunkline.agents.langchain.permissions.subagents import guard_calls_below, lane_at
from trunkline.agents.langchain.permissions.verdicts import Verdict, revise_request
from trunkline.agents.langchain.user_functions import contain_kind_mapper
from trunkline.errors import ConfigurationError, InvalidCommand
from trunkline.options import Choice, ConfigOption, choose
from trunkline.tools.naming import KindMapper, kind_of

__all__ = ["READY_MODES", "Mode", "ModeMiddleware"]

_NO_CHOICE = ("auto", "none")
_RUNS = Verdict(word="approve")
_ASKS = Rule()
_MOST_THREADS = 10_000
_SHOWN = "trunkline.mode"


class ModeMiddleware(AgentMiddleware[Any, Any, Any]):
    """Lets a person choose how an agent works.

    In a session the mode is an option of the session, and front ends offer it. Without one it is the
    ``mode`` in the ``configurable`` of a run's config, else what ``set_mode`` chose for the thread. Either
    way each model call and each tool call looks anew.
    """

    trace_policy = NO_PAYLOADS
    channel_source: ChannelSource | None = None

    def __init__(
        self,
        modes: Mapping[str, Mode | Mapping[str, Any]] | None = None,
        *,
        default_mode: str | None = None,
        tool_kind_mapper: KindMapper | None = None,
    ) -> None:
        """Offer these modes, or the ready ones; the default is the first.

        A mode is a Mode or a dict of its fields.
        """
        super().__init__()
        self.modes = _checked(READY_MODES if modes is None else modes)
        self.default_mode = next(iter(self.modes)) if default_mode is None else default_mode
        if self.default_mode not in self.modes:
            raise ConfigurationError(f"default_mode {default_mode!r} is not one of {', '.join(self.modes)}")
        self._kind_mapper = contain_kind_mapper(tool_kind_mapper)
        self._asks = any(mode.require_permission for mode in self.modes.values())
        self._restricts = any(mode.restricts for mode in self.modes.values())
        self._chosen: OrderedDict[str, str] = OrderedDict()
        idle = all(mode.is_idle for mode in self.modes.values())
        if idle:
            remove_hooks(self, *MODEL_HOOKS, *TOOL_HOOKS)
        add_to_state(self, None if idle else begin_run)

    # -- choosing ----------------------------------------------------------------------------------

    def options(self, mode: str | None = None) -> tuple[ConfigOption, ...]:
        """The mode as an option of a session."""
        choices = tuple(
            Choice(
                value=key, name=one.name or key.replace("_", " ").capitalize(), description=one.description
            )
            for key, one in self.modes.items()
        )
        value = self.default_mode if mode is None else self._known(mode)
        return (ConfigOption(option_id="mode", name="Mode", value=value, category="mode", choices=choices),)

    def set_mode(self, thread_id: str, mode: str) -> None:
        """Choose the mode of a thread that no session owns, from its next model call on.

        The modes of the ten thousand threads that were used last are kept.
        """
        self._known(mode)
        self._chosen[thread_id] = mode
        self._chosen.move_to_end(thread_id)
        if len(self._chosen) > _MOST_THREADS:
            self._chosen.popitem(last=False)

    def switch_mode(self, mode: str, runtime: Any = None) -> None:
        """Change the mode of the run this is called in, say from a tool that ends the planning.

        Whether the model may decide that is up to the tool: ask the person first.
        """
        self._known(mode)
        channel = find_channel(runtime, self)
        if channel is not None and channel.mode is not None:
            listed = channel.ctx.session.options
            option = next(one for one in listed if one.category == "mode")
            channel.emit(ev.ConfigChanged(options=choose(listed, option.option_id, mode)))
            return
        if _configured("mode") is not None:
            raise InvalidCommand(
                "the config of this run names its mode: leave it out there to change the mode"
            )
        thread = _thread(channel)
        if thread is None:
            raise InvalidCommand("this run has no thread: give its config a thread_id to keep a mode")
        self.set_mode(thread, mode)
        self._show_mode(channel, mode)

    def mode_of(self, channel: Channel | None) -> str:
        """The mode that a run is in at this moment."""
        if channel is not None and channel.mode in self.modes:
            return channel.mode
        if (configured := _configured("mode")) is not None:
            return self._known(str(configured))
        return self.mode_of_thread(_thread(channel) if self._chosen else None)

    def mode_of_thread(self, thread_id: str | None) -> str:
        """The mode that ``set_mode`` chose for a thread, or the default."""
        if thread_id is None or thread_id not in self._chosen:
            return self.default_mode
        self._chosen.move_to_end(thread_id)
        return self._chosen[thread_id]

    def _show_mode(self, channel: Channel | None, mode: str) -> None:
        """Tell a client of a mode that it does not know of."""
        if channel is None or channel.shown.get(_SHOWN, self.default_mode) == mode:
            return
        channel.shown[_SHOWN] = mode
        channel.emit(ev.ConfigChanged(options=self.options(mode)))

    def _known(self, mode: str) -> str:
        if mode not in self.modes:
            raise InvalidCommand(f"there is no mode {mode!r}; choose one of {', '.join(self.modes)}")
        return mode

    # -- the model ---------------------------------------------------------------------------------

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model as the mode wants it."""
        channel, mode = self._begin(request)
        response = handler(self._shaped(request, mode))
        if mode.planning and channel is not None:
            show_plan_of(channel, request.state, response, planning=True)
        return response

    @inline
    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call the model as the mode wants it."""
        channel, mode = self._begin(request)
        response = await handler(self._shaped(request, mode))
        if mode.planning and channel is not None:
            show_plan_of(channel, request.state, response, planning=True)
        return response

    def _begin(self, request: Any) -> tuple[Channel | None, Mode]:
        channel = find_channel(request.runtime, self)
        mode = self.mode_of(channel)
        if channel is not None and not channel.follows_run and not is_nested(request.runtime):
            self._show_mode(channel, mode)
        return channel, self.modes[mode]

    def _shaped(self, request: Any, mode: Mode) -> Any:
        changes: dict[str, Any] = {}
        if mode.restricts:
            offered = [tool for tool in request.tools if self._offers(mode, tool)]
            if len(offered) < len(request.tools):
                changes["tools"] = offered
                if not _can_choose(request.tool_choice, offered):
                    changes["tool_choice"] = None
        if mode.system_prompt:
            changes["system_message"] = _appended(request.system_message, mode.system_prompt)
        if mode.model_settings:
            changes["model_settings"] = {**request.model_settings, **mode.model_settings}
        return request.override(**changes) if changes else request

    def _offers(self, mode: Mode, tool: Any) -> bool:
        name = _name_of(tool)
        return mode.permits(name, self._kind(name, _metadata(tool)))

    # -- the tools ---------------------------------------------------------------------------------

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run a tool if the mode allows it, and where the mode asks, if the person does."""
        channel, call, lane, rule = self._judge(request)
        verdict = decide_sync(channel, call, rule, lane) if isinstance(rule, Rule) else rule
        if verdict:
            with self._guarded(channel, request):
                result = handler(revise_request(request, verdict))
        else:
            result = answer_error(call, verdict.message)
        if verdict is not rule:
            discard_verdict(channel, call, lane)
        return result

    @inline
    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Run a tool if the mode allows it, and where the mode asks, if the person does."""
        channel, call, lane, rule = self._judge(request)
        verdict = await decide(channel, call, rule, lane) if isinstance(rule, Rule) else rule
        if verdict:
            with self._guarded(channel, request):
                result = await handler(revise_request(request, verdict))
        else:
            result = answer_error(call, verdict.message)
        if verdict is not rule:
            discard_verdict(channel, call, lane)
        return result

    def _judge(self, request: Any) -> tuple[Channel | None, Any, str | None, Verdict | Rule]:
        """Find whose call it is, in which lane, and what the mode says: yes, no, or ask."""
        channel, call, about = find_channel(request.runtime, self), request.tool_call, _metadata(request.tool)
        lane = lane_at(request.runtime.config)
        reason = self.objection(channel, call["name"], about)
        if reason is None:
            return channel, call, lane, self._rule_for(channel, call["name"], about) or _RUNS
        if channel is not None:
            channel.emitter.describe(lane, call)
            channel.emitter.tool_denied(lane, call["id"], reason)
        return channel, call, lane, Verdict(word="reject", message=reason)

    @contextmanager
    def _guarded(self, channel: Channel | None, request: Any) -> Generator[None]:
        """Hold the mode against the calls of subagents, also when it changes while they work."""
        config = request.runtime.config
        with ExitStack() as guards:
            if self._restricts:
                guards.enter_context(forbid_calls_below(channel, config, partial(self.objection, channel)))
            if self._asks:
                guards.enter_context(guard_calls_below(channel, config, partial(self._rule_for, channel)))
            yield

    def _rule_for(
        self, channel: Channel | None, name: str, annotations: Mapping[str, Any] | None = None
    ) -> Rule | None:
        mode = self.modes[self.mode_of(channel)]
        return _ASKS if mode.require_permission and mode.asks(name, self._kind(name, annotations)) else None

    def objection(
        self, channel: Channel | None, name: str, annotations: Mapping[str, Any] | None
    ) -> str | None:
        """Why the present mode forbids a call, or None when it does not."""
        key = self.mode_of(channel)
        mode = self.modes[key]
        if not mode.restricts or mode.permits(name, self._kind(name, annotations)):
            return None
        if mode.planning:
            return (
                f"{name} is put off: mode {key!r} makes a plan first. Put this step into the plan; "
                "it can be done once the user has changed the mode."
            )
        return (
            f"{name} was not run: mode {key!r} does not allow it. Use the tools you are offered, "
            "or ask the user to change the mode."
        )

    def _kind(self, name: str, annotations: Mapping[str, Any] | None) -> ev.ToolKind:
        return kind_of(name, annotations, self._kind_mapper)


def _thread(channel: Channel | None) -> str | None:
    return _configured("thread_id") if channel is None else channel.session_id


def _configured(name: str) -> Any:
    """What the config of the run names; None outside of a run."""
    try:
        return get_config().get("configurable", {}).get(name)
    except RuntimeError:
        return None


def _appended(message: SystemMessage | None, prompt: str) -> SystemMessage:
    """Add a prompt to the agent's own, which may be made of blocks."""
    if message is None:
        return SystemMessage(content=prompt)
    if isinstance(message.content, str):
        return message.model_copy(update={"content": f"{message.content}\n\n{prompt}"})
    blocks = [*message.content, {"type": "text", "text": f"\n\n{prompt}"}]
    return message.model_copy(update={"content": blocks})


def _can_choose(choice: Any, offered: Sequence[Any]) -> bool:
    """Whether a model can be held to a choice of tools when only these are offered."""
    if choice is None or choice in _NO_CHOICE:
        return True
    wanted = _name_of(choice) if isinstance(choice, dict) else choice
    return bool(offered) and (wanted in ("any", "required", True) or wanted in map(_name_of, offered))


def _name_of(tool: Any) -> str:
    """The name of a tool: ours, a provider's own, or a function as OpenAI writes it."""
    if not isinstance(tool, dict):
        return str(getattr(tool, "name", tool))
    given = cast("dict[str, Any]", tool)
    function = cast("dict[str, Any]", given.get("function") or given)
    return str(function.get("name") or given.get("type") or "")


def _metadata(tool: Any) -> Mapping[str, Any] | None:
    return getattr(tool, "metadata", None)


def _checked(modes: Any) -> dict[str, Mode]:
    if not isinstance(modes, Mapping) or not modes:
        raise ConfigurationError(
            f"modes map ids to Mode(...) or dicts, not {modes!r}; the ready ones are {', '.join(READY_MODES)}"
        )
    given = dict(cast("Mapping[Any, Any]", modes))
    return {_checked_id(key): _read_mode(key, mode) for key, mode in given.items()}


def _checked_id(key: Any) -> str:
    if not isinstance(key, str) or not key:
        raise ConfigurationError(f"the id of a mode is a text, not {key!r}")
    return key


def _read_mode(key: str, mode: Any) -> Mode:
    if isinstance(mode, Mode):
        return mode
    fields = ", ".join(Mode.__struct_fields__)
    if not isinstance(mode, Mapping):
        raise ConfigurationError(f"the mode {key!r} is a Mode(...) or a dict of {fields}, not {mode!r}")
    given = cast("Mapping[str, Any]", mode)
    for name in given:
        if name not in Mode.__struct_fields__:
            raise ConfigurationError(f"the mode {key!r} has no field {name!r}: it has {fields}")
    return Mode(**given)
