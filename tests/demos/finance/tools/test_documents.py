import json

from tests.demos.finance.tools.desks import desk, read

from trunkline.demos.finance.tools.documents import for_people
from trunkline.tools.results import shown_content


async def test_amounts_are_text_with_their_currency() -> None:
    one = desk()
    for name in ("spending", "list_transactions", "subscriptions", "budgets", "list_accounts"):
        document = await read(one, name)
        assert "EUR" in json.dumps(document)
        assert document["sql"]
        assert document["period"]


async def test_the_parts_of_a_comparison_add_up() -> None:
    document = await read(
        desk(),
        "compare_spending",
        start="2026-10-01",
        end="2026-10-31",
        against_start="2026-09-01",
        against_end="2026-09-30",
    )
    (change,) = document["changes"]
    now, before, difference = (
        float(change[key].split()[0].replace(",", "")) for key in ("now", "before", "change")
    )
    assert round(now - before, 2) == difference
    assert document["drivers"]


def test_a_person_sees_a_line_and_a_table() -> None:
    rise = {"before": "1.00 EUR", "now": "2.00 EUR"}
    parts = [{"id": 1, "merchant": "Netflix", "rise": rise}, {"id": 2, "merchant": "Spotify", "rise": None}]
    document = {"totals": ["3.00 EUR"], "rows": 1, "subscriptions": parts}
    (block,) = shown_content(for_people(document))
    assert "3.00 EUR; 1 transaction\n" in getattr(block, "text", "")
    assert "| Netflix | 1.00 EUR to 2.00 EUR |" in getattr(block, "text", "")
    (short,) = shown_content(for_people({"rows": 2, "totals": []}))
    assert getattr(short, "text", "") == "2 transactions"
