from typing import Any

import pytest
from agents.testing import ScriptedModel
from openai import AsyncOpenAI
from openai.types.shared import Reasoning

from agents import Agent, Model, ModelProvider, ModelSettings, OpenAIChatCompletionsModel, RunConfig
from tests.agents.openai.sdk_agents import say
from tests.hubs import collect, session_for
from trunkline.agents.openai import OpenAIAgent
from trunkline.agents.openai.options import options_for


class Provider(ModelProvider):
    """Gives the same scripted model under every name, and remembers the names."""

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        self.names: list[str | None] = []

    def get_model(self, model_name: str | None) -> Model:
        self.names.append(model_name)
        return self.model


def values(agent: Agent[Any], *args: Any) -> dict[str, Any]:
    return {option.option_id: option.value for option in options_for(agent, *args)}


def agent(model: Any = "gpt-5.4", **options: Any) -> Agent[Any]:
    return Agent(name="A", model=model, **options)


def test_a_reasoning_model_has_all_three_options_with_their_defaults() -> None:
    assert values(agent()) == {"model": "gpt-5.4", "reasoning_effort": "medium", "verbosity": "high"}


@pytest.mark.parametrize(
    ("model", "ids"),
    [
        ("o3", ["model", "reasoning_effort"]),
        ("openai/gpt-5", ["model", "reasoning_effort", "verbosity"]),
        ("gpt-5-chat-latest", ["model"]),
        ("gpt-4.1", ["model"]),
        ("litellm/anthropic/claude", ["model"]),
        (ScriptedModel([]), []),
        (OpenAIChatCompletionsModel("gpt-5", AsyncOpenAI(api_key="x")), ["reasoning_effort", "verbosity"]),
    ],
)
def test_a_model_is_offered_only_what_it_takes(model: Any, ids: list[str]) -> None:
    assert list(values(agent(model))) == ids


def test_what_the_agent_sets_itself_is_no_option() -> None:
    settings = ModelSettings(reasoning=Reasoning(effort="high"), verbosity="low")
    # Low is what the SDK sets by itself, too: here it is the author's.
    assert list(values(agent("gpt-5", model_settings=settings))) == ["model"]
    assert list(values(agent("gpt-5", model_settings=ModelSettings(verbosity="medium")))) == [
        "model",
        "reasoning_effort",
    ]
    assert list(values(agent(), RunConfig(model="gpt-5", model_settings=settings))) == []


def test_a_summary_of_the_reasoning_leaves_the_effort_open() -> None:
    settings = ModelSettings(reasoning=Reasoning(summary="auto"))
    assert "reasoning_effort" in values(agent("gpt-5", model_settings=settings))


async def test_the_models_settings_follow_the_options_of_the_session() -> None:
    model = ScriptedModel([say("One."), say("Two.")])
    provider = Provider(model)
    settings = ModelSettings(reasoning=Reasoning(summary="auto"), temperature=0.5)
    made = OpenAIAgent(
        agent("gpt-5.4", model_settings=settings),
        run_config=RunConfig(model_provider=provider),
        models=("gpt-5.4", "gpt-4.1"),
    )
    async with session_for(made) as session:
        await collect(session, "Hi.")
        await session.set_config("reasoning_effort", "low")
        await session.set_config("model", "gpt-4.1")
        await collect(session, "Hi.")
    first, second = (call.model_settings for call in model.calls)
    assert provider.names == ["gpt-5.4", "gpt-4.1"]
    assert first.reasoning is not None
    assert (first.reasoning.effort, first.reasoning.summary, first.verbosity) == ("medium", "auto", "high")
    assert first.temperature == 0.5
    assert (second.reasoning is None or second.reasoning.effort is None, second.verbosity) == (True, None)


async def test_an_agent_with_a_model_of_its_own_keeps_it_when_another_is_chosen() -> None:
    model = ScriptedModel([say("Hi.")])
    provider = Provider(model)
    main = agent("gpt-5.4")
    made = OpenAIAgent(main, run_config=RunConfig(model_provider=provider), models=("gpt-4.1",))
    async with session_for(made) as session:
        await session.set_config("model", "gpt-4.1")
        await collect(session, "Hi.")
    assert provider.names == ["gpt-4.1"]
    assert main.model == "gpt-5.4"
