"""The events of a session, cut where a client of the web sees an end."""

from collections.abc import Sequence
from typing import Any

from trunkline import events as ev


def turns_of(events: Sequence[Any]) -> list[list[Any]]:
    """Cut a session into its turns; what was said between them is in no turn."""
    turns: list[list[Any]] = []
    running = False
    for event in events:
        if isinstance(event, ev.TurnStarted):
            turns.append([])
            running = True
        if running:
            turns[-1].append(event)
        if isinstance(event, ev.TurnFinished | ev.TurnFailed):
            running = False
    return turns


def runs_of(turn: Sequence[Any]) -> list[list[Any]]:
    """Cut a turn where it waits: there a run or response ends, and the next one begins."""
    runs: list[list[Any]] = [[]]
    for event in turn:
        runs[-1].append(event)
        if isinstance(event, ev.TurnSuspended):
            runs.append([])
    return runs
