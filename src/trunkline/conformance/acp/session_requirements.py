"""Requirements on sessions: opening, loading, listing, closing, their modes and options, and logging in."""

from __future__ import annotations

from typing import Any

from trunkline.conformance.acp.kit import HISTORY, Kit, is_update, requirement, result_of, wants_login
from trunkline.conformance.acp.schema import find_fault
from trunkline.conformance.acp.stdio_client import Line, Message
from trunkline.conformance.table import NotApplicable, need


@requirement("SESSION-001", "M", "A session can be opened and has an id.")
def opens(kit: Kit) -> None:
    need(not wants_login(kit.opened), f"a login is wanted first: {(kit.opened or {}).get('error')}")
    session_id = result_of(kit.opened, "session/new").get("sessionId")
    need(isinstance(session_id, str) and session_id, f"the id is {session_id!r}")


@requirement("SESSION-002", "M", "Two sessions have two ids.")
def tells_sessions_apart(kit: Kit) -> None:
    need(kit.new_session() != kit.session_id, "both have the same id")


@requirement("SESSION-003", "A", "A relative cwd is refused.")
def wants_an_absolute_folder(kit: Kit) -> None:
    reply = kit.open_session(cwd="some/folder")
    need(reply is not None, "there is no answer")
    need("error" in (reply or {}), f"it is taken: {reply}")


@requirement("SESSION-004", "A", "A prompt in a session that is not there is refused.")
def knows_its_sessions(kit: Kit) -> None:
    words, _ = kit.words(), kit.session_id
    reply = kit.prompt("no-such-session", words)
    need(reply is not None, "there is no answer")
    need("error" in (reply or {}), f"it is taken: {reply}")


@requirement("ADDDIRS-001", "C", "A session may have more folders.")
def takes_more_folders(kit: Kit) -> None:
    kit.offered("sessionCapabilities", "additionalDirectories")
    _, more = kit.session, kit.subject.folder / "more"
    more.mkdir(exist_ok=True)
    result_of(kit.open_session(additionalDirectories=[str(more)]), "session/new with more folders")


# -- coming back -----------------------------------------------------------------------------------


def reopen(kit: Kit, method: str, **params: Any) -> tuple[Message | None, list[Line], list[Line]]:
    """Come back to the session that was spoken in: the answer, and the lines before and after it."""
    _ = kit.finished_turn
    start = len(kit.agent.log)
    folder = {"sessionId": kit.session_id, "cwd": str(kit.subject.folder)}
    reply = kit.agent.request(method, {**folder, **params})
    answered = len(kit.agent.log)
    kit.fence()
    return reply, kit.agent.log[start:answered], kit.agent.log[answered:]


def history_in(kit: Kit, lines: list[Line]) -> list[bytes]:
    return [line.raw[:200] for line in lines if is_update(line, kit.session_id, *HISTORY)]


@requirement("LOAD-001", "C", "A session can be loaded.")
def loads(kit: Kit) -> None:
    kit.offered("loadSession")
    reply, _, _ = reopen(kit, "session/load", mcpServers=[])
    result_of(reply, "session/load")
    need((fault := find_fault(reply or {}, "session/load")) is None, str(fault))


@requirement("LOAD-002", "C", "The history of a loaded session comes before the answer, and none after it.")
def replays_first(kit: Kit) -> None:
    kit.offered("loadSession")
    _, before, after = reopen(kit, "session/load", mcpServers=[])
    need(history_in(kit, before), "no history came before the answer")
    late = [line.raw[:200] for line in after if is_update(line, kit.session_id)]
    need(not late, f"an update came after the answer: {late[:1]}")


@requirement("LOAD-003", "A", "The answer to a load is an object.")
def answers_a_load(kit: Kit) -> None:
    kit.offered("loadSession")
    reply, _, _ = reopen(kit, "session/load", mcpServers=[])
    result = result_of(reply, "session/load")
    need(isinstance(result, dict), f"it is {result!r}")


@requirement("LOAD-004", "C", "Loading a session that is not there is refused.")
def loads_nothing_unknown(kit: Kit) -> None:
    kit.offered("loadSession")
    params: Message = {"sessionId": "no-such-session", "cwd": str(kit.subject.folder), "mcpServers": []}
    reply = kit.agent.request("session/load", params)
    need(reply is not None, "there is no answer")
    need("error" in (reply or {}), f"it is answered with {reply}")


