"""``trunkline sessions list``: a table that fits the terminal."""

import time

import pytest

from tests.cli.child_programs import run
from tests.cli.sessions.kept_sessions import FIRST, SECOND, Run
from trunkline.cli.journals import short_ids
from trunkline.cli.sessions.listing import Listed, agent_name, table
from trunkline.journal import SessionInfo

pytestmark = pytest.mark.slow


def test_sessions_are_listed_newest_first(sessions: Run) -> None:
    header, *lines = sessions("list").out.splitlines()

    assert header.split() == ["ID", "AGENT", "AGE", "TURNS", "TITLE"]
    assert [line.split()[0] for line in lines] == [SECOND[:14], FIRST[:14]]
    assert lines[0].endswith(" 2  hello")
    assert " demo " in lines[1]


def test_a_list_in_json_says_everything_known(sessions: Run) -> None:
    newest, oldest = sessions("list", "--format", "json").json

    assert (newest["session_id"], newest["title"], newest["target"]) == (SECOND, "hello", "demo")
    assert oldest["title"] == "Demo: permission"
    assert set(newest) >= {"created_at", "updated_at", "cwd", "events", "last_seq", "bytes", "owner"}
    assert newest["events"] == newest["last_seq"] > 5
    assert newest["owner"] is None


def test_a_list_may_be_cut(sessions: Run) -> None:
    assert len(sessions("list", "--limit", "1", "--format", "json").json) == 1


def test_an_empty_journal_says_how_to_begin() -> None:
    assert run("sessions", "list", "--journal", "memory:").err.endswith('trunkline exec demo "hello"\n')
    assert run("sessions", "list", "--journal", "memory:", "--format", "json").json == []


def info(number: int, **fields: object) -> SessionInfo:
    return SessionInfo(
        **{
            "principal": "local",
            "session_id": f"sess_{number:040x}",
            "target": "demo",
            "title": "hello",
            "updated_at": time.time(),
            **fields,
        }  # pyright: ignore[reportArgumentType]
    )


def test_the_table_has_a_header_and_fits_80_columns() -> None:
    infos = [
        info(1, title="a" * 300, target="/some/where/very/deep/agent_with_a_long_name.py:hello"),
        info(2, title="会议记录" * 30, kept={"trunkline.name": "work"}),
        info(3 << 140, title=None, updated_at=time.time() - 86400 * 400, target="acp:npx -y @some/agent"),
    ]
    turns = {infos[0].session_id: 12345, infos[1].session_id: 2}
    lines = table(Listed(infos, short_ids(infos), turns))

    assert lines[0].split() == ["ID", "AGENT", "AGE", "TURNS", "TITLE"]
    assert all(len(line) <= 80 for line in lines)
    assert lines[1].rstrip().endswith("…")
    assert "_long_name.py:hello" not in lines[1]
    assert "name.py:hello" in lines[1]
    assert "[work] 会议记录" in lines[2]
    assert "400 d" in lines[3]
    words = ("  AGE ", "0 s ", "0 s ")
    ends = [line.index(word) + len(word) for line, word in zip(lines, words, strict=False)]
    assert len(set(ends)) == 1


def test_in_a_narrow_terminal_the_table_has_what_finds_a_session() -> None:
    infos = [info(1, title="a" * 300), info(2, title="会议记录" * 30)]
    lines = table(Listed(infos, short_ids(infos), {}), 40)

    assert lines[0].split() == ["ID", "AGE", "TITLE"]
    assert len(lines[1]) == 40
    assert lines[2].endswith("…")


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("demo", "demo"),
        ("/home/ada/agent.py:hello", "agent.py:hello"),
        ("package.module:agent", "…kage.module:agent"),
    ],
)
def test_an_agent_is_named_by_the_end_of_its_target(target: str, name: str) -> None:
    assert agent_name(target) == name
    assert len(name) <= 18


def test_short_ids_are_as_long_as_they_must_be() -> None:
    infos = [
        info(0xABCDEF << 136),
        info(0xABCDE1 << 136),
        info(0x123456 << 136),
        info(0, session_id="thread-1"),
    ]
    assert list(short_ids(infos).values()) == ["sess_123456", "sess_abcde1", "sess_abcdef", "thread-1"]
    alike = [info(1), info(2)]
    short = short_ids(alike)
    assert len(set(short.values())) == 2
    assert all(whole.startswith(one) for whole, one in short.items())


def test_a_long_id_of_an_agents_own_is_short_too() -> None:
    ids = ["fad6a058-ad8f-4527-bbd7-735098f46347", "fad6a058-ad8f-9999-bbd7-735098f46347", "0" * 36]
    infos = [info(0, session_id=one) for one in ids]
    assert list(short_ids(infos).values()) == ["00000000000", "fad6a058-ad8f-4", "fad6a058-ad8f-9"]
    lines = table(Listed(infos, short_ids(infos), {}))
    assert [line.split()[0] for line in lines[1:]] == ["fad6a058-ad8f-4", "fad6a058-ad8f-9", "00000000000"]


def test_a_short_id_of_the_table_finds_its_session(sessions: Run) -> None:
    row = sessions("list").out.splitlines()[1].split()
    assert SECOND.startswith(row[0])
    assert sessions("show", row[0]).code == 0


def test_sessions_are_found_by_what_was_said_in_them(sessions: Run) -> None:
    found = sessions("search", "HELLO").out.splitlines()
    assert [line.split()[0] for line in found] == ["ID", SECOND[:14], FIRST[:14]]
    only = sessions("search", "look map", "--format", "json", "--limit", "1").json
    assert [row["session_id"] for row in only] == [FIRST]
    none = sessions("search", "quite another word")
    assert none.code == 1
    assert "no session has 'quite another word' in it" in none.err
    assert sessions("search", "").code == 2
