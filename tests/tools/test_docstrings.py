"""Docstrings: what is said of a function and its arguments, in three styles."""

import pytest

from trunkline.tools.docstrings import read_docstring

GOOGLE = """Find transactions.

    Only those of one account.

    Args:
        query (str): what to look for,
            in any case
        limit (int, optional): how many
        *rest: more words

    Returns:
        a table

    Example:
        find("coffee")
    """
NUMPY = """Find transactions.

    Only those of one account.

    Parameters
    ----------
    query : str
        what to look for,
        in any case
    limit : int, optional
        how many
    rest
        more words

    Returns
    -------
    Table
        a table
    """
SPHINX = """Find transactions.

    Only those of one account.

    :param str query: what to look for,
        in any case
    :param limit: how many
    :param rest: more words
    :type limit: int
    :returns: a table
    :raises ValueError: never
    """


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_arguments_and_text_are_found_in_every_style(docstring: str) -> None:
    text, arguments = read_docstring(docstring)
    assert text.startswith("Find transactions.\n\nOnly those of one account.")
    assert "a table" not in text
    assert arguments == {
        "query": "what to look for, in any case",
        "limit": "how many",
        "rest": "more words",
    }


def test_other_sections_stay_in_the_text() -> None:
    assert read_docstring(GOOGLE).text.endswith('Example:\n    find("coffee")')


def test_arguments_that_share_a_line_share_its_description() -> None:
    assert read_docstring("Do.\n\nParameters\n----------\na, b : int\n    numbers\n").arguments == {
        "a": "numbers",
        "b": "numbers",
    }


@pytest.mark.parametrize(
    "docstring", [None, "", "Just a sentence: with a colon.", "Args:", "Parameters\n---"]
)
def test_a_docstring_without_arguments_has_none(docstring: str | None) -> None:
    assert read_docstring(docstring).arguments == {}
