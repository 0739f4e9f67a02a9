from pathlib import Path

import pytest
from tests.demos.finance.conversations import agent, ask_in, talking
from tests.demos.finance.tools.desks import desk, import_rows
from tests.hubs import session_for

from trunkline.commands import Prompt
from trunkline.content import ResourceBlock, TextBlock
from trunkline.demos.finance.bank.items import link_fake_bank
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
    done = await one.tools.call("undo_import", {}, on_no_session="allow")
    assert done == {"file": "bank.csv", "removed": 1}


async def test_what_a_model_reads_of_an_import_has_no_numbers_of_accounts(tmp_path: Path) -> None:
    iban = "DE89370400440532013000"
    row = f"2026-02-30,-20.00,EUR,An {iban},{iban}"
    (tmp_path / "bank.csv").write_text(
        f"Date,Amount,Currency,Description,IBAN\n2026-02-01{row[10:]}\n{row}\n"
    )
    async with session_for(agent(), cwd=str(tmp_path)) as session:
        done = await ask_in(session, Prompt.of("import bank.csv"), accept_all)
        history = await session.history()
    (call,) = history.calls.values()
    assert call.status == "failed"
    assert "****3000" in (call.reason or "")
    assert iban not in str(call.reason)
    assert iban not in done.text
