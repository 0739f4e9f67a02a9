"""Bank sync by Plaid's ``/transactions/sync``, and a small bank on this machine that speaks it.

* ``applying``: applies the changes of one bank to the ledger
* ``changes``: reads all changes of a bank, page by page
* ``fake_bank``: a server on loopback for the demo and for tests, with pages, changes and faults
* ``fake_days``: what happens at the fake bank, day by day, always the same
* ``items``: the banks that are linked
* ``plaid_client``: asks the server for one page of changes
* ``plaid_wire``: the messages of that wire
* ``sync``: brings the changes of every linked bank into the ledger
"""
