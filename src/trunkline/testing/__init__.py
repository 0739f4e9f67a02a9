"""Tools for testing agents and front ends, offline: the scripted agent, answers, transcripts, clients.

::

    events = await run_prompt(ScriptedAgent(), "/permission")      # everything the turn said
    assert fold(events).turns[-1].stop_reason == "end_turn"
    assert normalize(events) == json_lines_of_an_earlier_run       # ids counted, times left out

The pytest plugin is registered by itself and brings the fixtures ``memory_journal`` and
``scripted_hub``. Names are loaded when they are first used.

* ``acp``: an editor in memory
* ``agui_recorder``: an AG-UI transport that records
* ``answers``: answers without a person
* ``chat``: a LangChain chat model that plays a script
* ``plugin``: the pytest fixtures
* ``recording``: a transport that records, and answers from a queue
* ``runs``: one prompt through an agent
* ``transcripts``: events in a form in which equal runs are equal
* ``validation``: whether an update is legal ACP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trunkline._lazy import lazy_names

if TYPE_CHECKING:
    from trunkline.demos.scripted import ScriptedAgent
    from trunkline.testing.acp import AcpEditor
    from trunkline.testing.agui_recorder import AguiRecorder
    from trunkline.testing.answers import Answers, accept_all, refuse_all
    from trunkline.testing.chat import ScriptedChatModel, chat_model
    from trunkline.testing.recording import RecordingTransport
    from trunkline.testing.runs import run_prompt
    from trunkline.testing.transcripts import normalize
    from trunkline.testing.validation import validate_acp_update

__all__ = [
    "AcpEditor",
    "AguiRecorder",
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AcpEditor": "trunkline.testing.acp",
        "AguiRecorder": "trunkline.testing.agui_recorder",
        "Answers": "trunkline.testing.answers",
        "RecordingTransport": "trunkline.testing.recording",
        "ScriptedAgent": "trunkline.demos.scripted",
        "ScriptedChatModel": "trunkline.testing.chat",
        "accept_all": "trunkline.testing.answers",
        "chat_model": "trunkline.testing.chat",
        "normalize": "trunkline.testing.transcripts",
        "refuse_all": "trunkline.testing.answers",
        "run_prompt": "trunkline.testing.runs",
        "validate_acp_update": "trunkline.testing.validation",
    },
    modules=("chat",),
    renamed={"AcpClient": "AcpEditor"},
)
