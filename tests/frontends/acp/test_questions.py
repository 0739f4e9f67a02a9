"""Questions over ACP: asked at once, answered by option or form, and never by silence."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.frontends.acp.memory_editor import editing
from tests.hubs import hub_for, soon, until

from trunkline.commands import Answer, Prompt
from trunkline.questions import Form, Option, Permission
from trunkline.session.context import TurnContext
from trunkline.testing import ScriptedAgent

ORDER = {"name": "A", "colour": "red"}


async def test_a_permission_is_asked_with_its_call_and_answered_by_option(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        editor.permit("allow_once", "reject_once")
        session_id = await editor.open(tmp_path)
        await editor.prompt(session_id, "/permission")
        (asked,) = editor.asked("session/request_permission")
        assert asked["toolCall"]["title"] == "Write hello.txt"
        assert asked["toolCall"]["rawInput"] == {"path": "hello.txt", "content": "hello\n"}
        assert [option["kind"] for option in asked["options"]] == [
            "allow_once", "allow_always", "reject_once", "reject_always",
        ]  # fmt: skip
        assert (tmp_path / "hello.txt").read_text() == "hello\n"
        (tmp_path / "hello.txt").unlink()
        await editor.prompt(session_id, "/permission")
        assert not (tmp_path / "hello.txt").exists()
        last = [u for u in editor.updates("tool_call_update") if u.get("status")][-1]
        assert last["status"] == "failed"
        assert last["content"][-1]["content"]["text"].startswith("Denied: ")


async def test_always_is_remembered(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        editor.permit("allow_always")
        session_id = await editor.open(tmp_path)
        for _ in range(3):
            await editor.prompt(session_id, "/permission")
        assert len(editor.asked("session/request_permission")) == 1


async def test_cancelled_means_that_the_turn_is_cancelled(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        editor.permit("cancelled")
        result = await editor.prompt(await editor.open(tmp_path), "/permission")
        assert result["stopReason"] == "cancelled"


@pytest.mark.parametrize(
    "answer",
    [
        {"outcome": {"outcome": "selected", "optionId": "no such option"}},
        {"outcome": {"outcome": "perhaps"}},
        {"outcome": "selected"},
        {},
        None,
        [],
    ],
)
async def test_an_answer_that_makes_no_sense_is_a_refusal(answer: Any, tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        editor.answers["session/request_permission"] = lambda params: answer
        result = await editor.prompt(await editor.open(tmp_path), "/permission")
        assert result["stopReason"] == "end_turn"
        assert editor.text.endswith("Nothing was written.")
        assert not (tmp_path / "hello.txt").exists()


async def test_an_error_instead_of_an_answer_is_a_refusal_that_says_why(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        session_id = await editor.open(tmp_path)
        await editor.prompt(session_id, "/permission")
        last = [u for u in editor.updates("tool_call_update") if u.get("status")][-1]
        assert "this editor does not do that" in last["content"][-1]["content"]["text"]


async def test_an_answer_from_elsewhere_withdraws_the_editors_request(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        late = asyncio.get_running_loop().create_future()
        editor.answers["session/request_permission"] = lambda params: late
        session_id = await editor.open(tmp_path)
        running = asyncio.create_task(editor.prompt(session_id, "/permission"))
        session = await hub.session(session_id)
        await until(lambda: bool(editor.asked("session/request_permission")))
        (question_id,) = session.open_questions
        await session.answer(Answer(question_id=question_id, option_id="allow_once", by="the page"))
        assert (await soon(running))["stopReason"] == "end_turn"
        assert editor.withdrawn == ["session/request_permission"]
        assert (tmp_path / "hello.txt").exists()


async def test_a_question_that_is_answered_before_it_is_put_is_not_put(tmp_path: Path) -> None:
    async def hasty(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        asking = asyncio.ensure_future(ctx.permission("May I?", tool="write"))
        while not session.open_questions:
            await asyncio.sleep(0)
        (question_id,) = session.open_questions
        await session.answer(Answer(question_id=question_id, option_id="allow_once", by="the page"))
        yield str(bool(await asking))

    async with hub_for(hasty) as hub, editing(hub) as editor:
        session = await hub.session(await editor.open(tmp_path))
        await editor.prompt(session.session_id, "go")
        assert editor.text == "True"
        assert len(editor.asked("session/request_permission")) == len(editor.withdrawn)


async def test_two_permissions_are_asked_at_once() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        both = asyncio.Event()

        async def answer(params: dict[str, Any]) -> Any:
            if len(editor.asked("session/request_permission")) == 2:
                both.set()
            await both.wait()
            allowed = "read_notes" in params["toolCall"]["title"]
            option = "allow_once" if allowed else "reject_once"
            return {"outcome": {"outcome": "selected", "optionId": option}}

        editor.answers["session/request_permission"] = answer
        await editor.prompt(await editor.open(), "/permission-twice")
        assert editor.text == "read_notes: allowed, send_report: refused"


FORMS: dict[str, Any] = {"elicitation": {"form": {}}}


def filling(*answers: Any) -> Any:
    """Fill in one form after the other; None cancels."""
    left = list(answers)

    def fill(params: dict[str, Any]) -> dict[str, Any]:
        content = left.pop(0)
        return {"action": "cancel"} if content is None else {"action": "accept", "content": content}

    return fill


def kinds_of(asked: dict[str, Any]) -> list[str]:
    return [option["kind"] for option in asked["options"]]


async def test_arguments_are_edited_in_a_form_behind_the_refusal(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, FORMS) as editor:
        editor.permit("reject_once")
        edited = {"path": "other.txt", "content": "edited\n"}
        editor.answers["elicitation/create"] = filling({"choice": "trunkline:edit"}, edited)
        await editor.prompt(await editor.open(tmp_path), "/edit")
        (asked,) = editor.asked("session/request_permission")
        assert kinds_of(asked) == ["allow_once", "allow_always", "reject_once", "reject_always"]
        assert asked["options"][2]["name"] == "Reject or change…"
        (choice, form) = editor.asked("elicitation/create")
        assert choice["requestedSchema"]["properties"]["choice"]["oneOf"] == [
            {"const": "reject_once", "title": "Reject"},
            {"const": "trunkline:edit", "title": "Run it with changed arguments"},
        ]
        assert form["requestedSchema"]["properties"]["path"] == {
            "type": "string", "title": "path", "default": "hello.txt",
        }  # fmt: skip
        assert form["toolCallId"] == editor.asked("session/request_permission")[0]["toolCall"]["toolCallId"]
        assert (tmp_path / "other.txt").read_text() == "edited\n"
        assert not (tmp_path / "hello.txt").exists()


async def test_a_person_who_cancels_editing_is_asked_again(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, FORMS) as editor:
        editor.permit("reject_once", "allow_once")
        editor.answers["elicitation/create"] = filling({"choice": "trunkline:edit"}, None)
        await editor.prompt(await editor.open(tmp_path), "/edit")
        assert len(editor.asked("session/request_permission")) == 2
        assert (tmp_path / "hello.txt").read_text() == "hello\n"


@pytest.mark.parametrize(
    "filled", [None, {}, {"choice": "reject_once"}, {"choice": "nonsense"}, {"choice": 7}]
)
async def test_a_refusal_counts_even_if_the_form_behind_it_is_closed(filled: Any, tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, FORMS) as editor:
        editor.permit("reject_once")
        editor.answers["elicitation/create"] = filling(filled)
        await editor.prompt(await editor.open(tmp_path), "/edit")
        assert editor.text.endswith("Nothing was written.")
        assert not (tmp_path / "hello.txt").exists()


REVIEW = (
    Option(option_id="approve", name="Approve", kind="allow_once"),
    Option(option_id="reject", name="Reject", kind="reject_once"),
    Option(option_id="respond", name="Answer for the tool", kind="reject_once", wants_words=True),
)
SCOPES = (
    Option(option_id="file", name="This file", kind="allow_once"),
    Option(option_id="folder", name="This folder", kind="allow_once"),
    Option(option_id="no", name="No", kind="reject_once"),
)


def asking(options: tuple[Option, ...]) -> Any:
    """An agent that asks with options of its own and says what was chosen."""

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        call_id = ctx.start_call("write_file", {"path": "a.txt"}, "edit")
        answered = await ctx.ask(Permission(message="May I?", call_id=call_id, options=options))
        yield f"{answered.outcome} {answered.option_id} {answered.reason}"

    return agent


async def test_without_forms_no_option_wants_a_text_so_that_reject_rejects() -> None:
    async with hub_for(asking(REVIEW)) as hub, editing(hub) as editor:
        editor.permit("reject")
        await editor.prompt(await editor.open(), "go")
        (asked,) = editor.asked("session/request_permission")
        assert [one["optionId"] for one in asked["options"]] == ["approve", "reject"]
        assert editor.text == "selected reject None"


async def test_a_permission_without_a_refusal_can_be_refused_all_the_same() -> None:
    async with hub_for(asking((REVIEW[0], REVIEW[2]))) as hub, editing(hub) as editor:
        editor.permit("trunkline:decline")
        await editor.prompt(await editor.open(), "go")
        (asked,) = editor.asked("session/request_permission")
        assert kinds_of(asked) == ["allow_once", "reject_once"]
        assert editor.text == "declined None the person declined"


async def test_with_forms_the_text_is_asked_for_behind_the_refusal() -> None:
    async with hub_for(asking(REVIEW)) as hub, editing(hub, FORMS) as editor:
        editor.permit("reject")
        editor.answers["elicitation/create"] = filling({"choice": "respond", "words": "use b.txt"})
        await editor.prompt(await editor.open(), "go")
        (asked,) = editor.asked("session/request_permission")
        assert kinds_of(asked) == ["allow_once", "reject_once"]
        assert asked["options"][1]["name"] == "Reject or answer…"
        assert editor.text == "selected respond use b.txt"


@pytest.mark.parametrize(
    ("filled", "words"),
    [({"choice": "folder"}, "selected folder None"), (None, "declined None the person declined")],
)
async def test_with_forms_options_of_one_kind_are_chosen_from_behind_one_button(
    filled: Any, words: str
) -> None:
    async with hub_for(asking(SCOPES)) as hub, editing(hub, FORMS) as editor:
        editor.permit("file")
        editor.answers["elicitation/create"] = filling(filled)
        await editor.prompt(await editor.open(), "go")
        (asked,) = editor.asked("session/request_permission")
        assert [(one["name"], one["kind"]) for one in asked["options"]] == [
            ("This file / This folder", "allow_once"), ("No", "reject_once"),
        ]  # fmt: skip
        assert editor.text == words


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("2", "selected folder None"),
        ("this folder", "selected folder None"),
        ("No", "selected no None"),
        ("Decline.", "declined None the person declined"),
    ],
)
async def test_without_forms_options_of_one_kind_are_asked_in_text(reply: str, words: str) -> None:
    async with hub_for(asking(SCOPES)) as hub, editing(hub) as editor:
        await editor.say("go")
        assert editor.asked("session/request_permission") == []
        assert '"path": "a.txt"' in editor.text
        assert "1. This file\n2. This folder\n3. No" in editor.text
        editor.log.clear()
        await editor.say("yes, go on")
        assert "must be one of: This file | This folder | No" in editor.text, (
            "what is no option allows nothing"
        )
        editor.log.clear()
        await editor.say(reply)
        assert editor.text == words


async def test_a_client_without_forms_is_offered_no_editing(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        editor.permit("allow_once")
        await editor.prompt(await editor.open(tmp_path), "/edit")
        (asked,) = editor.asked("session/request_permission")
        assert "trunkline:edit" not in {option["optionId"] for option in asked["options"]}


async def test_structured_arguments_are_edited_as_json() -> None:
    given = {"n": 1, "x": 1.5, "on": True, "list": [1], "none": None, "word": "w"}
    seen: list[Any] = []

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        decision = await ctx.permission("?", tool="t", input=given, allows_edit=True)
        seen.append(decision.input)
        yield "ok"

    async with hub_for(agent) as hub, editing(hub, FORMS) as editor:
        editor.permit("reject_once")
        editor.answers["elicitation/create"] = filling(
            {"choice": "trunkline:edit"}, {"n": 2, "list": "[1, 2]", "none": "not json", "word": "[3]"}
        )
        await editor.prompt(await editor.open(), "go")
        fields = editor.asked("elicitation/create")[1]["requestedSchema"]["properties"]
        assert {name: (field["type"], field["default"]) for name, field in fields.items()} == {
            "n": ("integer", 1), "x": ("number", 1.5), "on": ("boolean", True), "list": ("string", "[1]"),
            "none": ("string", "null"), "word": ("string", "w"),
        }  # fmt: skip
        assert seen == [{"n": 2, "x": 1.5, "on": True, "list": [1, 2], "none": "not json", "word": "[3]"}]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"action": "accept", "content": ORDER}, 'Ordered: {"colour": "red", "name": "A"}'),
        ({"action": "accept", "content": {"name": "no colour"}}, "No order, then."),
        ({"action": "decline"}, "No order, then."),
        ({"action": "cancel"}, "No order, then."),
        ("nonsense", "No order, then."),
    ],
)
async def test_a_form_is_filled_in_or_not(answer: Any, words: str) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, {"elicitation": {"form": {}}}) as editor:
        editor.answers["elicitation/create"] = lambda params: answer
        await editor.say("/form")
        (form,) = editor.asked("elicitation/create")
        assert (form["sessionId"], form["mode"]) == (editor.session_id, "form")
        assert editor.text == words


@pytest.mark.parametrize(("action", "words"), [("accept", "is confirmed"), ("decline", "was not confirmed")])
async def test_a_link_is_visited_or_not(action: str, words: str) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, {"elicitation": {"url": {}}}) as editor:
        editor.answers["elicitation/create"] = lambda params: {"action": action}
        await editor.prompt(await editor.open(), "/link")
        (link,) = editor.asked("elicitation/create")
        assert link["url"] == "https://example.com/device"
        done = [item["elicitationId"] for item in editor.asked("elicitation/complete")]
        assert done == ([link["elicitationId"]] if action == "accept" else [])
        assert words in editor.text


@pytest.mark.parametrize(
    ("option", "words"), [("ok", "is confirmed"), ("trunkline:decline", "was not confirmed")]
)
async def test_a_client_that_cannot_open_a_link_is_shown_its_address(option: str, words: str) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        editor.permit(option)
        await editor.prompt(await editor.open(), "/link")
        (asked,) = editor.asked("session/request_permission")
        assert "https://example.com/device" in asked["toolCall"]["title"]
        assert "https://example.com/device" in asked["toolCall"]["content"][0]["content"]["text"]
        assert kinds_of(asked) == ["allow_once", "reject_once"]
        assert editor.updates("agent_thought_chunk") == []
        assert words in editor.text


async def test_what_a_client_cannot_be_asked_is_declined_for_it() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        await editor.prompt(await editor.open(), "/client-tool")
        assert "gave nothing" in editor.text
        assert editor.asked("elicitation/create") == []


# -- choices for clients without forms -------------------------------------------------------------

SURE: dict[str, Any] = {
    "type": "object",
    "properties": {"sure": {"type": "boolean"}, "gift": {"type": "boolean", "default": True}},
    "required": ["sure"],
}


async def sure(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Ask for a yes or a no."""
    answered = await ctx.ask(Form(message="Sure?", fields=SURE))
    yield f"{answered.outcome} {answered.content} {answered.reason}"


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("true", "accepted {'sure': True, 'gift': True} None"),
        ("false", "accepted {'sure': False, 'gift': True} None"),
        ("3", "declined None the client gave an option '3' that was not on offer"),
    ],
)
async def test_a_yes_or_no_is_a_permission_where_there_are_no_forms(option: str, words: str) -> None:
    async with hub_for(sure) as hub, editing(hub) as editor:
        editor.permit(option)
        assert (await editor.prompt(await editor.open(), "go"))["stopReason"] == "end_turn"
        (asked,) = editor.asked("session/request_permission")
        assert asked["options"] == [
            {"optionId": "true", "name": "Yes", "kind": "allow_once"},
            {"optionId": "false", "name": "No", "kind": "reject_once"},
        ]
        (card,) = editor.updates("tool_call")
        assert asked["toolCall"]["toolCallId"] == card["toolCallId"]
        assert (asked["toolCall"]["title"], card["title"]) == ("Sure?", "Sure?")
        meant = "Sure?\n\nAccept: Yes. Reject: No."
        assert [one["content"]["text"] for one in asked["toolCall"]["content"]] == [meant]
        ended = editor.updates("tool_call_update")[-1]
        assert ended["status"] == ("failed" if option == "3" else "completed")
        assert editor.heard().index("tool_call") < editor.heard().index("session/request_permission")
        assert editor.text == words


