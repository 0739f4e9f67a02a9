"""One browser and one server per agent for all tests of a worker; a page per test."""

import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.browser.chromium import Browser, find_chromium
from tests.browser.own_page import OwnPage
from tests.browser.servers import READER, SECRET, serve_agent, serve_site

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


@pytest.fixture(scope="session")
def web_packages(root: Path) -> Path:
    """The packages of our own page, which ``make setup`` has installed."""
    command = [root / "scripts/peer-node", "web", "web"]
    made = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return Path(made.stdout.strip())


@pytest.fixture(scope="session")
def axe(web_packages: Path) -> str:
    """The source of axe-core; evaluated by the browser's own tool, so the page's policy stays as it is."""
    return f"(() => {{ {(web_packages / 'node_modules/axe-core/axe.min.js').read_text('utf-8')} }})()"


@pytest.fixture(scope="session")
def own_server(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a server for our own page, with agents: scripted, finance, hostile and spawned."""
    targets = (
        "demo",
        "finance=finance",
        f"hostile={root / 'tests/browser/page_agents.py'}:agent",
        f"spawned=acp:{sys.executable} -m trunkline acp demo",
    )
    tokens = ("--token", SECRET, "--token", f"local:follow={READER}")
    with serve_agent(*targets, folder=tmp_path_factory.mktemp("own"), options=tokens) as address:
        yield address


@pytest.fixture
def converse(browser: Browser, own_server: str, tmp_path: Path) -> Generator[Callable[..., OwnPage]]:
    """Begin conversations on our own page; at the end pictures are taken, and nobody may have complained."""
    opened: list[OwnPage] = []

    def begin(agent: str = "demo", **options: str) -> OwnPage:
        opened.append(OwnPage(browser, own_server, agent, **options))
        return opened[-1]

    yield begin
    for number, page in enumerate(opened, 1):
        page.page.shoot(tmp_path / f"page-{number}.png")
        page.close()
