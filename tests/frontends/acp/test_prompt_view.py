"""Questions in words: for clients without forms the agent's last message asks, the next prompt answers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.frontends.acp.memory_editor import Editor, Wire, editing
from tests.hubs import BRISK, hub_for, make, opened, session_for, soon, until

from trunkline import events as ev
from trunkline.commands import Answer, Prompt
from trunkline.content import DiffBlock, TextBlock
from trunkline.errors import TrunklineError
from trunkline.frontends.acp import decode
from trunkline.frontends.acp.endpoint import AcpEndpoint
from trunkline.frontends.acp.prompt_view import PromptView
from trunkline.journal import Lease, Record, open_journal
from trunkline.journal.memory import MemoryJournal
from trunkline.protocols.acp import wire
from trunkline.protocols.jsonrpc.connection import Connection
from trunkline.questions import Form
from trunkline.session.context import TurnContext
from trunkline.session.hub import Hub
from trunkline.session.session import Session
from trunkline.testing import ScriptedAgent

DONE = {"stopReason": "end_turn"}
HOW = "Your next message is the answer. To decline, write `decline`."


def text_field(**more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"answer": {"type": "string", **more}}, "required": ["answer"]}


async def ask(ctx: TurnContext, message: str, key: str | None = None) -> str:
    """Ask for a text and give it, or why there is none."""
    answered = await ctx.ask(Form(message=message, fields=text_field()), durable_key=key)
    return answered.content["answer"] if answered.outcome == "accepted" else answered.outcome


async def greeter(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
    """Ask twice, one after the other."""
    yield "Welcome. "
    name = await ask(ctx, "What is your name?")
    yield f"Hello {name}. "
    yield f"{await ask(ctx, 'And your town?')} is far."


def new_text(editor: Editor) -> str:
    """What the agent said since it was last looked at."""
    text = editor.text
    editor.log.clear()
    return text


def waits(session: Session) -> Callable[[], bool]:
    return lambda: session.is_suspended


# -- asking and answering --------------------------------------------------------------------------


async def test_the_next_message_is_the_answer_and_its_prompt_shows_the_rest() -> None:
    async with hub_for(greeter) as hub, editing(hub) as editor:
        assert await editor.say("hi") == DONE
        assert new_text(editor) == f"Welcome. \n\nWhat is your name?\n\n{HOW}"
        assert await editor.say("Ada") == DONE
        assert new_text(editor) == f"Hello Ada. \n\nAnd your town?\n\n{HOW}"
        assert await editor.say("London") == DONE
        assert new_text(editor) == "London is far."
        turns = (await (await hub.session(editor.session_id)).history()).turns
        assert [turn.status for turn in turns] == ["finished"], "it was one turn all the time"
        assert await editor.say("again") == DONE
        assert new_text(editor).startswith("Welcome. "), "and then the next message is a prompt again"
        assert editor.updates("agent_thought_chunk") == []


async def test_several_fields_are_asked_until_the_answer_fits() -> None:
    async with hub_for(ScriptedAgent()) as hub, editing(hub) as editor:
        await editor.say("/form")
        assert "- `colour` A colour (one of: red | green | blue)" in new_text(editor)
        assert await editor.say("name: Ada\ncolour: pink") == DONE
        assert new_text(editor) == (
            "`colour` must be one of: red | green | blue. Please write it again, or `decline`."
        )
        await editor.say('{"name": "Ada", "colour": "red", "copies": 1.5}')
        assert "must be of type integer, not 1.5" in new_text(editor), "the session has the last word"
        image = {"type": "image", "mimeType": "image/png", "data": ""}
        await editor.call("session/prompt", sessionId=editor.session_id, prompt=[image])
        assert new_text(editor).startswith("The answer can only be text")
        await editor.say("name: Ada\ncolour: red")
        assert new_text(editor) == 'Ordered: {"colour": "red", "copies": 1, "gift": false, "name": "Ada"}'


@pytest.mark.parametrize("scenario", ["/form", "greet"])
async def test_a_command_is_run_and_is_no_answer(scenario: str) -> None:
    demo = ScriptedAgent()

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[Any]:
        async for piece in (greeter if prompt.text == "greet" else demo.run)(prompt, ctx):
            yield piece

    async with hub_for(make(agent, commands=demo.card.commands)) as hub, editing(hub) as editor:
        await editor.say(scenario)
        new_text(editor)
        assert (await editor.say("/plan now"))["stopReason"] == "end_turn"
        assert new_text(editor).startswith("The question before is given up.\n\n")
        session = await hub.session(editor.session_id)
        assert [turn.stop_reason for turn in (await session.history()).turns] == ["cancelled", "end_turn"]
        assert (await session.history()).plan != ()


async def test_what_only_looks_like_a_command_is_an_answer() -> None:
    async with hub_for(greeter) as hub, editing(hub) as editor:
        await editor.say("hi")
        new_text(editor)
        await editor.say("/usr/bin")
        assert new_text(editor).startswith("Hello /usr/bin. ")


async def test_a_link_alone_is_no_answer() -> None:
    async with hub_for(greeter) as hub, editing(hub) as editor:
        await editor.say("hi")
        new_text(editor)
        link = {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"}
        await editor.call("session/prompt", sessionId=editor.session_id, prompt=[link])
        assert new_text(editor).startswith("The answer can only be text: a link or a file alone is none.")
        words = {"type": "text", "text": "it is in "}
        await editor.call("session/prompt", sessionId=editor.session_id, prompt=[words, link])
        assert new_text(editor).startswith("Hello it is in file:///a.txt. ")


async def test_a_turn_that_fails_after_the_answer_is_an_error_of_that_prompt() -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        raise RuntimeError(f"no {await ask(ctx, 'Who?')} here")
        yield ""

    async with hub_for(agent) as hub, editing(hub) as editor:
        await editor.say("hi")
        content = [{"type": "text", "text": "Ada"}]
        error = await editor.refused("session/prompt", sessionId=editor.session_id, prompt=content)
        assert "no Ada here" in error.message


async def test_a_prompt_is_not_answered_before_its_question_is_stored() -> None:
    kept = asyncio.Event()

    class Slow(MemoryJournal):
        """A journal that takes its time from the first question on."""

        _slow = False

        def append(
            self, lease: Lease, records: Sequence[Record], *, durable: bool = False
        ) -> asyncio.Future[None]:
            written = super().append(lease, records, durable=durable)
            self._slow = self._slow or any(isinstance(record.event, ev.Asked) for record in records)
            return asyncio.ensure_future(self._later(written)) if self._slow else written

        async def _later(self, written: asyncio.Future[None]) -> None:
            await kept.wait()
            await written

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        asking = asyncio.ensure_future(ask(ctx, "Who?"))
        await asyncio.sleep(0)
        ctx.suspend()
        yield await asking

    async with opened(Slow()) as journal, hub_for(agent, journal=journal) as hub, editing(hub) as editor:
        session_id = await editor.open()
        running = asyncio.create_task(editor.prompt(session_id, "hi"))
        await until(lambda: editor.text.endswith(HOW))
        assert not running.done()
        kept.set()
        assert await soon(running) == DONE


async def test_two_questions_at_once_are_asked_one_after_the_other() -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield " and ".join(await asyncio.gather(ask(ctx, "One?"), ask(ctx, "Two?")))

    async with hub_for(agent) as hub, editing(hub) as editor:
        await editor.say("hi")
        assert new_text(editor).startswith("One?\n")
        await editor.say("1")
        assert new_text(editor).startswith("Two?\n")
        await editor.say("2")
        assert new_text(editor) == "1 and 2"


async def test_what_streams_meanwhile_is_shown_first_and_what_comes_later_too() -> None:
    later = asyncio.Event()

    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        async def work() -> None:
            for number in range(20):
                ctx.emit(f"{number} ")
                await asyncio.sleep(0)
            await later.wait()
            ctx.emit("late ")

        name, _ = await asyncio.gather(ask(ctx, "Who?"), work())
        yield name

    async with hub_for(agent) as hub, editing(hub) as editor:
        assert await editor.say("hi") == DONE
        count, _, asked = new_text(editor).partition("\n\n")
        assert count.split() == [str(number) for number in range(20)]
        assert asked.startswith("Who?")
        later.set()
        await until(lambda: editor.text == "late ")
        session = await hub.session(editor.session_id)
        await until(waits(session))
        assert await editor.say("Ada") == DONE
        assert new_text(editor) == "late Ada", "it is not asked twice"


async def test_a_wait_that_is_read_after_the_answer_is_no_wait() -> None:
    async with session_for(greeter) as session:
        receipt = await session.prompt("hi")
        connection = Connection(line := Wire())
        view = PromptView(connection, session, wire.ClientCapabilities(), receipt.turn_id or "")
        assert await soon(view.wait()) is None
        turn_id, waiting = session.running_turn_id, tuple(session.open_questions)
        session.emit(ev.Text(turn_id=turn_id, message_id="aside", delta="By the way. "))
        session.emit(ev.TurnSuspended(turn_id=turn_id, question_ids=waiting))
        await view.answer_from_message((TextBlock(text="Ada"),), None)
        assert await soon(view.wait()) is None
        assert view.asked is not None
        assert view.asked.question.message == "And your town?"
        assert "elsewhere" not in str(line.messages)
        view.detach()
        await until(lambda: view.is_over)
        with pytest.raises(asyncio.CancelledError):
            await soon(view.wait())
        await connection.close("over")


# -- others ----------------------------------------------------------------------------------------


async def test_an_answer_from_elsewhere_and_the_rest_are_shown() -> None:
    async with hub_for(greeter) as hub, editing(hub) as editor:
        await editor.say("hi")
        new_text(editor)
        session = await hub.session(editor.session_id)
        (question_id,) = session.open_questions
        content = {"answer": "Bob"}
        await session.answer(
            Answer(question_id=question_id, outcome="accepted", content=content, by="the page")
        )
        await until(lambda: "town" in editor.text)
        assert new_text(editor) == f"Answered elsewhere: Bob\n\nHello Bob. \n\nAnd your town?\n\n{HOW}"
        assert await editor.say("Rome") == DONE
        assert new_text(editor) == "Rome is far."


@pytest.mark.parametrize(
    ("outcome", "words"), [("declined", "Declined elsewhere."), ("expired", "There was no answer in time.")]
)
async def test_a_question_that_is_settled_otherwise_is_no_longer_open(outcome: Any, words: str) -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield prompt.text if prompt.text == "again" else await ask(ctx, "Who?")

    ttl = 1.5 if outcome == "expired" else 60.0
    async with hub_for(agent, question_ttl=ttl) as hub, editing(hub) as editor:
        await editor.say("hi")
        new_text(editor)
        session = await hub.session(editor.session_id)
        if outcome == "declined":
            (question_id,) = session.open_questions
            await session.answer(Answer(question_id=question_id, outcome="declined"))
        await until(lambda: editor.text == f"{words}\n\n{outcome}")
        await until(lambda: not session.busy)
        new_text(editor)
        assert await editor.say("again") == DONE
        assert new_text(editor) == "again"


async def test_an_answer_that_comes_too_late_says_so_and_shows_the_rest() -> None:
    async with hub_for(greeter) as hub, editing(hub) as editor:
        await editor.say("hi")
        new_text(editor)
        session = await hub.session(editor.session_id)
        answer, taken = session.answer, list(session.open_questions)

        async def too_late(*answers: Answer) -> None:
            content = {"answer": "Bob"}
            await answer(Answer(question_id=taken[0], outcome="accepted", content=content, by="the page"))
            await answer(*answers)

        session.answer = too_late
        assert await editor.say("Ada") == DONE
        output = new_text(editor)
        assert output.startswith("This came too late: ")
        assert "Hello Bob. " in output
        assert HOW in output


async def test_two_editors_without_forms_see_the_same_question_and_the_first_answer_wins() -> None:
    async with hub_for(greeter) as hub, editing(hub) as one, editing(hub) as two:
        session_id = await one.open()
        await one.prompt(session_id, "hi")
        new_text(one)
        await two.call("session/load", sessionId=session_id, cwd="/", mcpServers=[])
        assert two.text.endswith(HOW)
        heard = two.heard()
        assert heard.index("= session/load") > len(heard) - 2, "the question ends the story"
        new_text(two)
        assert await two.prompt(session_id, "Ada") == DONE
        assert new_text(two).startswith("Hello Ada. ")
        await until(lambda: "town" in one.text)
        assert new_text(one).startswith("Answered elsewhere: Ada\n\nHello Ada. ")
        assert await one.prompt(session_id, "Rome") == DONE
        assert new_text(one) == "Rome is far."
        await until(lambda: "far" in two.text)
        assert new_text(two) == "Answered elsewhere: Rome\n\nRome is far."


async def test_an_editor_that_left_may_come_back_and_answer() -> None:
    async with hub_for(greeter) as hub:
        async with editing(hub) as editor:
            session_id = await editor.open()
            await editor.prompt(session_id, "hi")
        async with editing(hub) as editor:
            await editor.call("session/resume", sessionId=session_id, cwd="/", mcpServers=[])
            await until(lambda: editor.text.endswith(HOW))
            assert editor.heard()[0] == "= session/resume"
            new_text(editor)
            assert await editor.prompt(session_id, "Ada") == DONE
            assert new_text(editor).startswith("Hello Ada. ")


async def test_a_question_of_another_process_is_answered_there(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'journal.db'}"
    async with AsyncExitStack() as stack:
        hubs: list[Hub] = []
        for _ in range(2):
            journal = await open_journal(url)
            stack.push_async_callback(journal.close)
            hubs.append(await stack.enter_async_context(Hub(make(greeter), journal, settings=BRISK)))
        page = await hubs[0].create()
        await page.prompt("hi")
        await until(waits(page))
        await page.durable()
        async with editing(hubs[1]) as editor:
            await editor.call("session/load", sessionId=page.session_id, cwd="/", mcpServers=[])
            assert new_text(editor).endswith(HOW)
            assert await editor.prompt(page.session_id, "Ada") == DONE
            assert new_text(editor) == f"Hello Ada. \n\nAnd your town?\n\n{HOW}"
            assert await editor.prompt(page.session_id, "Rome") == DONE
            assert new_text(editor) == "Rome is far."
        assert page.is_owner, "it was owned there all the time"


async def test_a_client_that_may_not_answer_is_not_asked_in_text() -> None:
    async with hub_for(greeter) as hub:
        editor = Editor()
        connection = Connection(editor.agents_wire)
        connection.handler = AcpEndpoint(
            hub, connection, decode(wire.ClientCapabilities, {}), may_answer=False
        )
        editor.wire.receive, editor.agents_wire.receive = connection.receive, editor.connection.receive
        session_id = await editor.open()
        running = asyncio.create_task(editor.prompt(session_id, "hi"))
        session = await hub.session(session_id)
        await until(waits(session))
        assert editor.text == "Welcome. "
        await session.cancel()
        assert await soon(running) == {"stopReason": "cancelled"}
        await connection.close("over")
        await editor.connection.close("over")


# -- cancelling ------------------------------------------------------------------------------------


async def test_a_prompt_right_behind_a_cancel_is_no_answer() -> None:
    async with hub_for(greeter) as hub, editing(hub) as editor:
        await editor.say("hi")
        new_text(editor)
        editor.connection.notify("session/cancel", {"sessionId": editor.session_id})
        assert await editor.say("something else") == DONE
        assert new_text(editor).startswith("Welcome. ")
        turns = (await (await hub.session(editor.session_id)).history()).turns
        assert [turn.stop_reason for turn in turns] == ["cancelled", None]


async def test_a_cancel_after_the_answer_ends_its_prompt() -> None:
    async def agent(prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield await ask(ctx, "Who?")
        await asyncio.Event().wait()

    async with hub_for(agent) as hub, editing(hub) as editor:
        await editor.say("hi")
        running = asyncio.create_task(editor.say("Ada"))
        await until(lambda: editor.text.endswith("Ada"))
        editor.connection.notify("session/cancel", {"sessionId": editor.session_id})
        assert await soon(running) == {"stopReason": "cancelled"}


# -- restarts --------------------------------------------------------------------------------------


class Careful:
    """An agent whose permission survives a restart."""

    def __init__(self) -> None:
        self.card = make(greeter, name="careful").card

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        diff = DiffBlock(path="/a.txt", old="IMPORTANT = 1", new="hi")
        given = {"path": "a.txt", "text": "hi"}
        await ctx.permission(
            "Write?", tool="write", kind="edit", input=given, paths=["/a.txt"], content=diff, durable_key="k"
        )
        yield ""

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[str]:
        yield f"Resumed with {answers['k'].option_id}."


@pytest.mark.parametrize("how", ["load", "resume"])
async def test_a_permission_of_a_dead_process_is_asked_again_with_the_whole_call(
    how: str, journal: MemoryJournal
) -> None:
    async with Hub(Careful(), journal, settings=BRISK) as hub:
        session = await hub.create()
        await session.prompt("hi")
        await until(waits(session))
    async with Hub(Careful(), journal, settings=BRISK) as hub, editing(hub) as editor:
        editor.permit("allow_once")
        await editor.call(f"session/{how}", sessionId=session.session_id, cwd="/", mcpServers=[])
        await until(lambda: editor.text == "Resumed with allow_once.")
        (asked,) = editor.asked("session/request_permission")
        call = asked["toolCall"]
        assert (call["title"], call["kind"], call["status"]) == ("Write?", "edit", "pending")
        assert call["rawInput"] == {"path": "a.txt", "text": "hi"}
        assert call["locations"] == [{"path": "/a.txt"}]
        diff = {"type": "diff", "path": "/a.txt", "oldText": "IMPORTANT = 1", "newText": "hi"}
        assert call["content"] == [diff]
        (card,) = editor.updates("tool_call")
        assert card["toolCallId"] == call["toolCallId"]
        if how == "resume":
            assert card["content"] == [diff], "it was never told of the call"
        heard = editor.heard()
        assert heard.index(f"= session/{how}") < heard.index("session/request_permission")
        assert heard.index("tool_call") < heard.index("session/request_permission")


class Durable:
    """An agent whose questions survive a restart."""

    def __init__(self) -> None:
        self.card = make(greeter, name="durable").card

    async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
        yield "Welcome. "
        yield f"Hello {await ask(ctx, 'Who?', 'who')}."

    async def resume(self, answers: Mapping[str, ev.Answered], ctx: TurnContext) -> AsyncIterator[str]:
        given = {key: answered.content["answer"] for key, answered in answers.items()}
        yield f"Resumed with {given}. "
        yield f"{await ask(ctx, 'Where?', 'where')} it is."


@pytest.mark.parametrize("how", ["load", "resume"])
async def test_a_question_of_a_dead_process_is_put_again_and_answered(how: str, tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'journal.db'}"
    async with AsyncExitStack() as stack:
        journal = await open_journal(url)
        stack.push_async_callback(journal.close)
        async with Hub(Durable(), journal, settings=BRISK) as hub, editing(hub) as editor:
            session_id = await editor.open()
            await editor.prompt(session_id, "hi")
        async with Hub(Durable(), journal, settings=BRISK) as hub, editing(hub) as editor:
            await editor.call(f"session/{how}", sessionId=session_id, cwd="/", mcpServers=[])
            await until(lambda: editor.text.endswith(HOW))
            assert new_text(editor) == ("Welcome. " if how == "load" else "") + f"\n\nWho?\n\n{HOW}"
            assert await editor.prompt(session_id, "Ada") == DONE
            assert new_text(editor) == f"Resumed with {{'who': 'Ada'}}. \n\nWhere?\n\n{HOW}"
            assert await editor.prompt(session_id, "here") == DONE
            assert new_text(editor) == "here it is."
            turns = (await (await hub.session(session_id)).history()).turns
            assert [turn.status for turn in turns] == ["finished"]


async def test_what_a_dead_process_asked_with_buttons_is_asked_first(journal: MemoryJournal) -> None:
    class Mixed(Durable):
        async def run(self, prompt: Prompt, ctx: TurnContext) -> AsyncIterator[str]:
            size = Form(message="Which size?", fields=text_field(enum=["L"]))
            await asyncio.gather(ask(ctx, "Who?", "who"), ctx.ask(size, durable_key="size"))
            yield ""

    async with Hub(Mixed(), journal, settings=BRISK) as hub:
        session = await hub.create()
        await session.prompt("hi")
        await until(waits(session))
    async with Hub(Mixed(), journal, settings=BRISK) as hub, editing(hub) as editor:
        editor.permit("L")
        await editor.call("session/load", sessionId=session.session_id, cwd="/", mcpServers=[])
        await until(lambda: editor.text.endswith(HOW))
        heard = editor.heard()
        assert heard.index("tool_call") < heard.index("= session/load")
        assert heard.index("= session/load") < heard.index("session/request_permission")
        (asked,) = editor.asked("session/request_permission")
        assert asked["toolCall"]["toolCallId"] == editor.updates("tool_call")[0]["toolCallId"]
        assert editor.updates("tool_call_update")[-1]["status"] == "completed"
        assert new_text(editor).startswith("Who?")
        await editor.prompt(session.session_id, "Ada")
        assert new_text(editor).startswith("Resumed with {'size': 'L', 'who': 'Ada'}. ")


async def test_a_session_that_was_closed_meanwhile_is_opened_again_for_the_answer() -> None:
    async with hub_for(Durable()) as hub, editing(hub) as editor, editing(hub) as other:
        await editor.say("hi")
        new_text(editor)
        await other.call("session/close", sessionId=editor.session_id)
        assert await editor.say("Ada") == DONE
        assert new_text(editor).startswith("Resumed with {'who': 'Ada'}. "), "and nothing is asked twice"


async def test_an_answer_that_the_journal_does_not_take_leaves_the_question_open() -> None:
    async with hub_for(greeter) as hub, editing(hub) as editor:
        await editor.say("hi")
        session = await hub.session(editor.session_id)
        answer = session.answer

        async def refuse(*answers: Answer) -> None:
            session.answer = answer
            raise TrunklineError("not now")

        session.answer = refuse
        content = [{"type": "text", "text": "Ada"}]
        error = await editor.refused("session/prompt", sessionId=editor.session_id, prompt=content)
        assert error.message == "not now"
        new_text(editor)
        assert await editor.say("Ada") == DONE
        assert new_text(editor).startswith("Hello Ada. ")


# -- afterwards ------------------------------------------------------------------------------------


async def test_a_load_leaves_out_the_questions_of_a_turn_that_was_taken_back() -> None:
    async with hub_for(greeter) as hub, editing(hub) as editor:
        for words in ("hi", "Ada", "London", "hi", "Bob", "Rome"):
            await editor.say(words)
        session = await hub.session(editor.session_id)
        first = next(m for m in (await session.history()).messages if m.role == "agent")
        last = [m for m in (await session.history()).messages if m.turn_id == first.turn_id][-1]
        await session.rewind(last.message_id)
        editor.log.clear()
        await editor.call("session/load", sessionId=editor.session_id, cwd="/", mcpServers=[])
        shown = [one["content"]["text"] for one in editor.updates("user_message_chunk")]
        assert shown == ["hi", "Ada", "London"]
