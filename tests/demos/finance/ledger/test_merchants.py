"""Names of merchants out of what banks write."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trunkline.demos.finance.ledger.merchant_names import KNOWN
from trunkline.demos.finance.ledger.merchants import MAX_WORDS, UNKNOWN, find_merchant
from trunkline.demos.finance.ledger.words import contains, fold


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("REWE SAGT DANKE 1234", "Rewe"),
        ("AMZN MKTP DE*2K4", "Amazon"),
        ("AMAZON PRIME JAHRESMITGLIEDSCHAFT", "Amazon Prime"),
        ("PAYPAL *SPOTIFY", "Spotify"),
        ("UBER EATS 4411", "Uber Eats"),
        ("UBER *TRIP HELP.UBER.COM", "Uber"),
        ("SQ *BLUE BOTTLE COFFEE", "Blue Bottle Coffee"),
        ("TRADER JOE S #546 NEW YORK NY", "Trader Joe's"),
        ("Müller Drogerie 12", "Müller Drogerie"),
        ("MUELLER DROGERIE 12", "Müller Drogerie"),
        ("KARTENZAHLUNG 11.03 RAMEN HAUS KREUZBERG", "Ramen Haus Kreuzberg"),
        ("SEPA LASTSCHRIFT 8812 Blumen Linde GmbH", "Blumen Linde"),
        ("Dauerauftrag an Max Mustermann", "Max Mustermann"),
        ("SEPA-Überweisung an Max Mustermann", "Max Mustermann"),
        ("POS 12 Кафе Пушкин", "Кафе Пушкин"),
        ("Zelle payment to Ana Lopez", "Ana Lopez"),
        ("PURCHASE AUTHORIZED ON 10/27 PEETS COFFEE", "Peets Coffee"),
        ("ON RUNNING BERLIN", "On Running Berlin"),
        ("AT&T *BILL AT&T MOBILE", "AT&T"),
        ("T-MOBILE*AUTO PAY", "T-Mobile"),
        ("Miete über Hausverwaltung Nord", "Hausverwaltung Nord"),
        ("MIETE U\u0308BER HAUSVERWALTUNG NORD", "Hausverwaltung Nord"),
        ("PAIEMENT PAR CARTE X1234 BOULANGERIE PAUL 29/10", "Boulangerie Paul"),
        ("PRLV SEPA EAU DE LYON", "Eau De Lyon"),
        ("Kortköp 261029 SYSTEMBOLAGET", "SYSTEMBOLAGET"),
        ("Bonifico Mario Rossi", "Mario Rossi"),
        ("/TRTP/SEPA OVERBOEKING/IBAN/NL44RABO0123456789/NAME/Huis en Zo/REMI/huur/EREF/X", "Huis En Zo"),
        ("Auftraggeber: Blumen LindeBuchungstext: Strauss Ref. ABC/1", "Blumen Linde"),
        ("Empfänger: Max Muster Kto/IBAN: DE02120300000000202051 Buchungstext: Sparen", "Max Muster"),
        ("DE89370400440532013000", UNKNOWN),
        ("", UNKNOWN),
        ("PAYMENT", "Payment"),
    ],
)
def test_a_description_names_its_merchant(description: str, name: str) -> None:
    assert find_merchant(description).name == name


def test_numbers_of_branches_make_no_new_merchant() -> None:
    assert len({find_merchant(f"KOLLEKTIV WERKHOF {number}").name for number in range(50)}) == 1


def test_a_known_word_is_a_whole_word() -> None:
    assert find_merchant("SHELLFISH HOUSE").known is None
    assert find_merchant("GRAND REWENTLOW").known is None


def test_what_a_bank_calls_the_merchant_counts_where_the_text_says_nothing() -> None:
    assert find_merchant("CARD 8812 X77", "Corner Shop").name == "Corner Shop"
    assert find_merchant("REWE 12", "Some Payment Service").name == "Rewe"
    assert find_merchant("CARD 8812", "LIDL 12").name == "Lidl"


def test_every_known_merchant_is_found_by_its_words_and_by_its_name() -> None:
    for words, name, category in KNOWN:
        assert fold(words.rstrip("*")).strip() == words.rstrip("*")
        assert find_merchant(f"POS 12 {words.rstrip('*').upper()} 99").known is not None
        found = find_merchant(name)
        assert found.name == name
        assert found.known is not None
        assert found.known.category == category


@given(st.text(max_size=80))
def test_the_name_of_a_merchant_is_found_again_as_itself(description: str) -> None:
    name = find_merchant(description).name
    assert name
    assert find_merchant(description, name).name == name
    assert len(name.split()) <= max(MAX_WORDS, *(len(entry.name.split()) for entry in KNOWN))


@given(st.text(max_size=60))
@example("\u33c6")
@example("\u212b \u0130")
def test_folded_text_folds_to_itself(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_a_star_takes_any_ending() -> None:
    assert contains(" amznmktp de ", "amzn*")
    assert not contains(" xamzn ", "amzn*")
    assert not contains(" amznmktp ", "amzn")
