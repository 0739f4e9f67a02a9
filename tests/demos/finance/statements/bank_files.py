# ruff: noqa: E501
"""Statement files as banks write them, made up here: one for each dialect."""

from typing import NamedTuple


class Dialect(NamedTuple):
    """A file, and the bookings in it: (day, minor units, currency, a part of the description)."""

    name: str
    data: bytes
    bookings: list[tuple[str, int, str, str]]
    number: str | None = None


SPARKASSE = Dialect(
    "German savings bank: quoted, decimal comma, two-digit years, own and the partner's account",
    (
        '"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";"Beguenstigter/Zahlungspflichtiger";'
        '"Kontonummer/IBAN";"BIC (SWIFT-Code)";"Betrag";"Waehrung";"Info"\r\n'
        '"DE89370400440532013000";"03.02.26";"03.02.26";"KARTENZAHLUNG";"2026-02-02T18:11 Debitk.1";"REWE SAGT DANKE";'
        '"DE02120300000000202051";"BYLADEM1001";"-1.023,45";"EUR";"Umsatz gebucht"\r\n'
        '"DE89370400440532013000";"02.02.26";"02.02.26";"LOHN GEHALT";"Gehalt Februar";"Müller & Söhne GmbH";'
        '"DE02120300000000202052";"BYLADEM1001";"2.500,00";"EUR";"Umsatz gebucht"\r\n'
        '"DE89370400440532013000";"01.02.26";"01.02.26";"LASTSCHRIFT";"Miete; Wohnung 4";"Hausverwaltung";'
        '"DE02120300000000202053";"BYLADEM1001";"-800,00";"EUR";"Umsatz gebucht"\r\n'
    ).encode("cp1252"),
    [
        ("2026-02-03", -102345, "EUR", "REWE SAGT DANKE"),
        ("2026-02-02", 250000, "EUR", "Müller & Söhne GmbH"),
        ("2026-02-01", -80000, "EUR", "Miete; Wohnung 4"),
    ],
    "DE89370400440532013000",
)

GERMAN_PREAMBLE = Dialect(
    "German direct bank: lines before the header, a footer, Latin-1",
    (
        '"Girokonto";"DE89 3704 0044 0532 0130 00"\n'
        '"Zeitraum:";"01.03.2026 - 31.03.2026"\n'
        '"Kontostand vom 31.03.2026:";"1.234,56 €"\n'
        "\n"
        '"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Verwendungszweck";'
        '"Umsatztyp";"Betrag (€)"\n'
        '"31.03.2026";"31.03.2026";"Gebucht";"Ich";"EDEKA München";"Einkauf";"Ausgang";"-45,1"\n'
        '"30.03.2026";"30.03.2026";"Vorgemerkt";"Ich";"Tankstelle";"Benzin";"Ausgang";"-60"\n'
        '"29.03.2026";"29.03.2026";"Gebucht";"Arbeitgeber";"Ich";"Lohn";"Eingang";"1.900"\n'
        '"Summe";"";"";"";"";"";"";"1.794,90"\n'
    )
    .encode("latin-1", "replace")
    .replace(b"?", b"\x80"),
    [
        ("2026-03-31", -4510, "EUR", "EDEKA München"),
        ("2026-03-29", 190000, "EUR", "Lohn"),
    ],
    "DE89370400440532013000",
)

FRENCH = Dialect(
    "French bank: debit and credit columns, UTF-8 with a mark, blanks as thousands, slashes",
    (
        "\ufeffNuméro de compte : 00012345678;;;;\n"
        "\n"
        "Date;Date valeur;Libellé;Débit euros;Crédit euros;\n"
        "13/01/2026;13/01/2026;CARTE 12/01 BOULANGERIE;-4,20;;\n"
        "09/01/2026;09/01/2026;VIR SALAIRE;;2 345,67;\n"
        "05/01/2026;05/01/2026;PRLV LOYER;-1 100,00;;\n"
    ).encode(),
    [
        ("2026-01-13", -420, "EUR", "BOULANGERIE"),
        ("2026-01-09", 234567, "EUR", "SALAIRE"),
        ("2026-01-05", -110000, "EUR", "LOYER"),
    ],
    "00012345678",
)

