"""Wires of real agents, as they were recorded with a scripted model; what people read was shortened."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from trunkline import events as ev
from trunkline.content import Content
from trunkline.protocols.acp.content import block_from_wire
from trunkline.protocols.acp.decoder import AcpDecoder, is_of_session
from trunkline.protocols.acp.profiles import profile_for
from trunkline.protocols.acp.prompt_result import turn_finished
from trunkline.protocols.acp.replay import decode_replay

FOLDER = Path(__file__).parent / "transcripts"
NAMES = sorted(path.stem for path in FOLDER.iterdir())


def messages(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give who sent each message of a wire, and the message."""
    for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        recorded = json.loads(line)
        yield recorded["from"], recorded["message"]


def updates(name: str) -> list[dict[str, Any]]:
    """Give the updates of a wire."""
    return [m["params"]["update"] for _, m in messages(name) if m.get("method") == "session/update"]


def decode(name: str) -> list[ev.Event]:
    """Give the events of a wire with one prompt, as an agent on the trunk would emit them."""
    return _Drive().run(name)


def decode_load(name: str) -> list[ev.Event]:
    """Give the events that the answer to the first session/load replays."""
    profile, replayed, loading = None, list[dict[str, Any]](), 0
    for _, message in messages(name):
        if "agentInfo" in message.get("result", {}):
            profile = profile_for(message["result"])
        elif message.get("method") == "session/load":
            loading = message["id"]
        elif loading and message.get("method") == "session/update":
            replayed.append(message["params"]["update"])
        elif loading and message.get("id") == loading:
            break
    assert profile is not None
    return list(decode_replay(replayed, profile=profile))


class _Drive:
    def __init__(self) -> None:
        self.decoder = AcpDecoder()
        self.out: list[ev.Event] = []
        self.methods: dict[Any, str] = {}
        self.asked: dict[Any, dict[str, Any]] = {}

    def run(self, name: str) -> list[ev.Event]:
        """Do what a client did, and give the events."""
        for sender, message in messages(name):
            if sender == "client" and "method" in message:
                self.methods[message.get("id")] = message["method"]
                if message["method"] == "session/prompt":
                    self.prompt(message["params"]["prompt"])
            elif message.get("method") == "session/update":
                self.emit(self.decoder.feed(message["params"]["update"]))
            elif message.get("method") == "session/request_permission":
                self.asked[message["id"]] = message["params"]
                self.emit(self.decoder.permission(message["params"]))
            elif sender == "client" and message.get("id") in self.asked:
                self.answer(self.asked[message["id"]], message["result"]["outcome"])
            elif sender == "agent" and "result" in message:
                self.result(self.methods[message["id"]], message["result"])
        return self.out

    def prompt(self, blocks: list[dict[str, Any]]) -> None:
        self.decoder.begin_turn("t", blocks)
        self.out.append(ev.TurnStarted(turn_id="t"))
        content: list[Content] = [block for one in blocks if (block := block_from_wire(one)) is not None]
        self.out.append(ev.UserMessage(turn_id="t", message_id="u", content=tuple(content)))

    def answer(self, params: dict[str, Any], outcome: dict[str, Any]) -> None:
        kinds = {option["optionId"]: option["kind"] for option in params["options"]}
        if kinds.get(outcome.get("optionId"), "").startswith("reject"):
            self.emit(self.decoder.denied(params["toolCall"]["toolCallId"], "the user refused it"))

    def result(self, method: str, result: dict[str, Any]) -> None:
        if method == "initialize":
            self.decoder = AcpDecoder(profile_for(result))
        elif method == "session/new":
            self.emit(self.decoder.take_result(result))
        elif method == "session/prompt":
            self.emit(self.decoder.close(result["stopReason"]))
            end = turn_finished(result, self.decoder.profile)
            self.out.append(msgspec.structs.replace(end, turn_id="t"))

    def emit(self, events: list[ev.AnyEvent]) -> None:
        for event in events:
            self.out.append(event if is_of_session(event) else msgspec.structs.replace(event, turn_id="t"))
