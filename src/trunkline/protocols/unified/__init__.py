"""UnifiedMessage, the envelope of BeamCode: its types, its validator and its canonical JSON.

* ``canonical``: the one JSON text of a message (RFC 8785), for signatures and digests
* ``wire``: messages, their content and their codes; reads and checks what a client sent
"""
