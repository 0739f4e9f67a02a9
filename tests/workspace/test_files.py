"""Files: every known way out of a session's folders, and what reading and writing keep."""

import asyncio
import os
import resource
import shutil
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from trunkline.errors import Denied, NotAFile, OutsideRoots, TooLarge, WorkspaceError
from trunkline.workspace.files import Files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "proj"
    folder.mkdir()
    evil = tmp_path / "proj-evil"
    evil.mkdir()
    (evil / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def files(root: Path) -> Files:
    return Files([root])


def names_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# -- the ways out ---------------------------------------------------------------------------------


def plant_link_to_file(root: Path) -> str:
    (root / "x").symlink_to(root.parent / "proj-evil" / "secret.txt")
    return "x"


def plant_link_to_folder(root: Path) -> str:
    (root / "x").symlink_to(root.parent / "proj-evil")
    return "x/secret.txt"


def plant_dangling_link(root: Path) -> str:
    (root / "x").symlink_to(root.parent / "proj-evil" / "new.txt")
    return "x"


def plant_dangling_folder(root: Path) -> str:
    (root / "x").symlink_to(root.parent / "proj-evil" / "new")
    return "x/secret.txt"


def plant_link_within(root: Path) -> str:
    (root / "real.txt").write_text("fine")
    (root / "x").symlink_to("real.txt")
    return "x"


def plant_pipe(root: Path) -> str:
    os.mkfifo(root / "x")
    return "x"


def plant_folder(root: Path) -> str:
    (root / "x").mkdir()
    return "x"


def plant_file_as_folder(root: Path) -> str:
    (root / "x").write_text("a file")
    return "x/y"


NOT_A_FILE: list[tuple[Callable[[Path], str], str]] = [
    (plant_link_to_file, "symbolic link, and links are not followed"),
    (plant_link_to_folder, "symbolic link, and links are not followed"),
    (plant_dangling_link, "symbolic link, and links are not followed"),
    (plant_dangling_folder, "symbolic link, and links are not followed"),
    (plant_link_within, "symbolic link, and links are not followed"),
    (plant_pipe, "named pipe"),
    (plant_folder, "a folder"),
    (plant_file_as_folder, "a file, not a folder"),
]


@pytest.mark.parametrize(("plant", "message"), NOT_A_FILE)
async def test_only_regular_files_reached_without_links_are_touched(
    files: Files, root: Path, plant: Callable[[Path], str], message: str
) -> None:
    path = plant(root)
    before = names_below(root.parent)
    with pytest.raises(NotAFile, match=message):
        await files.read(path)
    with pytest.raises(NotAFile, match=message):
        await files.read_bytes(path)
    with pytest.raises(NotAFile, match=message):
        await files.write(path, "evil")
    with pytest.raises(NotAFile, match=message):
        await files.remove(path)
    assert names_below(root.parent) == before
    assert (root.parent / "proj-evil" / "secret.txt").read_text() == "secret"


@pytest.mark.parametrize(
    "path",
    ["../proj-evil/secret.txt", "{root}-evil/secret.txt", "a/../../proj-evil/secret.txt", "/etc/passwd"],
)
async def test_a_path_outside_is_refused_by_every_method(files: Files, root: Path, path: str) -> None:
    path = path.format(root=root)
    for attempt in (
        files.read(path),
        files.read_bytes(path),
        files.write(path, "evil"),
        files.remove(path),
        files.exists(path),
        files.list(path),
    ):
        with pytest.raises(OutsideRoots):
            await attempt
    assert (root.parent / "proj-evil" / "secret.txt").read_text() == "secret"


@pytest.mark.parametrize("path", ["", "a\0b", "a.txt/", "a.txt/."])
async def test_a_malformed_path_is_refused(files: Files, root: Path, path: str) -> None:
    (root / "a.txt").write_text("a")
    with pytest.raises(WorkspaceError):
        await files.read(path)
    with pytest.raises(WorkspaceError):
        await files.write(path, "b")
    assert names_below(root) == ["a.txt"]


async def test_encoded_dots_and_trailing_spaces_are_names_like_any_other(files: Files, root: Path) -> None:
    await files.write("%2e%2e/secret.txt", "inside")
    await files.write("a.txt ", "with a space")
    assert names_below(root) == ["%2e%2e", "%2e%2e/secret.txt", "a.txt "]
    assert not await files.exists("a.txt")


async def test_a_device_is_not_read() -> None:
    with pytest.raises(NotAFile, match="a device"):
        await Files(["/dev"]).read("null")


async def test_a_socket_is_not_read(files: Files, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("x")
        with pytest.raises(NotAFile, match="a socket"):
            await files.read("x")


async def test_writing_a_hard_link_leaves_its_other_name_alone(files: Files, root: Path) -> None:
    secret = root.parent / "proj-evil" / "secret.txt"
    os.link(secret, root / "x")
    await files.write("x", "mine")
    assert secret.read_text() == "secret"
    assert (root / "x").read_text() == "mine"


async def test_without_roots_everything_is_refused() -> None:
    with pytest.raises(OutsideRoots, match=r"start it with a cwd .*serve --cwd FOLDER"):
        await Files([]).read("/etc/passwd")


# -- races ----------------------------------------------------------------------------------------


def moved(old: Path, new: Path) -> bool:
    try:
        old.rename(new)
    except OSError:
        return False
    return True


@pytest.fixture
def swapped(root: Path) -> Iterator[None]:
    """While this lives, root/dir is now a folder and now a link to the folder outside."""
    (root / "dir").mkdir()
    (root / "dir" / "secret.txt").write_text("inside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "dir").rename(root / "aside")
            with suppress(FileExistsError):  # a write made it, as it was missing
                (root / "dir").symlink_to(root.parent / "proj-evil")
                (root / "dir").unlink()
            while not moved(root / "aside", root / "dir"):
                shutil.rmtree(root / "dir", ignore_errors=True)

    thread = threading.Thread(target=swap)
    thread.start()
    yield
    stop.set()
    thread.join(10)


@pytest.mark.usefixtures("swapped")
async def test_a_folder_swapped_for_a_link_meanwhile_leads_nowhere(files: Files, root: Path) -> None:
    naive: set[str] = set()
    ours: set[str] = set()
    rounds, deadline = 0, time.monotonic() + 20
    while time.monotonic() < deadline and (rounds < 300 or "secret" not in naive or "inside" not in ours):
        rounds += 1
        with suppress(OSError):
            naive.add((root / "dir" / "secret.txt").read_text())
        with suppress(WorkspaceError):
            ours.add(await files.read("dir/secret.txt"))
        with suppress(WorkspaceError):
            await files.write("dir/new.txt", "new")
    assert "secret" in naive, "the race never happened, so this test showed nothing"
    assert ours == {"inside"}
    assert names_below(root.parent / "proj-evil") == ["secret.txt"]


@pytest.mark.parametrize("swap", [plant_pipe, plant_link_to_file])
async def test_a_file_swapped_between_the_look_and_the_opening_is_refused(
    files: Files, root: Path, monkeypatch: pytest.MonkeyPatch, swap: Callable[[Path], str]
) -> None:
    look = os.stat

    def look_and_swap(
        path: str, *, dir_fd: int | None = None, follow_symlinks: bool = True
    ) -> os.stat_result:
        found = look(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        if path == "x":
            (root / "x").unlink()
            swap(root)
        return found

    for attempt in (lambda: files.read("x"), lambda: files.write("x", "evil")):
        (root / "x").write_text("inside")
        with monkeypatch.context() as patch:
            patch.setattr(os, "stat", look_and_swap)
            with pytest.raises(WorkspaceError):
                await attempt()
        (root / "x").unlink()
    assert names_below(root) == []
    assert (root.parent / "proj-evil" / "secret.txt").read_text() == "secret"


# -- reading --------------------------------------------------------------------------------------

TEXT = "one\ntwo\r\nthree\u2028still three\nfour"


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (None, None, TEXT),
        (1, None, TEXT),
        (0, None, TEXT),
        (2, None, "two\r\nthree\u2028still three\nfour"),
        (2, 1, "two\r\n"),
        (None, 2, "one\ntwo\r\n"),
        (3, 1, "three\u2028still three\n"),
        (4, 10, "four"),
        (5, None, ""),
        (1000, 5, ""),
        (1, 0, ""),
    ],
)
async def test_lines_are_counted_from_one_and_kept_as_they_are(
    files: Files, root: Path, line: int | None, limit: int | None, expected: str
) -> None:
    (root / "a.txt").write_bytes(TEXT.encode())
    assert await files.read("a.txt", line=line, limit=limit) == expected


@pytest.mark.parametrize(("line", "limit"), [(-1, None), (None, -1)])
async def test_negative_lines_are_refused(
    files: Files, root: Path, line: int | None, limit: int | None
) -> None:
    (root / "a.txt").write_text(TEXT)
    with pytest.raises(WorkspaceError, match="must not be negative"):
        await files.read("a.txt", line=line, limit=limit)


async def test_an_empty_file_is_an_empty_text(files: Files, root: Path) -> None:
    (root / "a.txt").touch()
    assert await files.read("a.txt") == ""
    assert await files.read("a.txt", line=1) == ""


async def test_a_missing_file_is_named(files: Files) -> None:
    with pytest.raises(WorkspaceError, match=r"'missing/a.txt' does not exist"):
        await files.read("missing/a.txt")


@pytest.mark.parametrize(("data", "message"), [(b"ab\xff", "no UTF-8 at byte 2"), (b"a\0b", "a NUL byte")])
async def test_a_binary_file_is_read_only_as_bytes(
    files: Files, root: Path, data: bytes, message: str
) -> None:
    (root / "a.bin").write_bytes(data)
    with pytest.raises(WorkspaceError, match=message):
        await files.read("a.bin")
    assert await files.read_bytes("a.bin") == data


async def test_a_file_beyond_the_limit_is_read_only_in_pieces(root: Path) -> None:
    files = Files([root], max_bytes=100)
    (root / "log").write_text("".join(f"line {number}\n" for number in range(1, 1001)))
    for attempt in (files.read("log"), files.read_bytes("log")):
        with pytest.raises(TooLarge, match="by line and limit"):
            await attempt
    assert await files.read("log", line=999, limit=5) == "line 999\nline 1000\n"
    with pytest.raises(TooLarge, match="ask for fewer"):
        await files.read("log", line=1)


async def test_a_sparse_giant_is_refused_without_being_read(files: Files, root: Path) -> None:
    with (root / "giant").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(TooLarge, match=str(1 << 40)):
        await files.read("giant")


async def test_a_file_that_is_longer_than_its_size_says_is_refused() -> None:
    # Files in /proc say that they are empty, like one that grows while it is read.
    with pytest.raises(TooLarge):
        await Files(["/proc/self"], max_bytes=10).read("status")


async def test_lines_beyond_what_is_scanned_are_refused(root: Path) -> None:
    files = Files([root], max_bytes=10, max_scan=1000)
    (root / "long").write_text("x" * 2000 + "\nend\n")
    with pytest.raises(TooLarge, match="beyond the 1000 bytes"):
        await files.read("long", line=2, limit=1)
    (root / "long").write_text("x" * 500 + "\nend\n")
    assert await files.read("long", line=2, limit=1) == "end\n"


# -- writing --------------------------------------------------------------------------------------


async def test_a_text_is_written_as_it_is_and_folders_are_made(files: Files, root: Path) -> None:
    await files.write("a/b/c.txt", "one\r\ntwo\nthrée")
    assert (root / "a/b/c.txt").read_bytes() == "one\r\ntwo\nthrée".encode()
    assert await files.read(root / "a/b/c.txt") == "one\r\ntwo\nthrée"
    assert names_below(root) == ["a", "a/b", "a/b/c.txt"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o666])
async def test_the_permission_bits_of_a_file_are_kept_whatever_the_umask(
    files: Files, root: Path, umask: int, mode: int
) -> None:
    (root / "a.txt").write_text("old")
    (root / "a.txt").chmod(mode)
    before = os.umask(umask)
    try:
        await files.write("a.txt", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == mode
    assert (root / "a.txt").read_text() == "new"


async def test_a_new_file_gets_what_the_umask_leaves(files: Files, root: Path) -> None:
    before = os.umask(0o027)
    try:
        await files.write("a.txt", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o640


async def test_the_set_user_bit_does_not_survive_a_write(files: Files, root: Path) -> None:
    (root / "tool").write_text("old")
    (root / "tool").chmod(0o4755)
    await files.write("tool", "new")
    assert stat.S_IMODE((root / "tool").stat().st_mode) == 0o755


async def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(files: Files, root: Path) -> None:
    (root / "a.txt").write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(WorkspaceError, match=r"'a.txt' failed: file too large"):
            await files.write("a.txt", "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names_below(root) == ["a.txt"]
    assert (root / "a.txt").read_text() == "old"


async def test_a_file_that_the_system_does_not_let_us_write_is_not_replaced(files: Files, root: Path) -> None:
    tool = root / "tool"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", tool)
    running = await asyncio.create_subprocess_exec(tool, "60")
    try:
        with pytest.raises(WorkspaceError, match="text file busy"):
            await files.write("tool", "evil")
    finally:
        running.kill()
        await running.wait()
    assert tool.stat().st_size > 100
    assert names_below(root) == ["tool"]


async def test_a_text_beyond_the_limit_is_not_written(root: Path) -> None:
    files = Files([root], max_bytes=10)
    await files.write("a.txt", "x" * 10)
    with pytest.raises(TooLarge, match="the limit is 10"):
        await files.write("a.txt", "é" * 6)
    assert (root / "a.txt").read_text() == "x" * 10


async def test_a_text_that_is_not_unicode_is_not_written(files: Files, root: Path) -> None:
    with pytest.raises(WorkspaceError, match="surrogate at character 1"):
        await files.write("a.txt", "a\ud800")
    assert names_below(root) == []


@pytest.mark.parametrize(
    "path",
    [
        ".trunkline/policy.toml", "trunkline.toml", ".zed/settings.json", ".vscode/settings.json",
        ".vscode/tasks.json", ".idea/workspace.xml", ".git/hooks/pre-commit", ".git/config", ".git",
        "vendor/lib/.git/config", ".GIT/Hooks/pre-commit", "src/../.Zed/settings.json", "\uff0egit/config",
    ],
)  # fmt: skip
async def test_protected_files_are_read_but_never_made_changed_or_removed(
    files: Files, root: Path, path: str
) -> None:
    with pytest.raises(Denied, match="is protected"):
        await files.write(path, "evil")
    assert names_below(root) == []
    plain = root / path.removeprefix("src/../")
    plain.parent.mkdir(parents=True, exist_ok=True)
    plain.write_text("old")
    for attempt in (files.write(path, "evil"), files.write(str(plain), "evil"), files.remove(path)):
        with pytest.raises(Denied):
            await attempt
    assert await files.read(path) == "old"


async def test_what_only_looks_protected_is_written(files: Files) -> None:
    for path in (".gitignore", ".github/workflows/ci.yml", "git/config", "my.git/x", "vscode/settings.json"):
        await files.write(path, "fine")


async def test_the_protected_patterns_can_be_chosen(root: Path) -> None:
    files = Files([root], protected=["*.lock", "infra/**/prod.tf"])
    await files.write(".git/config", "fine")
    for path in ("uv.lock", "a/uv.LOCK", "infra/prod.tf", "infra/a/b/prod.tf"):
        with pytest.raises(Denied):
            await files.write(path, "evil")


# -- the rest -------------------------------------------------------------------------------------


async def test_a_file_is_removed(files: Files, root: Path) -> None:
    (root / "a.txt").touch()
    await files.remove("a.txt")
    assert names_below(root) == []
    with pytest.raises(WorkspaceError, match="does not exist"):
        await files.remove("a.txt")


async def test_files_and_folders_exist_but_links_and_pipes_do_not(files: Files, root: Path) -> None:
    (root / "a.txt").touch()
    os.mkfifo(root / "pipe")
    plant_link_to_folder(root)
    found = {
        path: await files.exists(path)
        for path in ("a.txt", ".", str(root), "missing", "missing/x", "a.txt/x", "pipe", "x", "x/secret.txt")
    }
    assert found == {
        "a.txt": True,
        ".": True,
        str(root): True,
        "missing": False,
        "missing/x": False,
        "a.txt/x": False,
        "pipe": False,
        "x": False,
        "x/secret.txt": False,
    }


async def test_a_folder_is_listed_in_order(files: Files, root: Path) -> None:
    (root / "b").mkdir()
    (root / "a.txt").touch()
    plant_link_to_folder(root)
    (root / "b" / os.fsdecode(b"bad\xff")).touch()
    assert await files.list() == ["a.txt", "b", "x"]
    assert await files.list("b/") == ["bad\ufffd"]
    for path, message in (("x", "symbolic link"), ("a.txt", "not a folder")):
        with pytest.raises(NotAFile, match=message):
            await files.list(path)
    with pytest.raises(WorkspaceError, match="does not exist"):
        await files.list("missing")


async def test_a_listing_is_bounded(root: Path) -> None:
    files = Files([root], max_entries=2)
    for name in ("a", "b"):
        (root / name).touch()
    assert await files.list() == ["a", "b"]
    (root / "c").touch()
    with pytest.raises(TooLarge, match="more than 2 names"):
        await files.list()


async def test_every_root_is_reached_and_relative_paths_begin_in_the_first(root: Path) -> None:
    other = root.parent / "other"
    other.mkdir()
    files = Files([root, other])
    await files.write("a.txt", "first")
    await files.write(other / "a.txt", "second")
    assert await files.read("a.txt") == "first"
    assert await files.read(str(other / "a.txt")) == "second"
    assert files.roots == (str(root), str(other))


async def test_the_path_that_would_be_touched_can_be_asked_for(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    files = Files([tmp_path / "link"])
    assert files.resolve(tmp_path / "link" / "src" / ".." / "a.txt") == str(root / "a.txt")
    assert files.resolve("src/") == str(root / "src")


async def test_no_descriptor_is_left_open(files: Files, root: Path) -> None:
    (root / "a.txt").write_text("a")
    os.mkfifo(root / "pipe")
    await files.read("a.txt")
    before = len(os.listdir("/dev/fd"))
    for path in ("a.txt", "pipe", "missing", "a.txt/x"):
        for attempt in (files.read(path), files.write(path, "b"), files.list(path), files.exists(path)):
            with suppress(WorkspaceError):
                await attempt
    assert len(os.listdir("/dev/fd")) == before
