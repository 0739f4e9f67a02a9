"""AG-UI conformance: a server, driven over HTTP as the official client does.

* ``event_verifier``: what the official client refuses in a stream
* ``kit``: the server under test, and the runs that the checks share
* ``reference_client``: what the official client makes of a stream
* ``run``: the whole table against an address
* ``run_requirements``: requirements on requests, frames, runs, messages, tools, state and interrupts
"""
