"""The rules of the grammar: which words ask for what. The first rule that fits counts.

A rule is a list of regular expressions over the question in small letters. The names of the ledger stand
in it as ``<category>``, ``<merchant>``, ``<account>`` and ``<tag>``, periods as ``<period>``, files as
``<file>``, a number of rows as ``<n>``: so a merchant called "Budget" is no budget.
"""

from __future__ import annotations

import re

from trunkline.demos.finance.questions.intent import By, What

__all__ = [
    "FOLLOW_UP",
    "GROUP_WORDS",
    "KEY_WORDS",
    "KNOWN_WORDS",
    "NOT_DONE",
    "OF_A_GROUP",
    "ONE_PURCHASE",
    "POINTS_BACK",
    "STEP_VERBS",
    "find_group",
    "find_unit",
    "find_what",
    "mark",
]


def _words(text: str) -> list[str]:
    return text.split()


_MERCHANTS = (
    r"(?:merchants?|shops?|stores?|places?|vendors?|retailers?|payees?|sellers?|companies|businesses)"
)
_CATEGORIES = r"(?:categor(?:y|ies)|areas?|kinds?|types?|groups?)"
_CHARGES = (
    r"(?:charges?|transactions?|purchases?|payments?|expenses?|bookings?|items?|things?|bills?|debits?|"
    r"entries)"
)
_BIG = r"(?:biggest|largest|highest|most expensive|priciest|dearest|top|greatest|big|large)"
_PUT = (
    r"(?:put|move|file|classify|reclassify|recategori[sz]e|categori[sz]e|mark|count|change|set|treat|assign|"
    r"book|label)"
)
_SOME_ACCOUNT = r"(?:<account>|(?:\w+ )?(?:accounts?|savings|cards?)\b)"
_SUBSCRIPTION = r"(?:subscriptions?|recurring|memberships?|standing orders?|bills?|services?)"
_DEARER = (
    r"(?:dearer|more expensive|pricier|prices?|rises?|rose|risen|raised?|increased?|went up|gone up|go up|"
    r"hikes?|cost more)"
)

ONE_PURCHASE = r"(?:purchase|visit|transaction|trip|order|time|meal|ride|payment|charge|bill|receipt|basket)"
"""What an average may be of, besides a unit of time."""

