"""Which two lines are one transfer, and which are not."""

from tests.demos.finance.ledger.ledgers import Line, facts, ledger_of

from trunkline.demos.finance.ledger.transfers import account_names


def pairs(*lines: Line | tuple[str, int, str, str]) -> list[tuple[object, ...]]:
    return facts(ledger_of(lines), "kind, pair_id")


def test_two_sides_with_the_words_of_a_bank_are_a_transfer() -> None:
    lines = (("2026-03-02", -5000, "Umbuchung Tagesgeld", "main"), ("2026-03-03", 5000, "Eingang", "save"))
    assert pairs(*lines) == [("transfer", 2), ("transfer", 1)]


def test_a_side_that_names_the_other_account_is_a_transfer() -> None:
    lines = (
        ("2026-03-02", -5000, "AN 4000123456789010", "main"),
        ("2026-03-04", 5000, "Ihre Gutbuchung", "card"),
    )
    assert pairs(*lines) == [("transfer", 2), ("transfer", 1)]


def test_a_card_payment_is_left_out_and_called_so() -> None:
    db = ledger_of(
        [
            ("2026-03-02", -74512, "LASTSCHRIFT KREDITKARTE KARTENHAUS", "main"),
            ("2026-03-03", 74512, "Payment received - thank you", "card"),
        ]
    )
    assert facts(db, "kind, category") == [("transfer", "Card payment")] * 2
    assert db.execute("SELECT count(*) FROM spending").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM income").fetchone() == (0,)


def test_a_card_payment_whose_card_is_not_in_the_ledger_is_left_out_too() -> None:
    assert pairs(("2026-03-02", -74512, "CREDIT CARD PAYMENT 8812", "main")) == [("transfer", None)]


def test_a_card_that_is_paid_is_not_refunded_whatever_the_bank_calls_it() -> None:
    for text in (
        "PAYMENT THANK YOU",
        "AUTOPAY 8812",
        "Zahlungseingang",
        "Payment received",
        "ZAHLUNG ERHALTEN. BESTEN DANK",
        "Überweisung erhalten",
        "PAIEMENT RECU MERCI",
    ):
        assert pairs(("2026-03-02", 74512, text, "card")) == [("transfer", None)]
        assert pairs(("2026-03-02", 74512, text, "main"))[0][0] == "income"


def test_what_only_sounds_like_it_is_spending() -> None:
    for text in (
        "CARD PAYMENT TO BOBS SHOP",
        "CITY WATER AUTOPAY",
        "OFFICE DEPOT 12",
        "PHONE TOPUP",
        "VISA 12 SHOP",
    ):
        assert pairs(("2026-03-02", -1200, text, "main")) == [("spend", None)]


def test_a_purchase_and_an_equal_income_are_no_transfer() -> None:
    lines = (
        ("2026-03-02", -5000, "REWE SAGT DANKE 12", "main"),
        ("2026-03-03", 5000, "Transfer from Anna", "save"),
    )
    assert pairs(*lines) == [("spend", None), ("income", None)]


def test_sides_that_name_each_other_are_a_transfer_whatever_their_words_sound_like() -> None:
    """So Capital One writes it; a withdrawal need not be cash."""
    lines = (
        ("2026-03-02", -5000, "Withdrawal to 360 Performance Savings XXXXXXX5030, ATM", "main"),
        ("2026-03-02", 5000, "Deposit from 360 Checking XXXXXXX2051", "save"),
    )
    assert pairs(*lines) == [("transfer", 2), ("transfer", 1)]
    one_only = (lines[0], ("2026-03-02", 5000, "Deposit", "save"))
    assert pairs(*one_only) == [("spend", None), ("income", None)]


def test_a_withdrawal_that_says_who_was_paid_is_not_taken_for_cash() -> None:
    lines = (
        ("2026-03-02", -5000, "Withdrawal from ROOFERS GUILD", "main"),
        ("2026-03-02", -5000, "ATM Withdrawal MAIN ST", "main"),
    )
    assert facts(ledger_of(lines), "category") == [("Uncategorized",), ("Cash",)]


def test_the_words_of_american_banks_for_a_card_bill_and_own_accounts_are_known() -> None:
    for text in (
        "CHASE CREDIT CRD DES:AUTOPAY ID:1",
        "CHASE CREDIT CRD AUTOPAY",
        "AMERICAN EXPRESS DES:ACH PMT ID:M1",
        "CAPITAL ONE CRCARDPMT",
        "DISCOVER E-PAYMENT",
        "Online Banking transfer to SAV 9876",
    ):
        assert pairs(("2026-03-02", -74512, text, "main")) == [("transfer", None)]


def test_equal_amounts_without_a_word_are_no_transfer() -> None:
    lines = (("2026-03-02", -5000, "Kollektiv", "main"), ("2026-03-03", 5000, "Anna", "save"))
    assert pairs(*lines) == [("spend", None), ("income", None)]


def test_sides_too_far_apart_of_one_account_or_of_two_currencies_are_no_pair() -> None:
    assert pairs(("2026-03-02", -5000, "Transfer", "main"), ("2026-03-09", 5000, "Transfer", "save")) == [
        ("spend", None),
        ("income", None),
    ]
    assert pairs(("2026-03-02", -5000, "Transfer", "main"), ("2026-03-02", 5000, "Transfer", "main")) == [
        ("spend", None),
        ("refund", 1),
    ]
    assert pairs(("2026-03-02", -5000, "Transfer", "main"), ("2026-03-02", 5000, "Transfer", "usd")) == [
        ("spend", None),
        ("income", None),
    ]


