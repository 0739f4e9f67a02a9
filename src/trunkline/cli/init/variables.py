"""Variables that an agent needs from its editor: which ones, and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from trunkline.errors import ConfigurationError

PROVIDER_KEYS: Final = (
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "COHERE_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
)
"""The variables in which providers of models look for their keys."""

PLAIN: Final = ("PATH", "PYTHONPATH")
"""Variables whose values are shown: they are paths."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parse_variables(given: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Read ``--env``: NAME=VALUE, or NAME for the value that it has here."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not _NAME.fullmatch(name):
            raise ConfigurationError(
                f"--env {name!r} is not the name of a variable: write NAME or NAME=VALUE"
            )
        if not equals and name not in environment:
            raise ConfigurationError(
                f"--env {name}: it is not set here, so it cannot be copied: export it first, "
                f"or write --env {name}=VALUE"
            )
        found[name] = value if equals else environment[name]
    return found


def provider_keys(environment: Mapping[str, str], given: Mapping[str, str]) -> list[str]:
    """Give the keys of providers that are set here and were not given already."""
    return [name for name in PROVIDER_KEYS if environment.get(name) and name not in given]


def mask(value: str) -> str:
    """Show that there is a value, and of a long one how it begins."""
    return f"{value[:3]}… ({len(value)} characters)" if len(value) >= 16 else "…"
