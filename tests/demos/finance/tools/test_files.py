from pathlib import Path

import pytest
from tests.demos.finance.conversations import agent, ask_in, talking
from tests.demos.finance.tools.desks import desk, import_rows, read
from tests.hubs import only, session_for

from trunkline.commands import Answer, Prompt
from trunkline.content import ResourceBlock, TextBlock
from trunkline.demos.finance.bank.items import link_fake_bank
from trunkline.events import Asked, ToolUpdate
from trunkline.questions import Permission
from trunkline.testing import accept_all
from trunkline.tools import ToolError

OFX = """OFXHEADER:100
DATA:OFXSGML
VERSION:102
SECURITY:NONE
ENCODING:USASCII
CHARSET:1252
COMPRESSION:NONE
OLDFILEUID:NONE
NEWFILEUID:NONE

<OFX><BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>77001234
<ACCTTYPE>CHECKING</BANKACCTFROM><BANKTRANLIST><DTSTART>20261001<DTEND>20261031
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20261003<TRNAMT>-12.50<FITID>a1<NAME>REWE</STMTTRN>
</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>
"""


async def test_an_ofx_file_needs_no_form(tmp_path: Path) -> None:
    (tmp_path / "bank.ofx").write_text(OFX)
    async with talking(cwd=tmp_path) as ask:
        done = await ask("import bank.ofx")
        assert len(done.asked) == 1
        assert "**1 new**" in done.text
        assert "12.50" in (await ask("How much did I spend in October?")).text


async def test_an_attached_file_is_imported_without_a_folder() -> None:
    async with session_for(agent()) as session:
        block = ResourceBlock(uri="file:///somewhere/bank.ofx", text=OFX)
        prompt = Prompt(content=(TextBlock(text="import this"), block), by="test")
        done = await ask_in(session, prompt, accept_all)
        assert "**1 new**" in done.text


async def test_files_need_a_session() -> None:
    tools = desk().tools
    with pytest.raises(ToolError, match="session"):
        await tools.call("import_statement", {"path": "x.csv"}, on_no_session="allow")
    with pytest.raises(ToolError, match="no import"):
        await tools.call("undo_import", {}, on_no_session="allow")


async def test_a_report_that_exists_is_shown_as_a_change(tmp_path: Path) -> None:
    (tmp_path / "finance-2026-09.md").write_text("old")
    async with talking(cwd=tmp_path) as ask:
        done = await ask("Write a report for September")
        assert len(done.asked) == 1
    assert (tmp_path / "finance-2026-09.md").read_text().startswith("# Finances: September 2026")


async def test_an_undo_after_a_sync_takes_back_the_last_file() -> None:
    one = desk()
    import_rows(one, ("REWE", "-50.00", "EUR"), account="4111111111111111")
    with one.ledger.writing() as db:
        link_fake_bank(db)
    assert (await one.tools.call("sync_transactions", {}))["added"]
    assert await read(one, "undo_import") == {"file": "bank.csv", "removed": 1}


async def test_what_a_model_reads_of_an_import_has_no_numbers_of_accounts(tmp_path: Path) -> None:
    iban = "DE89370400440532013000"
    row = f"2026-02-30,-20.00,EUR,An {iban},{iban}"
    good = f"Date,Amount,Currency,Description,IBAN\n2026-02-01{row[10:]}\n"
    (tmp_path / "good.csv").write_text(good)
    (tmp_path / "bank.csv").write_text(f"{good}{row}\n")
    async with session_for(agent(), cwd=str(tmp_path)) as session:
        await ask_in(session, Prompt.of("import good.csv"), accept_all)
        done = await ask_in(session, Prompt.of("import bank.csv"), accept_all)
        history = await session.history()
    (_, call) = history.calls.values()
    assert call.status == "failed"
    assert "****3000" in (call.reason or "")
    assert iban not in str(call.reason)
    assert iban not in done.text


async def test_the_question_names_the_account_and_the_rows_that_are_left_out(tmp_path: Path) -> None:
    rows = "2026-10-03,REWE,-12.50,EUR\n2026-10-04,REWE,about ten,EUR\n2026-10-05,LIDL,-3.00,EUR\n"
    head = "Account,DE89 3704 0044 0532 0130 00\n\nDate,Payee,Amount,Currency\n"
    (tmp_path / "bank.csv").write_text(head + rows)
    async with talking(cwd=tmp_path) as ask:
        done = await ask("import bank.csv")
        (asked,) = done.asked
        assert asked.message == "Import bank.csv into Account 3000 (2 new, 0 known, 1 unreadable)?"
        shown = "".join(str(one.content) for one in only(done.events, ToolUpdate))
        assert "left out, because it cannot be read: line 5" in shown
        assert "**2 new**" in done.text
        assert "15.50 EUR" in (await ask("How much did I spend in October?")).text


async def test_a_file_of_which_nothing_can_be_read_is_refused(tmp_path: Path) -> None:
    head = "Account,DE89 3704 0044 0532 0130 00\n\nDate,Payee,Amount,Currency\n"
    (tmp_path / "good.csv").write_text(f"{head}2026-10-03,REWE,-12.50,EUR\n")
    (tmp_path / "bad.csv").write_text(f"{head}2026-10-03,REWE,-12.50,EUR\n2026-10-04,REWE,about ten,EUR\n")
    async with talking(cwd=tmp_path) as ask:
        await ask("import good.csv")
        refused = await ask("import bad.csv")
        assert refused.asked == []
        assert "one row cannot be read (line 5" in refused.text


async def test_an_undo_takes_back_the_import_that_was_shown_also_if_another_comes_between() -> None:
    one = agent()
    import_rows(one.desk, ("REWE", "-50.00", "EUR"), account="4111111111111111")

    def answer(asked: Asked) -> Answer | None:
        assert isinstance(asked.question, Permission)
        assert "bank.csv (1 transactions)" in (asked.question.message or "")
        # Another process imports a file while the person reads the question.
        import_rows(one.desk, ("EDEKA", "-70.00", "EUR"), account="4222222222222222")
        return accept_all(asked)

    async with talking(one) as ask:
        done = await ask("Undo the last import", answer)
        assert "1 transaction removed" in done.text
    with one.desk.ledger.reading() as db:
        left = [row[0] for row in db.execute("SELECT description FROM entries")]
        assert [row[0] for row in db.execute("SELECT id FROM imports WHERE undone_at IS NOT NULL")] == [1]
    assert left == ["EDEKA"]
