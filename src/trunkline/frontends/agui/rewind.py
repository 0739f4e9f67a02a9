"""Where a thread goes back to before it goes on: what a client edited, asked again or has never seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trunkline.errors import InvalidCommand
from trunkline.frontends.agui.seen_turns import Page
from trunkline.frontends.agui.thread_outline import ThreadOutline
from trunkline.intents import NO_REWIND
from trunkline.outline import PresentOutline
from trunkline.protocols.agui import wire


def find_rewind_target(messages: Sequence[wire.Message], thread: ThreadOutline, page: Page | None) -> Any:
    """Find the message that the conversation goes back to before it goes on.

    If the client's last message is new, everything after the message before it is taken back. If it is known,
    it is asked again, and what followed it is taken back. A page that may not have seen what would be
    dropped drops nothing.
    """
    ours, last = thread.outline, messages[-1].id
    if (turn_id := ours.turn_of(last)) is not None:
        if _is_behind(page, ours, turn_id):
            raise InvalidCommand(
                f"the thread went on after message {last!r}, perhaps unseen by this page: load the thread "
                "again, and then ask again"
            )
        return ours.before(last)
    found, is_outdated = _last_known(messages[:-1], thread)
    if is_outdated:
        # It shows what was taken back since: it is behind, whatever it has seen.
        return NO_REWIND
    newest = ours.last_message
    if found is None:
        # The first message, edited, or one of a page that has not loaded the thread.
        has_seen = page is not None and newest is not None and page.has_seen(ours.turn_of(newest))
        return None if has_seen else NO_REWIND
    turn_id = ours.turn_of(found) or ""
    if found == newest or turn_id == thread.cut_off:
        return NO_REWIND
    return NO_REWIND if _is_behind(page, ours, turn_id) else found


def last_seen_turn(messages: Sequence[wire.Message], thread: ThreadOutline) -> str | None:
    """The last turn that a client's history has messages of; an empty text if it was taken back."""
    found, is_outdated = _last_known(messages, thread)
    if is_outdated:
        return ""
    return None if found is None else thread.outline.turn_of(found)


def _last_known(messages: Sequence[wire.Message], thread: ThreadOutline) -> tuple[str | None, bool]:
    """The last message of a history that is ours, and whether one behind it was taken back."""
    ours, is_outdated = thread.outline, False
    for message in reversed(messages):
        # A result belongs to the message that made the call.
        call = ours.result(message.id)
        found = message.id if call is None else call.message_id
        if found is not None and ours.turn_of(found) is not None:
            return found, is_outdated
        if message.role in ("user", "assistant") and message.subagent_run_id is None:
            # A call without a message is one by itself.
            is_outdated = is_outdated or (thread.has_id(message.id) and not ours.has_call(message.id))
    return None, is_outdated


def _is_behind(page: Page | None, ours: PresentOutline, turn_id: str) -> bool:
    """Whether a page that goes back to a turn may never have seen all of the later ones."""
    if page is None:
        return False
    later = ours.turns_from(turn_id)[:-1]
    return bool(later) and page.may_be_behind(later)