US_CHECKING = Dialect(
    "US bank: month first, details column, running balance",
    (
        b"Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #\n"
        b'DEBIT,01/15/2026,"COFFEE, AND MORE",-4.50,DEBIT_CARD,"$1,095.50",,\n'
        b'CREDIT,01/14/2026,PAYROLL,"1,000.00",ACH_CREDIT,"1,100.00",,\n'
        b"DEBIT,01/02/2026,RENT,-900.00,ACH_DEBIT,100.00,,\n"
    ),
    [
        ("2026-01-15", -450, "USD", "COFFEE, AND MORE"),
        ("2026-01-14", 100000, "USD", "PAYROLL"),
        ("2026-01-02", -90000, "USD", "RENT"),
    ],
)

US_CARD = Dialect(
    "US card: positive is money out, proven by the balance owed",
    (
        b"Trans Date,Post Date,Description,Amount,Running Balance\n"
        b"01/03/2026,01/04/2026,BOOKSHOP,25.00,-25.00\n"
        b"01/10/2026,01/11/2026,CINEMA,12.50,-37.50\n"
        b"01/20/2026,01/21/2026,PAYMENT THANK YOU,-37.50,0.00\n"
    ),
    [
        ("2026-01-04", -2500, "USD", "BOOKSHOP"),
        ("2026-01-11", -1250, "USD", "CINEMA"),
        ("2026-01-21", 3750, "USD", "PAYMENT"),
    ],
)

UK = Dialect(
    "UK building society: paid out and paid in, pounds, names of months, Windows-1252",
    (
        '"Account Name:","FlexAccount ****12345"\r\n'
        '"Account Balance:","£250.00"\r\n'
        '"Available Balance: ","£250.00"\r\n'
        "\r\n"
        '"Date","Transaction type","Description","Paid out","Paid in","Balance"\r\n'
        '"02 Jan 2026","Visa purchase","TESCO STORES","£12.34","","£237.66"\r\n'
        '"05 Jan 2026","Bank credit","A EMPLOYER","","£1,500.00","£1737.66"\r\n'
    ).encode("cp1252"),
    [
        ("2026-01-02", -1234, "GBP", "TESCO STORES"),
        ("2026-01-05", 150000, "GBP", "A EMPLOYER"),
    ],
)

SOLL_HABEN = Dialect(
    "Austrian style: unsigned amounts with S and H beside them, tabs, UTF-16",
    (
        "Buchungsdatum\tBuchungstext\tBetrag\tS/H\tWährung\n"
        "20.02.2026\tBILLA DANKT\t17,80\tS\tEUR\n"
        "19.02.2026\tÜberweisung Gehalt\t2.100,00\tH\tEUR\n"
    ).encode("utf-16"),
    [
        ("2026-02-20", -1780, "EUR", "BILLA DANKT"),
        ("2026-02-19", 210000, "EUR", "Gehalt"),
    ],
)

DUTCH = Dialect(
    "Dutch bank: compact dates, Af and Bij",
    (
        b'"Datum","Naam / Omschrijving","Rekening","Tegenrekening","Code","Af Bij","Bedrag (EUR)","Mutatiesoort","Mededelingen"\n'
        b'"20260214","Albert Heijn","NL91ABNA0417164300","","BA","Af","23,45","Betaalautomaat","Pasvolgnr 001"\n'
        b'"20260213","Werkgever BV","NL91ABNA0417164300","NL02","OV","Bij","1800,00","Overschrijving","Salaris"\n'
        b'"20260212","Huur","NL91ABNA0417164300","NL03","IC","Af","700,00","Incasso","Februari"\n'
    ),
    [
        ("2026-02-14", -2345, "EUR", "Albert Heijn"),
        ("2026-02-13", 180000, "EUR", "Werkgever"),
        ("2026-02-12", -70000, "EUR", "Huur"),
    ],
    "NL91ABNA0417164300",
)

