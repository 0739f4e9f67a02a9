"""Words that ACP v1 does not know, as the nearest ones that it does."""

import pytest

from trunkline.frontends.acp.known_words import option_kind


@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        ("allow_once", "allow_once"),
        ("reject_always", "reject_always"),
        ("reject_with_words", "reject_once"),
        ("allow_session", "allow_always"),
        ("other", "allow_always"),
    ],
)
def test_an_option_that_may_allow_anything_is_not_found_by_who_refuses_or_allows_once(
    kind: str, sent: str
) -> None:
    assert option_kind(kind) == sent
