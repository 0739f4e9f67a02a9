"""A run that stopped for approvals, kept with its session so that another process can resume it.

The SDK's ``RunState`` is kept as JSON, without the conversation before the turn: the journal has that. It is
packed, as the SDK writes each item of a turn several times.
"""

from __future__ import annotations

import base64
import json
import logging
import zlib
from collections.abc import Collection, Sequence
from typing import Any, cast

import msgspec

from agents import Agent, RunState
from trunkline import events as ev
from trunkline.errors import AgentProtocolError
from trunkline.session.context import SessionView

log = logging.getLogger("trunkline.openai")

_KEPT = "openai.run"
_MOST_BYTES = 64 * 1024 * 1024


async def keep(
    session: SessionView,
    turn_id: str,
    state: RunState[Any, Any],
    history: tuple[int, int],
    keys: Collection[str],
    usage: Sequence[ev.TokenUsage] = (),
) -> bool:
    """Keep a run that stopped; ``history`` is how many input items the journal has, and how many there were.

    ``usage`` is what the turn has cost so far: the process that ends it reports all of it.
    False when it is too large to be kept: then its questions are only of this process.
    """
    given: dict[str, Any] = state.to_json(context_serializer=_no_context)
    inputs: Any = given.get("original_input")
    # A handoff may have replaced the input: then all of it is kept.
    known, all_of_them = history
    begins = known if isinstance(inputs, list) and len(cast("list[Any]", inputs)) == all_of_them else 0
    if begins:
        given["original_input"] = inputs[begins:]
    try:
        packed = base64.b85encode(zlib.compress(json.dumps(given).encode())).decode()
        kept = {"turn_id": turn_id, "history": begins, "keys": list(keys), "state": packed}
        await session.keep(_KEPT, {**kept, "usage": msgspec.to_builtins(usage)})
    except (AgentProtocolError, TypeError, ValueError) as error:
        log.warning("the run of turn %s cannot be resumed after a restart: %s", turn_id, error)
        await discard(session)
        return False
    return True


def _no_context(context: Any) -> dict[str, Any]:
    """Keep nothing of the user's own context: each process makes it anew."""
    return {}


async def discard(session: SessionView) -> None:
    """Discard what is kept: it is resumed, or something else was said instead."""
    if _KEPT in session.kept:
        await session.keep(_KEPT, None)


def waits_for(session: SessionView, keys: Collection[str]) -> bool:
    """Whether a run is kept that stopped for all of these."""
    kept = _kept(session)
    return bool(kept) and set(keys) <= set(kept["keys"])


def usage_of(session: SessionView) -> list[ev.TokenUsage]:
    """What the run that is kept has cost so far."""
    return msgspec.convert(_kept(session).get("usage") or [], list[ev.TokenUsage])


def _kept(session: SessionView) -> dict[str, Any]:
    return cast("dict[str, Any]", session.kept.get(_KEPT) or {})


async def restore(
    session: SessionView, turn_id: str, agent: Agent[Any], history: list[Any], context: Any
) -> RunState[Any, Any] | None:
    """Give the run of a turn as it stopped; None if it is not kept. ``history`` is what the journal has."""
    kept = _kept(session)
    if kept.get("turn_id") != turn_id:
        return None
    unpack = zlib.decompressobj()
    given: dict[str, Any] = json.loads(unpack.decompress(base64.b85decode(kept["state"]), _MOST_BYTES))
    if kept["history"]:
        given["original_input"] = [*history, *given["original_input"]]
    return await RunState.from_json(agent, given, context_deserializer=lambda _: context)