@requirement("RESUME-001", "C", "A session can be resumed, also without naming MCP servers.")
def resumes(kit: Kit) -> None:
    kit.offered("sessionCapabilities", "resume")
    reply, _, _ = reopen(kit, "session/resume")
    result_of(reply, "session/resume")


@requirement("RESUME-002", "C", "Resuming replays nothing before its answer.")
def resumes_quietly(kit: Kit) -> None:
    kit.offered("sessionCapabilities", "resume")
    _, before, _ = reopen(kit, "session/resume")
    need(not history_in(kit, before), f"history came: {history_in(kit, before)[:1]}")


# -- listing, deleting, closing --------------------------------------------------------------------


@requirement("LIST-001", "C", "Sessions can be listed.")
def lists(kit: Kit) -> None:
    kit.offered("sessionCapabilities", "list")
    _ = kit.finished_turn
    sessions = result_of(kit.agent.request("session/list", {}), "session/list").get("sessions")
    need(isinstance(sessions, list), f"sessions is {sessions!r}")


@requirement("LIST-002", "C", "A folder that no session is in lists none.")
def filters_by_folder(kit: Kit) -> None:
    kit.offered("sessionCapabilities", "list")
    _ = kit.finished_turn
    reply = kit.agent.request("session/list", {"cwd": "/nowhere/at/all"})
    sessions = result_of(reply, "session/list with a folder").get("sessions")
    need(sessions == [], f"sessions is {sessions!r}")


@requirement("DELETE-001", "C", "A session can be deleted.")
def deletes(kit: Kit) -> None:
    kit.offered("sessionCapabilities", "delete")
    reply = kit.agent.request("session/delete", {"sessionId": kit.new_session()})
    result_of(reply, "session/delete")


@requirement("DELETE-002", "A", "Deleting a session that is not there succeeds.")
def deletes_twice(kit: Kit) -> None:
    kit.offered("sessionCapabilities", "delete")
    reply = kit.agent.request("session/delete", {"sessionId": "no-such-session"})
    result_of(reply, "session/delete of an unknown session")


@requirement("CLOSE-001", "C", "An idle session can be closed.")
def closes(kit: Kit) -> None:
    kit.offered("sessionCapabilities", "close")
    reply = kit.agent.request("session/close", {"sessionId": kit.new_session()})
    result_of(reply, "session/close")


@requirement("CLOSE-002", "C", "Closing a session cancels its turn.")
def closes_busy_sessions(kit: Kit) -> None:
    kit.offered("sessionCapabilities", "close")
    session_id, prompt_id = kit.start_waiting()
    kit.agent.start("session/close", {"sessionId": session_id})
    reason = result_of(kit.agent.wait(prompt_id), "the prompt of a closed session").get("stopReason")
    need(reason == "cancelled", f"the stop reason is {reason!r}")


@requirement("CAP-001", "A", "A method of a capability that is not advertised is refused.")
def does_what_it_offers(kit: Kit) -> None:
    offers: Message = kit.greeted.get("agentCapabilities") or {}
    more: Message = offers.get("sessionCapabilities") or {}
    folder: Message = {"sessionId": "no-such-session", "cwd": str(kit.subject.folder), "mcpServers": []}
    methods = [] if offers.get("loadSession") else [("session/load", folder)]
    methods += [] if more.get("list") is not None else [("session/list", {})]
    if not methods:
        raise NotApplicable("everything is advertised")
    for method, params in methods:
        reply = kit.agent.request(method, params)
        need(reply is not None, f"{method} is not answered")
        need("error" in (reply or {}), f"{method} is answered with {reply}")


# -- modes and options -----------------------------------------------------------------------------


def modes_of(kit: Kit) -> tuple[str, list[str]]:
    modes = kit.session.get("modes")
    if not modes:
        raise NotApplicable("the agent has no modes")
    return modes["currentModeId"], [mode["id"] for mode in modes["availableModes"]]


@requirement("MODES-001", "C", "The present mode is one of those on offer.")
def is_in_a_mode(kit: Kit) -> None:
    current, modes = modes_of(kit)
    need(current in modes, f"{current!r} is not one of {modes}")


@requirement("MODES-002", "C", "A mode can be set; an update of it says currentModeId.")
def changes_its_mode(kit: Kit) -> None:
    current, modes = modes_of(kit)
    other = next((mode for mode in modes if mode != current), current)
    start = len(kit.agent.log)
    reply = kit.agent.request("session/set_mode", {"sessionId": kit.session_id, "modeId": other})
    result_of(reply, "session/set_mode")
    kit.fence()
    for update in kit.agent.updates(kit.session_id, start):
        if update["sessionUpdate"] == "current_mode_update":
            need(isinstance(update.get("currentModeId"), str), f"no currentModeId: {update}")


