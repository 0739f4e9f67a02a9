"""The words that banks write above their columns, and what such a column holds.

There is no list of banks here. A word stands for a role in English, German, French, Spanish, Italian and
Dutch, a few also in Polish, Czech, Portuguese, Japanese and the Nordic languages; of several columns with
one role the word that comes first in the list wins. What a column holds is checked against its cells
elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

Role = Literal[
    "date", "value_date", "amount", "debit", "credit", "balance", "currency", "payee", "text", "type",
    "marker", "status", "account", "native_id", "fee",
]  # fmt: skip

_WORDS: dict[Role, str] = {
    "date": """
        date comptabilisation|date de comptabilisation|data ksiegowania|booked at|
        posting date|post date|posted date|date posted|booking date|clearing date|
        buchungstag|buchungsdatum|buchung|
        completed date|datum des abschlusses|date comptable|date operation|date de l operation|
        date de operation|dateop|date d operation|data contabile|fecha operacion|fecha de operacion|
        fecha contable|boekdatum|
        date|datum|fecha|data|data operazione|transaction date|trans date|transaktionsdatum|umsatzdatum|
        belegdatum|buchung datum|date created|created|created on|started date|date transaction|
        date de transaction|timestamp|zeitpunkt|data operacji|data transakcji|bokforingsdatum|bokforingsdag|
        bogføringsdato|dato|kirjauspaiva|data mov|日付|取引日|年月日|利用日
    """,
    "value_date": """
        value date|valuta|valutadatum|wertstellung|wertstellungsdatum|wert|date valeur|date de valeur|
        dateval|fecha valor|data valuta|rentedatum|interest date|data waluty|valutadag|rentedato|arvopaiva|
        transaktionsdag|data valor
    """,
    "amount": """
        billing amount|billed amount|settlement amount|amount in account currency|
        amount|betrag|umsatz|montant|importe|importo|bedrag|transaction amount|buchungsbetrag|
        betrag eur|betrag in eur|betrag chf|betrag in chf|amount eur|amount usd|amount gbp|amount chf|
        montant eur|montant en euros|montant euros|importe eur|importo eur|bedrag eur|betrag waehrung|
        net amount|net|netto|value|sum|summe|montant net|umsatz in eur|
        montant operation|kwota|kwota transakcji waluta rachunku|belopp|beløb|maara|maara euroa|objem|castka|
        valor|valor r|入出金 円|入出金|金額|取引金額
    """,
    "debit": """
        debit|debit amount|soll|ausgang|ausgabe|ausgaben|belastung|belastungen|lastschrift|paid out|
        money out|out|withdrawal|withdrawals|withdrawal amount|cargo|cargos|uscite|addebito|addebiti|
        dare|debit eur|debit euros|debit chf|debit usd|outflow|spent|af|payments out|amount debit|
        montant debit|ut|ut fra konto|uttag|debito|支払い金額|お引出し|出金|出金額
    """,
    "credit": """
        credit|credit amount|haben|eingang|einnahme|einnahmen|gutschrift|gutschriften|paid in|money in|
        in|deposit|deposits|deposit amount|abono|abonos|entrate|accredito|accrediti|avere|credit eur|
        credit euros|credit chf|credit usd|inflow|received|bij|payments in|amount credit|montant credit|
        inn|inn pa konto|insattning|credito|預かり金額|お預入れ|入金|入金額
    """,
    "balance": """
        balance|running balance|running bal|saldo|kontostand|saldo nach buchung|saldo eur|solde|
        solde eur|balance after|balance eur|balance usd|balance gbp|account balance|saldo contabile|
        neuer saldo|closing balance|guthaben|saldo na trn|
        saldo po operacji|saldo po transakcji|bokfort saldo|saldo contabilistico|
        差引残高|残高|取引後残高 円|取引後残高
    """,
    "currency": """
        billing currency|billed currency|settlement currency|
        currency|wahrung|waehrung|devise|moneda|divisa|valuta|munt|currency code|transaction currency|
        account currency|betragswahrung|w hrung|waluta|mena
    """,
    "payee": """
        payee|payee name|merchant|merchant name|sender empfanger|sender empfaenger|empfanger auftraggeber|
        empfaenger auftraggeber|zahlungspartner|beneficiary name|contrepartie|controparte|
        name zahlungsbeteiligter|beguenstigter zahlungspflichtiger|
        begunstigter zahlungspflichtiger|auftraggeber empfanger|auftraggeber empfaenger|
        auftraggeber begunstigter|auftraggeber beguenstigter|begunstigter auftraggeber|
        beguenstigter auftraggeber|zahlungsempfanger in|zahlungsempfanger|
        zahlungsempfaenger in|empfanger|empfaenger|empfanger in|partner name|partnername|gegenpartei|
        counterparty|counter party|counterparty name|beneficiary|beneficiaire|tiers|beneficiario|
        naam tegenpartij|tegenpartij naam|target name|name|naam|to|recipient|dane kontrahenta|
        saaja maksaja
    """,
    "text": """
        descrizione completa|libelle complet operation|description|transaction description|beschreibung|label|
        memo|verwendungszweck|buchungsdetails|umsatztext|text|
        buchungstext umsatztext|details|libelle|libelle operation|libelle de l operation|narrative|
        particulars|concepto|descripcion|descrizione|causale|omschrijving|naam omschrijving|
        mededelingen|payment reference|reference|referenz|betreff|note|payment details|
        transaction details|original description|additional information|information|zahlungsreferenz|
        intitule|nature de l operation|detail|mitteilung|avisierungstext|extended details|booking text|
        opis operacji|opis transakcji|tytuł|opis|beskrivning|tekst|forklaring|rubrik|selitys|viesti|descricao|
        摘要内容|お取り扱い内容|入出金内容|利用店名 商品名|摘要|内容
    """,
    "type": """
        type|typ|transaction type|buchungstext|umsatzart|umsatztyp|vorgang|transaktionstyp|type operation|
        type d operation|mutatiesoort|code|trans type|payment type|buchungsart|art
    """,
    "marker": """
        debit credit|credit debit|cr dr|dr cr|d c|c d|s h|soll haben|af bij|credit debit indicator|
        debit credit indicator|sign|kennzeichen|sens|soll haben kennzeichen|cd|dc|haben soll|+|direction|
        details|type|transaction type
    """,
    "status": """
        status|state|info|umsatzstatus|transaction status|buchungsstatus|statut|estado|stato
    """,
    "account": """
        auftragskonto|iban kontoinhaber|auftraggeberkonto|
        iban auftragskonto|bezeichnung auftragskonto|account number|account|account id|
        account iban|own account|konto|kontonummer|compte|numero de compte|cuenta|conto|rekening|
        rekeningnummer|iban|iban bban|accountnum|
        account name|bank account|card number|karte|kartennummer|card no|card|card member
    """,
    "native_id": """
        transaction id|transactionid|transaktions id|transaktionsnummer|transferwise id|unique id|fitid|
        transaction reference number|id transaction|numero d operation|transaktionscode|
        transactiereferentie|transaction number|id
    """,
    "fee": """
        fee|fees|total fees|gebuhr|gebuhren|gebuehr|frais|commission|comision|kosten
    """,
}


def _ranks() -> dict[str, dict[Role, int]]:
    ranks: dict[str, dict[Role, int]] = {}
    for role in get_args(Role):
        for rank, word in enumerate(_WORDS[role].replace("\n", " ").split("|")):
            ranks.setdefault(" ".join(word.split()), {})[role] = rank
    return ranks


_RANKS = _ranks()
_FOREIGN = "foreign|fremd|original|exchange|rate|fee|gebuhr|kurs|local|devise|ursprung|oorspr|target"
_NOT_OURS = frozenset(_FOREIGN.split("|"))
"""Words beside an amount that say that it is another one than the account's."""


