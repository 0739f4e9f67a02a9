"""The shared state in a run: whole where a client cannot know it, and as patches from there on."""

from __future__ import annotations

from typing import Any

from trunkline import events as ev
from trunkline.frontends.agui.options import Snapshots
from trunkline.json_patch import PatchError, apply_patch, same_json
from trunkline.protocols.agui import wire

Out = list[wire.AguiEvent]

_SHORT_PATCH = 128
"""Bytes of a patch below which it is not measured whether the whole state would be shorter."""


def first_snapshot(state: Any, theirs: Any, mode: Snapshots, at: int) -> Out:
    """Give the state at the start of a run, unless the client sent the same one; None: it sent none."""
    if state is None or mode not in ("initial", "all") or same_json(state, theirs, numeric=True):
        return []
    return [wire.StateSnapshot(timestamp=at, snapshot=state)]


class StateView:
    """The shared state as a client knows it."""

    def __init__(self, mode: Snapshots, state: Any) -> None:
        """Begin with what the client has; None: unknown."""
        self._mode = mode
        self._state: Any = state
        self._known = state is not None
        self._changed = False
        self._predicted = False

    def predict(self) -> None:
        """Note that the client changes its state by itself, until it gets the whole of it again."""
        self._predicted = True

    def replace(self, event: ev.StateReplaced, at: int | None) -> Out:
        """Give the whole state, unless the client has it."""
        if self._known and not self._predicted and same_json(event.state, self._state):
            return []
        self._state, self._known, self._changed = event.state, True, True
        return [] if self._mode in ("none", "final") else self._snapshot(at)

    def patch(self, event: ev.StatePatched, at: int | None) -> Out:
        """Give what changed, or the whole state if that is shorter."""
        if not event.patch:
            return []
        try:
            self._state = apply_patch(self._state, event.patch)
        except PatchError:
            self._known = False
        self._changed = True
        if self._mode in ("none", "final"):
            return []
        if self._known and (self._predicted or self._mode == "all" or self._is_shorter_than(event.patch)):
            return self._snapshot(at)
        return [wire.StateDelta(timestamp=at, delta=event.patch)]

    def final(self, at: int | None) -> Out:
        """Give the state at the end of a run, if the options want it or the client has only predicted it."""
        wanted = self._changed if self._mode == "final" else self._predicted and self._known
        if self._mode == "none" or not wanted:
            return []
        self._changed = False
        return self._snapshot(at)

    def _snapshot(self, at: int | None) -> Out:
        self._predicted = False
        return [wire.StateSnapshot(timestamp=at, snapshot=self._state)]

    def _is_shorter_than(self, patch: Any) -> bool:
        size = len(wire.encode(patch))
        return size > _SHORT_PATCH and len(wire.encode(self._state)) < size
