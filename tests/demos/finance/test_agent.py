"""The finance agent in a session: answers, permissions, modes, imports and plans."""

import functools
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.demos.finance.conversations import TODAY, agent, ask_in, talking
from tests.hubs import hub_for, only, session_for

from trunkline import events as ev
from trunkline.agents.interface import AgentCard
from trunkline.commands import Answer, Prompt
from trunkline.content import DiffBlock, ImageBlock, ResourceBlock, TextBlock
from trunkline.demos.finance.agent import Desk, FinanceAgent, finance_langchain, finance_openai, prompt_text
from trunkline.demos.finance.ledger.database import MEMORY
from trunkline.errors import ConfigurationError
from trunkline.questions import Form, Permission
from trunkline.session.context import SessionView
from trunkline.testing import accept_all, refuse_all
from trunkline.workspace import Policy

GROCERIES = "How much did I spend on groceries last month?"


def choose(kind: str) -> Any:
    """Answer each permission with one kind of option."""

    def answer(asked: ev.Asked) -> Answer:
        assert isinstance(asked.question, Permission)
        option = next(one for one in asked.question.options if one.kind == kind)
        return Answer(question_id=asked.question_id, option_id=option.option_id, by="test")

    return answer


def test_the_card_names_the_agent() -> None:
    card: AgentCard = FinanceAgent(MEMORY).card
    assert (card.name, card.title) == ("trunkline-finance", "Trunkline Finance")
    assert card.version != "0"
    assert [one.name for one in card.commands] == [
        "accounts", "budget", "top", "subscriptions", "instructions", "help",
    ]  # fmt: skip
    assert [choice.value for choice in card.options[0].choices] == ["ask", "manage"]


async def test_an_answer_streams_in_words_after_its_tool_call() -> None:
    async with talking() as ask:
        answered = await ask(GROCERIES)
        deltas = only(answered.events, ev.Text)
        assert len(deltas) > 10
        assert [call.name for call in answered.calls] == ["spending"]
        assert answered.calls[0].input == {
            "start": "2026-10-01",
            "end": "2026-10-31",
            "category": "Groceries",
        }
        assert answered.text.startswith("In October 2026 you spent **")
        assert "transactions; category Groceries; no transfers; " in answered.text
        statuses = [event.status for event in only(answered.events, ev.ToolUpdate) if event.status]
        assert statuses == ["in_progress", "completed"]


async def test_follow_ups_know_the_conversation_also_in_another_process() -> None:
    finance = agent()
    async with hub_for(finance) as hub:
        session = await hub.create("s1")
        await ask_in(session, GROCERIES)
        why = await ask_in(session, "why more than in September?")
        assert why.calls[0].name == "compare_spending"
        assert why.calls[0].input["category"] == "Groceries"
        sql = await ask_in(session, "show the SQL")
        assert sql.calls == []
        assert "```sql\nSELECT" in sql.text


async def test_sql_asks_once_always_or_is_rejected() -> None:
    query = "SELECT count(*) AS n FROM spending"
    async with talking() as ask:
        refused = await ask(query, refuse_all)
        assert refused.calls[0].status == "denied"
        assert refused.text == "You said no, so nothing was done."
        assert "The query gives" not in refused.text
        once = await ask(query)
        (question,) = once.asked
        assert [option.name for option in question.options][:1] == ["Allow once"]
        assert any(option.name.startswith("Always allow SQL") for option in question.options)
        assert "The query gives:" in once.text
        always = await ask(query, choose("allow_always"))
        assert always.asked
        later = await ask("SELECT max(spent) FROM spending")
        assert later.asked == []
        assert later.calls[0].status == "completed"


async def test_a_policy_decides_about_sql() -> None:
    async with talking(policy=Policy(default="allow")) as ask:
        answered = await ask("SELECT 1")
        assert answered.asked == []
        assert answered.calls[0].status == "completed"


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM transactions",
        "UPDATE transactions SET amount = 0",
        "DROP TABLE transactions",
        "ATTACH DATABASE 'x.db' AS x",
        "PRAGMA table_info(transactions)",
        "SELECT load_extension('x')",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    ],
)
async def test_sql_that_is_not_a_bounded_read_is_refused_with_a_sentence(query: str) -> None:
    async with talking() as ask:
        before = await ask(GROCERIES)
        answered = await ask(query)
        assert answered.calls[0].status == "failed"
        assert answered.text.startswith("That did not work: ")
        assert (await ask(GROCERIES)).text == before.text


