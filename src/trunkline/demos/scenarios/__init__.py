"""The scenarios of the scripted agent: each shows one thing an agent can do, and nothing else.

A scenario is an async generator that takes the turn's context and the rest of the prompt's line.
None of them needs a network, a key or a model, and all but ``slow`` and ``wait-for-cancel`` end as
fast as they are read.

* ``asking``: permissions, a form, a link, a tool of the front end
* ``faults``: an error with a name, one without, an agent that breaks the rules
* ``talk``: text, thoughts, media, sources, and turns that take their time
* ``tools``: streamed arguments, parallel calls, a diff, a terminal
* ``work``: plans, modes, subagents, state, activities, compaction, notices
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import NamedTuple

from trunkline.agents.interface import Sayable
from trunkline.demos.scenarios import asking, faults, talk, tools, work
from trunkline.events import CommandInfo
from trunkline.session.context import TurnContext

__all__ = ["SCENARIOS", "Scenario"]

Play = Callable[[TurnContext, str], AsyncIterator[Sayable]]


class Scenario(NamedTuple):
    """A named scenario; ``hint`` says what may follow its name."""

    name: str
    play: Play
    hint: str | None = None

    @property
    def info(self) -> CommandInfo:
        """The scenario as a command of the agent."""
        about = (self.play.__doc__ or "").partition("\n")[0].rstrip(".")
        return CommandInfo(name=self.name, description=about, hint=self.hint)


def _by_name(scenarios: Iterable[Scenario]) -> dict[str, Scenario]:
    return {scenario.name: scenario for scenario in scenarios}


SCENARIOS: dict[str, Scenario] = _by_name(
    (
        Scenario("text", talk.text),
        Scenario("thoughts", talk.thoughts),
        Scenario("tools", tools.tools),
        Scenario("parallel-tools", tools.parallel_tools),
        Scenario("diff", tools.diff),
        Scenario("terminal", tools.terminal),
        Scenario("permission", asking.permission),
        Scenario("permission-twice", asking.permission_twice),
        Scenario("edit", asking.edit),
        Scenario("form", asking.form),
        Scenario("link", asking.link),
        Scenario("plan", work.plan),
        Scenario("modes", work.modes, "the mode to change to"),
        Scenario("subagents", work.subagents),
        Scenario("media", talk.media),
        Scenario("sources", talk.sources),
        Scenario("state", work.state),
        Scenario("activity", work.activity),
        Scenario("client-tool", asking.client_tool),
        Scenario("long", talk.long, "how many pieces (20000)"),
        Scenario("slow", talk.slow, "how many steps (20), and seconds between them (0.1)"),
        Scenario("wait-for-cancel", talk.wait_for_cancel),
        Scenario("fails", faults.fails),
        Scenario("raises", faults.raises),
        Scenario("breaks-grammar", faults.breaks_grammar),
        Scenario("compaction", work.compaction),
        Scenario("notice", work.notice),
    )
)
"""Every scenario by its name, in the order in which the agent lists them."""
