"""Merchants that come with the package: their names, their category and the words by which they are found.

An entry is ``Name`` or ``Name=words|other words``. Words are whole words of the description, whatever its
case, accents and signs; a star at their end takes any ending. Longer words are tried first
("uber eats", then "uber").
"""

from __future__ import annotations

from typing import NamedTuple

from trunkline.demos.finance.ledger.words import read_table

MERCHANTS = """
Groceries: Rewe; Edeka; Lidl; Aldi=aldi|aldi sued|aldi nord; Kaufland; Penny=penny|penny markt;
    Netto=netto marken discount|netto marken|netto; Alnatura; Denns Biomarkt=denns|denns biomarkt; Bio
    Company; Migros; Coop; Denner; Spar=spar|eurospar|interspar; Billa; Hofer; Albert Heijn; Jumbo;
    Carrefour; Auchan; Monoprix; Mercadona; Esselunga; Conad; Tesco; Sainsbury's=sainsburys|sainsbury s;
    Asda; Waitrose; Morrisons; Marks and Spencer Food=m s simply food|marks and spencer food; Whole
    Foods=whole foods|wholefds; Trader Joe's=trader joe s|trader joes; Kroger; Safeway; Publix; Wegmans;
    Walmart=walmart|wal mart|wm supercenter; Costco; Flink; Gorillas; Getir; HelloFresh=hellofresh|hello fresh
Household goods: dm=dm drogerie markt|dm drogeriemarkt|dm; Rossmann; Müller Drogerie=mueller
    drogerie|muller drogerie; Target=target store|target
Restaurants: McDonald's=mcdonald s|mcdonalds; Burger King; KFC; Subway=subway sandwiches|subway; Vapiano;
    Nordsee; Pizza Hut; Five Guys; Chipotle; Shake Shack; Nando's=nando s|nandos; Pret A Manger=pret a
    manger|pret; Wagamama; L'Osteria=losteria|l osteria; Dean and David=dean david|dean and david; Block
    House; Hans im Glück=hans im gluck; Trattoria Bella=trattoria bella; Sushi Circle; Katz's
    Delicatessen=katz s delicatessen|katzs delicatessen
Coffee: Starbucks; Costa Coffee=costa coffee; Balzac Coffee=balzac coffee; Einstein Kaffee=einstein
    kaffee; Coffee Fellows=coffee fellows; Tim Hortons=tim hortons; Dunkin=dunkin|dunkin donuts; Blue
    Bottle Coffee=blue bottle coffee|blue bottle; Le Crobag=le crobag; BackWerk=backwerk
Food delivery: Lieferando=lieferando|takeaway com; Uber Eats=uber eats|ubereats; Deliveroo; Wolt;
    DoorDash; Grubhub; Just Eat=just eat
Public transport: BVG=bvg; MVG=mvg; HVV=hvv; VBB=vbb; RMV=rmv; Deutschlandticket=deutschlandticket|d
    ticket; TfL=tfl|transport for london; MTA=mta nyct|mta subway|nyc subway|mta; SBB Mobile=sbb mobile;
    RATP=ratp
Trains: Deutsche Bahn=deutsche bahn|db vertrieb|db fernverkehr|bahn de; SBB=sbb; SNCF=sncf; ÖBB=obb;
    Eurostar; Amtrak; Trainline; FlixBus=flixbus|flixtrain
Fuel: Aral; Shell=shell; Esso; TotalEnergies=totalenergies|total service station; BP=bp; Jet
    Tankstelle=jet tankstelle; Chevron; Exxon=exxon|exxonmobil
Taxi: Uber=uber|uber trip; Lyft; Bolt=bolt eu; FreeNow=freenow|free now|mytaxi; Taxi Berlin=taxi berlin;
    NYC Taxi=nyc taxi
Bike and scooter: Nextbike=nextbike; Lime=lime ride|lime scooter; Tier=tier mobility; Voi=voi;
    Swapfiets=swapfiets
Car: Miles=miles mobility; ShareNow=share now|sharenow; ADAC=adac; EasyPark=easypark; ATU=a t u|atu
Flights: Lufthansa; easyJet=easyjet; Ryanair; Eurowings; KLM=klm; British Airways=british airways; Delta
    Air Lines=delta air; United Airlines=united airlines; Swiss=swiss international air; Wizz Air=wizz air
Hotels: Booking.com=booking com; Airbnb; Hilton; Marriott; Ibis=ibis hotel|ibis; Motel One=motel one;
    Hotels.com=hotels com; Pod Hotel=pod hotel|pod 51 hotel
Car rental: Sixt; Hertz; Europcar; Avis=avis
Online shopping: Amazon=amazon|amzn*|amazon marketplace; eBay=ebay; Etsy; AliExpress=aliexpress; Temu;
    Otto=otto gmbh|otto payments|otto versand; Shein
Clothes: Zalando; H&M=h m; Zara; Uniqlo; C&A=c a mode; About You=about you; Primark; Nike; Adidas;
    Levi's=levi s|levis; Gap=gap store
Electronics: MediaMarkt=mediamarkt|media markt; Saturn=saturn electro|saturn; Apple Store=apple
    store|apple online store; Best Buy=best buy; Conrad Electronic=conrad electronic; Currys
Books: Thalia; Hugendubel; Dussmann; Waterstones; Barnes and Noble=barnes noble|barnes and noble;
    Audible=audible
Furniture: IKEA=ikea; Höffner=hoffner; Wayfair; Westwing; Home24=home24
Home improvement: Bauhaus; Obi=obi bau|obi baumarkt|obi; Hornbach; Home Depot=home depot; Toom=toom
    baumarkt|toom
Streaming: Netflix; Spotify; Disney+=disney plus|disneyplus; Amazon Prime=amazon prime|amzn prime|prime
    video; Apple Music=apple music; YouTube Premium=youtube premium|google youtube*; DAZN=dazn; Sky=sky
    deutschland; Hulu; HBO Max=hbo max; WOW=wow tv; Paramount+=paramount plus; Crunchyroll
Software: iCloud=icloud|apple com bill|itunes com bill; Google One=google one|google storage; Dropbox;
    Adobe=adobe; Microsoft 365=microsoft 365|microsoft office|msft; GitHub=github; OpenAI=openai|chatgpt;
    Anthropic=anthropic|claude ai; 1Password=1password; JetBrains=jetbrains; Notion=notion labs|notion so;
    NordVPN=nordvpn
News: New York Times=nytimes|new york times; The Economist=economist; Die Zeit=zeitverlag|die zeit;
    Spiegel=spiegel verlag|der spiegel; FAZ=faz; Guardian=the guardian|guardian news; Washington
    Post=washington post; Medium=medium com
Games: Steam=steam games|steampowered|steam purchase; PlayStation=playstation; Nintendo; Xbox=xbox; Epic
    Games=epic games
Entertainment: Eventim=eventim|cts eventim; Ticketmaster; CinemaxX=cinemaxx; UCI Kinowelt=uci kinowelt;
    Cineplex; Yorck Kino=yorck; AMC Theatres=amc theatres; Broadway Tickets=telecharge|broadway tickets;
    Patreon
Fitness: McFit=mcfit|rsg group; FitX=fitx; Urban Sports Club=urban sports; Fitness First=fitness first;
    Gymondo; Planet Fitness=planet fitness; Decathlon; ClassPass=classpass; John Reed=john reed
Internet and phone: Telekom=telekom deutschland|telekom; Vodafone; O2=telefonica germany|o2 online; 1&1=1
    1 telecom|1und1; Congstar; Verizon; T-Mobile=t mobile; Comcast=comcast|xfinity;
    AT&T=at t mobility|at t mobile|at t bill|at t; Rundfunkbeitrag=rundfunk ard zdf|rundfunkbeitrag
Utilities: Vattenfall; E.ON=e on energie|eon; EnBW=enbw; Stadtwerke=stadtwerke; Gasag=gasag; Berliner
    Wasserbetriebe=berliner wasserbetriebe; Octopus Energy=octopus energy; Con Edison=con
    edison|conedison; PG&E=pg e
Insurance: Allianz; HUK-Coburg=huk coburg|huk; Techniker Krankenkasse=techniker krankenkasse; AOK=aok;
    Ergo=ergo versicherung; Cosmos Direkt=cosmos direkt|cosmosdirekt; Getsafe=getsafe; Geico; State
    Farm=state farm; AXA=axa
Pharmacy: DocMorris=docmorris; Shop Apotheke=shop apotheke; CVS=cvs pharmacy|cvs; Walgreens; Boots=boots
    pharmacy|boots uk
Donations: Wikimedia=wikimedia; UNICEF=unicef; Ärzte ohne Grenzen=arzte ohne grenzen; WWF=wwf; Red
    Cross=red cross|rotes kreuz
"""
"""The merchants of each category."""


class KnownMerchant(NamedTuple):
    """A merchant and one of the words by which it is found."""

    words: str
    name: str
    category: str


def _entries() -> list[KnownMerchant]:
    found: list[KnownMerchant] = []
    for category, entries in read_table(MERCHANTS, ";").items():
        for entry in entries:
            name, _, words = entry.partition("=")
            forms = words.split("|") if words else [name.casefold()]
            found += [KnownMerchant(form.strip(), name, category) for form in forms]
    return sorted(found, key=lambda entry: (-len(entry.words), entry.words))


KNOWN = tuple(_entries())
"""Every word of a merchant; the longest first."""