async def test_an_edit_shows_what_will_change_and_is_made_once_allowed() -> None:
    async with talking() as ask:
        refused = await ask("Put Kollektiv Werkhof under Entertainment", refuse_all)
        (question,) = refused.asked
        assert "11" in question.message
        assert refused.calls[0].status == "denied"
        shown = [block for event in only(refused.events, ev.ToolUpdate) for block in event.content or ()]
        assert any(isinstance(one, TextBlock) and "Entertainment" in one.text for one in shown)
        assert "11 transactions" in (await ask("Which transactions have no category?")).text
        allowed = await ask("Put Kollektiv Werkhof under Entertainment")
        assert "Put 11 transactions of Kollektiv Werkhof under **Entertainment**" in allowed.text
        assert "no such transactions" in (await ask("Which transactions have no category?")).text
        why = await ask("Why is Kollektiv Werkhof in Entertainment?")
        assert "**Entertainment**" in why.text


async def test_the_mode_manage_edits_without_asking_but_asks_about_files(tmp_path: Path) -> None:
    async with session_for(agent(), cwd=str(tmp_path)) as session:
        await session.set_config("mode", "manage")
        ask = functools.partial(ask_in, session)
        tagged = await ask("Tag Rewe transactions in October as weekly shop")
        assert tagged.asked == []
        assert tagged.calls[0].status == "completed"
        assert "as **weekly shop**" in tagged.text
        spent = await ask("How much did I spend on tag weekly shop in October?")
        rewe = await ask("How much did I spend at Rewe in October?")
        assert spent.text.split("**")[1] == rewe.text.split("**")[1]
        report = await ask("Write a report for October")
        assert len(report.asked) == 1
        assert len((await ask("SELECT 1")).asked) == 1


async def test_a_report_is_written_into_the_sessions_folder_once_allowed(tmp_path: Path) -> None:
    async with talking(cwd=tmp_path) as ask:
        refused = await ask("Write a report for October", refuse_all)
        assert refused.calls[0].status == "denied"
        assert not (tmp_path / "finance-2026-10.md").exists()
        written = await ask("Write a report for October")
        assert "**finance-2026-10.md**" in written.text
        text = (tmp_path / "finance-2026-10.md").read_text()
        total = (await ask("How much did I spend in October?")).text.split("**")[1]
        assert text.startswith("# Finances: October 2026")
        assert total in text
        blocks = [block for event in only(written.events, ev.ToolUpdate) for block in event.content or ()]
        assert any(isinstance(one, DiffBlock) and one.new == text for one in blocks)


async def test_several_steps_are_shown_as_a_plan(tmp_path: Path) -> None:
    async with talking(cwd=tmp_path) as ask:
        answered = await ask("Compare September and October, chart it and write a report")
        plans = only(answered.events, ev.Plan)
        assert [entry.status for entry in plans[0].entries] == ["in_progress", "pending", "pending"]
        assert {entry.status for entry in plans[-1].entries} == {"completed"}
        assert [call.name for call in answered.calls if call.name != "update_plan"] == [
            "compare_spending", "chart_spending", "write_report",
        ]  # fmt: skip
        blocks = [block for event in only(answered.events, ev.ToolUpdate) for block in event.content or ()]
        assert any(isinstance(one, ImageBlock) and one.mime_type == "image/png" for one in blocks)
        assert any(isinstance(one, TextBlock) and "█" in one.text for one in blocks)
        assert answered.text.endswith("All steps are done.")


async def test_a_step_that_fails_is_counted_in_the_end(tmp_path: Path) -> None:
    async with talking(cwd=tmp_path) as ask:
        answered = await ask("Compare September and October, chart it and write a report", refuse_all)
        assert "1 of 3 steps did not work" in answered.text


BANK = (
    "Datum;Text;Betrag\n"
    "03/04/2026;REWE SAGT DANKE 1234;-20,50\n"
    "05/06/2026;REWE SAGT DANKE 1234;-30,25\n"
    "05/06/2026;NETFLIX.COM;-15,99\n"
)