def test_the_clearer_words_and_then_the_nearer_day_win() -> None:
    assert pairs(
        ("2026-03-02", -5000, "Transfer somewhere", "main"),
        ("2026-03-02", -5000, "Umbuchung auf Tagesgeld", "main"),
        ("2026-03-02", 5000, "Eingang", "save"),
    ) == [("spend", None), ("transfer", 3), ("transfer", 2)]
    assert pairs(
        ("2026-03-02", -5000, "Umbuchung", "main"),
        ("2026-03-05", -5000, "Umbuchung", "main"),
        ("2026-03-05", 5000, "Eingang", "save"),
        ("2026-03-02", 5000, "Eingang", "save"),
    ) == [("transfer", 4), ("transfer", 3), ("transfer", 2), ("transfer", 1)]


def test_an_exchange_is_a_pair_if_both_sides_say_so_and_nothing_else_fits() -> None:
    out = Line("2026-03-02", -20000, "TRANSFER TO WISE USD", "main")
    into = Line("2026-03-03", 21500, "TOPUP FROM NORDBANK", "usd")
    assert pairs(out, into) == [("transfer", 2), ("transfer", 1)]
    other = Line("2026-03-04", 9900, "TOPUP", "usd")
    assert pairs(out, into, other) == [("transfer", None)] * 3


def test_a_purchase_in_another_currency_that_paypal_changes_money_for_counts_once() -> None:
    lines = (
        ("2026-03-02", -1000, "Gog", "usd"),
        ("2026-03-02", 1000, "Allgemeine Währungsumrechnung", "usd"),
        Line("2026-03-02", -950, "Allgemeine Währungsumrechnung", "usd", "EUR"),
    )
    assert [kind for kind, _ in pairs(*lines)] == ["spend", "transfer", "transfer"]


def test_an_account_is_named_by_its_name_its_bank_and_the_end_of_its_number() -> None:
    assert account_names("Rainy day", "DE02 5001 0517", "Nordbank") == (
        "rainy day",
        "nordbank",
        "de0250010517",
        "0517",
    )
    assert account_names("A", "", "") == ()


def test_two_sides_that_name_their_owner_are_a_transfer() -> None:
    lines = (
        ("2026-03-02", -20000, "JOHN SMITH to the other bank", "main"),
        ("2026-03-03", 20000, "John Smith FT", "save"),
    )
    assert pairs(*lines) == [("transfer", 2), ("transfer", 1)]
    late = (lines[0], ("2026-03-06", 20000, "John Smith FT", "save"))
    assert pairs(*late) == [("spend", None), ("income", None)]
    other = (lines[0], ("2026-03-03", 20000, "John Miller FT", "save"))
    assert pairs(*other) == [("spend", None), ("income", None)]


def test_a_purchase_with_a_card_and_an_equal_payment_of_somebody_are_no_transfer() -> None:
    bob = ("2026-03-04", 2000, "Faster payment from Bob Ross", "save")
    for text in ("Card payment Blorbo House", "CONTACTLESS PAYMENT BLORBO", "Kartenzahlung Blorbo"):
        assert pairs(("2026-03-02", -2000, text, "main"), bob) == [("spend", None), ("income", None)]
    paid = (
        ("2026-03-02", -2000, "Card payment Visa 9010", "main"),
        ("2026-03-03", 2000, "Payment received", "card"),
    )
    assert pairs(*paid) == [("transfer", 2), ("transfer", 1)]


def test_money_in_pots_and_pockets_of_a_bank_is_no_spending() -> None:
    for text in ("To pocket GBP Rainy day from GBP", "Pocket Withdrawal", "From Main Account to Holidays"):
        assert pairs(("2026-03-02", -5000, text, "main")) == [("transfer", None)]


def test_a_purchase_that_a_bank_pays_into_another_own_account_counts_once() -> None:
    lines = (
        ("2026-03-02", -999, "SPOTIFY AB", "save"),
        ("2026-03-02", 999, "Bankgutschrift auf PayPal-Konto", "save"),
        ("2026-03-04", -999, "Tagesgeld Europe S.a.r.l. Spotify, Ihr Einkauf bei Spotify", "main"),
    )
    db = ledger_of(lines)
    assert facts(db, "kind, pair_id") == [("spend", None), ("transfer", 3), ("transfer", 2)]
    assert db.execute("SELECT sum(spent) FROM spending").fetchone() == (999,)
    unnamed = (*lines[:2], ("2026-03-04", -999, "SPOTIFY AB", "main"))
    assert pairs(*unnamed)[2] == ("spend", None)
    unsaid = (("2026-03-02", 999, "SPOTIFY AB", "save"), lines[2])
    assert pairs(*unsaid)[1] == ("spend", None)


def test_a_purchase_in_words_of_a_transfer_is_paired_with_what_came_in() -> None:
    lines = (
        ("2026-03-02", -50000, "Kartenzahlung Trade Republic", "main"),
        ("2026-03-03", 50000, "Einzahlung", "save"),
    )
    assert pairs(*lines) == [("transfer", 2), ("transfer", 1)]