APP = Dialect(
    "An app: times, states, ISO dates, a currency column, several currencies",
    (
        "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance\n"
        "CARD_PAYMENT,Current,2026-01-02 10:00:00,2026-01-03 11:00:00,Bäckerei,-3.20,0.00,EUR,COMPLETED,96.80\n"
        "CARD_PAYMENT,Current,2026-01-04 10:00:00,2026-01-04 11:00:00,Ramen,-1200,0.00,JPY,COMPLETED,8800\n"
        "CARD_PAYMENT,Current,2026-01-05 10:00:00,2026-01-05 11:00:00,Hotel,-90.00,0.00,EUR,REVERTED,\n"
    ).encode(),
    [
        ("2026-01-03", -320, "EUR", "Bäckerei"),
        ("2026-01-04", -1200, "JPY", "Ramen"),
    ],
)

SWISS = Dialect(
    "Swiss bank: apostrophes, Belastung and Gutschrift, sep= line",
    (
        "sep=;\r\n"
        "Buchungsdatum;Avisierungstext;Gutschrift in CHF;Lastschrift in CHF;Valuta;Saldo in CHF\r\n"
        "31.01.2026;Migros Zürich;;-55.40;31.01.2026;4'944.60\r\n"
        "25.01.2026;Lohn;5'000.00;;25.01.2026;5'000.00\r\n"
    ).encode(),
    [
        ("2026-01-31", -5540, "CHF", "Migros"),
        ("2026-01-25", 500000, "CHF", "Lohn"),
    ],
)

NO_HEADER = Dialect(
    "No header: signs behind the amounts, bars",
    b"2026-01-02|SHOP ONE|12.00-|EUR\n2026-01-03|SHOP TWO|3.50-|EUR\n2026-01-04|WAGES|900.00+|EUR\n",
    [
        ("2026-01-02", -1200, "EUR", "SHOP ONE"),
        ("2026-01-03", -350, "EUR", "SHOP TWO"),
        ("2026-01-04", 90000, "EUR", "WAGES"),
    ],
)

PARENTHESES = Dialect(
    "Parentheses are negative; a line break and a delimiter inside of quotes",
    b'Date,Description,Amount (USD)\n2026-05-01,"Two\nlines, one cell",(1200.00)\n2026-05-02,Gift,$50.00\n2026-05-03,Fee,(3.00)\n',
    [
        ("2026-05-01", -120000, "USD", "Two lines, one cell"),
        ("2026-05-02", 5000, "USD", "Gift"),
        ("2026-05-03", -300, "USD", "Fee"),
    ],
)

N26 = Dialect(
    "Phone bank: the currency in which a shop asked stands beside amounts in euros; a named account",
    (
        b'"Booking Date","Value Date","Partner Name","Partner Iban",Type,"Payment Reference","Account Name",'
        b'"Amount (EUR)","Original Amount","Original Currency","Exchange Rate"\n'
        b'2026-10-01,2026-10-02,"REWE MARKT",,Presentment,,"Hauptkonto",-12.30,12.3,EUR,1\n'
        b'2026-10-03,2026-10-03,"Werft",DE89,"Credit Transfer","Salary","Hauptkonto",1500,,,\n'
        b'2026-10-05,2026-10-05,"Uber",,Presentment,,"Hauptkonto",-20.00,22,USD,1.1\n'
    ),
    [
        ("2026-10-01", -1230, "EUR", "REWE MARKT"),
        ("2026-10-03", 150000, "EUR", "Werft Salary"),
        ("2026-10-05", -2000, "EUR", "Uber"),
    ],
)

