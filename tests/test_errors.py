"""The tree that is drawn is the tree that is."""

import re
from typing import get_args

import pytest

from trunkline import errors
from trunkline.errors import AlreadyAnswered, Fault, SessionError, TrunklineError

DRAWN = re.compile(r"^    ([│├└─ ]*)(\w+)(?: +(\S.*))?$", re.MULTILINE)


def tree(kind: type[TrunklineError], depth: int = 0) -> list[tuple[int, str]]:
    """The names of a class and of everything below it, as deep as they are."""
    below = [c for c in kind.__subclasses__() if c.__module__ == errors.__name__]
    return [(depth, kind.__name__), *(line for child in below for line in tree(child, depth + 1))]


def kinds() -> list[type[TrunklineError]]:
    return [getattr(errors, name) for _, name in tree(TrunklineError)]


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    drawing = (errors.__doc__ or "").partition("::")[2].partition("``hint``")[0]
    drawn = [(len(branch) // 4, name) for branch, name, _ in DRAWN.findall(drawing)]
    assert drawn == tree(TrunklineError)
    assert all(note for _, name, note in DRAWN.findall(drawing) if name != "TrunklineError")


def test_every_error_is_exported_and_documented() -> None:
    others = {"Fault", "Hint", "TrunklineDeprecation"}
    assert {kind.__name__ for kind in kinds()} | others == set(errors.__all__)
    assert all(kind.__doc__ for kind in kinds())


@pytest.mark.parametrize("kind", kinds())
def test_an_error_says_whose_fault_it_is_and_how_it_looks_on_a_wire(kind: type[TrunklineError]) -> None:
    assert kind.fault in get_args(Fault)
    assert 400 <= kind.hint.http < 600
    assert -32768 <= kind.hint.jsonrpc <= -32000
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.code)
    blames_the_other_side = kind.fault == "peer" or kind.code == "authentication_required"
    assert blames_the_other_side <= (kind.hint.http < 500)


def test_who_answered_first_is_remembered() -> None:
    error = AlreadyAnswered("q1", "the editor")
    assert isinstance(error, SessionError)
    assert (error.question_id, error.by) == ("q1", "the editor")
    assert str(error) == "question q1 was already answered by the editor"
    assert str(AlreadyAnswered("q1", None)).endswith("by someone else")
