"""What counts as spending and as income, as SQL views: the one definition that every figure uses.

``entries`` has every transaction that counts at all. ``spending`` has a row for each charge and each refund:

* ``spent`` is positive for money spent and negative for money that came back;
* ``day`` is the day on which it counts. A refund counts on the day of the charge that it belongs to, with the
  category and the merchant of that charge, so that the charge is lowered; one without a charge counts on its
  own day. ``posted`` is the day in the statement;
* transfers between own accounts and card payments are not there;
* every row has its ``currency``, and no sum may go over two.
"""

from __future__ import annotations

VISIBLE = """source <> 'demo' OR NOT EXISTS (
    SELECT 1 FROM {accounts} AS own JOIN {transactions} ON account_id = own.id WHERE own.source <> 'demo'
)"""
"""Which accounts count: all; the made-up ones only as long as there is no transaction of one's own."""

_ACCOUNTS = f"SELECT * FROM accounts WHERE {VISIBLE.format(accounts='accounts', transactions='transactions')}"

_ENTRIES = """SELECT t.id, t.account_id, a.name AS account, a.kind AS account_kind, t.posted, t.amount,
    t.currency, t.description, t.merchant, t.category, coalesce(c.parent, t.category) AS category_group,
    t.category_by, t.kind, t.pair_id, t.pending, t.note
FROM transactions AS t
JOIN visible_accounts AS a ON a.id = t.account_id
LEFT JOIN categories AS c ON c.name = t.category"""

_SPENDING = """SELECT e.id, e.account_id, e.account, coalesce(o.posted, e.posted) AS day,
    substr(coalesce(o.posted, e.posted), 1, 7) AS month, e.posted, -e.amount AS spent, e.currency,
    coalesce(o.merchant, e.merchant) AS merchant, coalesce(o.category, e.category) AS category,
    coalesce(c.parent, o.category, e.category_group) AS category_group, e.description, e.kind, e.pair_id,
    e.pending
FROM entries AS e
LEFT JOIN transactions AS o ON o.id = CASE e.kind WHEN 'refund' THEN e.pair_id END
LEFT JOIN categories AS c ON c.name = o.category
WHERE e.kind IN ('spend', 'refund')"""

_INCOME = """SELECT id, account_id, account, posted AS day, substr(posted, 1, 7) AS month, amount AS received,
    currency, merchant, category, description, pending
FROM entries
WHERE kind = 'income'"""

VIEWS = {
    "visible_accounts": _ACCOUNTS,
    "entries": _ENTRIES,
    "spending": _SPENDING,
    "income": _INCOME,
}
"""Every view by its name; a later one may use an earlier one."""
