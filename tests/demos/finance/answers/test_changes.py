from datetime import date

from trunkline.demos.finance.answers.changes import imported, query, recategorized
from trunkline.demos.finance.questions.intent import Intent

TODAY = date(2026, 11, 18)


def test_a_query_on_money_says_in_which_unit_it_is() -> None:
    step = Intent(what="sql")
    money = query(step, {"columns": ["currency", "amount"], "rows": [["EUR", 58158]], "note": "1 row"}, TODAY)
    assert "1 row\n\nAmounts are in the smallest unit of their currency" in money
    assert "smallest unit" not in query(step, {"columns": ["n"], "rows": [[3]]}, TODAY)


def test_a_long_result_of_a_query_is_cut_with_a_count() -> None:
    said = query(Intent(what="sql"), {"columns": ["n"], "rows": [[at] for at in range(25)]}, TODAY)
    assert "… and 5 more rows." in said


def test_what_changed_nothing_says_so() -> None:
    nothing = {"merchant": "Rewe", "category": "Groceries", "changed": 0}
    assert "nothing changed" in recategorized(Intent(what="recategorize"), nothing, TODAY)
    known = {"file": "bank.csv", "new": 0, "known": 9}
    assert imported(Intent(what="import"), known, TODAY).startswith(
        "bank.csv has nothing new: 9 transactions"
    )
