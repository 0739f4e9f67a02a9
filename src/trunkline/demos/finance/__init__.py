"""The finance agent: one's own bank data in a SQLite file, read, counted and explained on one's own machine.

* ``bank``: bank sync by Plaid's wire, and a fake bank that speaks it
* ``ledger``: the database, the made-up data set, categories, the figures, and SQL that can only read
* ``questions``: questions in English by rules, into what is asked for
* ``statements``: statement files (CSV, OFX, MT940), read, imported and undone
* ``today``: the present moment, which a variable overrides
"""
