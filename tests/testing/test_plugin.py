import json
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from importlib.metadata import entry_points

import trunkline.testing
from trunkline.folding import fold
from trunkline.journal import Journal
from trunkline.session.hub import Hub


async def test_a_test_gets_a_hub_with_the_scripted_agent(
    scripted_hub: AbstractAsyncContextManager[Hub], memory_journal: Journal
) -> None:
    async with scripted_hub as hub:
        assert hub.journal is memory_journal
        session = await hub.create()
        folded = fold([event async for event in session.stream("hello")])
    assert folded.messages[-1].text == "hello"


def test_the_plugin_is_registered() -> None:
    (point,) = entry_points(group="pytest11", name="trunkline")
    assert point.value == "trunkline.testing.plugin"


def test_the_plugin_loads_nothing_before_a_fixture_is_used() -> None:
    code = (
        "import json, sys, pytest; before = set(sys.modules); import trunkline.testing.plugin;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    loaded = set(json.loads(result.stdout))
    assert {name for name in loaded if name.startswith("trunkline")} == {
        "trunkline",
        "trunkline._lazy",
        "trunkline._version",
        "trunkline.testing",
        "trunkline.testing.plugin",
    }
    assert loaded.isdisjoint({"asyncio", "msgspec"})


def test_the_public_names_are_these() -> None:
    assert dir(trunkline.testing) == [
        "AcpEditor", "AguiRecorder", "Answers", "RecordingTransport", "ScriptedAgent", "ScriptedChatModel",
        "accept_all", "chat", "chat_model", "normalize", "refuse_all", "run_prompt", "validate_acp_update",
    ]  # fmt: skip
    assert all(getattr(trunkline.testing, name) is not None for name in dir(trunkline.testing))
    assert not hasattr(trunkline.testing, "nothing")
