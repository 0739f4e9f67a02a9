"""Requirements on turns: prompts, what they may hold, cancelling, and a client's missing abilities."""

from __future__ import annotations

from typing import Any

from trunkline.conformance.acp.kit import (
    HISTORY,
    STOP_REASONS,
    Kit,
    check_stopped,
    is_update,
    requirement,
    result_of,
)
from trunkline.conformance.acp.schema import find_fault
from trunkline.conformance.acp.stdio_client import Message, same
from trunkline.conformance.table import need

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
SILENCE = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="
_LONG = 100_000
"""Characters of a big prompt: more than the 64 KiB that readers of lines have by default."""
_ODD = " \u2014 na\u00efve \u65e5\u672c\u8a9e \U0001f680 \u202eabc\u202c a\u0301 \u2028 \x7f end"


def check_accepted(kit: Kit, block: Message) -> None:
    content = [*kit.words(), block]
    check_stopped(kit.prompt(kit.new_session(), content), f"a prompt with {block['type']}")


@requirement("PROMPT-001", "M", "A prompt of text ends with a stop reason.")
def answers_a_prompt(kit: Kit) -> None:
    check_stopped(kit.finished_turn[0], "a prompt of text")


@requirement("PROMPT-002", "M", "Updates of a turn are valid and name its session.")
def updates_the_right_session(kit: Kit) -> None:
    for line in kit.finished_turn[1]:
        if line.message is not None and line.message.get("method") == "session/update":
            need((fault := find_fault(line.message)) is None, f"{fault}: {line.raw[:200]!r}")
            named = line.message["params"]["sessionId"]
            need(named == kit.session_id, f"an update names {named!r}, not {kit.session_id!r}")


@requirement("PROMPT-003", "A", "A prompt may link to a resource.")
def follows_links(kit: Kit) -> None:
    check_accepted(kit, {"type": "resource_link", "uri": "file:///notes.md", "name": "notes.md"})


@requirement("PROMPT-004", "A", "What belongs to a turn is said before its prompt is answered.")
def ends_what_it_says(kit: Kit) -> None:
    words, session_id = kit.words(), kit.new_session()
    kit.prompt(session_id, words)
    start = len(kit.agent.log)
    kit.fence()
    late = [line.raw[:200] for line in kit.agent.log[start:] if is_update(line, session_id, *HISTORY)]
    need(not late, f"after the answer came {late[:1]}")


@requirement("PROMPT-005", "M", "A prompt of any Unicode ends with a stop reason.")
def takes_any_letters(kit: Kit) -> None:
    words = kit.words(_ODD)
    check_stopped(kit.prompt(kit.new_session(), words), "a prompt of many scripts")


@requirement("PROMPT-006", "M", "A prompt of 100,000 characters is answered, and the connection goes on.")
def takes_big_prompts(kit: Kit) -> None:
    words = kit.words(" " + "lorem ipsum " * (_LONG // 12))
    client = kit.spawn_greeted()
    session_id = kit.open_in(client)
    reply = client.request("session/prompt", {"sessionId": session_id, "prompt": words})
    need(reply is not None, "there is no answer")
    need(client.request("_trunkline/fence", {}) is not None, "the agent does not answer any more")


@requirement("PROMPT-007", "A", "A second prompt in a busy session is answered, and both come to an end.")
def answers_every_prompt(kit: Kit) -> str:
    words = kit.words()
    session_id, first = kit.start_waiting()
    second = kit.agent.start("session/prompt", {"sessionId": session_id, "prompt": words})
    kit.fence()
    kit.agent.notify("session/cancel", {"sessionId": session_id})
    replies = {line: _reply(kit, line) for line in (first, second)}
    need(all(replies.values()), f"not answered: {[name for name, one in replies.items() if one is None]}")
    later = replies[second] or {}
    return "refused" if "error" in later else f"taken: {later.get('result')}"


def _reply(kit: Kit, request_id: Any) -> Message | None:
    """The answer to a request that may have come already."""
    for line in kit.agent.log:
        if line.answers is not None and same((line.message or {}).get("id"), request_id):
            return line.message
    return kit.agent.wait(request_id)


@requirement("PROMPTCAP-001", "C", "A prompt may hold an image.")
def sees(kit: Kit) -> None:
    kit.offered("promptCapabilities", "image")
    check_accepted(kit, {"type": "image", "mimeType": "image/png", "data": PIXEL})


@requirement("PROMPTCAP-002", "C", "A prompt may hold a sound.")
def hears(kit: Kit) -> None:
    kit.offered("promptCapabilities", "audio")
    check_accepted(kit, {"type": "audio", "mimeType": "audio/wav", "data": SILENCE})


@requirement("PROMPTCAP-003", "C", "A prompt may hold a document.")
def reads(kit: Kit) -> None:
    kit.offered("promptCapabilities", "embeddedContext")
    document = {"uri": "file:///notes.md", "text": "# Notes", "mimeType": "text/markdown"}
    check_accepted(kit, {"type": "resource", "resource": document})


# -- cancelling ------------------------------------------------------------------------------------


@requirement("CANCEL-001", "M", "A cancelled turn ends with the stop reason cancelled, never with an error.")
def can_be_cancelled(kit: Kit) -> None:
    reason = result_of(kit.cancelled[1], "a cancelled prompt").get("stopReason")
    need(reason == "cancelled", f"the stop reason is {reason!r}")


@requirement(
    "CANCEL-002", "M", "Nothing is said in a session after its cancelled turn was answered.", last=True
)
def is_quiet_after_a_cancel(kit: Kit) -> None:
    session_id, _, start = kit.cancelled
    late = [line.raw[:200] for line in kit.ended.log[start:] if is_update(line, session_id)]
    need(not late, f"{late[:1]}")


@requirement("CANCEL-003", "A", "After a cancelled turn the session takes the next prompt.")
def goes_on_after_a_cancel(kit: Kit) -> None:
    words = kit.words()
    session_id, prompt_id = kit.start_waiting()
    kit.agent.notify("session/cancel", {"sessionId": session_id})
    kit.agent.wait(prompt_id)
    reason = result_of(kit.prompt(session_id, words), "the prompt after a cancel").get("stopReason")
    need(reason in STOP_REASONS - {"cancelled"}, f"the stop reason is {reason!r}")


@requirement("CANCEL-004", "M", "A cancel with nothing to cancel changes nothing.")
def takes_needless_cancels(kit: Kit) -> None:
    words, session_id = kit.words(), kit.new_session()
    kit.agent.notify("session/cancel", {"sessionId": session_id})
    kit.agent.notify("session/cancel", {"sessionId": "no-such-session"})
    kit.fence()
    check_stopped(kit.prompt(session_id, words), "a prompt after a needless cancel")


# -- what the client cannot do ---------------------------------------------------------------------


def check_never_asked(kit: Kit, prefix: str) -> None:
    kit.play_ability_prompts()
    for line in kit.agent.log:
        method = str((line.message or {}).get("method"))
        need(not method.startswith(prefix), f"the agent calls {method}")


@requirement("CLIENTCAP-001", "M", "The files of a client that offers none are left alone.")
def leaves_files_alone(kit: Kit) -> None:
    check_never_asked(kit, "fs/")


@requirement("CLIENTCAP-002", "M", "A client that offers no terminals is asked for none.")
def leaves_terminals_alone(kit: Kit) -> None:
    check_never_asked(kit, "terminal/")


@requirement("CLIENTCAP-003", "M", "A client that has no forms is shown none.")
def shows_no_forms(kit: Kit) -> None:
    check_never_asked(kit, "elicitation/")
