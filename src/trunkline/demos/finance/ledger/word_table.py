"""Reads the tables of words that come with the package: a category, a colon, and its entries. Pure."""

from __future__ import annotations


def read_table(text: str, separator: str) -> dict[str, list[str]]:
    """Give the entries of each category; a line that begins with a space goes on with the one before."""
    table: dict[str, list[str]] = {}
    for line in text.replace("\n    ", " ").strip().splitlines():
        category, _, entries = line.partition(":")
        table[category] = [entry.strip() for entry in entries.split(separator)]
    return table
