"""What every test gets: a data folder of its own, and properties that say how to repeat a failure."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.hubs import opened
from trunkline.journal.memory import MemoryJournal
from trunkline.transports.process import secrets

# Wall-clock deadlines fail on a busy machine and say nothing about the code.
settings.register_profile("trunkline", deadline=None, print_blob=True)
settings.register_profile("quick", settings.get_profile("trunkline"), max_examples=20)
settings.load_profile("trunkline")

# Under nohup and in the background these are ignored, and what a test starts would inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep journals and caches of a test out of the person's own folders."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("DATA", "CACHE", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
    # What `make setup` installed is shared: it takes a minute to make.
    monkeypatch.setenv("TRUNKLINE_PEERS", os.environ.get("TRUNKLINE_PEERS", str(CACHE / "trunkline/peers")))
    monkeypatch.delenv("TRUNKLINE_JOURNAL", raising=False)
    monkeypatch.setattr(secrets, "_held", {})


@pytest.fixture
async def journal() -> AsyncIterator[MemoryJournal]:
    """A journal in memory that is open."""
    async with opened(MemoryJournal()) as journal:
        yield journal


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return Path(__file__).parent.parent
