from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.demos.finance.conversations import agent, talking
from tests.demos.finance.tools.desks import desk

from trunkline.commands import Answer
from trunkline.demos.finance.bank.items import link_fake_bank
from trunkline.demos.finance.tools.registry import read_vocabulary
from trunkline.events import Asked
from trunkline.questions import Form
from trunkline.testing import accept_all
from trunkline.tools import ToolError

KINDS = {
    "run_sql": "execute",
    "recategorize_merchant": "edit",
    "tag_transactions": "edit",
    "categorize": "edit",
    "chart_spending": "read",
    "import_statement": "edit",
    "write_report": "edit",
    "spending": "read",
}


def test_each_tool_has_its_kind() -> None:
    tools = desk().tools
    assert {name: tools[name].kind for name in KINDS} == KINDS
    assert "sync_transactions" not in tools


def test_the_words_of_the_ledger_are_known() -> None:
    words = read_vocabulary(desk().ledger)
    assert {"Groceries", "Food"} <= set(words.categories)
    assert "Rewe" in words.merchants
    assert words.account_words["credit card"] in words.accounts.values()
    # Two checking accounts: neither is "the checking account".
    assert "checking account" not in words.account_words


async def test_figures_say_that_they_stand_on_the_made_up_data_until_there_is_other(tmp_path: Path) -> None:
    (tmp_path / "bank.csv").write_text("Date,Payee,Amount,Currency\n2026-10-03,REWE,-12.50,EUR\n")
    asked = ("How much did I spend in October?", "Compare September and October", "/budget", "/accounts")

    def name_account(asked: Asked) -> Answer | None:
        if isinstance(asked.question, Form):
            return Answer(question_id=asked.question_id, outcome="accepted", content={"account": "Giro"})
        return accept_all(asked)

    async with talking(cwd=tmp_path) as ask:
        assert all([(await ask(one)).text.count("made-up demo data") == 1 for one in asked])
        await ask("import bank.csv", name_account)
        assert not any(["made-up demo data" in (await ask(one)).text for one in asked])
        await ask("undo the last import")
        assert "made-up demo data" in (await ask(asked[0])).text


async def test_days_after_the_last_of_the_ledger_are_not_called_nothing_only(tmp_path: Path) -> None:
    finance = agent()
    with finance.desk.ledger.writing() as db:
        db.execute("DELETE FROM transactions WHERE posted > '2026-11-15'")
    async with talking(finance) as ask:
        said = (await ask("How much did I spend yesterday?")).text
        assert "Your ledger has transactions from 2024-11-01 to 2026-11-15 only." in said
        assert "only." not in (await ask("How much did I spend this month?")).text


async def test_a_failure_of_the_ledger_is_the_tools_own() -> None:
    with pytest.raises(ToolError, match="refused"):
        await desk().tools.call("run_sql", {"query": "DROP TABLE accounts"}, on_no_session="allow")


async def test_the_bank_can_be_synced_once_it_is_linked() -> None:
    finance = agent()
    async with talking(finance) as ask:
        assert "No bank is linked" in (await ask("sync my bank")).text
        with finance.desk.ledger.writing() as db:
            link_fake_bank(db)
        assert finance.tools["sync_transactions"].kind == "fetch"
        synced = await ask("sync my bank")
        assert synced.calls[0].status == "completed", synced.text
        assert "added**" in synced.text
        assert datetime.now(UTC)
