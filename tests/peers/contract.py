"""What every client on an official SDK must see of our agent; each SDK's test module runs all of it.

The scenarios are played once per SDK, in one process, each in a session of its own. A second process,
with a client that can do less, then opens them again.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.peers.client_plans import ABLE, Driver, JsonObject, Stage
from tests.peers.session_views import View, heard_view, kept_view

ORDER = {"name": "Ada", "colour": "red", "copies": 2, "gift": True}
ACCEPTED = {"action": "accept", "content": ORDER}

SCENARIOS: dict[str, JsonObject] = {
    "hello there": {},
    "/text": {},
    "/thoughts": {},
    "/tools": {},
    "/parallel-tools": {},
    "/diff": {},
    "/terminal": {},
    "/permission": {"answers": ["allow_once"]},
    "/permission-twice": {"answers": ["reject_once", "allow_once"]},
    "/edit": {
        "answers": [
            "reject_once",
            {"action": "accept", "content": {"choice": "trunkline:edit"}},
            {"action": "accept", "content": {"path": "other.txt", "content": "edited\n"}},
        ]
    },
    "/form": {"answers": [ACCEPTED]},
    "/link": {"answers": [{"action": "accept"}]},
    "/plan": {},
    "/modes code": {},
    "/subagents": {},
    "/media": {},
    "/sources": {},
    "/state": {},
    "/client-tool": {},
    "/long 3000": {},
    "/breaks-grammar": {},
    "/fails": {},
    "/wait-for-cancel": {"cancelOn": "tool_call"},
}
NEWER: dict[str, JsonObject] = {"/notice": {}, "/compaction": {}}


class Played(NamedTuple):
    """What became of the scenarios: live, and opened again in a new process."""

    stage: Stage
    notices: bool
    live: JsonObject
    again: JsonObject

    def views(self, name: str, report: JsonObject, **shown: Any) -> tuple[View, View]:
        """What a client saw of a scenario's session, and what it should have seen."""
        kept = self.stage.conversation(self.live["sessions"][name])
        loose = {call_id for call_id, call in kept.calls.items() if call.message_id is None}
        steps = report["steps"][name]
        heard = [item for item in steps["heard"] if item not in in_words(steps) and not is_choice(item)]
        return heard_view(heard, loose=loose), kept_view(kept, notices=self.notices, **shown)


def is_choice(item: JsonObject) -> bool:
    """Whether it is about the card of a question that belongs to no call."""
    return str(item.get("update", {}).get("toolCallId", "")).endswith(".choice")


