"""The documentation is true: its code runs, its commands print what it says, its links lead somewhere.

A page is run from top to bottom in one empty folder. A ``python`` block is a program of its own; when it
begins with ``# name.py`` it is also kept under that name for the commands below it, as a ``toml`` block that
begins with ``# name.toml`` is. In a ``console`` block
each ``$ command`` must succeed, and the lines under it are its output, where ``...`` stands for anything.
A ``terminal`` block is the same with everything a person sees: stderr too.
"""

import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import trunkline
from trunkline.agents import langchain
from trunkline.demos.scenarios import SCENARIOS
from trunkline.events import AnyEvent
from trunkline.frontends.agui import AguiOptions
from trunkline.frontends.aisdk import AisdkOptions
from trunkline.frontends.unified import UnifiedOptions
from trunkline.frontends.unified.losses import LOSSES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\w+\.(?:py|toml))\n")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
SECONDS = 30


def blocks(page: Path, language: str | None = None) -> list[tuple[str, str]]:
    """Give a page's fenced blocks as (language, text)."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [(name, text) for name, text in found if language in (None, name)]


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Give a console block's commands, each with the output that the page shows."""
    for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = entry.partition("\n")
        yield command, output


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a page's folder, away from the person's own journal."""
    shown = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {
        **os.environ,
        **shown,
        "PATH": path,
        "TRUNKLINE_JOURNAL": f"sqlite:{folder / 'journal.db'}",
        "XDG_STATE_HOME": str(folder / "state"),
    }
    return subprocess.run(
        arguments,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def run_program(text: str, folder: Path) -> None:
    """Run a python block; it must end well and say nothing on stderr."""
    name = FILE_NAME.match(text)
    program = folder / (name[1] if name else "snippet.py")
    program.write_text(text, encoding="utf-8")
    done = run([sys.executable, "-W", "error", str(program)], folder)
    assert (done.returncode, done.stderr) == (0, ""), text


def run_console(text: str, folder: Path, *, everything: bool) -> None:
    """Run a console block in one shell and compare each command's output with the page."""
    steps = list(commands(text))
    assert steps, f"a console block without a command:\n{text}"
    script = "exec 2>&1\n" * everything + "".join(
        f"{command}\nprintf '\\036%s\\036' $?\n" for command, _ in steps
    )
    done = run(["sh", "-c", script], folder)
    *outputs, _ = done.stdout.split("\036")
    for (command, shown), output, code in zip(steps, outputs[::2], outputs[1::2], strict=True):
        assert code == "0", f"$ {command}\n{output}{done.stderr}"
        if shown:
            assert matches(shown, output), f"$ {command}\n{output}\n-- but the page shows --\n{shown}"


