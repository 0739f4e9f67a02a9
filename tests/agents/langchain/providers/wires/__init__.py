"""How each provider says the same things on its wire: text, thoughts, calls, and why it stopped."""

from __future__ import annotations

from tests.agents.langchain.providers.wires.anthropic import Anthropic
from tests.agents.langchain.providers.wires.chat import DeepSeek, Mistral, OpenAiChat
from tests.agents.langchain.providers.wires.gemini import Gemini
from tests.agents.langchain.providers.wires.ollama import Ollama
from tests.agents.langchain.providers.wires.parts import (
    PROOF,
    Call,
    End,
    Part,
    Text,
    Thought,
    Wire,
    blocks_of,
    events,
)
from tests.agents.langchain.providers.wires.responses import OpenAiResponses

__all__ = [
    "PROOF",
    "Anthropic",
    "Call",
    "DeepSeek",
    "End",
    "Gemini",
    "Mistral",
    "Ollama",
    "OpenAiChat",
    "OpenAiResponses",
    "Part",
    "Text",
    "Thought",
    "Wire",
    "blocks_of",
    "events",
]
