"""Statement files: CSV, OFX and MT940 are read, compared with the ledger, imported and undone.

Reading is pure; only ``mapping``, ``reading``, ``importing`` and ``undo`` look into the ledger.

* ``account_kinds``: the kind of an account by words
* ``accounts``: which account of the ledger a statement belongs to
* ``amounts``: amounts as banks write them
* ``balances``: running balances prove which sign is money out
* ``csv_cells``: the cells of a CSV file by column, and how they are written
* ``csv_columns``: what the columns of a CSV file hold
* ``csv_layout``: delimiter, lines before the header, header and records of a CSV file
* ``csv_reader``: the bookings of a CSV file by its mapping
* ``dates``: dates as banks write them, and their order
* ``detection``: what kind of file was given
* ``header_words``: the words above columns and what they stand for
* ``identity``: when two rows are the same booking
* ``importing``: the plan of an import, and applying it
* ``mapping``: how columns are read, what could not be told, and the kept mappings
* ``mt940_reader``: MT940, by the extra ``finance``
* ``ofx_reader``: OFX and QFX, versions 1 and 2
* ``reading``: a file of any format as statements with accounts, or the one form that is needed
* ``statement``: bookings, accounts and problems, whatever the format
* ``text_encoding``: bytes as text
* ``undo``: takes an import back
"""