def values_of(option: Message) -> list[Any]:
    """The legal values of an option, groups flattened."""
    if option["type"] == "boolean":
        return [True, False]
    flat: list[Any] = []
    for entry in option["options"]:
        flat += [choice["value"] for choice in entry.get("options", [entry])]
    return flat


def options_of(kit: Kit) -> list[Message]:
    options = kit.session.get("configOptions")
    if not options:
        raise NotApplicable("the agent has no options")
    return options


@requirement("CONFIG-001", "C", "Every option has a legal value.")
def is_configured(kit: Kit) -> None:
    for option in options_of(kit):
        need(option["currentValue"] in values_of(option), f"{option['currentValue']!r} in {option}")


@requirement("CONFIG-002", "C", "Setting an option answers with the complete list and the new value.")
def can_be_configured(kit: Kit) -> None:
    options = options_of(kit)
    option = next((o for o in options if o.get("category") != "mode"), options[0])
    other = next((v for v in values_of(option) if v != option["currentValue"]), option["currentValue"])
    params = {"sessionId": kit.session_id, "configId": option["id"], "value": other}
    reply = kit.agent.request("session/set_config_option", params)
    output = {o["id"]: o for o in result_of(reply, "session/set_config_option")["configOptions"]}
    need(output.keys() == {o["id"] for o in options}, f"the list is not complete: {sorted(output)}")
    need(output[option["id"]]["currentValue"] == other, f"the value is still {output[option['id']]}")


@requirement("CONFIG-003", "M", "A client that cannot draw switches is shown none.", last=True)
def shows_no_switches(kit: Kit) -> None:
    lists: list[Any] = [kit.session.get("configOptions") or []]
    lists += [update.get("configOptions") or [] for update in kit.ended.updates()]
    for option in (option for options in lists for option in options):
        need(option.get("type") != "boolean", f"a switch: {option}")


# -- logging in ------------------------------------------------------------------------------------


def logins_of(greeted: Message) -> list[Message]:
    return greeted.get("authMethods") or []


@requirement("AUTH-001", "A", "The ways to log in have different ids.")
def names_its_logins(kit: Kit) -> None:
    ids = [method["id"] for method in logins_of(kit.login[1])]
    need(len(ids) == len(set(ids)), f"the ids are {ids}")


@requirement("AUTH-002", "M", "A client without a terminal is offered no login in one.")
def offers_usable_logins(kit: Kit) -> None:
    for method in logins_of(kit.login[1]):
        need(method.get("type") != "terminal", f"a login in a terminal: {method}")


@requirement("AUTH-003", "C", "After a login a session can be opened.")
def logs_in(kit: Kit) -> None:
    talk, greeted = kit.login
    methods = [m for m in logins_of(greeted) if m.get("type", "agent") == "agent"]
    if not methods:
        raise NotApplicable("the agent has no login")
    if not kit.subject.allow_login:
        raise NotApplicable("logging in is not allowed here (--login)")
    result_of(talk.request("authenticate", {"methodId": methods[0]["id"]}), "authenticate")
    reply = talk.request("session/new", {"cwd": str(kit.subject.folder), "mcpServers": []})
    need(not wants_login(reply), "session/new still wants a login after authenticate")
    result_of(reply, "session/new after a login")


@requirement("AUTH-004", "C", "A logout is answered with an object.")
def logs_out(kit: Kit) -> None:
    talk, greeted = kit.login
    auth: Message = greeted.get("agentCapabilities", {}).get("auth") or {}
    if auth.get("logout") is None:
        raise NotApplicable("auth.logout is not advertised")
    if not kit.subject.allow_logout:
        raise NotApplicable("logging out is not allowed here")
    result = result_of(talk.request("logout", {}), "logout")
    need(isinstance(result, dict), f"the result is {result!r}")


@requirement("AUTH-005", "A", "An agent that offers no login wants none.")
def wants_no_secret_login(kit: Kit) -> None:
    if kit.greeted.get("authMethods"):
        raise NotApplicable("the agent has logins")
    code = (kit.opened or {}).get("error", {}).get("code")
    need(code != -32000, "session/new wants a login, but there is no way to log in")
