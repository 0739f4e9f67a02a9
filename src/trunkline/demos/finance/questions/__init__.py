"""Questions in English by rules: what is asked, about which period and which names of the ledger. Pure.

* ``clause``: one clause taken apart: its periods, names, amounts and counts
* ``clause_reading``: a clause, with the questions before it, into its steps
* ``comparison``: which two periods a comparison is about
* ``intent``: what a question asks for, as values
* ``names``: the categories, merchants, accounts and tags in a question, also misspelt
* ``periods``: periods in English, and back into words
* ``reading``: a message into its clauses, and those into the steps that answer it
* ``refusals``: what a question cannot ask for, since its figure would leave it out
* ``rules``: which words ask for what
"""