def matches(shown: str, output: str) -> bool:
    """Compare output with what a page shows, line ends trimmed; ``...`` is anything."""
    trimmed = ["\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (shown, output)]
    pattern = ".*".join(re.escape(piece) for piece in trimmed[0].split("..."))
    return re.fullmatch(pattern, trimmed[1], re.DOTALL) is not None


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    for language, text in blocks(page):
        if language == "python":
            run_program(text, tmp_path)
        elif language == "toml" and (name := FILE_NAME.match(text)):
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
        elif language in ("console", "terminal"):
            run_console(text, tmp_path, everything=language == "terminal")


def test_the_first_program_of_the_readme_is_short() -> None:
    (_, first), *_ = blocks(ROOT / "README.md", "python")
    assert len(first.splitlines()) <= 15


def test_the_figures_of_the_readme_were_measured() -> None:
    """A figure may be older than the last measurement, but not another one."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    measured = {
        "updates a second to an editor": ("acp", "updates/s", ["trunkline acp", "SDK 0.12.1"]),
        "start until an editor": ("start", "wall ms", ["acp demo, greeted", "SDK 0.12.1, greeted"]),
        "from the second start on": (
            "start",
            "wall ms",
            ["acp LangChain agent, greeted", "deepagents-acp, greeted", "langchain-acp, greeted"],
        ),
        "its bare stream is 1": (
            "langchain",
            "x of base",
            [
                "trunkline, to ACP bytes",
                "deepagents-acp 0.0.13",
                "langchain-acp 1.10, 100 tokens",
                "langchain-acp 1.10, 200 tokens",
            ],
        ),
        "to an AG-UI client over HTTP": (
            "agui",
            "x of bare",
            [
                "trunkline serve, HTTP",
                "ag-ui-langgraph 0.0.47, raw off, HTTP",
                "ag-ui-langgraph 0.0.47, default, HTTP",
                "pydantic-ai 2.66, HTTP",
            ],
        ),
        "to useChat |": ("aisdk", "x of base", ["trunkline, to SSE bytes", "pydantic-ai 2.66"]),
    }
    for words, (name, column, cases) in measured.items():
        source = f"bench/results/{name}.json"
        (row,) = [line for line in text.splitlines() if words in line and source in line]
        cells = re.sub(r"\([^)]*\)", "", row.partition(words)[2].rpartition("[")[0])
        figures = [float(one.replace(",", "")) for one in re.findall(r"\d[\d,.]*\d|\d", cells)]
        rows = json.loads((ROOT / source).read_text())["rows"]
        found = {one.get("case") or one["program"]: one[column] for one in rows}
        assert len(figures) == len(cases), row
        for figure, case in zip(figures, cases, strict=True):
            assert 2 / 3 < figure / found[case] < 3 / 2, f"{case}: {figure}, measured {found[case]}"


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("[A-QS-Z]*.md"))], ids=lambda page: page.stem)
def test_the_links_of_a_page_lead_to_files(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def load_script(name: str) -> Any:
    """Import a script of the documentation."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_reference_has_every_public_name_of_the_package_and_every_method_of_the_context() -> None:
    page = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    made: str = load_script("docs_reference").on_page_markdown(page)
    assert "<!--" not in made
    missing = [name for name in trunkline.__all__ if f"### `{name}`" not in made]
    assert missing == ["__version__"]
    context = made.partition("### `TurnContext`")[2].partition("### `")[0]
    public = [name for name in vars(trunkline.TurnContext) if not name.startswith("_")]
    assert [name for name in public if not re.search(rf"(def |`){name}\b", context)] == []
    assert "async def permission(\n    message: str,\n" in context
    assert "from trunkline.content import DiffBlock" in made


def test_the_architecture_page_names_folders_that_exist_and_includes_all_lists_of_modules() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    package = ROOT / "src/trunkline"
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.py)?|[a-z_]+\.py)`", page)
    gone = [name for name in named if not any((folder / name).exists() for folder in (package, ROOT))]
    assert gone == []
    hook = load_script("docs_modules")
    included = hook.on_page_markdown(page)
    assert hook.MARK not in included
    assert all(f"* `{path.stem}`: " in included for path in package.rglob("[a-z]*.py"))


def test_the_testing_page_lists_every_scenario() -> None:
    page = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `/([\w-]+)` \|", page, re.MULTILINE) == list(SCENARIOS)


@pytest.mark.parametrize(
    "name",
    [
        "ModeMiddleware",
        "PermissionMiddleware",
        "PlanMiddleware",
        "SessionMiddleware",
        "ToolMiddleware",
        "TrunklineCallbackHandler",
    ],
)
def test_the_langchain_page_lists_every_option(name: str) -> None:
    page = (ROOT / "docs/langchain.md").read_text(encoding="utf-8")
    table = page.partition(f"\n`{name}`\n\n")[2].partition("\n\n")[0]
    options = list(inspect.signature(getattr(langchain, name)).parameters)
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == options


def test_the_agui_page_names_every_option() -> None:
    page = (ROOT / "docs/agui.md").read_text(encoding="utf-8")
    assert [name for name in AguiOptions.__struct_fields__ if f"`{name}`" not in page] == []


def test_the_aisdk_page_lists_every_option() -> None:
    page = (ROOT / "docs/aisdk.md").read_text(encoding="utf-8")
    table = page.partition("| `AisdkOptions` |")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(listed) == sorted(AisdkOptions.__struct_fields__)


def test_the_unified_page_lists_every_option_and_every_event() -> None:
    page = (ROOT / "docs/unified.md").read_text(encoding="utf-8")
    table = page.partition("| `UnifiedOptions` |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(UnifiedOptions.__struct_fields__)
    events = {kind.__name__ for kind in get_args(AnyEvent)} - {kind.__name__ for kind in LOSSES}
    assert sorted(name for name in events if f"`{name}`" not in page) == []


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    arguments = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site/architecture/index.html").exists()