FEES = Dialect(
    "App: fees beside the amounts, which the balances show; pending rows without a day",
    (
        b"Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance\n"
        b"CARD_PAYMENT,Current,2026-10-01 10:11:12,2026-10-02 08:00:00,Lidl,-20.00,0.00,EUR,COMPLETED,180.00\n"
        b"TOPUP,Current,2026-10-03 10:11:12,2026-10-03 10:11:13,Top-Up,100.00,0.00,EUR,COMPLETED,280.00\n"
        b"ATM,Current,2026-10-05 10:11:12,2026-10-06 08:00:00,Cash at ATM,-100.00,2.00,EUR,COMPLETED,178.00\n"
        b"CARD_PAYMENT,Current,2026-10-06 10:11:12,,Hotel,-300.00,0.00,EUR,PENDING,\n"
        b"CARD_PAYMENT,Current,2026-10-07 10:11:12,,Bad,-9.00,0.00,EUR,REVERTED,\n"
    ),
    [
        ("2026-10-02", -2000, "EUR", "Lidl"),
        ("2026-10-03", 10000, "EUR", "Top-Up"),
        ("2026-10-06", -10200, "EUR", "Cash at ATM"),
    ],
)

FEES_OF_SEVERAL = Dialect(
    "App: several balances between each other, of currencies and pots; only one row has a fee",
    (
        b"Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance\n"
        b"TOPUP,Current,2026-10-01 08:00:00,2026-10-01 08:00:01,Top-Up,500.00,0.00,EUR,COMPLETED,500.00\n"
        b"EXCHANGE,Current,2026-10-04 10:00:00,2026-10-04 10:00:00,Exchanged to USD,-100.00,0.00,EUR,COMPLETED,400.00\n"
        b"EXCHANGE,Current,2026-10-04 10:00:00,2026-10-04 10:00:00,Exchanged to USD,107.50,0.00,USD,COMPLETED,107.50\n"
        b"TRANSFER,Current,2026-10-07 10:00:00,2026-10-07 10:00:00,To Savings,-50.00,0.00,EUR,COMPLETED,350.00\n"
        b"TRANSFER,Savings,2026-10-07 10:00:00,2026-10-07 10:00:00,To Savings,50.00,0.00,EUR,COMPLETED,50.00\n"
        b"ATM,Current,2026-10-08 10:00:00,2026-10-09 10:00:00,Cash at ATM,-200.00,4.00,EUR,COMPLETED,146.00\n"
        b"CARD_PAYMENT,Current,2026-10-09 10:00:00,2026-10-10 10:00:00,Uber,-20.00,0.00,USD,COMPLETED,87.50\n"
    ),
    [
        ("2026-10-01", 50000, "EUR", "Top-Up"),
        ("2026-10-04", -10000, "EUR", "Exchanged"),
        ("2026-10-04", 10750, "USD", "Exchanged"),
        ("2026-10-07", -5000, "EUR", "Savings"),
        ("2026-10-07", 5000, "EUR", "Savings"),
        ("2026-10-09", -20400, "EUR", "Cash at ATM"),
        ("2026-10-10", -2000, "USD", "Uber"),
    ],
)

OPEN_DAYS = Dialect(
    "German broker bank: a word in the place of the day of what is pending",
    (
        '"Buchungstag";"Wertstellung (Valuta)";"Vorgang";"Buchungstext";"Umsatz in EUR";\n'
        '"offen";"--";"Kartenverfügung";" Buchungstext: NETTO";"-5,00";\n'
        '"30.10.2026";"30.10.2026";"Lastschrift";" Auftraggeber: TELEFONICA";"-19,99";\n'
        '"29.10.2026";"29.10.2026";"Übertrag";" Auftraggeber: Firma";"2.222,22";\n'
    ).encode("cp1252"),
    [("2026-10-30", -1999, "EUR", "TELEFONICA"), ("2026-10-29", 222222, "EUR", "Firma")],
)

NAMELESS_MARKER = Dialect(
    "German cooperative bank: S and H below an empty header, and the last balance as a row",
    (
        "Buchungstag;Auftraggeber/Zahlungsempfänger;Vorgang/Verwendungszweck;Währung;Umsatz; \n"
        "01.10.2026;Rewe;Einkauf;EUR;23,10;S\n02.10.2026;Firma;Lohn;EUR;1.500,00;H\n"
        "31.10.2026;;Endsaldo;EUR;1.476,90;H\n"
    ).encode("cp1252"),
    [("2026-10-01", -2310, "EUR", "Rewe"), ("2026-10-02", 150000, "EUR", "Firma")],
)

