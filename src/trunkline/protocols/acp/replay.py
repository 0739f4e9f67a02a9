"""The history of a session at an agent, as session/load sends it.

"The Agent MUST replay the entire conversation to the Client in the form of session/update notifications"
(https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions). A replay has no turns: each
message of the user begins one here. It has whole blocks instead of pieces, and not all agents give ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from trunkline import events as ev
from trunkline.conversation import Conversation
from trunkline.folding import fold
from trunkline.protocols.acp.decoder import AcpDecoder, is_of_session
from trunkline.protocols.acp.fields import as_object, text_in
from trunkline.protocols.acp.profiles import STANDARD, Profile

__all__ = ["decode_replay", "replayed_conversation"]

_PASSED = "the agent's history does not say how this call ended"


def decode_replay(
    updates: Iterable[Mapping[str, Any]],
    *,
    profile: Profile = STANDARD,
    turn_id: Callable[[int], str] = "replay_{}".format,
) -> list[ev.AnyEvent]:
    """Give the events of a replay as whole turns; ``turn_id`` names them, counted from 1."""
    replay = _Replay(profile, turn_id)
    for update in updates:
        replay.feed(update)
    replay.end_turn()
    return replay.out


def replayed_conversation(
    updates: Iterable[Mapping[str, Any]], *, profile: Profile = STANDARD
) -> Conversation:
    """Give the conversation that a replay means."""
    return fold(decode_replay(updates, profile=profile))


class _Replay:
    """Divides a replay into turns."""

    def __init__(self, profile: Profile, turn_id: Callable[[int], str]) -> None:
        self.out: list[ev.AnyEvent] = []
        self._decoder = AcpDecoder(profile)
        self._name = turn_id
        self._count = 0
        self._turn_id: str | None = None
        self._user_id: str | None = None
        self._user_speaks = False

    def feed(self, update: Mapping[str, Any]) -> None:
        """Take one update."""
        given = as_object(update)
        if given.get("sessionUpdate") == "user_message_chunk":
            self._begin_with_user(text_in(given, "messageId"))
        events = self._decoder.feed(update)
        if any(not is_of_session(event) for event in events):
            self._user_speaks = self._user_speaks and not self._said(events)
            self._begin(by="agent")
        self._tell(events)

    def end_turn(self) -> None:
        """End the turn, if there is one."""
        if self._turn_id is None:
            return
        self._tell(
            msgspec.structs.replace(event, reason=_PASSED) if getattr(event, "reason", None) else event
            for event in self._decoder.close()
        )
        self.out.append(ev.TurnFinished(turn_id=self._turn_id))
        self._turn_id = None
        self._user_speaks = False

    def _begin_with_user(self, message_id: str | None) -> None:
        """Begin a turn with a message of the user's; a further block of the message belongs to it."""
        if not self._user_speaks or message_id != self._user_id:
            self.end_turn()
            self._begin(by=None)
        self._user_speaks, self._user_id = True, message_id

    def _begin(self, by: str | None) -> None:
        if self._turn_id is None:
            self._count += 1
            self._turn_id = self._name(self._count)
            if not self._decoder.in_turn:
                self._decoder.begin_turn(self._turn_id)
            self.out.append(ev.TurnStarted(turn_id=self._turn_id, by=by))

    def _said(self, events: Iterable[ev.Event]) -> bool:
        return any(not isinstance(event, ev.UserMessage) for event in events)

    def _tell(self, events: Iterable[ev.AnyEvent]) -> None:
        for event in events:
            in_turn = not is_of_session(event)
            self.out.append(msgspec.structs.replace(event, turn_id=self._turn_id) if in_turn else event)
