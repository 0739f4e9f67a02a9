"""Agents that tests start as programs of their own."""
