"""What every test gets: a data folder of its own, and properties that say how to repeat a failure.

To measure coverage makes Python two to three times as slow, and once is as good as a thousand times. So of a
property only the first examples are measured, and the options here leave out more.
"""

import gc
import itertools
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

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
MEASURED_EXAMPLES = 10


# -- what is measured ------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    def option(name: str, help: str) -> None:
        parser.addoption(name, action="append", default=[], metavar="PATH", help=help)

    option("--unmeasured", "run the tests under PATH, and what they start, without measuring coverage")
    option("--measured-programs", "measure the programs that tests start only for tests under PATH")


def paths(config: pytest.Config, option: str) -> tuple[str, ...]:
    return tuple(config.getoption(option) or ())


def coverage_running() -> Any:
    """Give what measures coverage in this process, if anything does."""
    if "coverage" not in sys.modules:  # it is not installed everywhere
        return None
    from coverage import Coverage

    return Coverage.current()


@contextmanager
def unmeasured_programs() -> Generator[None]:
    """Let programs that are started not measure themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        yield


@contextmanager
def unmeasured() -> Generator[None]:
    """Measure nothing, neither here nor in programs that are started; never inside a frame of ``src``."""
    if coverage_running() is None:
        yield
        return
    # Coverage.stop() and start() look at every loaded module again, which takes longer than most tests.
    tracer, thread_tracer = sys.gettrace(), threading.gettrace()
    with unmeasured_programs():
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        try:
            yield
        finally:
            threading.settrace(thread_tracer)  # type: ignore[arg-type]
            sys.settrace(tracer)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Measure the workers, not the process that hands them their tests."""
    if measuring := coverage_running():
        measuring.stop()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what a worker measured now: one that needs more than ten seconds to end is killed."""
    measuring = coverage_running()
    if measuring is not None and hasattr(session.config, "workerinput"):
        measuring.stop()
        measuring.save()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Measure a test and its programs, or not."""
    of_programs = paths(item.config, "measured_programs")
    with ExitStack() as stack:
        if item.nodeid.startswith(paths(item.config, "unmeasured")):
            stack.enter_context(unmeasured())
        elif of_programs and not item.nodeid.startswith(of_programs):
            stack.enter_context(unmeasured_programs())
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Measure the first examples of a property."""
    prop = getattr(getattr(item, "obj", None), "hypothesis", None)
    if prop is None:
        return (yield)
    example: Callable[..., Any] = prop.inner_test
    numbers = itertools.count()
    with ExitStack() as stack:

        @wraps(example)
        def counted(*args: Any, **kwargs: Any) -> Any:
            if next(numbers) == MEASURED_EXAMPLES:
                stack.enter_context(unmeasured())
            return example(*args, **kwargs)

        prop.inner_test = counted
        try:
            return (yield)
        finally:
            prop.inner_test = example


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker waits for another in the end."""
    long = paths(config, "unmeasured")
    items.sort(key=lambda item: not item.nodeid.startswith(long))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Let the garbage collector not read all imported modules and collected tests again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


# -- fixtures --------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders without end. pytest's own way to make one reads the names of all that are there already."""
    every = tmp_path_factory.mktemp("homes")
    return (every / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_folders(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep journals and caches of a test out of the person's own folders."""
    folder = next(homes)
    folder.mkdir()
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