class ClientContract:
    """Subclass it in a test module and say which program carries out a plan."""

    notices = True
    """Whether the SDK knows notices and compactions."""
    deletes = True
    """Whether the SDK can delete a session."""
    stages: type[Stage] = Stage
    """Where the client and the agent play."""

    @classmethod
    def find_driver(cls, root: Path) -> Driver:
        """The program that carries out a plan."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def driver(cls, root: Path) -> Driver:
        """The same, found once."""
        return cls.find_driver(root)

    @pytest.fixture(scope="class")
    @classmethod
    def played(cls, driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Played:
        stage = cls.stages(tmp_path_factory.mktemp("scenarios"), driver)
        able: JsonObject = ABLE if cls.notices else {**ABLE, "session": {"configOptions": {"boolean": {}}}}
        scenarios = SCENARIOS | (NEWER if cls.notices else {})
        steps: list[JsonObject] = []
        for name, more in scenarios.items():
            steps += [stage.new(name), stage.prompt(name, name, name, **more)]
        live = stage.play(steps, capabilities=able)
        again = stage.play(
            [stage.open("load", name, session_id) for name, session_id in live["sessions"].items()],
            capabilities={"session": able["session"]},
        )
        return Played(stage, cls.notices, live, again)

    @pytest.fixture
    def stage(self, driver: Driver, tmp_path: Path) -> Stage:
        """An empty stage."""
        return self.stages(tmp_path, driver)

    # -- the fold ----------------------------------------------------------------------------------

    def test_what_the_client_folds_live_is_what_the_journal_holds(self, played: Played) -> None:
        for name in played.live["sessions"]:
            terminals = ["terminal-0"] if name == "/terminal" else []
            seen, kept = played.views(name, played.live, person=False, terminals=terminals)
            assert seen == kept, name

    def test_what_a_load_in_a_new_process_replays_is_the_same_with_the_persons_words(
        self, played: Played
    ) -> None:
        for name in played.live["sessions"]:
            seen, kept = played.views(name, played.again, person=True)
            assert "error" not in played.again["steps"][name], name
            assert seen == kept, name

    def test_a_load_without_forms_tells_what_was_asked_and_answered(self, played: Played) -> None:
        question, answer = in_words(played.again["steps"]["/form"])
        assert question["update"]["content"]["text"].startswith("Please order a T-shirt.\n\n- `name`")
        assert answer["update"]["sessionUpdate"] == "user_message_chunk"
        assert answer["update"]["content"]["text"] == "name: Ada\ncolour: red\ncopies: 2\ngift: Yes"

    def test_every_turn_ends_with_its_stop_reason(self, played: Played) -> None:
        steps: dict[str, JsonObject] = played.live["steps"]
        ends = {
            name: steps[name]["result"]["stopReason"] if "result" in steps[name] else None
            for name in played.live["sessions"]
        }
        assert ends == dict.fromkeys(ends, "end_turn") | {"/wait-for-cancel": "cancelled", "/fails": None}

    def test_a_failed_turn_is_an_error_that_says_the_cause(self, played: Played) -> None:
        error = played.live["steps"]["/fails"]["error"]
        assert error["code"] == -32603
        assert error["data"] == {"details": error["message"]}
        assert "failed on purpose" in error["message"]

    def test_text_arrives_whole_and_in_order(self, played: Played) -> None:
        (parts,) = heard_view(played.live["steps"]["/long 3000"]["heard"])["messages"].values()
        assert parts == [["text", "".join(f"{number} " for number in range(1, 3001))]]

    def test_states_of_calls_are_seen(self, played: Played) -> None:
        calls = heard_view(played.live["steps"]["/parallel-tools"]["heard"])["calls"].values()
        assert [(call["title"], call["status"]) for call in calls] == [
            ("Weather in Paris", "failed"),
            ("Weather in Oslo", "completed"),
        ]

    def test_notices_and_compactions_are_seen_by_clients_that_know_them(self, played: Played) -> None:
        if self.notices:
            notices = heard_view(played.live["steps"]["/notice"]["heard"])["notices"]
            compactions = heard_view(played.live["steps"]["/compaction"]["heard"])["compactions"]
            assert [severity for severity, *_ in notices] == ["info", "warning", "error"]
            assert list(compactions.values()) == ["completed"]

    # -- asking ------------------------------------------------------------------------------------

    def test_a_permission_shows_its_call_and_four_options(self, played: Played) -> None:
        (asked,) = requests(played.live["steps"]["/permission"], "session/request_permission")
        assert asked["toolCall"]["rawInput"] == {"path": "hello.txt", "content": "hello\n"}
        kinds = [option["kind"] for option in asked["options"]]
        assert kinds == ["allow_once", "allow_always", "reject_once", "reject_always"]

    def test_an_allowed_call_writes_through_the_editor(self, played: Played) -> None:
        assert played.live["files"][str(played.stage.cwd / "hello.txt")] == "hello\n"
        assert not (played.stage.cwd / "hello.txt").exists(), "the editor has it, so the disk has not"

    def test_an_edit_opens_a_form_and_the_edited_arguments_are_used(self, played: Played) -> None:
        (choice, form) = requests(played.live["steps"]["/edit"], "elicitation/create")
        assert [one["const"] for one in choice["requestedSchema"]["properties"]["choice"]["oneOf"]] == [
            "reject_once", "trunkline:edit",
        ]  # fmt: skip
        fields = form["requestedSchema"]["properties"]
        assert {name: field["default"] for name, field in fields.items()} == {
            "path": "hello.txt",
            "content": "hello\n",
        }
        assert played.live["files"][str(played.stage.cwd / "other.txt")] == "edited\n"

    def test_a_refused_call_is_a_failed_one_with_its_reason(self, stage: Stage) -> None:
        steps = stage.play(
            [stage.new("s"), stage.prompt("no", "s", "/permission", answers=["reject_once"])],
        )
        (call,) = heard_view(steps["steps"]["no"]["heard"])["calls"].values()
        assert steps["steps"]["no"]["result"]["stopReason"] == "end_turn"
        assert call["status"] == "failed"
        assert call["content"][-1]["content"]["text"].startswith("Denied")
        assert steps["files"] == {}

    def test_a_cancelled_permission_cancels_the_turn_and_the_session_goes_on(self, stage: Stage) -> None:
        steps = stage.play(
            [
                stage.new("s"),
                stage.prompt("dismissed", "s", "/permission", answers=["cancelled"]),
                stage.prompt(
                    "cancelled",
                    "s",
                    "/permission",
                    answers=["cancelled"],
                    cancelOn="session/request_permission",
                ),
                stage.prompt("next", "s", "still here?"),
            ]
        )["steps"]
        reasons = [steps[name]["result"]["stopReason"] for name in ("dismissed", "cancelled", "next")]
        assert reasons == ["cancelled", "cancelled", "end_turn"]

    def test_a_form_is_filled_in_and_a_link_is_completed(self, played: Played) -> None:
        (form,) = requests(played.live["steps"]["/form"], "elicitation/create")
        assert set(form["requestedSchema"]["properties"]) == set(ORDER)
        (steps,) = heard_view(played.live["steps"]["/form"]["heard"])["messages"].values()
        assert '"name": "Ada"' in steps[0][1]
        (link,) = requests(played.live["steps"]["/link"], "elicitation/create")
        (completed,) = requests(played.live["steps"]["/link"], "elicitation/complete")
        assert link["url"] == "https://example.com/device"
        assert completed["elicitationId"] == link["elicitationId"]

    def test_a_client_that_can_do_nothing_is_asked_for_nothing_it_cannot_do(self, stage: Stage) -> None:
        steps = stage.play(
            [
                stage.new("s"),
                *(stage.prompt(text, "s", text) for text in ("/form", "Decline.", "/terminal")),
                stage.prompt("/link", "s", "/link", answers=["ok"]),
                stage.prompt("/edit", "s", "/edit", answers=["allow_once"]),
            ],
            capabilities={},
        )["steps"]
        asked = [
            item["method"]
            for name, step in steps.items()
            for item in step["heard"]
            if "method" in item and name not in ("/edit", "/link")
        ]
        assert asked == []
        assert agent_text(steps["Decline."]) == "No order, then."
        (link,) = requests(steps["/link"], "session/request_permission")
        assert "https://example.com/device" in link["toolCall"]["title"]
        assert "is confirmed" in agent_text(steps["/link"])
        (permission,) = requests(steps["/edit"], "session/request_permission")
        for asked in (link, permission):
            kinds = [option["kind"] for option in asked["options"]]
            assert len(set(kinds)) == len(kinds)
            assert asked["toolCall"]["content"], "what is approved is there to be seen"
        assert (stage.cwd / "hello.txt").read_text(encoding="utf-8") == "hello\n"
        (call,) = heard_view(steps["/terminal"]["heard"])["calls"].values()
        assert call["content"] == [
            {"type": "content", "content": {"type": "text", "text": "line 1\nline 2\nline 3\n"}}
        ]

    def test_files_are_read_and_written_through_the_editor(self, stage: Stage) -> None:
        here = Path(__file__).parent / "agents.py"
        steps = stage.play(
            [stage.new("s"), stage.prompt("copy", "s", "go")],
            target=f"{here}:copies",
            files={str(stage.cwd / "notes.txt"): "unsaved\n"},
        )
        assert steps["files"][str(stage.cwd / "copy.txt")] == "unsaved\n"
        methods = [item["method"] for item in steps["steps"]["copy"]["heard"] if "method" in item]
        assert methods == ["fs/read_text_file", "fs/write_text_file"]

    def test_a_terminal_runs_in_the_editor_and_is_released(self, played: Played) -> None:
        steps = played.live["steps"]["/terminal"]
        (created,) = requests(steps, "terminal/create")
        (released,) = requests(steps, "terminal/release")
        assert created["command"] == sys.executable
        assert released == {"terminalId": "terminal-0"}

    # -- sessions ----------------------------------------------------------------------------------

    def test_the_greeting_names_the_agent_and_what_it_can_do(self, played: Played) -> None:
        greeting = played.live["greeting"]
        able = greeting["agentCapabilities"]
        assert (greeting["protocolVersion"], greeting["agentInfo"]["name"]) == (1, "demo")
        assert able["loadSession"] is True
        assert able["promptCapabilities"] == {"image": True, "audio": True, "embeddedContext": True}

    def test_a_session_is_listed_forked_resumed_and_closed(self, stage: Stage) -> None:
        first = stage.play(
            [
                stage.new("s"),
                stage.prompt("hello", "s", "hello"),
                stage.open("fork", "fork", "s") | {"as": "f"},
                stage.prompt("more", "f", "more"),
                {"name": "list", "call": "session/list", "params": {"cwd": str(stage.cwd)}},
                {"name": "elsewhere", "call": "session/list", "params": {"cwd": "/nowhere"}},
                {"name": "close", "call": "session/close", "params": {"sessionId": "s"}},
                stage.open("resume", "resume", "s"),
                stage.prompt("again", "s", "again"),
                stage.open("load", "load", "f"),
            ]
        )
        steps, ids = first["steps"], first["sessions"]
        assert [step for step in steps if "error" in steps[step]] == []
        assert {info["sessionId"] for info in steps["list"]["result"]["sessions"]} == set(ids.values())
        assert steps["elsewhere"]["result"]["sessions"] == []
        assert chunks(steps["resume"]) == [], "a resume replays nothing"
        loaded = heard_view(steps["load"]["heard"])
        assert loaded == kept_view(stage.conversation(ids["f"]), person=True)
        output = [parts[0] for parts in loaded["messages"].values()]
        assert output == [["user", "hello"], ["text", "hello"], ["user", "more"], ["text", "more"]]
        original = stage.conversation(ids["s"]).messages
        assert [message.text for message in original] == ["hello", "hello", "again", "again"]

    def test_a_deleted_session_is_gone(self, stage: Stage) -> None:
        steps = stage.play(
            [
                stage.new("s"),
                stage.prompt("hello", "s", "hello"),
                {"name": "delete", "call": "session/delete", "params": {"sessionId": "s"}},
                stage.open("load", "load", "s"),
                {"name": "list", "call": "session/list", "params": {}},
            ]
        )["steps"]
        if not self.deletes:
            assert steps["delete"]["missing"]
            return
        assert "error" not in steps["delete"]
        assert steps["load"]["error"]["code"] == -32002
        assert steps["list"]["result"]["sessions"] == []

    def test_a_mode_is_set_both_ways_and_the_other_way_follows(self, stage: Stage) -> None:
        steps = stage.play(
            [
                stage.new("s"),
                {
                    "name": "mode",
                    "call": "session/set_mode",
                    "params": {"sessionId": "s", "modeId": "plan"},
                    "until": "current_mode_update",
                },
                {
                    "name": "option",
                    "call": "session/set_config_option",
                    "params": {"sessionId": "s", "configId": "mode", "value": "code"},
                    "until": "current_mode_update",
                },
                {
                    "name": "switch",
                    "call": "session/set_config_option",
                    "params": {"sessionId": "s", "configId": "think_aloud", "value": True, "type": "boolean"},
                    "until": "config_option_update",
                },
                stage.prompt("hello", "s", "hello"),
                {
                    "name": "wrong",
                    "call": "session/set_mode",
                    "params": {"sessionId": "s", "modeId": "no such mode"},
                },
            ]
        )["steps"]
        opened = steps["new s"]["result"]
        assert opened["modes"]["currentModeId"] == "ask"
        assert [mode["id"] for mode in opened["modes"]["availableModes"]] == ["ask", "code", "plan"]
        assert heard_view(steps["mode"]["heard"])["options"]["mode"] == "plan"
        values = {
            option["id"]: option["currentValue"] for option in steps["switch"]["result"]["configOptions"]
        }
        assert values == {"mode": "code", "model": "demo-small", "think_aloud": True}
        ((thought, *_),) = heard_view(steps["hello"]["heard"])["messages"].values()
        assert thought[0] == "thought"
        assert steps["wrong"]["error"]["code"] == -32602

    # -- errors ------------------------------------------------------------------------------------

    def test_what_cannot_be_done_is_an_error_with_a_cause(self, stage: Stage) -> None:
        steps = stage.play(
            [
                stage.open("load", "unknown", "sess_of_nobody"),
                stage.prompt("stranger", "sess_of_nobody", "hello"),
                {"name": "relative", "call": "session/new", "params": {"cwd": "here", "mcpServers": []}},
                {"name": "extension", "call": "_example.com/anything", "params": {}},
                stage.new("s"),
                stage.prompt("after", "s", "hello"),
            ]
        )["steps"]
        assert steps["unknown"]["error"]["code"] == steps["stranger"]["error"]["code"] == -32002
        assert "sess_of_nobody" in steps["unknown"]["error"]["data"]["details"]
        assert steps["relative"]["error"]["code"] == -32602
        assert steps["extension"]["error"]["code"] == -32601
        assert steps["after"]["result"]["stopReason"] == "end_turn"

    def test_a_login_is_asked_for_and_then_taken(self, stage: Stage) -> None:
        steps = stage.play(
            [
                {"name": "early", "call": "session/new", "params": {"cwd": str(stage.cwd), "mcpServers": []}},
                {"name": "login", "call": "authenticate", "params": {"methodId": "demo-login"}},
                stage.new("s"),
                stage.prompt("hello", "s", "hello"),
            ],
            target="demo-auth",
        )
        assert [method["id"] for method in steps["greeting"]["authMethods"]] == ["demo-login"]
        assert steps["steps"]["early"]["error"]["code"] == -32000
        assert steps["steps"]["hello"]["result"]["stopReason"] == "end_turn"


def requests(step: JsonObject, method: str) -> list[JsonObject]:
    """What the client was asked by one method, in order."""
    return [item["params"] for item in step["heard"] if item.get("method") == method]


def chunks(step: JsonObject) -> list[JsonObject]:
    """The pieces of messages that were heard."""
    updates = [item["update"] for item in step["heard"] if "update" in item]
    return [update for update in updates if update["sessionUpdate"].endswith("_chunk")]


def agent_text(step: JsonObject) -> str:
    """What the agent said."""
    output = [update for update in chunks(step) if update["sessionUpdate"] == "agent_message_chunk"]
    return "".join(update["content"]["text"] for update in output)


def in_words(step: JsonObject) -> list[JsonObject]:
    """What was heard of questions that a client without forms is told in words, and of their answers."""
    return [
        item
        for item in step["heard"]
        if str(item.get("update", {}).get("messageId")).endswith((".question", ".answer"))
    ]


class CrashContract(ClientContract):
    """What a crash leaves is ours, so one client of each transport is enough."""

    def test_a_client_without_forms_answers_a_graph_by_its_next_messages_also_after_a_crash(
        self, stage: Stage
    ) -> None:
        target = f"{Path(__file__).parent / 'graph.py'}:agent"
        first = stage.play(
            [stage.new("s"), stage.prompt("name", "s", "hello")], target=target, capabilities={}, kill=True
        )
        session = first["sessions"]["s"]
        again = stage.play(
            [stage.open("load", "load", session), stage.prompt("town", session, "Ada")],
            target=target,
            capabilities={},
            kill=True,
        )
        last = stage.play(
            [
                stage.open("load", "load", session),
                stage.prompt("drink", session, "London"),
                stage.prompt("tea", session, "tea"),
                stage.open("load", "whole", session),
            ],
            target=target,
            capabilities={},
        )
        how = "Your next message is the answer. To decline, write `decline`."
        for step, question in (
            (first["steps"]["name"], "What is your name?"),
            (again["steps"]["load"], "What is your name?"),
            (again["steps"]["town"], "Where do you live?\nhint: A town will do."),
            (last["steps"]["load"], "Where do you live?\nhint: A town will do."),
        ):
            assert agent_text(step).endswith(f"{question}\n\n{how}")
        drink = last["steps"]["drink"]
        assert "Tea or coffee?\n\n1. tea\n2. coffee\n\n" in agent_text(drink)
        assert requests(drink, "session/request_permission") == []
        assert agent_text(last["steps"]["tea"]) == "Here is your tea."
        assert last["steps"]["tea"]["result"]["stopReason"] == "end_turn"
        assert [item["update"]["content"]["text"].strip() for item in in_words(last["steps"]["whole"])] == [
            "What is your name?", "Ada", "Where do you live?\nhint: A town will do.", "London",
            "Tea or coffee?\n\n1. tea\n2. coffee", "tea",
        ]  # fmt: skip
        (turn,) = stage.conversation(session).turns
        assert turn.status == "finished", "it was one turn all the time"


class StdioContract(ClientContract):
    """What only a client that starts the agent itself can do."""

    def test_an_agent_that_answers_by_hand_asks_is_cancelled_changes_its_mode_and_is_loaded(
        self, stage: Stage, root: Path
    ) -> None:
        mode: JsonObject = {"sessionId": "s", "modeId": "readonly"}
        steps = stage.play(
            [
                stage.new("s"),
                stage.prompt("yes", "s", "write", answers=["allow_once"]),
                stage.prompt("no", "s", "write", answers=["reject_once"]),
                stage.prompt("dismissed", "s", "write", answers=["cancelled"]),
                stage.prompt(
                    "cancelled", "s", "write", answers=["cancelled"], cancelOn="session/request_permission"
                ),
                {"name": "mode", "call": "session/set_mode", "params": mode},
                stage.prompt("readonly", "s", "write"),
                stage.open("load", "load", "s"),
                stage.open("load", "unknown", "of nobody"),
            ],
            command=[sys.executable, f"{root}/examples/langchain/by_hand.py"],
        )["steps"]
        ends = {name: step["result"].get("stopReason") for name, step in steps.items() if "result" in step}
        assert [ends[name] for name in ("yes", "no", "dismissed", "cancelled", "readonly")] == [
            "end_turn", "end_turn", "cancelled", "cancelled", "end_turn",
        ]  # fmt: skip
        assert agent_text(steps["yes"]) == "I will write. Done."
        cards = {name: list(heard_view(steps[name]["heard"])["calls"].values()) for name in ends}
        statuses = [cards[name][0]["status"] for name in ("yes", "no", "readonly")]
        assert statuses == ["completed", "failed", "failed"]
        opened = [steps[name]["result"]["modes"]["currentModeId"] for name in ("new s", "load")]
        assert opened == ["agentic", "readonly"]
        assert heard_view(steps["readonly"]["heard"])["options"]["mode"] == "readonly"
        assert [call["status"] for call in cards["load"]][:2] == ["completed", "failed"]
        assert agent_text(steps["load"]).startswith("I will write. Done.")
        assert steps["unknown"]["error"]["code"] == -32002
