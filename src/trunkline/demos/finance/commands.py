"""Slash commands: each is short for a question. Pure."""

from __future__ import annotations

from trunkline.events import CommandInfo

__all__ = ["COMMANDS", "question_of"]

_QUESTIONS = {
    "accounts": ("List the accounts", "Which accounts do I have?"),
    "budget": ("How this month's budgets stand", "Am I within my budget this month?"),
    "top": ("The merchants where most was spent", "Who are my top 10 merchants this month?"),
    "subscriptions": ("What is charged again and again", "Which subscriptions do I have?"),
    "instructions": ("What a real model is told", "Show the instructions"),
    "help": ("What can be asked", "help"),
}

COMMANDS = tuple(CommandInfo(name=name, description=about) for name, (about, _) in _QUESTIONS.items())
"""The commands, as front ends show them."""


def question_of(text: str) -> str:
    """Give the question that a command is short for; what follows it is added: ``/top in October``."""
    if not text.startswith("/"):
        return text
    name, _, rest = text[1:].strip().partition(" ")
    if name not in _QUESTIONS:
        return text[1:]
    question = _QUESTIONS[name][1]
    if not rest.strip():
        return question
    # What is said with it takes the place of its own period.
    return f"{question.replace(' this month', '').rstrip('?')} {rest.strip()}"
