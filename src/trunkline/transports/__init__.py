"""Transports: what moves bytes, and with the journals the only modules that wait for them."""
