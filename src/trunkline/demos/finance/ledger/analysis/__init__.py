"""The figures: each function takes a connection and typed arguments, and gives a result that explains itself.

* ``accounts``: the accounts, and the names that the ledger knows
* ``budgets``: what was meant to be spent, and the pace
* ``charges``: single charges, the newest or the largest
* ``comparison``: two periods, and what drives the difference
* ``income``: what came in, what was saved
* ``spending``: what was spent, in all or by category, merchant, account, tag or time
* ``subscriptions``: what comes again and again, its price and when it is due
* ``unusual``: charges far above the usual, and charges that came twice
* ``why``: the reason for a transaction's category and kind
"""
