"""What every request passes: the gate and what it checks.

* ``bodies``: takes JSON only (415), and reads it with a limit on size, depth, values and time
* ``command_scopes``: which scope of a token a command needs (403)
* ``cors``: which headers a page of an allowed origin may send and read
* ``gate``: the checks of every request, in their order: host, origin, token (401)
* ``hosts``: by which host names a server may be called (421)
* ``login``: a one-use code, or a token, becomes a cookie of the page
* ``origins``: from which pages a server may be called (403)
* ``request_limit``: how many requests of one principal may be open at once (429)
* ``tokens``: who the caller is, and what the caller may do
* ``unauthenticated``: connections without a token yet, bounded for each peer and in total
"""
