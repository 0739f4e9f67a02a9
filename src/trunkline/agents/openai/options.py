"""The options of a session: which model, how much it reasons and how much it writes.

What an agent sets in its own ``model_settings`` is kept, and then there is no option for it. Neither is there
one that a model would refuse: only OpenAI's reasoning models take an effort, and only GPT-5 a verbosity.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from agents.models.default_models import get_default_model, get_default_model_settings
from openai.types.shared import Reasoning

from agents import Agent, ModelSettings, RunConfig
from trunkline.options import Choice, ConfigOption

MODEL, EFFORT, VERBOSITY = "model", "reasoning_effort", "verbosity"

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_OFFERED_EFFORTS = ("low", "medium", "high")
_VERBOSITIES = ("low", "medium", "high")
_GPT_5 = re.compile(r"gpt-5(?!.*chat-latest)")
_O_SERIES = re.compile(r"o\d(-mini|-pro)?(-\d{4}-\d{2}-\d{2})?$")
_OPENAI_MODELS = frozenset({"OpenAIResponsesModel", "OpenAIResponsesWSModel", "OpenAIChatCompletionsModel"})


def options_for(
    agent: Agent[Any], run_config: RunConfig | None = None, models: Sequence[str] = ()
) -> tuple[ConfigOption, ...]:
    """Give the options of an agent's sessions; ``models`` are those that a person may choose besides."""
    options: list[ConfigOption] = []
    name = model_name(agent, run_config)
    choosable = name is not None and not (run_config is not None and run_config.model is not None)
    if choosable and not isinstance(agent.model, str | None):
        choosable = False  # A model object is the user's own choice.
    if choosable and name is not None:
        choices = tuple(Choice(value=one, name=one) for one in dict.fromkeys((name, *models)))
        options.append(
            ConfigOption(option_id=MODEL, name="Model", value=name, category="model", choices=choices)
        )
    names = [name, *(models if choosable else ())]
    if any(map(_reasons, names)) and not _pins_effort(agent, run_config):
        options.append(
            ConfigOption(
                option_id=EFFORT,
                name="Reasoning effort",
                value="medium",
                category="thought_level",
                choices=tuple(Choice(value=one, name=one.capitalize()) for one in _OFFERED_EFFORTS),
            )
        )
    if any(map(_takes_verbosity, names)) and not _pins_verbosity(agent, run_config):
        options.append(
            ConfigOption(
                option_id=VERBOSITY,
                name="Verbosity",
                value="high",
                category="model_config",
                choices=tuple(Choice(value=one, name=one.capitalize()) for one in _VERBOSITIES),
            )
        )
    return tuple(options)


def chosen_settings(
    agent: Agent[Any], main: Agent[Any], config: Mapping[str, Any], run_config: RunConfig | None
) -> dict[str, Any]:
    """Give the fields of an agent that the session's options change; ``main`` is the agent of the session.

    An agent with another model than the main one keeps it: a person chose the main agent's.
    """
    changed: dict[str, Any] = {}
    given: Any = config.get(MODEL)
    name = model_name(agent, run_config)
    if isinstance(given, str) and name == model_name(main, run_config) and name != given:
        changed["model"] = name = given
    settings: ModelSettings = agent.model_settings
    if changed and settings == _implicit(agent):
        settings = get_default_model_settings(name)
    fresh: dict[str, Any] = {}
    effort: Any = config.get(EFFORT)
    if effort in _EFFORTS and _reasons(name) and not _pins_effort(agent, run_config):
        before = settings.reasoning or Reasoning()
        fresh["reasoning"] = before.model_copy(update={"effort": effort})
    verbosity: Any = config.get(VERBOSITY)
    if verbosity in _VERBOSITIES and _takes_verbosity(name) and not _pins_verbosity(agent, run_config):
        fresh["verbosity"] = verbosity
    if fresh or settings is not agent.model_settings:
        changed["model_settings"] = dataclasses.replace(settings, **fresh)
    return changed


def model_name(agent: Agent[Any], run_config: RunConfig | None = None) -> str | None:
    """The name of the model that an agent calls; None where only the user's own code knows it."""
    model: Any = run_config.model if run_config is not None and run_config.model is not None else agent.model
    if model is None:
        return get_default_model()
    if isinstance(model, str):
        return model
    if {kind.__name__ for kind in type(model).__mro__} & _OPENAI_MODELS:
        return str(model.model)
    return None


def _bare(name: str | None) -> str:
    return (name or "").removeprefix("openai/").lower()


def _reasons(name: str | None) -> bool:
    return bool(_GPT_5.match(_bare(name)) or _O_SERIES.match(_bare(name)))


def _takes_verbosity(name: str | None) -> bool:
    return bool(_GPT_5.match(_bare(name)))


def _implicit(agent: Agent[Any]) -> ModelSettings:
    """The settings that the SDK gives to an agent whose author gave none."""
    model = agent.model
    if model is None:
        return get_default_model_settings()
    return get_default_model_settings(model) if isinstance(model, str) else ModelSettings()


def _pins_effort(agent: Agent[Any], run_config: RunConfig | None) -> bool:
    return _pins("reasoning", agent, run_config)


def _pins_verbosity(agent: Agent[Any], run_config: RunConfig | None) -> bool:
    return _pins("verbosity", agent, run_config)


def _pins(field: str, agent: Agent[Any], run_config: RunConfig | None) -> bool:
    """Whether the user's own code sets a field, for the agent or for every run."""
    everywhere = run_config.model_settings if run_config is not None else None
    if everywhere is not None and getattr(everywhere, field) is not None:
        return True
    own = getattr(agent.model_settings, field)
    # Settings of the author's own may say what the SDK's say too: only as a whole can these be told apart.
    if own is None or agent.model_settings == _implicit(agent):
        return False
    # A summary alone leaves the effort open.
    return not (field == "reasoning" and cast("Reasoning", own).effort is None)