_RULES: list[tuple[What, tuple[str, ...]]] = [
    (
        "help",
        (
            r"^(?:/?help|commands)\b",
            r"\bwhat can (?:you|i) (?:do|ask)\b",
            r"\bwhat do you (?:do|know)\b",
            r"\bhow (?:do|can) i use (?:this|you)\b",
            r"\bhow does this work\b",
            r"\bwho are you\b|\bwhat are you\b",
            r"\bare you an? (?:ai|llm|language model|bot|human)\b",
        ),
    ),
    ("instructions", (r"\binstructions\b", r"\bsystem prompt\b")),
    (
        "thanks",
        (r"^(?:ok(?:ay)? )?(?:thanks|thank you|cheers|great|perfect|nice|cool|super|got it)\b[^<]*$",),
    ),
    ("greeting", (r"^(?:hi|hello|hey|good (?:morning|afternoon|evening)|howdy)(?: there| trunkline)?$",)),
    ("run_shown_sql", (r"^(?:run|execute) (?:it|that|this|the (?:sql|query|statement))\b",)),
    ("show_sql", (r"\b(?:sql|query|queries)\b",)),
    ("undo_import", (r"\b(?:undo|revert|roll back|take back|remove|delete)\b.*\bimport",)),
    ("undo_edit", (r"\b(?:undo|revert|roll back|take back)\b",)),
    (
        "import",
        (
            r"\bimport\b",
            r"\b(?:load|read|add|upload|take in)\b.*(?:<file>|\b(?:statement|csv|ofx|qfx|mt940)\b)",
            r"^<file>$",
        ),
    ),
    (
        "sync",
        (
            r"\b(?:sync|synchroni[sz]e)\b",
            r"\b(?:refresh|fetch|pull|update|get)\b.*\b(?:bank|(?:new|latest) transactions|accounts?)\b",
            r"\bnew transactions\b",
        ),
    ),
    (
        "why_category",
        (
            r"\bwhy\b.*<merchant>.*\b(?:in|under|as|a|categori[sz]ed|filed|counted)\b.*<category>",
            r"\bwhy\b.*\bcategor",
        ),
    ),
    (
        "recategorize",
        (
            rf"\b{_PUT}\b.*<merchant>.*\b(?:under|as|to|into|in|with)\b.*<category>",
            r"<merchant>.*\b(?:should|must|needs to|has to|belongs?|is really|goes)\b.*<category>",
            r"^(?:put|move|file|recategori[sz]e|reclassify)\b",
            r"^(?:change|set|edit) (?:the|its|that) category\b",
        ),
    ),
    (
        "tag",
        (
            r"^(?:tag|label|mark|flag)\b",
            r"\badd (?:the |a )?tag\b",
            r"\b(?:tag|label) (?:all|every|my|the|those|these|them|it)\b",
        ),
    ),
    ("categorize", (r"\b(?:categori[sz]e|classify|sort)\b",)),
    (
        "uncategorized",
        (r"\b(?:uncategori[sz]ed|unclassified|without (?:a )?category|no category|not categori[sz]ed)\b",),
    ),
    ("report", (r"\breport\b", r"\b(?:write|save|monthly)\b.*\bsummary\b")),
    (
        "chart",
        (r"\b(?:chart|graph|plot|diagram|visuali[sz]e|visuali[sz]ation|draw|bars|histogram|pie|picture)\b",),
    ),
    (
        "price_rises",
        (
            rf"\b{_SUBSCRIPTION}\b.*\b{_DEARER}\b",
            r"\b(?:dearer|pricier|price (?:rises?|increases?|hikes?)|raised (?:its|their|the) prices?)\b",
            rf"\bmore expensive\b.*\b{_SUBSCRIPTION}\b",
            r"<merchant>.*\b(?:dearer|more expensive|pricier|raise[d]? (?:its|the) prices?)\b",
        ),
    ),
    (
        "due",
        (
            r"\b(?:due|upcoming|coming up|renews?|renewals?|next charges?|(?:will|to) be charged)\b",
            r"\bnext (?:\d+ )?(?:days|weeks?|months?)\b",
        ),
    ),
    (
        "subscriptions",
        (
            r"\b(?:subscriptions?|subscribed|recurring|memberships?|standing orders?|regular payments?|"
            r"repeating|fixed costs?)\b",
        ),
    ),
    ("double_charges", (r"\b(?:twice|double|doubled|duplicates?|duplicated|two times)\b",)),
    (
        "unusual",
        (
            r"\b(?:unusual|strange|suspicious|odd|anomal\w+|weird|out of the ordinary|unexpected|fraud\w*|"
            r"surprising|outliers?|abnormal|stands? out|fishy)\b",
        ),
    ),
    (
        "set_budget",
        (
            r"<amount>",
            r"^(?:set|make|create|change|raise|lower|add|give|increase|reduce|cut)\b.*\bbudget\b",
            r"\b(?:remove|delete|drop|cancel)\b.*\bbudget\b",
        ),
    ),
    (
        "accounts",
        (
            rf"^(?!.*\b{_CHARGES}\b).*"
            rf"\b(?:is|are|have|got|left) (?:there )?(?:on|in) (?:my |the |our )?{_SOME_ACCOUNT}",
            r"^(?:do|have) (?:i|we) (?:have|got)\b.*<account>",
        ),
    ),
    (
        "budget",
        (
            r"\b(?:budgets?|budgeted|on track|over ?spen\w+|pace|allowance|limits?)\b",
            r"\bhow much (?:more )?(?:can|may) i (?:still )?spend\b",
            r"\bhow much (?:is|do i have) left\b",
        ),
    ),
    (
        "savings",
        (
            r"\bof (?:my |the )?(?:income|salary|earnings)\b.*\bspen[dt]\b",
            r"\bleft (?:over )?(?:of|from) (?:my |the |our )?(?:income|salary|wages?|paycheck)\b",
            r"\b(?:savings?(?! account)|saved?|set aside|put aside|(?:was|were) left|left over|money left|"
            r"left after|surplus)\b",
        ),
    ),
    (
        "income",
        (
            r"\b(?:paid|pay|pays) (?:to )?(?:me|us)\b",
            r"\b(?:earn(?:ed|ings)?|income|salary|salaries|wages?|revenue|paycheck|payroll|received?)\b",
            r"\b(?:came in(?:to)?|comes? in(?:to)?|money in|coming in(?:to)?|(?:get|got) paid)\b",
            r"^(?!.*\bhow (?:many|often|frequently)\b).*\b(?:(?:did|do) i make|i made)\b",
        ),
    ),
    (
        "compare",
        (
            r"\b(?:compare[ds]?|comparing|comparison|versus|vs|against|difference|differ|than)\b",
            r"\bwhy\b.*\b(?:more|less|higher|lower|up|down|expensive|much|increased?|rise|rose|jump|so)\b",
            r"\b(?:did|do|does|has|have)\b.*\bchange[ds]?\b",
            r"\b(?:drove|drivers?|what changed|has changed|gone up|went up|gone down|went down)\b",
            r"\b(?:increased?|decreased?|rise|rose|grow|grew|go(?:ing)? (?:up|down))\b",
            r"^why$|^how come$|^why (?:is|was) (?:that|it)$",
            r"\byear (?:on|over) year\b|\byoy\b",
        ),
    ),
    (
        "accounts",
        (
            r"\bhow much (?:money )?do i have\b",
            r"\b(?:accounts|balances?)\b",
            r"\bmy cards\b",
            r"\bowed?\b",
            r"\bwhich banks?\b",
        ),
    ),
    (
        "average",
        (
            r"\b(?:average|avg|mean|typical(?:ly)?|usually|normally)\b",
            r"\b(?:do|does) (?:i|it|we)\b.*\b(?:per|each|every|a) (?:month|week|day)\b",
            r"\bhow much per (?:month|week|day)\b",
            r"\bdid (?:i|we)\b.*\ba (?:month|week|day)\b(?! ago)",
            r"\b(?:is|are|was|were) (?:it|that|this|these|they|those)\b.*\b(?:per|a) (?:month|week|day)\b",
            r"\b(?:per|each|every|a) year\b|\byearly\b|\bannual(?:ly)?\b",
            rf"\b(?:per|each|every) {ONE_PURCHASE}\b|\beach time\b",
        ),
    ),
    ("count", (r"\bhow (?:many|often|frequently)\b", r"\bnumber of\b", r"\bcount\b")),
    ("spend", (r"\b(?:sum|total) of (?:all |my |the )*<category>",)),
    ("top", (rf"\b{_BIG}\b.*\b(?:{_CATEGORIES}|{_MERCHANTS})\b",)),
    (
        "list",
        (
            rf"\b{_BIG}\b(?:[^<]|<n>|<category>|<merchant>)*\b{_CHARGES}\b",
            rf"\bsingle {_CHARGES}\b",
            rf"\b{_BIG}\b(?: <n>)?(?: <category>| <merchant>)? (?:trip|visit|order|meal)s?\b",
            r"\b(?:latest|last|recent|newest)\b(?: <n>)?(?: <merchant>| <category>)? "
            rf"(?:few |couple of )?{_CHARGES}\b",
        ),
    ),
    ("top", (r"\b(?:top|most|biggest|largest|highest|main|favou?rite|greatest)\b",)),
    (
        "breakdown",
        (
            rf"\b(?:by|per|each|every|for each|across) (?:{_CATEGORIES}|{_MERCHANTS}|account|card)\b",
            r"\b(?:by|per|each|every|for each|across) (?:month|week|day)\b",
            r"\bbreak ?downs?\b|\bbroken down\b|\bbreak (?:it |that |this )?down\b|\bsplit\b",
            r"^break\b.*\bdown\b|^break down\b",
            r"\bwhere (?:did|does|do|has|is|was|are)\b.*\b(?:money|it|cash|salary)\b",
            r"\bwhat (?:did|do|have) i spen[dt] (?:[a-z ]*money )?on(?: in)?(?: <period>)?$",
            r"\boverview\b|\bmonthly\b|\bweekly\b|\bdaily\b|\bmonth by month\b|\bover time\b|\btrend\b",
            r"\bsummary\b|\bsummari[sz]e\b|\b(?:develop|developed|evolve|evolved)\b",
            r"\bwhich categor",
        ),
    ),
    (
        "breakdown",
        (rf"^(?:list|show|give|name|which|what)(?: me)?(?: all| my| the)* (?:{_MERCHANTS}|categories)\b",),
    ),
    ("share", (r"\b(?:percent|percentage|share|proportion|fraction)\b",)),
    (
        "list",
        (
            r"\b(?:list|transactions?|purchases|which ones|what exactly|details?|itemi[sz]e)\b",
            rf"\b(?:show|see|display|find|search|give)\b.*\b(?:{_CHARGES}|everything)\b",
            r"\bwhat did i buy\b",
            r"\bcharges (?:at|from|by)\b",
            r"\bwhen (?:did|was|have) i\b|\bwhen was\b",
        ),
    ),
    (
        "spend",
        (
            r"\b(?:spen[dt]|spends|spendings?|expenses?|expenditures?|costs?|pay|paid|paying|outgoings?)\b",
            r"\b(?:money go(?:es)?|money went|going out|went out|gone out|blow|blew|burn(?:ed|t)?|damage)\b",
            r"\b(?:set me back|fork(?:ed)? out|used? up|drop(?:ped)?|buy|bought)\b",
            r"\bhow much\b|\btotal\b|\bsum\b|\bamount\b|\bcharged? me\b|\b(?:waste|wasted)\b",
        ),
    ),
]


