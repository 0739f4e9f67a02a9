"""Words of descriptions that tell a category where no merchant does, in English and German.

They are whole words, as in ``merchant_names``: no case, accents or signs, and a star takes any ending. The
longest that a description has counts.
"""

from __future__ import annotations

from typing import NamedTuple

from trunkline.demos.finance.ledger.words import read_table

MONEY_IN = """
Salary: salary, payroll, paycheck, salaire, nomina, stipendio, salaris,
    gehalt, lohn, wages, lohn gehalt, direct deposit, bezuege, bezuge
Interest: interest, zinsen, habenzinsen, zinsgutschrift, interest paid, interest payment
Transfer: topup, top up, added money
Benefits: kindergeld, elterngeld, arbeitslosengeld, child benefit, tax refund, steuererstattung
"""
"""Words that count for money that comes in."""

BOTH_WAYS = """
Card payment: credit card payment, credit card bill, credit card autopay, credit crd, citi card online,
    citi card payment, american express ach pmt, american express des ach pmt, amex epayment,
    discover e payment, capital one crcardpmt, capital one mobile pmt, applecard gsbank payment,
    cardmember serv web pymt, online banking payment to crd, payment to credit card, pagamento de fatura,
    kreditkartenabrechnung, kreditkarte abrechnung, kartenabrechnung, visa abrechnung,
    mastercard abrechnung, lastschrift kreditkarte, ausgleich kreditkarte, einzug kreditkarte
Transfer: own transfer, transfer to savings, transfer from savings, to savings, from savings, umbuchung,
    uebertrag, ubertrag, eigenubertrag, eigenuebertrag, internal transfer, transfer between accounts,
    online transfer to, online transfer from, online banking transfer to, online banking transfer from,
    transfer to own account, virement interne, traspaso entre cuentas, tagesgeld, transfer to wise,
    exchanged to, exchanged from, to pocket, from pocket, pocket withdrawal, to vault, from vault, general
    currency conversion, allgemeine wahrungsumrechnung, from main account, to main account, from
    hauptkonto, to hauptkonto, general credit card deposit, bank deposit to pp account, bankgutschrift auf
    paypal konto, general withdrawal, user initiated withdrawal
Investment: sparplan, etf savings plan, savings plan, trade republic, scalable capital, depotkonto, brokerage,
    vanguard, fidelity investments
"""
"""Words of what moves between own accounts."""

CARD_PAID = tuple(
    """payment; pymt; pmt; thank you; deposit; transfer; autopay;
    epayment; bill pay; zahlungseingang; zahlung; uberweisung; ueberweisung; einzahlung; ausgleich;
    abrechnung; lastschrift; paiement; pago; pagamento; betaling""".replace("\n    ", " ").split("; ")
)
"""Words of money that comes into a card's own account and is no refund: the bill was paid."""