def roles_of(cell: str) -> dict[Role, int]:
    """Give the roles of a normalised header cell, each with its rank among the words for it."""
    found = _RANKS.get(cell)
    if found is None and (numbered := cell.rstrip("0123456789 ")) != cell:
        found = _RANKS.get(numbered)  # "Description 1", "Beschreibung2"
    if found is None:
        # "Amount (EUR)", "Betrag €", "Balance in GBP": the word before the currency.
        stem = cell.removesuffix(" in").rsplit(" ", 1)
        if len(stem) == 2 and len(stem[1]) == 3:
            found = _RANKS.get(stem[0].removesuffix(" in"))
    if found is not None and not _NOT_OURS.isdisjoint(cell.split()):
        return {role: rank for role, rank in found.items() if role not in ("amount", "balance")}
    return found or {}


def is_sorting(cell: str) -> bool:
    """Whether a normalised header cell is about categories, which people change at their bank."""
    return bool(re.search(r"\b(?:sub)?(?:categor|kategori|stichwort|tags?\b)", cell))


def is_foreign(cell: str) -> bool:
    """Whether a normalised header cell is about another currency than the account's."""
    words = cell.split()
    return len(words) > 1 and not _NOT_OURS.isdisjoint(words)


def count_roles(cells: Sequence[str]) -> int:
    """How many different roles the cells of a record name, if it is a header."""
    first = [min(roles, key=lambda role: roles[role]) for cell in cells if (roles := roles_of(cell))]
    return len(set(first))