def mark(kind: str) -> str:
    """What stands in a clause for a value; the underscore keeps it apart from the word of the rules."""
    return f"<_{kind}>"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"<(\w+)>", lambda found: mark(found[1]), pattern))


_COMPILED: list[tuple[What, list[re.Pattern[str]]]] = [
    (what, [_compile(pattern) for pattern in patterns]) for what, patterns in _RULES
]

_GROUPS: list[tuple[By, re.Pattern[str]]] = [
    (
        "month",
        re.compile(
            r"\b(?:by|per|each|every|for each|over the|across the) months?\b|\bmonth by month\b|\bmonthly\b|"
            r"\bwhich month\b|\b(?:expensive|highest) months?\b|\bover time\b|\btrend\b|"
            r"\b(?:develop|developed|evolve|evolved)\b(?!.*\b(?:by|per|each|every) (?!month)\w+)"
        ),
    ),
    (
        "week",
        re.compile(
            r"\b(?:by|per|each|every|for each|over the|across the) weeks?\b|\bweek by week\b|\bweekly\b|"
            r"\bwhich week\b|\b(?:expensive|highest) weeks?\b"
        ),
    ),
    (
        "day",
        re.compile(
            r"\b(?:by|per|each|every|for each) days?\b|\bday by day\b|\bdaily\b|\b(?:which|what) day\b|"
            r"\b(?:expensive|highest) days?\b|"
            r"\bwhen did i spend\b"
        ),
    ),
    ("account", re.compile(r"\b(?:by|per|each|for each) (?:account|card)s?\b|\bwhich (?:account|card)\b")),
    ("merchant", re.compile(rf"\b{_MERCHANTS}\b|\bwhere\b|\bwho\b")),
    ("category", re.compile(rf"\b{_CATEGORIES}\b|\bwhat\b.*\bon\b")),
]
GROUP_WORDS = re.compile(r"\b(?:by|per|each|for each)\b")

