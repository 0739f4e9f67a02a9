"""Answers in English, computed from the results of the tools. Pure.

* ``about``: what the offline model says of itself, and of a question that it does not understand
* ``changes``: answers about imports, categories, tags and reports
* ``figures``: answers about spending, income and comparisons
* ``findings``: answers about unusual charges, subscriptions, budgets and accounts
* ``phrases``: how money, counts, periods and filters are written
* ``step_answers``: the answer to a step, from the result of its tool
"""
