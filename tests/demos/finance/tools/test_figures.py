import pytest
from tests.demos.finance.tools.desks import desk, import_rows, read

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


async def test_a_minimum_is_in_the_units_of_its_currency() -> None:
    one = desk()
    import_rows(one, ("LAWSON", "-80", "JPY"), ("HOTEL", "-20000", "JPY"), account="4111111111111111")
    found = await read(one, "list_transactions", minimum=100)
    assert [row["amount"] for row in found["transactions"]] == ["20,000 JPY"]
    assert "at least 100 JPY" in found["filters"]
    import_rows(one, ("REWE", "-50.00", "EUR"), account="4222222222222222")
    with pytest.raises(ToolError, match="say of which currency"):
        await read(one, "list_transactions", minimum=100)
    found = await read(one, "list_transactions", minimum=100, currency="JPY")
    assert found["rows"] == 1


@pytest.mark.parametrize("minimum", [1e300, float("inf"), float("nan")])
async def test_a_minimum_that_is_no_amount_is_refused(minimum: float) -> None:
    with pytest.raises(ToolError, match="no amount"):
        await read(desk(), "list_transactions", minimum=minimum)


async def test_a_limit_below_one_is_one_group_and_never_cuts_from_the_end() -> None:
    found = await read(desk(), "spending", group_by="merchant", currency="EUR", limit=-1)
    assert len(found["groups"]) == 1


async def test_accounts_with_the_same_end_of_their_numbers_are_not_added_up() -> None:
    one = desk()
    import_rows(one, ("REWE", "-50.00", "EUR"), account="4111111111111111")
    import_rows(one, ("LIDL", "-7.00", "EUR"), account="4222222222221111")
    accounts = [row["name"] for row in (await read(one, "list_accounts"))["accounts"]]
    assert accounts == ["Account 1111", "Account 1111 (2)"]
    assert (await read(one, "spending", account="Account 1111"))["totals"] == ["50.00 EUR"]
    groups = (await read(one, "spending", group_by="account"))["groups"]
    assert [group["amount"] for group in groups] == ["50.00 EUR", "7.00 EUR"]


async def test_what_does_not_count_is_left_out_of_every_figure() -> None:
    one, days = desk(), {"start": "2026-10-01", "end": "2026-10-31"}
    sql = """SELECT -sum(t.amount) FROM transactions t LEFT JOIN transactions o
        ON t.kind = 'refund' AND o.id = t.pair_id WHERE t.kind IN ('spend', 'refund')
        AND coalesce(o.posted, t.posted) BETWEEN '2026-10-01' AND '2026-10-31' AND t.currency = 'EUR'
        AND coalesce(o.category, t.category) <> 'Rent' AND coalesce(o.merchant, t.merchant) <> 'Rewe'"""
    with one.ledger.reading() as db:
        (spent,) = db.execute(sql).fetchone()
    figure = f"{spent // 100:,}.{spent % 100:02d} EUR"
    for name in ("spending", "list_transactions", "chart_spending"):
        found = await read(one, name, **days, excluding=["rent", "Rewe"])
        assert found["totals"] == [figure]
        assert {"without Rent", "without Rewe"} <= set(found["filters"])
    against = {"against_start": "2026-09-01", "against_end": "2026-09-30"}
    compared = await read(one, "compare_spending", **days, **against, excluding=["rent", "Rewe"])
    assert compared["changes"][0]["now"] == figure
    share = await read(one, "spending", **days, category="Food", excluding=["Rewe"], share=True)
    assert share["of_all"] == (await read(one, "spending", **days))["totals"]


async def test_a_figure_of_days_without_data_names_the_days_of_the_ledger() -> None:
    one = desk()
    before = await read(one, "spending", start="2020-01-01", end="2020-12-31")
    assert before["totals"] == []
    assert before["ledger"]["start"] > "2020-12-31"
    import_rows(one, ("REWE", "-50.00", "EUR"), account="4111111111111111")
    after = await read(one, "spending", start="2026-11-01", end="2026-11-18")
    assert after["ledger"] == {"start": "2026-10-01", "end": "2026-10-01"}
    assert "ledger" not in await read(one, "spending", start="2026-09-28", end="2026-10-05")
    assert "ledger" not in await read(one, "spending", end="2026-10-05")
    assert "ledger" not in await read(one, "budgets")


async def test_budgets_are_those_of_the_month_that_is_asked_for() -> None:
    one = desk()
    now = await read(one, "budgets", category="Groceries")
    then = await read(one, "budgets", category="Groceries", month="2026-10-15")
    spent = await read(one, "spending", start="2026-10-01", end="2026-10-31", category="Groceries")
    assert then["budgets"][0]["spent"] == spent["totals"][0] != now["budgets"][0]["spent"]
    assert (then["day"], then["days"]) == (31, 31)


async def test_charges_and_subscriptions_are_narrowed_by_account_and_category() -> None:
    one = desk()
    everything = (await read(one, "subscriptions"))["subscriptions"]
    streaming = (await read(one, "subscriptions", category="Streaming"))["subscriptions"]
    assert streaming
    assert [row for row in everything if row["category"] == "Streaming"] == streaming
    found = await read(one, "unusual_charges", start="2026-10-01", merchant="MediaMarkt")
    assert [row["merchant"] for row in found["charges"]] == ["MediaMarkt"]
    card = await read(one, "unusual_charges", start="2026-09-01", only_double=True, account="Travel card")
    assert [row["account"] for row in card["charges"]] == ["Travel card"]


async def test_an_account_is_called_by_its_name_also_among_the_filters() -> None:
    one = desk()
    found = await read(one, "spending", start="2026-10-01", end="2026-10-31", account="demo-card")
    assert "account Travel card" in found["filters"]