async def test_ones_own_file_is_imported_with_one_form_and_answers_follow_it(tmp_path: Path) -> None:
    (tmp_path / "bank.csv").write_text(BANK)

    def answer(asked: ev.Asked) -> Answer:
        if isinstance(asked.question, Form):
            fields: dict[str, Any] = asked.question.fields["properties"]
            content = {
                name: field.get("default", field.get("enum", ["EUR"])[0]) for name, field in fields.items()
            }
            content |= {"date_order": "dmy"} if "date_order" in fields else {}
            content |= {"currency": "EUR"} if "currency" in fields else {}
            content |= {"account": "My bank"} if "account" in fields else {}
            return Answer(question_id=asked.question_id, outcome="accepted", content=content, by="test")
        return accept_all(asked)

    async with talking(cwd=tmp_path) as ask:
        imported = await ask("import bank.csv", answer)
        assert [type(question) for question in imported.asked] == [Form, Permission]
        assert "3 new" in imported.asked[1].message
        assert "**3 new**, 0 known" in imported.text
        assert "demo data is set aside" in imported.text
        spent = await ask("How much did I spend at Rewe this year?")
        assert "**50.75 EUR**" in spent.text
        assert "2 transactions" in spent.text
        again = await ask("import bank.csv", answer)
        assert again.asked == []
        assert "nothing new" in again.text
        undone = await ask("undo the last import")
        assert "3 transactions removed" in undone.text
        assert "**50.75 EUR**" not in (await ask("How much did I spend at Rewe this year?")).text


async def test_a_declined_form_and_a_refused_import_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "bank.csv").write_text(BANK)
    async with talking(cwd=tmp_path) as ask:
        before = await ask(GROCERIES)
        declined = await ask("import bank.csv", refuse_all)
        assert declined.calls[0].status == "failed"
        assert "not imported" in declined.text
        missing = await ask("import nothing.csv")
        assert missing.calls[0].status == "failed"
        assert (
            f"'nothing.csv' does not exist: a file is looked for in the session's folder, {tmp_path}"
            in missing.text
        )
        assert (await ask(GROCERIES)).text == before.text


async def test_an_attached_file_can_be_imported() -> None:
    block = ResourceBlock(uri="file:///bank.csv", text=BANK, mime_type="text/csv")
    prompt = Prompt(content=(TextBlock(text="import"), block))
    assert prompt_text(prompt) == "import bank.csv"


async def test_what_is_not_understood_says_so_and_that_nothing_left_the_machine() -> None:
    async with talking() as ask:
        strange = await ask("What is the capital of France?")
        assert strange.calls == []
        assert "not a language model" in strange.text
        assert "leaves this machine" in strange.text
        assert "closest question" in strange.text
        assert "not a language model" in (await ask("help")).text
        assert "not a language model" not in (await ask(GROCERIES)).text


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("/accounts", "list_accounts"),
        ("/budget", "budgets"),
        ("/top", "spending"),
        ("/subscriptions", "subscriptions"),
    ],
)
async def test_a_slash_command_is_short_for_a_question(command: str, tool: str) -> None:
    async with talking() as ask:
        assert [call.name for call in (await ask(command)).calls] == [tool]


async def test_the_instructions_are_shown_by_a_command() -> None:
    async with talking() as ask:
        assert "Never estimate" in (await ask("/instructions")).text


async def test_account_numbers_are_masked_in_what_a_model_reads() -> None:
    desk = Desk(MEMORY, lambda: TODAY)
    with desk.ledger.reading() as db:
        numbers = [number for (number,) in db.execute("SELECT number FROM accounts") if number]
    from trunkline.tools import model_text

    read = [
        model_text(await desk.tools.call("list_accounts", {})),
        model_text(
            await desk.tools.call("run_sql", {"query": "SELECT * FROM accounts"}, on_no_session="allow")
        ),
    ]
    for text in read:
        assert numbers
        assert not [number for number in numbers if number in text]


def test_the_day_can_be_given_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUNKLINE_TODAY", "2025-01-31")
    assert Desk(MEMORY).today().isoformat() == "2025-01-31"
    monkeypatch.setenv("TRUNKLINE_TODAY", "tomorrow")
    with pytest.raises(ConfigurationError, match="YYYY-MM-DD"):
        Desk(MEMORY).today()


@pytest.mark.parametrize("make", [finance_langchain, finance_openai])
def test_with_a_real_model_the_card_does_not_say_that_nothing_leaves(
    make: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUNKLINE_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "nothing leaves this machine" in make(MEMORY).card.description
    monkeypatch.setenv("TRUNKLINE_MODEL", "openai:gpt-5.5")
    assert "gpt-5.5" in make(MEMORY).card.description
    monkeypatch.delenv("TRUNKLINE_MODEL")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert "nothing leaves" not in make(MEMORY).card.description


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [(finance_langchain, "langchain", "langchain"), (finance_openai, "agents", "openai")],
)
async def test_a_missing_extra_is_a_sentence(
    make: Any, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRUNKLINE_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delitem(sys.modules, f"trunkline.demos.finance.{extra}", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    variant = make(MEMORY, lambda: TODAY)
    with pytest.raises(ConfigurationError, match=rf"pip install 'trunkline\[{extra}\]'"):
        await variant.open_session(SessionView(session_id="s"))
