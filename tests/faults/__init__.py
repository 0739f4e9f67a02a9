"""Faults: processes that are killed, stopped or starved, on real files."""
