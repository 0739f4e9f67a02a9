"""Conformance of our client side: a probing agent, a table of requirements, and what is held against it."""
