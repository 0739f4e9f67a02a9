"""The tools of the finance agent, for every framework.

* ``bank``: sync with the linked banks
* ``changes``: tools that change categories, tags and budgets
* ``documents``: results of the ledger as the JSON that a model reads
* ``figures``: tools that read figures
* ``files``: tools that import bank files and write reports
* ``queries``: SQL, charts and the plan
* ``registry``: all tools in one registry, and the names that a question may use
* ``report``: a month or any period as Markdown
"""
