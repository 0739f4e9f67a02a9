"""Files of any format with their accounts."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.demos.finance.statements.imports import bring, new_ledger, plan, question, rows
from tests.demos.finance.statements.ofx_files import CARDS_2, ofx_of

from trunkline.demos.finance.statements.importing import ImportPlan, plan_import
from trunkline.demos.finance.statements.reading import ImportQuestion
from trunkline.demos.finance.statements.statement import StatementError


def test_each_statement_of_a_file_goes_into_its_own_account() -> None:
    ledger = new_ledger()
    planned = plan(ledger, CARDS_2)
    assert [(account.name, account.kind, account.is_new) for account in planned.accounts] == [
        ("Card Co AV1", "savings", True),
        ("Card Co 1111", "card", True),
    ] or [account.number for account in planned.accounts] == ["SAV1", "41111111"]
    bring(ledger, CARDS_2)
    assert [account.is_new for account in plan(ledger, CARDS_2).accounts] == [False, False]
    with pytest.raises(StatementError, match="several accounts"):
        plan(ledger, CARDS_2, account="One")


def test_a_file_without_an_account_asks_for_it_alone() -> None:
    ledger = new_ledger()
    data = ofx_of([("20260301", "-4.50", "A", "Coffee")]).replace(b"<ACCTID>DE89370400440532013000", b"")
    assert list(question(ledger, data).fields["properties"]) == ["account"]
    assert plan(ledger, data, answers={"account": "Giro"}).accounts[0].name == "Giro"


def test_an_account_is_found_by_its_number_name_or_id() -> None:
    ledger = new_ledger()
    data = ofx_of([("20260301", "-4.50", "A", "Coffee")])
    account = bring(ledger, data, account="My Giro").accounts[0]
    other = "Date,Payee,Amount,Currency\n2026-05-05,x,-1.00,EUR\n"
    for words in ("my giro", account.id, "DE89 3704 0044 0532 0130 00"):
        assert plan(ledger, other, account=words).accounts[0].id == account.id
    assert plan(ledger, other, account="New one").accounts[0].is_new


def test_the_currency_of_an_account_that_is_known_is_not_asked_again() -> None:
    ledger = new_ledger()
    bring(ledger, ofx_of([("20260301", "-4.50", "A", "Coffee")]), account="Giro")
    data = "Date,Payee,Amount\n2026-05-05,x,-1.00\n"
    assert plan(ledger, data, account="Giro").new[0].row.currency == "EUR"
    assert list(question(ledger, data).fields["properties"]) == ["currency", "account", "account_kind"]


PLAIN = "Date,Payee,Amount,Currency\n2026-05-05,Shop,-1.00,EUR\n"


@pytest.mark.parametrize(
    ("file", "data", "answers", "kind"),
    [
        ("bank.csv", PLAIN, {"account": "Main"}, "checking"),
        ("bank.csv", PLAIN, {"account": "Main", "account_kind": "cash"}, "cash"),
        ("bank.csv", PLAIN, {"account": "Gold card"}, "card"),
        ("Kreditkarte 2026.csv", PLAIN, {"account": "Main"}, "card"),
        ("bank.csv", f"Tagesgeld;4711\n\n{PLAIN}", {"account": "Main"}, "savings"),
        ("bank.csv", PLAIN.replace("-1.00", "1.00"), {"account": "Main", "sign": "positive_is_out"}, "card"),
    ],
)
def test_the_kind_of_a_new_account_is_told_by_words_by_the_sign_or_by_the_form(
    file: str, data: str, answers: dict[str, str], kind: str
) -> None:
    with new_ledger().reading() as db:
        found = plan_import(db, file, data.encode(), answers=answers)
    assert isinstance(found, ImportPlan)
    assert found.accounts[0].kind == kind


def test_the_kind_is_asked_where_nothing_tells_it_and_is_kept_for_the_header() -> None:
    ledger = new_ledger()
    asked = question(ledger, PLAIN)
    assert (list(asked.fields["properties"]), asked.fields["required"]) == (
        ["account", "account_kind"],
        ["account"],
    )
    answers = {"account": "Main", "account_kind": "card"}
    assert bring(ledger, PLAIN, answers=answers).accounts[0].kind == "card"
    assert plan(ledger, PLAIN, account="Another").accounts[0].kind == "card"
    with pytest.raises(StatementError, match="account_kind is 'loan'"):
        plan(ledger, PLAIN, answers={"account": "Third", "account_kind": "loan"})


def test_an_account_that_a_column_names_keeps_its_name_and_is_found_again() -> None:
    ledger = new_ledger()
    data = "Date,Payee,Amount,Currency,Account Name\n" + "2026-05-05,x,-1.00,EUR,Main savings\n" * 3
    account = bring(ledger, data).accounts[0]
    assert (account.name, account.number, account.kind) == ("Main savings", "", "savings")
    assert plan(ledger, data).accounts[0].id == account.id


def test_a_column_of_card_numbers_tells_a_card_whose_bill_is_no_income() -> None:
    ledger = new_ledger()
    data = (
        "Transaction Date,Posted Date,Card No.,Description,Debit,Credit\n"
        "2026-10-28,2026-10-30,1234,KROGER,56.12,\n"
        "2026-10-20,2026-10-20,1234,CAPITAL ONE MOBILE PYMT,,200.00\n"
    )
    assert bring(ledger, data, answers={"currency": "USD"}).accounts[0].kind == "card"
    with ledger.reading() as db:
        assert db.execute("SELECT kind FROM transactions WHERE amount = 20000").fetchall() == [("transfer",)]


def test_a_chosen_amount_takes_its_direction_from_a_column_that_has_it() -> None:
    data = (
        "ID,Status,Direction,Created on,Source amount,Target amount,Source currency\n"
        "1,COMPLETED,OUT,2026-10-01,10.00,10.00,EUR\n2,COMPLETED,IN,2026-10-02,500.00,500.00,EUR\n"
    )
    ledger = new_ledger()
    asked = question(ledger, data).fields["properties"]
    assert "amount_column" in asked
    assert "sign" not in asked
    answers = {"amount_column": "Source amount", "account": "W"}
    rows = [row.row.amount for row in plan(ledger, data, answers=answers).new]
    assert sorted(rows) == [-1000, 50000]


def test_a_german_savings_banks_words_for_pending_are_known() -> None:
    data = (
        "Buchungstag;Empfänger;Betrag;Waehrung;Info\n"
        "15.10.26;EDEKA;-23,45;EUR;Umsatz gebucht\n12.10.26;DM;-9,99;EUR;Umsatz vorgemerkt\n"
    )
    assert plan(new_ledger(), data, account="Giro").counts == "1 new, 0 known, 1 pending left out"


def test_the_kind_of_a_booking_is_no_part_of_a_whole_description() -> None:
    data = (
        "Buchungstag;Vorgang;Buchungstext;Umsatz in EUR\n"
        "29.10.2026;Übertrag / Überweisung;Auftraggeber: Firma Buchungstext: Gehalt Oktober;2.222,22\n"
    )
    ledger = new_ledger()
    bring(ledger, data, account="Giro", answers={"sign": "negative_is_out"})
    with ledger.reading() as db:
        assert db.execute("SELECT category, kind FROM transactions").fetchall() == [("Salary", "income")]


@pytest.mark.parametrize(
    ("paid", "kind"),
    [
        ("Payment Thank You-Mobile,,Payment,500.00", "card"),
        ("ONLINE PAYMENT THANK YOU,,Payment,500.00", "card"),
        ("Bob says thank you,,Payment,500.00", "checking"),
        ("Zelle from Anna,,Payment,500.00", "checking"),
    ],
)
def test_a_statement_whose_bill_was_paid_is_a_cards(paid: str, kind: str) -> None:
    data = (
        "Transaction Date,Post Date,Description,Category,Type,Amount,Memo\n"
        "10/13/2026,10/14/2026,WHOLEFDS NYC,Groceries,Sale,-54.20,\n"
        "10/05/2026,10/06/2026,NETFLIX.COM,Bills,Sale,-15.49,\n"
        f"10/03/2026,10/03/2026,{paid},\n"
    )
    ledger = new_ledger()
    assert ("account_kind" in question(ledger, data).fields["properties"]) is (kind != "card")
    assert bring(ledger, data, answers={"currency": "USD", "account": "Main"}).accounts[0].kind == kind


def test_of_two_accounts_in_a_file_only_the_one_whose_bill_was_paid_is_a_card() -> None:
    data = "Account Number,Transaction Date,Description 1,Amount,Currency\n" + "".join(
        f"{number},10/{day}/2026,SHOP {day},-{day}.00,CAD\n"
        for number in ("01234-1234567", "4500123412341234")
        for day in range(13, 17)
    )
    data += "4500123412341234,10/20/2026,PAYMENT - THANK YOU,200.00,CAD\n"
    accounts = plan(new_ledger(), data).accounts
    assert [(one.number[-4:], one.kind) for one in accounts] == [("4567", "checking"), ("1234", "card")]


def test_a_line_above_bookings_without_a_header_is_none_of_them() -> None:
    data = "Compte;Compte;****1234;31/10/2026;;1 234,56\n" + "".join(
        f"{day:02}/10/2026;CARTE;FACTURE CARTE;CARREFOUR PARIS {day};-{day},20;\n"
        for day in range(20, 10, -1)
    )
    answers = {"currency": "EUR", "sign": "negative_is_out", "account": "Courant"}
    with new_ledger().reading() as db:
        found = plan_import(db, "bank.csv", data.encode(), answers=answers)
    assert isinstance(found, ImportPlan)
    assert (found.counts, [note.partition(":")[0] for note in found.notes]) == (
        "10 new, 0 known",
        ["line 1 is no booking"],
    )
    with new_ledger().reading() as db:
        damaged = plan_import(
            db, "bank.csv", data.replace("20/10/2026", "2o/1o/2026").encode(), answers=answers
        )
    assert isinstance(damaged, ImportPlan)
    assert [problem.line for problem in damaged.problems] == [2]


def _generic(amounts: Sequence[str]) -> str:
    rows = (f"2026-05-{day:02},shop {day},{amount},EUR\n" for day, amount in enumerate(amounts, 1))
    return "Date,Description,Amount,Currency\n" + "".join(rows)


PAID, CARD = ["-5.00"] * 6 + ["900.00"], ["5.00"] * 6 + ["-30.00"]


@pytest.mark.parametrize(
    ("first", "then", "asked"),
    [
        ({"amounts": PAID, "account": "Bank"}, CARD, ["sign", "account"]),
        ({"amounts": CARD, "account": "Card", "sign": "positive_is_out"}, PAID, ["sign", "account"]),
        ({"amounts": PAID, "account": "Savings"}, ["0.10"] * 6, []),
        ({"amounts": PAID, "account": "Bank"}, ["900.00"], []),
    ],
)
def test_another_bank_with_the_same_header_does_not_turn_all_signs(
    first: dict[str, Any], then: Sequence[str], asked: list[str]
) -> None:
    ledger = new_ledger()
    bring(ledger, _generic(first["amounts"]), answers={key: first[key] for key in first if key != "amounts"})
    with ledger.reading() as db:
        found = plan_import(db, "bank.csv", _generic(then).encode())
    fields = list(found.fields["required"]) if isinstance(found, ImportQuestion) else []
    assert fields == asked


def test_another_bank_with_the_same_header_does_not_turn_days_into_months() -> None:
    rows = "Date,Description,Amount,Currency\n" + "".join(
        f"{{}}/2026,shop {number},-{number}.00,EUR\n" for number in range(1, 9)
    )
    american = rows.format(*(f"10/{day:02}" for day in range(8, 16)))
    british = rows.format(*(f"{day:02}/10" for day in range(6, 14)))
    ledger = new_ledger()
    bring(ledger, american, answers={"account": "Chase"})
    asked = question(ledger, british)
    assert asked.fields["required"] == ["account"]
    found = plan(ledger, british, answers={"account": "Barclays"})
    assert {one.row.posted.month for one in found.new} == {10}


def test_the_crowns_of_four_countries_are_asked_about() -> None:
    data = (
        "Dato;Tekst;Beløb\n13.10.2026;NETTO;-54,20 kr\n14.10.2026;IRMA;-5,20 kr\n05.10.2026;Løn;1.000,00 kr\n"
    )
    asked = question(new_ledger(), data)
    assert asked.fields["required"] == ["currency", "account"]
    found = plan(new_ledger(), data, answers={"currency": "DKK", "account": "Danske"})
    assert {one.row.currency for one in found.new} == {"DKK"}


def test_fees_count_also_when_the_first_file_with_the_header_had_none() -> None:
    header = "Date,Description,Amount,Fee,Currency,Balance\n"
    ledger = new_ledger()
    bring(
        ledger,
        f"{header}2026-09-01,Lidl,-20.00,0.00,EUR,480.00\n2026-09-02,Aldi,-30.00,0.00,EUR,450.00\n",
        account="App",
    )
    later = f"{header}2026-10-01,Lidl,-50.00,0.00,EUR,400.00\n2026-10-02,Cash,-100.00,2.50,EUR,297.50\n"
    bring(ledger, later)
    assert rows(ledger)[-1] == ("2026-10-02", -10250, "Cash")
    assert plan(ledger, later).counts == "0 new, 2 known"


def test_a_booking_that_is_known_without_its_fee_does_not_come_a_second_time() -> None:
    header = "Date,Description,Amount,Fee,Currency,Balance\n"
    cash = "2026-09-01,Cash,-100.00,2.50,EUR,400.00\n"
    ledger = new_ledger()
    bring(ledger, f"{header}{cash}2026-09-02,Aldi,-30.00,0.00,EUR,370.00\n", account="App")
    longer = f"{header}2026-08-31,Lidl,-1.00,0.00,EUR,502.50\n{cash}2026-09-02,Aldi,-30.00,0.00,EUR,370.00\n"
    assert plan(ledger, longer).counts == "1 new, 2 known"


SECTION = (
    '"Umsätze {}";"Zeitraum: 01.10.2026";\n\n"Buchungstag";"Buchungstext";"Umsatz in EUR";\n'
    '"30.10.2026";"Auftraggeber: {}";"-23,45";\n"29.10.2026";"Auftraggeber: Firma";"-300,00";\n'
)


def test_a_file_of_another_kind_of_account_is_not_put_into_the_one_of_the_same_header() -> None:
    ledger = new_ledger()
    bring(ledger, SECTION.format("Girokonto", "REWE"), account="Giro")
    savings = SECTION.format("Tagesgeld PLUS-Konto", "Max")
    assert list(question(ledger, savings).fields["properties"]) == ["account"]
    bring(ledger, savings, account="Rest")
    for kind, name in (("Girokonto", "Giro"), ("Tagesgeld", "Rest")):
        assert plan(ledger, SECTION.format(kind, "Later")).accounts[0].name == name


def test_two_cards_of_one_bank_are_told_apart_by_the_column_of_the_card() -> None:
    ledger = new_ledger()
    header = "Card,Transaction Date,Post Date,Description,Type,Amount,Currency\n"
    for card in ("1234", "5678"):
        rows = f"{card},10/28/2026,10/29/2026,Starbucks {card},Sale,-5.25,USD\n" * 3
        assert bring(ledger, header + rows).accounts[0].name == f"Card {card}"


def test_a_card_that_another_format_calls_by_its_whole_number_is_the_same() -> None:
    ledger = new_ledger()
    whole = bring(ledger, CARDS_2).accounts[1]
    header = "Card No.,Post Date,Description,Amount,Currency\n"
    rows = "".join(f"1111,2026-02-1{day},Books,-3.1{day},EUR\n" for day in range(3))
    assert bring(ledger, header + rows).accounts[0].id == whole.id


def test_a_note_that_a_person_adds_at_the_bank_does_not_make_a_booking_a_new_one() -> None:
    ledger = new_ledger()
    header = "Date,Counter Party,Reference,Amount (GBP),Spending Category,Notes\n"
    row = "28/10/2026,Tesco,X,-12.30,GROCERIES,"
    bring(ledger, f"{header}{row}\n", account="Main", answers={"sign": "negative_is_out"})
    assert plan(ledger, f"{header}{row.replace('GROC', 'OTH')}dinner\n").counts == "0 new, 1 known"


def test_a_note_is_the_description_where_nothing_else_is() -> None:
    ledger = new_ledger()
    bring(ledger, "Date,Amount (GBP),Notes\n28/10/2026,-12.30,Dinner at Bob\n", account="Main")
    assert rows(ledger) == [("2026-10-28", -1230, "Dinner at Bob")]


def test_accounts_of_one_file_whose_names_end_with_the_same_digits_stay_apart() -> None:
    header = "Account,Date,Description,Amount (EUR)\n"
    visa, amex = (
        "".join(f"{card} 1234,2026-10-0{day},Shop,-{day}.00\n" for day in range(1, 5))
        for card in ("Visa", "Amex")
    )
    ledger = new_ledger()
    bring(ledger, header + visa)
    for rows_of in (amex + visa, visa + amex):
        assert len(bring(ledger, header + rows_of).accounts) == 2
