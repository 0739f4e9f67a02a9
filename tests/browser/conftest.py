"""One browser and one server per agent for all tests of a worker; a page per test."""

import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.browser.chromium import Browser, find_chromium
from tests.browser.servers import serve_agent, serve_site

pytest.register_assert_rewrite("tests.browser.contract")


@pytest.fixture(scope="session")
def built(root: Path) -> Path:
    """The pages and their driver, which ``make setup`` has made."""
    command = [root / "scripts/browser-pages"]
    made = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return Path(made.stdout.strip())


@pytest.fixture(scope="session")
def browser(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    executable = find_chromium()
    if executable is None:
        pytest.fail(
            "Chromium is missing: `make setup` as root installs Debian's package chromium", pytrace=False
        )
    browser = Browser(executable, built, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def site(built: Path) -> Generator[str]:
    """Where the pages are: another site than the server's, so that every call asks for leave first."""
    with serve_site(built / "site") as port:
        yield f"http://localhost:{port}"


@pytest.fixture(scope="session")
def scripted(site: str, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a server with the scripted agent."""
    with serve_agent("demo", origin=site, folder=tmp_path_factory.mktemp("scripted")) as address:
        yield address


@pytest.fixture(scope="session")
def langchain(root: Path, site: str, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a server with an agent of LangChain's."""
    target = f"{root / 'tests/browser/agents.py'}:agent"
    with serve_agent(target, origin=site, folder=tmp_path_factory.mktemp("langchain")) as address:
        yield address