MONEY_OUT = """
Rent: rent, miete, kaltmiete, warmmiete, mietzahlung, hausverwaltung, landlord, letting
Mortgage: mortgage, hypothek, baufinanzierung, immobiliendarlehen
Loans: loan, darlehen, ratenkredit, kreditrate, student loan
Utilities: utilities, utility, sewer, electric, strom, gas, wasser, electricity, energie, energy, heating,
    fernwaerme, fernwarme, water bill, abschlag
Internet and phone: virgin media, mobilfunk, internet, dsl, broadband, phone bill, rundfunkbeitrag,
    glasfaser
Groceries: supermarkt, supermarket, grocery, groceries, lebensmittel, biomarkt, wochenmarkt, bio markt,
    feinkost, getraenkemarkt, getrankemarkt, food market, deli grocery
Restaurants: restaurant, ristorante, trattoria, pizzeria, sushi, gasthaus, gaststaette, gaststatte,
    bistro, grill, burger, ramen, thai, imbiss, doener, doner, kebab, diner, steakhouse, taqueria,
    brauhaus, pub, bar, kantine, mensa
Coffee: coffee, cafe, kaffee, espresso, baeckerei, backerei, bakery, konditorei, roestere*, rostere*,
    patisserie
Food delivery: food delivery, lieferservice, takeaway
Public transport: verkehrsbetriebe, metro, transit, u bahn, s bahn, bus ticket, fahrkarte, monatskarte,
    metrocard
Fuel: tankstelle, petrol, fuel, gas station, tanken
Taxi: taxi, cab, rideshare
Car: parkhaus, parking, parken, kfz, werkstatt, car wash, autohaus, tuev, tuv, garage
Clothes: fashion, mode, schuhe, shoes, clothing, apparel, bekleidung, outfitters
Electronics: elektronik, electronics, computer, handy shop
Books: buchhandlung, buecher, bucher, bookstore, bookshop, books
Furniture: moebel, mobel, furniture
Home improvement: baumarkt, hardware store, gartencenter, garden centre
Household goods: drogerie, drugstore, haushaltswaren
Pharmacy: apotheke, pharmacy, pharmacie, farmacia, chemist
Doctor: arzt, aerzt*, zahnarzt, praxis, doctor, dentist, klinik, clinic, hospital, physio*, optiker, labor
Fitness: fitness, gym, yoga, sportverein, schwimmbad, pilates, sportstudio, climbing, boulder*
Hairdresser: friseur, frisoer, hairdresser, barber, salon, haircut
Streaming: streaming
Software: software, saas, hosting, domain, app store
Entertainment: kino, cinema, theater, theatre, konzert, concert, museum, zoo, bowling, tickets, festival,
    club
Games: gaming, games
News: zeitung, newspaper, magazine, zeitschrift, verlag
Flights: airline, airlines, airways, flight, flug, air france
Hotels: hotel, hostel, pension, guesthouse, resort, inn
Trains: railway, bahnhof, train ticket, zugticket
Car rental: car rental, rent a car, autovermietung, mietwagen
Sightseeing: tours, sightseeing, guided tour
Childcare: kita, kindergarten, daycare, childcare, babysitter, nanny
Education: university, universitaet, universitat, tuition, school, schule, kurs, course, volkshochschule
Gifts: geschenk, gift, blumen, flowers, florist
Pets: tierarzt, vet, pet, fressnapf, zooplus
Insurance: versicherung, insurance, krankenkasse, haftpflicht, versich
Bank fees: service fee, monthly fee, maintenance fee, bank fee, account fee, kontofuehrung*,
    kontofuhrung*, entgelt, gebuehr, gebuhr, overdraft, sollzinsen, foreign transaction fee,
    auslandsentgelt, entgeltabrechnung, entgeltabschluss, atm fee, annual fee, kontofuehrungsgebuehr,
    late fee, service charge
Taxes: finanzamt, tax, steuer, kfz steuer, irs, hmrc
Cash: atm, geldautomat, bargeld, bargeldauszahlung, cash withdrawal, cash, auszahlung, ga nr*,
    bank withdrawal, teller withdrawal, counter withdrawal
Donations: donation, spende, charity
"""
"""Words that count for money that goes out, and for what of it comes back."""

_REFUND_WORDS = (
    "refund, refunded, return, returned, reversal, chargeback, erstattung, ruckerstattung, rueckerstattung, "
    "retoure, storno, ruckgabe, rueckgabe, rucklastschrift, ruecklastschrift, ruckbuchung, rueckbuchung, "
    "unpaid direct debit, remboursement, rejet de prelevement, devolucion, rimborso, terugboeking, "
    "stornering, credit voucher, merchandise credit"
)
REFUNDS = tuple(_REFUND_WORDS.split(", "))
"""Words of money that comes back."""


class Keyword(NamedTuple):
    """Words of a description that tell a category; ``sign`` is that of the amount, 0 for both."""

    words: str
    category: str
    sign: int


def _keywords() -> list[Keyword]:
    tables = ((1, MONEY_IN), (0, BOTH_WAYS), (-1, MONEY_OUT))
    found = [
        Keyword(words, category, sign)
        for sign, table in tables
        for category, entries in read_table(table, ",").items()
        for words in entries
    ]
    return sorted(found, key=lambda keyword: (-len(keyword.words), keyword.words))


KEYWORDS = tuple(_keywords())
"""All of these words; the longest first."""
