"""Tools for testing agents and front ends, offline: the scripted agent, answers, transcripts, clients.

::

    events = await run_prompt(ScriptedAgent(), "/permission")      # everything the turn said
    assert fold(events).turns[-1].stop_reason == "end_turn"
    assert normalize(events) == json_lines_of_an_earlier_run       # ids counted, times left out

The pytest plugin is registered by itself and brings the fixtures ``memory_journal`` and
``scripted_hub``. Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trunkline.testing.acp import AcpClient
    from trunkline.testing.answers import Answers, accept_all, refuse_all
    from trunkline.testing.chat import ScriptedChatModel, chat_model
    from trunkline.testing.recording import RecordingTransport
    from trunkline.testing.runs import run_prompt
    from trunkline.testing.scripted import ScriptedAgent
    from trunkline.testing.transcripts import normalize
    from trunkline.testing.validation import validate_acp_update

__all__ = [
    "AcpClient",
    "Answers",
    "RecordingTransport",
    "ScriptedAgent",
    "ScriptedChatModel",
    "accept_all",
    "chat_model",
    "normalize",
    "refuse_all",
    "run_prompt",
    "validate_acp_update",
]

_HOMES = {
    "AcpClient": "acp",
    "Answers": "answers",
    "RecordingTransport": "recording",
    "ScriptedAgent": "scripted",
    "ScriptedChatModel": "chat",
    "accept_all": "answers",
    "chat_model": "chat",
    "normalize": "transcripts",
    "refuse_all": "answers",
    "run_prompt": "runs",
    "validate_acp_update": "validation",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its home."""
    import importlib

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'trunkline.testing' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"trunkline.testing.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