NUMBERED_TEXTS = Dialect(
    "Swiss bank: numbered descriptions, who comes first",
    (
        "Buchungsdatum;Währung;Belastung;Gutschrift;Beschreibung1;Beschreibung2\n"
        "2026-10-30;CHF;-200.00;;Migros;Zahlung mit der Debitkarte\n2026-10-25;CHF;;5'000.00;Werft;Lohn\n"
    ).encode(),
    [("2026-10-30", -20000, "CHF", "Migros Zahlung"), ("2026-10-25", 500000, "CHF", "Werft Lohn")],
)

YEN = Dialect(
    "Japanese bank: a currency without cents, so a comma parts thousands",
    b'Date,Description,Amount,Currency\n2026/10/01,Lawson,"-1,200",JPY\n2026/10/02,Pay,"250,000",JPY\n2026/10/03,Seven,-580,JPY\n',
    [
        ("2026-10-01", -1200, "JPY", "Lawson"),
        ("2026-10-02", 250000, "JPY", "Pay"),
        ("2026-10-03", -580, "JPY", "Seven"),
    ],
)

PAYEE_FIRST = Dialect(
    "German big bank: the payee before the payer, debit and credit",
    (
        "Buchungstag;Wert;Umsatzart;Begünstigter / Auftraggeber;Verwendungszweck;IBAN;Soll;Haben;Währung\n"
        "02.10.2026;02.10.2026;SEPA-Lastschrift;Vermieter;Miete;DE1;-300,00;;EUR\n"
        "05.10.2026;05.10.2026;SEPA-Gutschrift;Werft;Gehalt;DE2;;3.000,00;EUR\n"
    ).encode("latin-1"),
    [("2026-10-02", -30000, "EUR", "Vermieter Miete"), ("2026-10-05", 300000, "EUR", "Werft Gehalt")],
)

CARD_REFERENCES = Dialect(
    "German broker bank's card: references before the texts",
    (
        '"Kreditkarte";"Visa";\n"Buchungstag";"Umsatztag";"Vorgang";"Referenz";"Buchungstext";"Umsatz in EUR";\n'
        '"30.10.2026";"29.10.2026";"Visa-Umsatz";"1U3C21GQ1ZSBR5SP/12345";"NETTO MARKEN";"-5,00";\n'
        '"29.10.2026";"28.10.2026";"Visa-Umsatz";"1U3C21GQ1ZSBR5SQ/12346";"SHELL 4711";"-50,00";\n'
    ).encode("cp1252"),
    [("2026-10-30", -500, "EUR", "NETTO"), ("2026-10-29", -5000, "EUR", "SHELL")],
)

BALANCE_ABOVE = Dialect(
    "French bank: the line above the header has a day and a balance",
    (
        '="0301234567890";01/10/2026;31/10/2026;2;31/10/2026;2 193,49 EUR\n\n'
        "date_comptabilisation;libellé_complet_operation;montant_operation;devise\n"
        '30/10/2026;"CARTE BOULANGERIE";-4,20;EUR\n29/10/2026;"VIR SALAIRE";2345,67;EUR\n'
    ).encode("cp1252"),
    [("2026-10-30", -420, "EUR", "BOULANGERIE"), ("2026-10-29", 234567, "EUR", "SALAIRE")],
)

POLISH = Dialect(
    "Polish bank: Windows-1250, a currency beside each amount",
    (
        "#Data operacji;#Opis operacji;#Rachunek;#Kategoria;#Kwota;\n"
        '2026-10-30;"ŻABKA ŁÓDŹ";"eKonto 1234 ... 3456";"Żywność i chemia domowa";-23,45 PLN;;\n'
        '2026-10-29;"WYNAGRODZENIE";"eKonto 1234 ... 3456";"Wpływy regularne";2 500,00 PLN;;\n'
    ).encode("cp1250"),
    [("2026-10-30", -2345, "PLN", "ŻABKA ŁÓDŹ"), ("2026-10-29", 250000, "PLN", "WYNAGRODZENIE")],
)

