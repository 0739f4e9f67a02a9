import pytest
from tests.demos.finance.tools.desks import desk, read

from trunkline.tools import ToolError


async def test_a_total_is_the_sum_of_its_groups() -> None:
    one = desk()
    total = await read(one, "spending", start="2026-10-01", end="2026-10-31")
    parts = await read(one, "spending", start="2026-10-01", end="2026-10-31", group_by="category")
    (text,) = total["totals"]
    amounts = [float(group["amount"].split()[0].replace(",", "")) for group in parts["groups"]]
    assert f"{sum(amounts):,.2f} EUR" == text
    assert sum(group["rows"] for group in parts["groups"]) == total["rows"]


async def test_bad_days_and_names_are_refused_with_words() -> None:
    one = desk()
    with pytest.raises(ToolError, match="YYYY-MM-DD"):
        await read(one, "spending", start="last month")
    with pytest.raises(ToolError, match="ends before"):
        await read(one, "spending", start="2026-10-02", end="2026-10-01")
    with pytest.raises(ToolError, match="no category"):
        await read(one, "spending", category="Blorbo")
    with pytest.raises(ToolError, match="no transaction"):
        await read(one, "explain_category", merchant="Blorbo")


async def test_the_descriptions_say_what_a_tool_is_not_for() -> None:
    tools = desk().tools
    assert "Not for budgets" in tools["spending"].description
    assert "planned" in tools["budgets"].description
    assert "Not for totals" in tools["list_transactions"].description


async def test_an_account_is_found_by_its_id_and_called_by_its_name() -> None:
    one = desk()
    with one.ledger.reading() as db:
        ids = dict(db.execute("SELECT id, name FROM accounts WHERE kind = 'card'"))
    ((account, name),) = ids.items()
    found = await read(one, "spending", account=account)
    assert found["named"] == {"account": name}
    assert found["rows"]