FOLLOW_UP = re.compile(
    r"^(?:and|what about|how about|same(?: thing| question)?(?: again)?|now|also|but|or|then|the same|just|"
    r"only|so)\b[, ]*(?:the same )?(?:for |with )?"
)
"""How a question begins that goes on with the one before."""

_WHICH_IS_MOST = (
    r"which(?: ones?)? (?:is|are|was|were) (?:the )?(?:most|biggest|largest|highest|dearest|priciest)"
)
POINTS_BACK = re.compile(
    r"\b(?:it|its|that|they|them|those|these|this(?! <)|there|ones|"
    r"same(?! (?:month|period|time|week|quarter|days?)\b))\b|"
    rf"^{_WHICH_IS_MOST}(?: \w+)?$"
)
"""Words that stand for what was asked before."""

OF_A_GROUP = re.compile(rf"^{_WHICH_IS_MOST} (?:{_CATEGORIES}|{_MERCHANTS})$")
"""A question that is also one of its own: "which is the biggest category?"."""

NOT_DONE = re.compile(
    r"^(?!(?:which|what|list|show)\b.*\bsubscri)(?!.*\bbudget)"
    r"(?:.*\b(?:cancel|unsubscribe|terminate)\b|"
    r"(?:(?:please|pls|(?:can|could|would) you|i (?:want|need) to|i would like to|i'd like to|help me)\s+)*"
    r"(?:pay(?= (?:<_merchant>|my|the|off|\d))|"
    r"(?:transfer|send|delete|remove|rename|block|dispute|freeze|close|stop|invest)"
    r"(?= (?:<|my|the|all|this|that|\d|money|tags?|categor|merchants?|accounts?|rules?))))"
)
"""Orders that nobody here can carry out: a figure would be no answer to them."""