SWEDISH = Dialect(
    "Swedish bank: three dates, the account and the currency in columns",
    (
        "* Transaktionsrapport Period 2026-10-01 -- 2026-10-31\n"
        "Radnummer,Clearingnummer,Kontonummer,Produkt,Valuta,Bokföringsdag,Transaktionsdag,Valutadag,Referens,"
        "Beskrivning,Belopp,Bokfört saldo\n"
        '1,81234,1234567890,"Privatkonto",SEK,2026-10-30,2026-10-29,2026-10-30,"ICA","ICA MAXI",-23.45,976.55\n'
        '2,81234,1234567890,"Privatkonto",SEK,2026-10-29,2026-10-28,2026-10-29,"","Lön",100.00,1000.00\n'
    ).encode("cp1252"),
    [("2026-10-30", -2345, "SEK", "ICA MAXI"), ("2026-10-29", 10000, "SEK", "Lön")],
)

JAPANESE = Dialect(
    "Japanese bank: Shift JIS, days without a zero, yen signs",
    (
        "取引日,お取り扱い内容,お引出し,お預入れ,残高\n"
        '2026/10/3,"ローソン","\uffe52,345",,"\uffe597,655"\n2026/10/25,"給与",,"\uffe5250,000","\uffe5347,655"\n'
    ).encode("cp932"),
    [("2026-10-03", -2345, "JPY", "ローソン"), ("2026-10-25", 250000, "JPY", "給与")],
)

POLISH_UNNAMED = Dialect(
    "Polish savings bank: the description goes on in columns without a name",
    (
        '"Data operacji","Data waluty","Typ transakcji","Kwota","Waluta","Saldo po transakcji","Opis transakcji","","",""\n'
        '"2026-10-30","2026-10-29","Płatność kartą","-23.45","PLN","+976.55","Tytuł: 000123","Adres: BIEDRONKA","",""\n'
        '"2026-10-25","2026-10-25","Przelew","+1000.00","PLN","+1000.00","Rachunek: 12 34","Nazwa: ACME","Tytuł: PENSJA",""\n'
    ).encode("cp1250"),
    [("2026-10-30", -2345, "PLN", "BIEDRONKA"), ("2026-10-25", 100000, "PLN", "PENSJA")],
)

BELGIAN = Dialect(
    "Belgian bank: the owner's name in each row, amounts once more as credit and debit",
    (
        b"Rekeningnummer;Naam;Munt;Datum;Omschrijving;Valuta;Bedrag;Saldo;credit;debet;Naam tegenpartij\n"
        b"BE68539007547034;MUSTER MAX;EUR;30/10/2026;BETALING DELHAIZE;29/10/2026;-23,45;974,55;;-23,45;\n"
        b"BE68539007547034;MUSTER MAX;EUR;27/10/2026;BETALING COLRUYT;26/10/2026;-2,00;998,00;;-2,00;\n"
        b"BE68539007547034;MUSTER MAX;EUR;25/10/2026;OVERSCHRIJVING;25/10/2026;1000,00;1000,00;1000,00;;ACME\n"
    ),
    [
        ("2026-10-30", -2345, "EUR", "BETALING DELHAIZE"),
        ("2026-10-27", -200, "EUR", "BETALING COLRUYT"),
        ("2026-10-25", 100000, "EUR", "ACME OVERSCHRIJVING"),
    ],
    "BE68539007547034",
)

DIALECTS = [
    POLISH_UNNAMED,
    BELGIAN,
    CARD_REFERENCES,
    BALANCE_ABOVE,
    POLISH,
    SWEDISH,
    JAPANESE,
    SPARKASSE,
    GERMAN_PREAMBLE,
    FRENCH,
    US_CHECKING,
    US_CARD,
    UK,
    SOLL_HABEN,
    DUTCH,
    APP,
    SWISS,
    NO_HEADER,
    PARENTHESES,
    N26,
    FEES,
    FEES_OF_SEVERAL,
    OPEN_DAYS,
    NAMELESS_MARKER,
    NUMBERED_TEXTS,
    YEN,
    PAYEE_FIRST,
]