@pytest.mark.parametrize("answer", ["cancelled", "perhaps"])
async def test_a_choice_may_be_cancelled_or_misunderstood(answer: str) -> None:
    async with hub_for(sure) as hub, editing(hub) as editor:
        editor.answers["session/request_permission"] = lambda params: {"outcome": {"outcome": answer}}
        ended = await editor.prompt(await editor.open(), "go")
        assert ended["stopReason"] == ("cancelled" if answer == "cancelled" else "end_turn")
        assert ("does not know" in editor.text) is (answer == "perhaps")


@pytest.mark.parametrize("content", [[1], "x", 7])
async def test_a_form_filled_in_with_garbage_is_as_good_as_none(content: Any, tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, FORMS) as editor:
        editor.permit("reject_once")
        editor.answers["elicitation/create"] = filling(content)
        result = await editor.prompt(await editor.open(tmp_path), "/edit")
        assert result["stopReason"] == "end_turn"
        assert not (tmp_path / "hello.txt").exists()


async def test_editing_adds_no_argument_that_was_not_offered(tmp_path: Path) -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub, FORMS) as editor:
        editor.permit("reject_once")
        edited = {"content": "edited\n", "mode": "0777"}
        editor.answers["elicitation/create"] = filling({"choice": "trunkline:edit"}, edited)
        session_id = await editor.open(tmp_path)
        await editor.prompt(session_id, "/edit")
        assert (tmp_path / "hello.txt").read_text() == "edited\n"
        calls = (await (await hub.session(session_id)).history()).calls
        assert [set(call.input) for call in calls.values()] == [{"path", "content"}]
