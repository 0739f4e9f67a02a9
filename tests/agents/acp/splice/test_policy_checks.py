"""Files, commands and our own files in a splice: what is refused, passed, or asked at the editor."""

import os
from pathlib import Path

import pytest

from tests.agents.acp.splice.pairs import Json, begin, finish, paired, rules, selected
from tests.hubs import only
from trunkline import events as ev
from trunkline.own_files import protect_own_file


async def test_files_and_terminals_that_the_policy_denies_are_refused_by_us(tmp_path: Path) -> None:
    async with paired(tmp_path, policy=rules("deny")) as pair:
        _, editor_id, agent_id = await begin(pair)
        requests: list[tuple[str, Json]] = [
            ("fs/read_text_file", {"path": "/etc/hostname"}),
            ("fs/write_text_file", {"path": "/tmp/x", "content": "x"}),
            ("terminal/create", {"command": "rm", "args": ["x"]}),
            ("terminal/create", {"command": "rm x && rm y"}),
        ]
        for method, params in requests:
            pair.agent.send(id=7, method=method, params={"sessionId": "native-1", **params})
            assert "refused by policy" in (await pair.agent.until(id=7))["error"]["message"]
        assert pair.editor.is_quiet
        assert len(only(await finish(pair, editor_id, agent_id), ev.Decided)) == len(requests)


async def test_files_and_terminals_that_the_policy_allows_pass_as_they_are(tmp_path: Path) -> None:
    async with paired(tmp_path, policy=rules("allow-all")) as pair:
        _, editor_id, agent_id = await begin(pair)
        for method in ("fs/read_text_file", "fs/write_text_file"):
            params = {"sessionId": "native-1", "path": "/tmp/x", "content": "x"}
            line = pair.agent.send(id=7, method=method, params=params)
            assert await pair.editor.line() == line
            answer = pair.editor.send(id=7, result={"content": "y"})
            assert await pair.agent.line() == answer
        line = pair.agent.send(id=8, method="terminal/output", params={"sessionId": "x", "terminalId": "t"})
        assert await pair.editor.line() == line
        await finish(pair, editor_id, agent_id)


@pytest.mark.parametrize("option", ["allow_once", "reject_once"])
async def test_a_file_that_the_policy_asks_about_is_asked_at_the_editor(tmp_path: Path, option: str) -> None:
    async with paired(tmp_path, policy=rules("ask")) as pair:
        _, editor_id, agent_id = await begin(pair)
        params = {"sessionId": "native-1", "path": "/tmp/x", "content": "x"}
        line = pair.agent.send(id=7, method="fs/write_text_file", params=params)
        ours = await pair.editor.next()
        assert (ours["method"], ours["params"]["sessionId"]) == ("session/request_permission", "native-1")
        assert str(ours["id"]).startswith("trunkline-")
        chosen = next(one["optionId"] for one in ours["params"]["options"] if one["kind"] == option)
        pair.editor.send(id=ours["id"], result=selected(chosen))
        if option == "allow_once":
            assert await pair.editor.line() == line
            pair.editor.send(id=7, result={})
            assert (await pair.agent.until(id=7))["result"] == {}
        else:
            assert "refused by acp" in (await pair.agent.until(id=7))["error"]["message"]
        await finish(pair, editor_id, agent_id)


async def test_our_own_question_shows_the_editor_what_it_is_about(tmp_path: Path) -> None:
    there = tmp_path / "there.txt"
    there.write_text("old")
    run = {"command": "ls", "args": ["-l"], "env": [{"name": "LD_PRELOAD", "value": "./x.so"}], "cwd": "/usr"}
    write = {"path": str(there), "content": "new"}
    diff = {"type": "diff", "path": str(there), "oldText": "old", "newText": "new"}
    text = {"type": "text", "text": "/usr $ LD_PRELOAD=./x.so ls -l"}
    shown = {
        "terminal/create": (run, {"kind": "execute", "content": [{"type": "content", "content": text}]}),
        "fs/write_text_file": (
            write,
            {"kind": "edit", "locations": [{"path": str(there)}], "content": [diff]},
        ),
        "fs/read_text_file": ({"path": "/tmp/x"}, {"kind": "read", "locations": [{"path": "/tmp/x"}]}),
    }
    async with paired(tmp_path, policy=rules("ask")) as pair:
        _, editor_id, agent_id = await begin(pair)
        for method, (params, expected) in shown.items():
            pair.agent.send(id=7, method=method, params={"sessionId": "native-1", **params})
            ours = await pair.editor.next()
            call = ours["params"]["toolCall"]
            assert {name: call[name] for name in expected} == expected
            pair.editor.send(id=ours["id"], result=selected("reject_once"))
            assert "refused by acp" in (await pair.agent.until(id=7))["error"]["message"]
        await finish(pair, editor_id, agent_id)


async def test_what_might_never_end_is_not_read_before_it_is_written(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    async with paired(tmp_path, policy=rules("ask")) as pair:
        _, editor_id, agent_id = await begin(pair)
        for path in (str(pipe), "/dev/zero", str(tmp_path)):
            params = {"sessionId": "native-1", "path": path, "content": "x"}
            pair.agent.send(id=7, method="fs/write_text_file", params=params)
            ours = await pair.editor.next()
            assert "oldText" not in ours["params"]["toolCall"]["content"][0]
            pair.editor.send(id=ours["id"], result=selected("reject_once"))
            await pair.agent.until(id=7)
        await finish(pair, editor_id, agent_id)


async def test_requests_that_could_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    async with paired(tmp_path, policy=rules("allow-all")) as pair:
        _, editor_id, agent_id = await begin(pair)
        twice = b'{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","method":"_x/y","params":{}}'
        paths = b'{"jsonrpc":"2.0","id":2,"method":"fs/write_text_file","params":{"path":"/a","path":"/b"}}'
        for line in (twice, paths):
            pair.agent.write_line(line + b"\n")
            assert (await pair.agent.next())["error"]["code"] == -32600
        silent = b'{"jsonrpc":"2.0","method":"fs/write_text_file","params":{"path":"/a"}}'
        odd = b'{"jsonrpc":"2.0","id":true,"method":"fs/write_text_file","params":{"path":"/a"}}'
        pair.agent.write_line(silent + b"\n" + odd + b"\n")
        await finish(pair, editor_id, agent_id)
        assert pair.editor.is_quiet


async def test_our_own_files_are_not_written_even_without_a_policy(tmp_path: Path) -> None:
    own = tmp_path / "policy.toml"
    own.write_text("")
    protect_own_file(own, "the policy")
    link = tmp_path / "link"
    os.symlink(own, link)
    async with paired(tmp_path) as pair:
        _, editor_id, agent_id = await begin(pair)
        for path in (own, link):
            params = {"sessionId": "native-1", "path": str(path), "content": ""}
            pair.agent.send(id=7, method="fs/write_text_file", params=params)
            assert "the policy of trunkline" in (await pair.agent.until(id=7))["error"]["message"]
        await finish(pair, editor_id, agent_id)
