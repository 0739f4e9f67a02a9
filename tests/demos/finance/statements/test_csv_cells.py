"""How the cells of CSV files are written: decimal mark, currency and sign."""

from trunkline.demos.finance.statements.csv_columns import draft_mapping
from trunkline.demos.finance.statements.csv_layout import read_table
from trunkline.demos.finance.statements.mapping import Draft


def draft(text: str) -> Draft:
    return draft_mapping(read_table(text))


def test_thousands_alone_do_not_tell_the_decimal_mark() -> None:
    unclear = 'Date,Text,Amount EUR\n2026-01-01,a,"-1,234"\n2026-01-02,b,"-2,500"\n'
    assert draft(unclear).decimal is None
    assert draft(unclear + "2026-01-03,c,-3.5\n").decimal == "point"


def test_the_sign_of_a_card_is_asked_unless_the_balance_proves_it() -> None:
    unclear = "Date,Text,Amount EUR\n2026-01-01,Shop,20.00\n2026-01-02,Other,30.00\n2026-01-03,Refund,-5.00\n"
    assert draft(unclear).sign is None
    with_balance = (
        "Date,Text,Amount EUR,Balance\n2026-01-01,Shop,20.00,80.00\n"
        "2026-01-02,Other,30.00,50.00\n2026-01-03,Refund,-5.00,55.00\n"
    )
    assert draft(with_balance).sign == "positive_is_out"


def test_equal_amounts_prove_a_sign_by_the_order_of_their_days() -> None:
    rows = [("2026-01-01", 90), ("2026-01-02", 80), ("2026-01-03", 70)]
    oldest_first = "Date,Text,Amount EUR,Balance\n" + "".join(
        f"{day},x,10.00,{left}.00\n" for day, left in rows
    )
    assert draft(oldest_first).sign == "positive_is_out"
    newest_first = "Date,Text,Amount EUR,Balance\n" + "".join(
        f"2026-01-0{3 - index},x,10.00,{left}.00\n" for index, (_, left) in enumerate(rows)
    )
    assert draft(newest_first).sign == "negative_is_out"


def test_a_card_whose_bill_was_paid_does_not_show_its_sign() -> None:
    text = "Date,Text,Amount EUR\n2026-01-01,AUTOPAY PAYMENT - THANK YOU,-50.00\n"
    assert draft(text).sign is None
    assert draft(text.replace("AUTOPAY PAYMENT - THANK YOU", "Shop")).sign == "negative_is_out"


def test_columns_without_names_show_how_their_amounts_are_written() -> None:
    assert draft("one;two;three\n30.10.2026;-5,10;7,30\n29.10.2026;-6,20;8,50\n").decimal == "comma"


def test_a_column_of_markers_proves_the_sign_of_amounts_that_have_one() -> None:
    rows = [("DEBIT", "20.00"), ("DEBIT", "30.00"), ("CREDIT", "-5.00")]
    body = "".join(f"{word},2026-01-0{day},x,{amount}\n" for day, (word, amount) in enumerate(rows, 1))
    known = draft("Details,Date,Description,Amount EUR\n" + body)
    assert (known.sign, known.marker) == ("positive_is_out", None)
    known = draft("Details,Date,Description,Amount EUR\n" + body.replace("CREDIT", "DEBIT"))
    assert known.sign is None


def test_currencies_above_the_header_or_in_balances_count() -> None:
    assert draft("Account in CHF;x\n\nDate;Text;Amount\n2026-01-01;a;-1.00\n").currency == "CHF"
    assert draft("Date;Text;Amount;Balance\n2026-01-01;a;-1.00;£5.00\n").currency == "GBP"
    assert draft("EUR and CHF;x\n\nDate;Text;Amount\n2026-01-01;a;-1.00\n").currency is None
