"""What an AcpClient answers: permissions by kind, files and terminals of its folder, errors by their code."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.hubs import soon, until
from tests.process_state import is_alive
from trunkline.agents.acp.requests.client_requests import ClientRequests, FormAnswers, PermissionAnswers
from trunkline.agents.acp.requests.permission_options import PermissionRequest
from trunkline.protocols.acp.profiles import CLAUDE_CODE
from trunkline.protocols.jsonrpc.messages import RpcError
from trunkline.questions import Form

ONCE = {"optionId": "a", "name": "Once", "kind": "allow_once"}
ALWAYS = {"optionId": "b", "name": "Always", "kind": "allow_always"}
NO = {"optionId": "c", "name": "No", "kind": "reject_once"}


def answering(cwd: Path, permission: Any = "allow") -> ClientRequests:
    return ClientRequests(str(cwd), PermissionAnswers(permission))


async def permit(requests: ClientRequests, *options: dict[str, str], **call: Any) -> Any:
    params = {"sessionId": "s", "toolCall": {"toolCallId": "t", **call}, "options": list(options)}
    answer = await soon(requests.handle("session/request_permission", params))
    return answer["outcome"].get("optionId", answer["outcome"]["outcome"])


async def code_of(requests: ClientRequests, method: str, params: Any) -> int:
    with pytest.raises(RpcError) as caught:
        await soon(requests.handle(method, params))
    return caught.value.rpc_code


async def test_allow_takes_the_option_of_the_kind_whatever_its_place(tmp_path: Path) -> None:
    assert await permit(answering(tmp_path), ALWAYS, NO, ONCE) == "a"


async def test_what_can_only_be_allowed_for_good_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert await permit(answering(tmp_path), ALWAYS, NO) == "c"
    assert "no option to allow it once, only b (allow_always), c (reject_once)" in caplog.text


async def test_a_refusal_without_an_option_to_refuse_is_cancelled(tmp_path: Path) -> None:
    assert await permit(answering(tmp_path, "refuse"), ALWAYS, ONCE) == "cancelled"
    assert await permit(answering(tmp_path, "ask"), ONCE) == "cancelled"


async def test_a_function_that_fails_or_gives_something_else_is_a_no(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(request: PermissionRequest) -> bool:
        raise RuntimeError("oh")

    def odd(request: PermissionRequest) -> str:
        return "perhaps"

    assert await permit(answering(tmp_path, fails), ONCE, NO) == "c"
    assert "the function that answers permissions failed" in caplog.text
    assert await permit(answering(tmp_path, odd), ONCE, NO) == "c"
    assert "'perhaps' is not on offer" in caplog.text


async def test_a_function_sees_what_the_agent_says_of_the_call(tmp_path: Path) -> None:
    seen: list[PermissionRequest] = []

    def take(request: PermissionRequest) -> bool:
        seen.append(request)
        return False

    requests = answering(tmp_path, take)
    await permit(
        requests, ONCE, NO, title="Run `ls`", name="bash", kind="execute", rawInput={"command": "ls"}
    )
    await permit(requests, ONCE, NO)
    first, second = seen
    assert (first.title, first.tool, first.kind, first.session_id) == ("Run `ls`", "bash", "execute", "s")
    assert first.params["toolCall"]["rawInput"] == first.input == {"command": "ls"}
    assert (second.title, second.tool, second.kind, second.input) == ("unknown", "unknown", "other", None)


async def test_a_permission_is_shown_with_what_was_said_of_its_call_before(
    tmp_path: Path,
) -> None:
    seen: list[PermissionRequest] = []
    requests = ClientRequests(str(tmp_path), PermissionAnswers(seen.append), profile=CLAUDE_CODE)
    meta = {"claudeCode": {"toolName": "Write"}}
    call = {"toolCallId": "t", "title": "Write a.txt", "kind": "edit", "_meta": meta}
    requests.take_update({"sessionUpdate": "tool_call", **call})
    requests.take_update({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Write b.txt"})
    await permit(requests, ONCE, NO, title="Write c.txt")
    requests.begin_turn()
    await permit(requests, ONCE, NO)
    assert [(one.title, one.tool, one.kind) for one in seen] == [
        ("Write c.txt", "Write", "edit"),
        ("unknown", "unknown", "other"),
    ]


FORM = {
    "sessionId": "s",
    "mode": "form",
    "message": "Which one?",
    "requestedSchema": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
}


@pytest.mark.parametrize(
    ("given", "got"),
    [
        ({"name": "a"}, {"action": "accept", "content": {"name": "a"}}),
        ({"name": 1}, {"action": "decline"}),
        ({}, {"action": "decline"}),
        ("a", {"action": "decline"}),
        (None, {"action": "decline"}),
    ],
)
async def test_a_form_is_filled_in_by_the_function_or_declined(tmp_path: Path, given: Any, got: Any) -> None:
    forms = FormAnswers()
    requests = ClientRequests(str(tmp_path), PermissionAnswers("ask"), forms)
    assert await soon(requests.handle("elicitation/create", FORM)) == {"action": "decline"}
    asked: list[Form] = []

    async def fill_in(form: Form) -> Any:
        asked.append(form)
        return given

    forms.ask = fill_in
    assert await soon(requests.handle("elicitation/create", FORM)) == got
    assert (asked[0].message, list(asked[0].fields["properties"])) == ("Which one?", ["name"])
    assert await code_of(requests, "elicitation/create", {**FORM, "mode": "url"}) == -32602
    requests.cancel_turn()
    assert await soon(requests.handle("elicitation/create", FORM)) == {"action": "cancel"}


async def test_a_form_that_is_open_when_the_prompt_is_cancelled_is_cancelled(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    forms, asked = FormAnswers(), asyncio.Event()

    async def never(form: Form) -> None:
        asked.set()
        await asyncio.Event().wait()

    def fails(form: Form) -> None:
        raise RuntimeError("oh")

    forms.ask = never
    requests = ClientRequests(str(tmp_path), PermissionAnswers("ask"), forms)
    waiting = asyncio.create_task(requests.handle("elicitation/create", FORM))
    await soon(asked.wait())
    requests.cancel_turn()
    assert await soon(waiting) == {"action": "cancel"}
    requests.begin_turn()
    forms.ask = fails
    assert await soon(requests.handle("elicitation/create", FORM)) == {"action": "decline"}
    assert "the function that fills in forms failed" in caplog.text


async def test_several_permissions_are_open_at_once_and_end_with_the_prompt(tmp_path: Path) -> None:
    waiting = 0

    async def never(request: PermissionRequest) -> bool:
        nonlocal waiting
        waiting += 1
        await asyncio.Event().wait()
        return True

    requests = answering(tmp_path, never)
    open_now = [asyncio.create_task(permit(requests, ONCE, NO)) for _ in range(3)]
    await until(lambda: waiting == 3)
    requests.cancel_turn()
    assert await soon(asyncio.gather(*open_now)) == ["cancelled"] * 3
    assert requests.is_cancelled
    assert await permit(requests, ONCE, NO) == "cancelled"
    requests.begin_turn()
    assert not requests.is_cancelled


async def test_bad_requests_get_the_codes_of_the_protocol(tmp_path: Path) -> None:
    requests = answering(tmp_path)
    assert await code_of(requests, "craft/drain", {}) == -32601
    assert await code_of(requests, "elicitation/create", {}) == -32601
    assert await code_of(requests, "session/request_permission", {"options": [ONCE]}) == -32602
    assert await code_of(requests, "session/request_permission", {"toolCall": {}, "options": []}) == -32602
    assert await code_of(requests, "fs/read_text_file", {"sessionId": "s", "path": "a.txt"}) == -32602
    missing = {"sessionId": "s", "path": str(tmp_path / "a.txt")}
    assert await code_of(requests, "fs/read_text_file", missing) == -32002


async def test_files_of_the_folder_are_read_and_written_and_no_others(tmp_path: Path) -> None:
    (work := tmp_path / "work").mkdir()
    (tmp_path / "outside.txt").write_text("secret")
    requests = answering(work)
    path = {"sessionId": "s", "path": str(work / "a.txt")}
    assert await soon(requests.handle("fs/write_text_file", {**path, "content": "1\n2\n3\n"})) == {}
    read = await soon(requests.handle("fs/read_text_file", {**path, "line": 2, "limit": 1}))
    assert read == {"content": "2\n"}
    outside = {"sessionId": "s", "path": str(tmp_path / "outside.txt")}
    assert await code_of(requests, "fs/read_text_file", outside) < 0
    assert await code_of(requests, "fs/write_text_file", {**outside, "content": "x"}) < 0
    assert (tmp_path / "outside.txt").read_text() == "secret"
    requests.cancel_turn()
    assert await code_of(requests, "fs/write_text_file", {**path, "content": ""}) == -32800


def refuses(request: PermissionRequest) -> bool:
    return False


@pytest.mark.parametrize("permission", ["ask", "refuse", refuses])
async def test_an_agent_that_does_not_ask_changes_and_runs_nothing_that_is_not_allowed(
    tmp_path: Path, permission: Any
) -> None:
    requests = answering(tmp_path, permission)
    (tmp_path / "here.txt").write_text("old")
    write = {"sessionId": "s", "path": f"{tmp_path}/here.txt", "content": "new"}
    run = {"sessionId": "s", "command": "touch", "args": ["ran.txt"]}
    for method, params in (("fs/write_text_file", write), ("terminal/create", run)):
        with pytest.raises(RpcError, match="the program does not allow it"):
            await soon(requests.handle(method, params))
    read = {"sessionId": "s", "path": f"{tmp_path}/here.txt"}
    assert await soon(requests.handle("fs/read_text_file", read)) == {"content": "old"}
    assert not (tmp_path / "ran.txt").exists()


async def test_a_function_is_asked_about_files_and_commands_too(tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def allows(request: PermissionRequest) -> bool:
        asked.append((request.title, request.kind))
        return True

    requests = answering(tmp_path, allows)
    write = {"sessionId": "s", "path": f"{tmp_path}/new.txt", "content": "new"}
    assert await soon(requests.handle("fs/write_text_file", write)) == {}
    assert (tmp_path / "new.txt").read_text() == "new"
    assert asked == [(f"Write {tmp_path}/new.txt", "edit")]


async def test_terminals_run_and_end_with_the_client(tmp_path: Path) -> None:
    requests = answering(tmp_path)
    made = await soon(
        requests.handle("terminal/create", {"sessionId": "s", "command": "sh", "args": ["-c", "echo hi"]})
    )
    named = {"sessionId": "s", **made}
    assert await soon(requests.handle("terminal/wait_for_exit", named)) == {"exitCode": 0, "signal": None}
    assert (await soon(requests.handle("terminal/output", named)))["output"] == "hi\n"
    assert await soon(requests.handle("terminal/release", named)) == {}
    assert await code_of(requests, "terminal/output", named) == -32002
    script = f"echo $$ > {tmp_path}/pid.part; mv {tmp_path}/pid.part {tmp_path}/pid; sleep 600"
    await soon(requests.handle("terminal/create", {"sessionId": "s", "command": script}))
    await until((tmp_path / "pid").exists)
    await soon(requests.close())
    await until(lambda: not is_alive(int((tmp_path / "pid").read_text())))
