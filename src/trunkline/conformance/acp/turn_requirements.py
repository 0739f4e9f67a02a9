"""Requirements on turns: prompts, what they may hold, cancelling, and a client's missing abilities."""

from __future__ import annotations

from typing import Any

from trunkline.conformance.acp.kit import Kit, is_update, requirement, result_of
from trunkline.conformance.acp.schema import find_fault
from trunkline.conformance.acp.stdio_client import Message
from trunkline.conformance.table import need

STOP_REASONS = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
SILENCE = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="


def check_stopped(reply: Message | None, what: str) -> None:
    reason = result_of(reply, what).get("stopReason")
    need(reason in STOP_REASONS, f"the stop reason of {what} is {reason!r}")


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


@requirement("META-001", "A", "A prompt may carry _meta.")
def lets_meta_pass(kit: Kit) -> None:
    session_id = kit.new_session()
    meta: dict[str, Any] = {"example.com/trace": "1", "sessionId": "another", "prompt": []}
    check_stopped(kit.prompt(session_id, kit.words(), _meta=meta), "a prompt with _meta")


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
