"""The ledger: accounts and transactions in a SQLite file, and every figure that is computed from them.

Amounts are whole minor units of their currency (cents); a negative one is money that goes out. There is one
definition of spending, the view ``spending``: transfers between own accounts and card payments are left out,
a refund lowers the charge that it belongs to, and currencies are never added.

* ``database``: where the ledger is, opening it, one transaction at a time
* ``environment``: the variables of the process and of a file ``.env``
* ``failures``: what went wrong with the file, with the next step
* ``schema``: the tables and how they came to be
* ``views``: what counts as spending and income, as SQL
"""
