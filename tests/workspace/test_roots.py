"""The folders of a session: how paths are judged before anything is touched."""

import errno
import os
from pathlib import Path

import pytest

from trunkline.errors import NotAFile, OutsideRoots, TooLarge, WorkspaceError
from trunkline.workspace.path_errors import explained
from trunkline.workspace.roots import MAX_ROOTS, Place, Roots


@pytest.mark.parametrize(
    ("path", "below"),
    [
        ("a.txt", "a.txt"),
        ("./src//a.txt", "src/a.txt"),
        ("src/../a.txt", "a.txt"),
        ("../proj/a.txt", "a.txt"),
        ("%2e%2e/a.txt", "%2e%2e/a.txt"),
        ("a.txt ", "a.txt "),
        ("...", "..."),
        ("~/a.txt", "~/a.txt"),
        ("{root}/a.txt", "a.txt"),
        ("//{root}/a.txt", "a.txt"),
        ("/../..{root}/src/a.txt", "src/a.txt"),
    ],
)
def test_a_path_inside_is_located_by_its_letters(root: Path, path: str, below: str) -> None:
    place = Roots([root]).locate(path.format(root=root))
    assert place.path == f"{root}/{below}"


@pytest.mark.parametrize(
    "path",
    [
        "../proj-evil/a.txt", "{root}-evil/a.txt", "{root}/../proj-evil/a.txt", "{root} /a.txt",
        "../../../../../../etc/passwd", "src/../../a.txt", "/etc/passwd", "/a.txt", "{upper}/a.txt",
    ],
)  # fmt: skip
def test_a_path_that_leaves_is_refused_and_the_folders_are_named(root: Path, path: str) -> None:
    with pytest.raises(OutsideRoots, match=str(root)):
        Roots([root]).locate(path.format(root=root, upper=str(root).upper()))


@pytest.mark.parametrize("path", ["src/", "src/.", "src/..", ".", "..", "/"])
def test_a_file_is_not_named_like_a_folder(root: Path, path: str) -> None:
    with pytest.raises(NotAFile, match="name a file"):
        Roots([root]).locate(path)


def test_a_folder_may_end_in_a_slash_or_be_the_root(root: Path) -> None:
    roots = Roots([root])
    assert roots.locate("src/", folder=True).path == f"{root}/src"
    assert roots.locate(".", folder=True) == roots.locate(root, folder=True)
    assert roots.locate(".", folder=True).name == "."


@pytest.mark.parametrize(
    ("path", "message"), [("", "empty"), ("a\0b", "NUL"), ("\ud800.txt", "no file name can have")]
)
def test_what_is_no_path_is_refused(root: Path, path: str, message: str) -> None:
    with pytest.raises(WorkspaceError, match=message):
        Roots([root]).locate(path)


def test_a_path_beyond_the_limit_is_refused(root: Path) -> None:
    with pytest.raises(TooLarge, match="too long"):
        Roots([root]).locate("a/" * 3000 + "b")


def test_no_roots_refuse_everything_and_say_why() -> None:
    with pytest.raises(OutsideRoots, match="has no folder"):
        Roots([]).locate("a.txt")


def test_too_many_roots_are_refused(root: Path) -> None:
    assert len(Roots([root] * MAX_ROOTS).folders) == MAX_ROOTS
    with pytest.raises(WorkspaceError, match="too many"):
        Roots([root] * (MAX_ROOTS + 1))


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_root_must_be_a_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="is not a folder"):
        Roots([tmp_path / name])


def test_a_root_given_through_a_link_is_known_by_both_names(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    roots = Roots([link])
    assert roots.folders == (str(root),)
    assert roots.locate(link / "a.txt") == roots.locate(root / "a.txt") == roots.locate("a.txt")


def test_a_link_that_changes_later_does_not_move_the_root(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    roots = Roots([link])
    link.unlink()
    link.symlink_to(root.parent / "proj-evil")
    assert roots.locate(link / "a.txt").path == f"{root}/a.txt"


def test_the_innermost_root_counts(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path.resolve() / "elsewhere"
    elsewhere.mkdir()
    (root / "vendor").symlink_to(elsewhere)
    roots = Roots([root, root / "vendor"])
    assert roots.locate("vendor/a.txt") == Place(tuple(str(elsewhere)[1:].split("/")), ("a.txt",))


def test_a_root_that_was_replaced_by_a_link_is_not_entered(root: Path) -> None:
    roots = Roots([root])
    root.rename(root.parent / "moved")
    root.symlink_to(root.parent / "proj-evil")
    with pytest.raises(NotAFile, match="symbolic link"), roots.enter(roots.locate(".", folder=True)):
        pass


def test_entering_leaves_no_descriptor_behind(root: Path) -> None:
    roots = Roots([root])
    before = os.listdir("/dev/fd")
    with roots.enter(roots.locate("src", folder=True)) as folder:
        assert os.stat(folder).st_ino == (root / "src").stat().st_ino
    for path, expected in (("missing", FileNotFoundError), ("x" * 300, OSError)):
        with pytest.raises(expected), roots.enter(roots.locate(path, folder=True)):
            pass
    assert os.listdir("/dev/fd") == before


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOENT, "'a' does not exist"),
        (errno.EACCES, "check its owner"),
        (errno.ENOSPC, "disk is full"),
        (errno.EIO, "failed: input/output error"),
    ],
)
def test_what_the_system_says_is_explained(number: int, message: str) -> None:
    with pytest.raises(WorkspaceError, match=message), explained("a"):
        raise OSError(number, os.strerror(number))