STEP_VERBS = (
    "compare|chart|plot|graph|draw|write|create|make|save|show|list|tell|import|tag|put|give|categori[sz]e|"
    "run|sync|what|how|which|explain|visuali[sz]e|break|find|check|also|then|produce|generate|export"
)
"""Words that begin another step of a request."""

KEY_WORDS = _words(
    "spend spent spending expenses subscriptions subscription recurring transactions transaction budget "
    "budgets compare compared merchants merchant category categories average income savings salary "
    "unusual duplicate accounts account balance purchases purchase payments charges biggest largest "
    "expensive report chart import statement yesterday today month months quarter higher lower "
    "categorize recategorize suspicious double charged between since total uncategorized"
)
"""Words of the rules that are understood also when they are misspelt."""

_EVERYDAY = _words(
    "buddy friend mate pal assistant agent bot trunkline honestly simply overall entire entirely complete "
    "precise precisely exact rough estimate guess idea clue info information answer question sure hope "
    "hoping hear heard learn understand realize remember forget ask asked asking worth nearly almost "
    "already ago lately recently nowadays currently present past previous preceding prior current early "
    "late end start beginning half quarter season bit lots spree habit habits "
    "mine ours whose whom because whether however though although amounts sums totals euro euros "
    "dollar dollars cents value towards toward via minus plus daily weekly monthly yearly annual annually "
    "high low visit visits visited set back behind whole apart aside besides summed added altogether "
    "a about after again all altogether am an and any anything are around as at be been before being "
    "best bit but by calculate can card cash check could day days did do does doing done down during "
    "each easily euro euros ever every everything far few find first for from full get give go goes "
    "going gone had has have having hello hey hi how i if in into is it its just kind know last left "
    "let like little look lot many may me money month months more most much my myself need new next no "
    "not now of off ok okay old on one ones only onto or other our out over own per place please quick "
    "quickly really right round same say see should show since single so some something still stuff "
    "tell than thank thanks that the their them then there these they thing things this those through "
    "time times to today together under until up us use used using very want was way we week weeks well "
    "went were what whats when where which while who whole why will with within would year years yet "
    "you your kindly dear hundred thousand wonder wondering curious interested actually basically maybe "
    "perhaps i'd i'm i've what's how's it's that's let's didn't don't doesn't isn't wasn't both either "
    "such people someone somebody anyone anybody bank banks page screen number numbers figure "
    "figures terms regard regards respect general particular addition case fact status soon later "
    "receive except excluding exclude excl whatever hows ive im cant "
    "rides orders trips meals ordered typically "
    "develop track cost charged billed bill percentage percent share part rate got become became"
)

KNOWN_WORDS = (
    frozenset(_EVERYDAY)
    | frozenset(KEY_WORDS)
    | {
        word
        for _, patterns in _RULES
        for pattern in patterns
        for found in re.findall(r"[a-z]{3,}", pattern.replace(r"\b", " ").replace(r"\w", " "))
        for word in (found, found.removesuffix("s"))
    }
)
"""Words that are never a name that we do not know."""


def find_what(text: str) -> What | None:
    """Say what a question asks for; its names and periods are written as ``<kind>``."""
    return next((what for what, patterns in _COMPILED if any(one.search(text) for one in patterns)), None)


def find_group(text: str) -> By | None:
    """Say by what a question wants its figures grouped."""
    return next((by for by, pattern in _GROUPS if pattern.search(text)), None)


def find_unit(words: str) -> str:
    """Say what an average is of: a unit of time, or one purchase."""
    unit = re.search(r"\b(?:per|each|every|a) (year|month|week|day)\b|\b(year|month|week|dai)ly\b", words)
    if unit is not None:
        found = unit[1] or unit[2]
        return "day" if found == "dai" else found
    if re.search(r"\bannual(?:ly)?\b", words):
        return "year"
    many = rf"\baverage (?:\w+ )?of .*\b{_CHARGES}\b"
    if re.search(many, words):
        return "purchase"
    single = rf"\b{ONE_PURCHASE}\b|\b(?:price|size|amount|cost) (?:of|for) an?\b"
    return "purchase" if re.search(single, words) else "month"
