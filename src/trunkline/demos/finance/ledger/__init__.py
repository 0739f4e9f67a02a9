"""The ledger: accounts and transactions in a SQLite file, and every figure that is computed from them.

Amounts are whole minor units of their currency (cents); a negative one is money that goes out. There is one
definition of spending, the view ``spending``: transfers between own accounts and card payments are left out,
a refund lowers the charge that it belongs to, and currencies are never added.

* ``analysis``: the figures, each with its period, filters, row count and SQL
* ``categories``: the two levels of categories, and which one a person means
* ``category_rules``: a person's own rules
* ``category_words``: words of descriptions that tell a category
* ``chart``: bars as a picture and as text
* ``classification``: merchants, categories, kinds and pairs of all transactions
* ``database``: where the ledger is, opening it, one transaction at a time
* ``dataset``: the made-up two years of a household
* ``demo``: puts the made-up data into an empty ledger
* ``edits``: a person's changes: plan, apply, undo
* ``environment``: the variables of the process and of a file ``.env``
* ``errors``: what went wrong with the file, with the next step
* ``masking``: hides account and card numbers
* ``merchant_names``: the merchants that come with the package
* ``merchants``: merchants' names out of bank descriptions
* ``read_only_sql``: runs a query that can do nothing but read
* ``refunds``: finds the charge that money which came back belongs to
* ``results``: what every figure says about itself; money and periods
* ``schema``: the tables and how they came to be
* ``selection``: which transactions a question is about
* ``sql_views``: what counts as spending and income, as SQL
* ``transfers``: finds the two sides of money that moves between own accounts
* ``words``: texts as words that can be compared, and tables of words
"""
