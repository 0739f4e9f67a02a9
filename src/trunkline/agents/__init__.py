"""Agents: the interface every source of events has, and the adapters that make agents of things."""
