"""The AG-UI server under test: runs that the checks share, each made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, cast

from trunkline.conformance.agui.event_verifier import breaches
from trunkline.conformance.agui.reference_client import JsonObject, ReferenceClient
from trunkline.conformance.http import Exchange, HttpSubject
from trunkline.conformance.table import NotApplicable, Table, need

_SPEC = "https://docs.ag-ui.com"
_PAGES = {
    "HTTP": f"{_SPEC}/quickstart/server",
    "SSE": "https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream",
    "RUN": f"{_SPEC}/concepts/events#lifecycle-events",
    "EVENT": f"{_SPEC}/sdk/js/core/events",
    "TEXT": f"{_SPEC}/concepts/events#text-message-events",
    "TOOL": f"{_SPEC}/concepts/events#tool-call-events",
    "REASONING": f"{_SPEC}/concepts/reasoning",
    "MESSAGES": f"{_SPEC}/concepts/messages",
    "STATE": f"{_SPEC}/concepts/state",
    "THREAD": f"{_SPEC}/concepts/architecture",
    "INTERRUPT": f"{_SPEC}/concepts/interrupts",
    "CANCEL": f"{_SPEC}/concepts/architecture",
}
TABLE: Table[AguiKit] = Table("agui", _PAGES)
requirement = TABLE.requirement


class Prompts(NamedTuple):
    """Words that bring about what the checks need; None where there are none."""

    words: str = "Say hello."
    tool: str | None = None
    """A prompt in whose run a tool of the server is called."""
    asking: str | None = None
    """A prompt whose run ends in an interrupt."""
    waiting: str | None = None
    """A prompt whose run takes long."""


class Run(NamedTuple):
    """One run: what was sent, what came back, its events, and what the client held before."""

    body: JsonObject
    exchange: Exchange
    events: list[JsonObject]
    client: ReferenceClient

    def only(self, *kinds: str) -> list[JsonObject]:
        """The events of these types."""
        return [event for event in self.events if event.get("type") in kinds]

    def breaches(self, *kinds: str) -> list[str]:
        """The rules of the official client that events of these types break; all without one."""
        found = breaches([event for event in self.events if "type" in event])
        return [one for one in found if not kinds or one.partition(" ")[0] in kinds]


class AguiKit(HttpSubject):
    """A server under test."""

    prompts = Prompts()

    def say(
        self,
        client: ReferenceClient,
        text: str | None = None,
        *,
        leave: Callable[[bytes], bool] | None = None,
        **fields: Any,
    ) -> Run:
        """Run once, with a new message if one is given; the client holds what came of it."""
        if text is not None:
            client.say(text)
        body = client.body(**fields)
        exchange = self.post(body, leave=leave)
        return Run(body, exchange, exchange.objects(), client)

    def fresh(self, name: str) -> ReferenceClient:
        """A client with a thread of its own."""
        return ReferenceClient(f"trunkline-check-{name}-{self.token}")

    token: str = "1"
    """Makes the ids of threads differ from those of an earlier check."""

    @cached_property
    def hello(self) -> Run:
        """A run of the ordinary prompt."""
        return self.say(self.fresh("hello"), self.prompts.words)

    @cached_property
    def tool(self) -> Run:
        """A run in which a tool is called, if the prompts bring one about."""
        if self.prompts.tool is None:
            raise NotApplicable("there is no prompt that calls a tool (--tool-prompt)")
        run = self.say(self.fresh("tool"), self.prompts.tool)
        if not run.only("TOOL_CALL_START", "TOOL_CALL_CHUNK") and not calls_in_snapshots(run):
            raise NotApplicable("no tool was called (--tool-prompt)")
        return run

    @cached_property
    def asked(self) -> Run:
        """A run that ends in an interrupt."""
        if self.prompts.asking is None:
            raise NotApplicable("there is no prompt that ends in an interrupt (--permission-prompt)")
        run = self.say(self.fresh("asked"), self.prompts.asking)
        if not interrupts_of(run):
            interrupts = [one for one in run.only("CUSTOM") if "interrupt" in str(one.get("name")).lower()]
            need(
                not interrupts,
                f"an interrupt is in CUSTOM {interrupts and interrupts[0].get('name')!r}, not in the outcome",
            )
            raise NotApplicable("the run ended without an interrupt (--permission-prompt)")
        return run

    @property
    def runs(self) -> list[Run]:
        """Every shared run that could be made."""
        made: list[Run] = [self.hello]
        for name in ("tool", "asked"):
            try:
                made.append(getattr(self, name))
            except NotApplicable:
                continue
        return made


def interrupts_of(run: Run) -> list[JsonObject]:
    """The interrupts that a run ended with."""
    outcome = outcome_of(run)
    return outcome.get("interrupts") or []


def outcome_of(run: Run) -> JsonObject:
    """The outcome that a run ended with, empty where it told none."""
    outcome: Any = run.events[-1].get("outcome") if run.events else None
    return cast("JsonObject", outcome) if isinstance(outcome, dict) else {}


def calls_in_snapshots(run: Run) -> dict[str, str]:
    """The arguments of each call as the newest snapshot of the messages or of the state tells them."""
    found: dict[str, str] = {}
    for event in run.events:
        messages: Any = event.get("messages") if event.get("type") == "MESSAGES_SNAPSHOT" else None
        for message in messages or ():
            for call in message.get("toolCalls") or ():
                found[call["id"]] = call["function"]["arguments"]
    return found


def streamed_calls(run: Run) -> dict[str, str]:
    """The arguments of each call as the stream told them piece by piece."""
    found: dict[str, str] = {}
    current = ""
    for event in run.events:
        kind = event.get("type")
        if kind == "TOOL_CALL_START":
            found[event["toolCallId"]] = ""
        elif kind == "TOOL_CALL_ARGS":
            found[event["toolCallId"]] = found.get(event["toolCallId"], "") + event["delta"]
        elif kind == "TOOL_CALL_CHUNK":
            current = event.get("toolCallId") or current
            found[current] = found.get(current, "") + (event.get("delta") or "")
    return found
